/** Results whose packets are cut anywhere: between a real server and us stands one that passes its bytes on in pieces. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { openSession } from '../connect/session.js';
import { onServers, type TestDatabase } from './servers.js';

const never = new AbortController().signal;

/** Its port. `size` gives the bytes of the next piece of what the server says. */
async function inPieces(db: TestDatabase, size: () => number): Promise<AsyncDisposable & { readonly port: number }> {
  const [endpoint] = db.endpoints;
  const address = endpoint?.addresses[0];
  assert.ok(address);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(address.port, address.host);
    for (const s of [client, server]) {
      sockets.add(s);
      s.setNoDelay(true);
      s.on('error', () => undefined);
    }
    client.pipe(server);
    void (async () => {
      for await (const chunk of server) {
        const bytes = chunk as Buffer;
        for (let at = 0; at < bytes.length;) {
          const n = size();
          client.write(bytes.subarray(at, at + n));
          at += n;
          if (n < 1000) await setImmediate(); // so that the pieces do not join again
        }
      }
      client.end();
    })().catch(() => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const s of sockets) s.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

async function through(
  db: TestDatabase,
  size: () => number,
  sql: string,
): Promise<readonly (readonly (string | null)[])[]> {
  await using proxy = await inPieces(db, size);
  const [endpoint] = db.endpoints;
  assert.ok(endpoint);
  const addresses = [{ host: '127.0.0.1', port: proxy.port, socketPath: null }];
  await using session = await openSession([{ ...endpoint, addresses }], { side: 'source' }, never);
  const rows = await session.query(sql, 'read');
  await assert.rejects(session.query('select 1 from nowhere', 'read nothing'), { code: 'SOURCE_MISSING' });
  assert.deepEqual(await session.query(sql, 'read again'), rows);
  return rows;
}

onServers(['mariadb'], 'rows arrive however their packets are cut', async (db) => {
  await db.run(
    'create table t (id int primary key, a text, b varchar(10))',
    "insert into t values (1, '', null), (2, repeat('x', 249), 'y'), (3, repeat('é', 125), ''), (4, repeat('z', 300), 'w'), (5, null, null)",
  );
  const sql = 'select a, b, id from t order by id';
  const right = await db.rows(sql);
  for (const n of [1, 2, 3, 4, 5, 7, 253, 1000]) assert.deepEqual(await through(db, () => n, sql), right, String(n));
  for (let seed = 1; seed <= 20; seed++) {
    let x = seed;
    const size = (): number => 1 + (((x = (x * 1_103_515_245 + 12_345) % 2_147_483_648) >> 8) % 40);
    assert.deepEqual(await through(db, size, sql), right, `seed ${String(seed)}`);
  }
});

onServers(['mariadb'], 'rows of 16 MiB and around it, in pieces', async (db) => {
  const LONGEST = 0xff_ffff;
  await db.run('create table t (id int primary key, a longblob)');
  // The packet has the id in two bytes and four of the length before the cell.
  const lengths = [LONGEST - 7, LONGEST - 6, LONGEST - 5, LONGEST, 2 * LONGEST - 12, 2 * LONGEST - 5, 3];
  for (const [i, n] of lengths.entries())
    await db.run(`insert into t values (${String(i)}, repeat('x', ${String(n)}))`);
  let turn = 0;
  const sizes = [100_000, 1_000_003, 65_536, 4_000_000];
  await using proxy = await inPieces(db, () => sizes[turn++ % sizes.length] ?? 1);
  const [endpoint] = db.endpoints;
  assert.ok(endpoint);
  const addresses = [{ host: '127.0.0.1', port: proxy.port, socketPath: null }];
  await using session = await openSession([{ ...endpoint, addresses }], { side: 'source' }, never);
  const got: number[] = [];
  await session.stream(
    'select id, a from t order by id',
    {
      fields: () => undefined,
      row: ({ offset, end }) => got.push(end - offset),
    },
    'read',
  );
  assert.deepEqual(
    got,
    lengths.map((n) => 2 + (n < 251 ? 1 : n <= LONGEST ? 4 : 9) + n),
  );
});
