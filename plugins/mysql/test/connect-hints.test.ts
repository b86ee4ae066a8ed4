/** What a person is told who gave a wrong address. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { isSyncError } from 'syncx/plugin-api';
import type { Address } from '../connect/jdbc-url.js';
import { openSession } from '../connect/session.js';

async function failureAt(
  address: Address,
): Promise<{ readonly message: string; readonly hint: string; readonly ms: number }> {
  const endpoint = {
    addresses: [address],
    user: 'u',
    password: 'p',
    database: null,
    tls: { mode: 'preferred', ca: null, cert: null, key: null },
    connectTimeoutMs: 300,
    socketTimeoutMs: null,
    sessionVariables: null,
  } as const;
  const began = performance.now();
  try {
    await openSession([endpoint], { side: 'source' }, new AbortController().signal);
  } catch (e) {
    if (!isSyncError(e)) throw e;
    return { message: e.message, hint: e.hint ?? '', ms: performance.now() - began };
  }
  throw new Error('connected');
}

const at = (port: number, host = '127.0.0.1'): Address => ({ host, port, socketPath: null });

async function portOf(greeting: string | null): Promise<{ readonly port: number; readonly end: () => void }> {
  const server = createServer((s) => {
    s.on('error', () => undefined);
    if (greeting !== null) s.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, end: () => void server.close() };
}

test('nobody listens, no such host, no such socket: each has its hint', async () => {
  const gone = await portOf(null);
  gone.end();
  assert.match((await failureAt(at(gone.port))).hint, /^Nobody listens there: check host and port in jdbcUrl/);
  assert.match((await failureAt(at(3306, 'no-such-host.invalid'))).hint, /host/);
  const socket = await failureAt({ host: 'localhost', port: 3306, socketPath: '/nowhere/mysql.sock' });
  assert.match(socket.hint, /^There is no such socket/);
});

test('a listener that says nothing, or something else, ends within the timeout', async () => {
  for (const greeting of [null, 'HTTP/1.1 400 Bad Request\r\n\r\n']) {
    const silent = await portOf(greeting);
    const failure = await failureAt(at(silent.port));
    silent.end();
    assert.match(failure.hint, /^Nobody answers as MySQL: .* connectTimeOut/);
    assert.ok(failure.ms >= 250 && failure.ms < 5000, String(failure.ms));
  }
});
