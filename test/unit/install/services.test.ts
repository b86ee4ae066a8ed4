/** install/services/services.sh itself: servers of its own in a folder of its own. */
import assert from 'node:assert/strict';
import { rmSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSession, ownDatabase } from '../../support/databases.js';
import { ownServer, serverFolder, services } from '../../support/own-server.js';
import { MYSQL_SERVERS, serverTest } from '../../support/services.js';

const pidIn = (status: string): number => Number(status.trim().split(' ')[2]);

test('unknown names, those to come, and wrong usage end with exit 2', async () => {
  using ws = serverFolder();
  const refused = async (...args: string[]): Promise<string> => {
    const r = await services(ws.dir, args);
    assert.equal(r.code, 2, r.stderr);
    return r.stderr;
  };
  assert.equal(
    await refused('start', 'mariadb', 'oracle'),
    "services.sh: no service is called 'oracle'; there are: mariadb mysql55 kafka\n",
  );
  assert.equal(await refused('start', 'hdfs'), 'services.sh: there is no hdfs yet; there are: mariadb mysql55 kafka\n');
  assert.match(await refused(), /^services\.sh: usage: /);
  assert.match(await refused('restart'), /^services\.sh: usage: /);
});

serverTest(MYSQL_SERVERS, 'start twice, status, env and stop', async ({ kind }) => {
  using ws = serverFolder();
  const NAME = kind.toUpperCase();
  const stopped = await services(ws.dir, ['status', kind]);
  assert.deepEqual([stopped.code, stopped.stdout], [1, `${kind} stopped - -\n`]);
  assert.equal((await services(ws.dir, ['env'])).stdout, '');
  try {
    // At once: one of them starts it, the other one finds it.
    const both = await Promise.all([services(ws.dir, ['start', kind]), services(ws.dir, ['start', kind])]);
    assert.deepEqual(
      both.map((r) => r.code),
      [0, 0],
      JSON.stringify(both),
    );
    const status = await services(ws.dir, ['status', kind]);
    assert.equal(status.code, 0);
    assert.match(status.stdout, new RegExp(`^${kind} running [0-9]+ [0-9]+\n$`));
    const pid = pidIn(status.stdout);
    const third = await services(ws.dir, ['start', kind]);
    assert.match(third.stderr, new RegExp(`runs already \\(pid ${String(pid)},`));

    const port = readFileSync(ws.path(kind, 'port'), 'utf8').trim();
    const url = `mysql://sync:password@127.0.0.1:${port}`;
    const env = await services(ws.dir, ['env']);
    assert.equal(env.stdout, `export SYNC_${NAME}_URL=${url}\nexport SYNC_${NAME}_SOCKET=${ws.path(kind, 'sock')}\n`);
    await assertEquipped(url);
  } finally {
    assert.equal((await services(ws.dir, ['stop', kind])).code, 0);
  }
  assert.match((await services(ws.dir, ['status', kind])).stdout, new RegExp(`^${kind} stopped - [0-9]+\n$`));
  assert.equal((await services(ws.dir, ['stop', kind])).code, 0);
});

/** May create databases and users, knows time zones, takes LOAD DATA LOCAL, logs rows. */
async function assertEquipped(url: string): Promise<void> {
  await using db = await ownDatabase(url);
  await db.query("GRANT ALL ON *.* TO other@'%' IDENTIFIED BY 'x' WITH GRANT OPTION");
  const rows = await db.query(
    `SELECT CONVERT_TZ('2024-07-01 00:00:00', 'UTC', 'Europe/Berlin'), @@log_bin, @@binlog_format, @@local_infile,
            @@max_allowed_packet, @@time_zone, @@sql_mode, @@character_set_connection, DATABASE()`,
  );
  assert.deepEqual(rows, [['2024-07-01 02:00:00', '1', 'ROW', '1', '67108864', '+00:00', '', 'utf8mb4', db.name]]);
}

serverTest(
  'mariadb',
  'a killed server starts again on its data and its port; its pid file is of no account',
  async () => {
    await using server = await ownServer();
    const first = server.pid();
    {
      await using session = await openSession(server.url);
      await session.query('CREATE DATABASE kept');
    }
    await server.kill9();
    assert.equal(server.pid(), null);
    const dead = await services(server.dir, ['status', 'mariadb']);
    assert.deepEqual([dead.code, dead.stdout.split(' ')[1]], [1, 'stopped']);
    // The number may be another process's by now: it is neither taken for the server nor stopped.
    writeFileSync(join(server.dir, 'mariadb', 'pid'), `${String(process.pid)} 1\n`);
    assert.equal((await services(server.dir, ['stop', 'mariadb'])).code, 0);
    writeFileSync(join(server.dir, 'mariadb', 'pid'), `${String(process.pid)} 1\n`);
    await server.start();
    assert.notEqual(server.pid(), first);
    {
      await using session = await openSession(server.url);
      assert.deepEqual(await session.query("SHOW DATABASES LIKE 'kept'"), [['kept']]);
    }
    await server.stop();
    await server.start();
    await using session = await openSession(server.url);
    assert.deepEqual(await session.query("SHOW DATABASES LIKE 'kept'"), [['kept']]);
  },
);

serverTest('mariadb', 'a half-made data folder is made anew, a long path has its socket elsewhere', async () => {
  using ws = serverFolder();
  const dir = ws.path(`long ${'x'.repeat(100)}`);
  mkdirSync(join(dir, 'mariadb', 'data.new', 'mysql'), { recursive: true });
  writeFileSync(join(dir, 'mariadb', 'data.new', 'ibdata1'), 'torn');
  try {
    const r = await services(dir, ['start', 'mariadb']);
    assert.equal(r.code, 0, r.stderr);
    const env = (await services(dir, ['env'])).stdout;
    assert.match(env, /^export SYNC_MARIADB_SOCKET=\/tmp\/sync-[A-Za-z0-9]+\/sock$/m);
  } finally {
    await services(dir, ['stop', 'mariadb']);
  }
});

serverTest('mariadb', 'a server that cannot start is told of with the end of its log', async () => {
  await using server = await ownServer();
  await server.stop();
  rmSync(join(server.dir, 'mariadb', 'data', 'ibdata1'));
  const r = await services(server.dir, ['start', 'mariadb']);
  assert.equal(r.code, 1);
  assert.match(r.stderr, /^mariadb: ended instead of starting; the end of .*\/mariadb\/log:\n/);
  assert.match(r.stderr, /\[ERROR\]/);
});

serverTest('mariadb', 'a port that is given is used, one that is taken is refused', async () => {
  await using server = await ownServer();
  const { port } = new URL(server.url);
  using ws = serverFolder();
  const r = await services(ws.dir, ['start', 'mariadb'], { SYNC_MARIADB_PORT: port });
  assert.deepEqual(
    [r.code, r.stderr],
    [1, `mariadb: port ${port} is taken by another process; give another one: SYNC_MARIADB_PORT=…\n`],
  );
  await server.kill9();
  try {
    assert.equal((await services(ws.dir, ['start', 'mariadb'], { SYNC_MARIADB_PORT: port })).code, 0);
    assert.equal((await services(ws.dir, ['status', 'mariadb'])).stdout.trim().split(' ')[3], port);
  } finally {
    await services(ws.dir, ['stop', 'mariadb']);
  }
});

serverTest(MYSQL_SERVERS, 'sessions give what the server holds: text, bytes, null', async ({ url }) => {
  await using db = await ownDatabase(url, { multipleStatements: true });
  const rows = await db.query(
    `CREATE TABLE t (u BIGINT UNSIGNED, z INT(5) ZEROFILL, d DECIMAL(65,30), f DOUBLE, at DATE, b BLOB, s CHAR(9), bits BIT(9), n INT);
     INSERT INTO t VALUES (18446744073709551615, 42, '1.10', 0.1, '0000-00-00', x'00ff', 'Ä€😀', 257, NULL);
     SELECT * FROM t`,
  );
  const [exact = [], ...more] = rows;
  assert.deepEqual(exact.slice(0, 5), ['18446744073709551615', '00042', `1.1${'0'.repeat(29)}`, '0.1', '0000-00-00']);
  assert.deepEqual(exact.slice(5), [Buffer.from([0, 255]), 'Ä€😀', Buffer.from([1, 1]), null]);
  assert.deepEqual(more, []);
});
