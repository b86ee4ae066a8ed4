import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { endpointsOf } from '../connect/connection-options.js';
import { openSession } from '../connect/session.js';
import { onServers } from './servers.js';

const never = new AbortController().signal;
const options = { username: 'u', password: 'p', properties: {}, connectTimeOut: 1 };

onServers(
  ['mariadb'],
  'socketTimeout ends a connection whose server says nothing in the middle of an answer',
  async (db) => {
    const { username, password } = db;
    const given = { ...options, username, password };
    await using session = await openSession(
      endpointsOf(given, { jdbcUrl: `${db.jdbcUrl}?socketTimeout=200` }),
      { side: 'source' },
      never,
    );
    await assert.rejects(session.query('select sleep(20)', 'sleep'), {
      code: 'SOURCE_IO',
      retry: 'reconnect',
      message: 'cannot sleep: ETIMEDOUT the server was silent for 200 ms (socketTimeout)',
    });
    assert.equal(session.broken, true);
  },
);

test('a server that accepts and says nothing is given up after the connect timeout', async () => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const endpoints = endpointsOf(options, { jdbcUrl: `jdbc:mysql://127.0.0.1:${String(port)}/x?connectTimeout=200` });
  const began = performance.now();
  await assert.rejects(openSession(endpoints, { side: 'source' }, never), {
    code: 'SOURCE_IO',
    message: `cannot connect to 127.0.0.1:${String(port)}: ETIMEDOUT connect ETIMEDOUT`,
  });
  assert.ok(performance.now() - began < 10_000);
  silent.close();
});

test('alternates are tried in order; where none answers all are named', async () => {
  const jdbcUrl = ['jdbc:mysql://127.0.0.1:1/x', 'jdbc:mysql://127.0.0.1:2,127.0.0.1:3/x'];
  await assert.rejects(openSession(endpointsOf(options, { jdbcUrl }), { side: 'sink' }, never), (e: Error) => {
    assert.match(
      e.message,
      /^cannot connect to 127\.0\.0\.1:1: .*; cannot connect to 127\.0\.0\.1:2: .*; cannot connect to 127\.0\.0\.1:3: /,
    );
    return true;
  });
});
