/** C72: every connection uses the configured options. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { test } from 'node:test';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  jdbcUrl,
  mysqlReader,
  mysqlWriter,
  outLines,
  ownServerSuite,
  runJob,
  userOf,
  type Json,
  type PluginPart,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

/** Counts who connects; null: the port is another program's. */
async function listening(port: number, host = '127.0.0.1', serve?: Parameters<typeof createServer>[1]) {
  const server: Server = createServer({}, serve);
  let connections = 0;
  server.on('connection', (s) => {
    connections++;
    s.on('error', () => undefined);
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch {
    return null;
  }
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.dispose]: () => {
      server.close();
    },
  };
}

/** The part with another URL. */
function withUrl(part: PluginPart, url: string | readonly string[], more: Json = {}): PluginPart {
  const [connection] = part.parameter['connection'] as readonly object[];
  return { ...part, parameter: { ...part.parameter, connection: [{ ...connection, jdbcUrl: url }], ...more } };
}

async function setUp(server: TestServer): Promise<OwnDatabase> {
  const db = await ownDatabase(server.url);
  await db.query('create table s (id int primary key, d date, name varchar(20) character set utf8mb4)');
  await db.query('create table t (id int primary key, d date, name varchar(20) character set utf8mb4)');
  await db.query("insert into s values (1, '0000-00-00', 'é😀'), (2, '2024-02-29', 'b')");
  return db;
}

const PARAMS = 'useSSL=false&characterEncoding=utf8&connectTimeout=3000&zeroDateTimeBehavior=convertToNull&foo=bar';
const ROWS = [
  ['1', null, 'é😀'],
  ['2', '2024-02-29', 'b'],
];

ownServerSuite(MYSQL_SERVERS, 'C72', (server) => {
  test('the URL of the case: no port but the one that is given, and all sessions are set up alike', async () => {
    await using db = await setUp(server());
    using ws = new Workspace();
    using standard = await listening(3306);
    await using admin = await openSession(server().url);
    await admin.query("set global log_output = 'TABLE', global general_log = 1");
    await admin.query('truncate table mysql.general_log');
    const job = {
      reader: mysqlReader(
        db,
        's',
        { splitPk: 'id', consistent: true },
        `${PARAMS}&sessionVariables=lock_wait_timeout=77`,
      ),
      writer: mysqlWriter(db, 't', {}, `${PARAMS}&sessionVariables=lock_wait_timeout=77`),
      setting: { speed: { channel: 2 } },
    };
    const r = await runJob(ws, job);
    await admin.query('set global general_log = 0');
    assertDone(r, [2, 2]);
    assert.deepEqual(await db.query('select * from t order by id'), ROWS);
    assert.match(r.stderr, /reader\.parameter\.connection\[0\]\.jdbcUrl\[0\].*`foo` has no effect/);
    assert.match(r.stderr, /writer\.parameter\.connection\[0\]\.jdbcUrl: .*`foo` has no effect/);
    assert.doesNotMatch(r.stderr, /`(?!foo)\w+` has no effect/, 'the others are honoured, or are none of a warning');
    assert.equal(standard?.connections() ?? 0, 0, 'nobody came to 3306');

    const log = await admin.query(
      'select thread_id, command_type, argument from mysql.general_log order by event_time, thread_id',
    );
    const sessions = new Map<string, string[]>();
    for (const [id, type, argument] of log) {
      if (String(type) === 'Connect') sessions.set(String(id), []);
      sessions.get(String(id))?.push(`${String(type)} ${String(argument)}`);
    }
    assert.ok(sessions.size >= 4, `lanes and plans have sessions: ${String(sessions.size)}`);
    const { username } = userOf(server());
    for (const said of sessions.values()) {
      assert.match(said[0] ?? '', new RegExp(`^Connect.*${username}@`));
      const all = said.join('\n');
      for (const words of [
        /set names utf8mb4/i,
        /time_zone = '\+00:00'/,
        /net_write_timeout = /,
        /lock_wait_timeout=77/,
      ]) {
        assert.match(all, words);
      }
    }
  });

  test('TLS that the server does not have fails where it is required, and says so', async () => {
    await using db = await setUp(server());
    for (const params of ['sslMode=REQUIRED', 'useSSL=true&requireSSL=true', 'sslMode=VERIFY_CA']) {
      using ws = new Workspace();
      const r = await runJob(ws, { reader: mysqlReader(db, 's', {}, params), writer: csvWriter() });
      assert.equal(r.code, 1, r.stderr);
      assert.match(r.summary?.error?.message ?? '', /TLS|SSL/);
    }
    using ws = new Workspace();
    for (const params of ['', 'useSSL=true', 'sslMode=PREFERRED', 'sslMode=DISABLED']) {
      assertDone(
        await runJob(ws, { reader: mysqlReader(db, 's', {}, params), writer: csvWriter() }, { args: ['--fresh'] }),
      );
    }
  });
});

serverTest(MYSQL_SERVERS, 'C72 over IPv6, and over a socket path, both sides', async (server, t) => {
  await using db = await setUp(server);
  const target = new URL(server.url);
  using proxy = await listening(0, '::1', (s) => {
    const to = connect(Number(target.port), target.hostname);
    to.on('error', () => s.destroy());
    s.on('close', () => to.destroy());
    s.pipe(to).pipe(s);
  });
  const ways: [string, string][] = [];
  if (proxy === null) t.diagnostic('this machine has no IPv6');
  else ways.push(['IPv6', `jdbc:mysql://[::1]:${String(proxy.port)}/${db.name}`]);
  if (server.socket !== null) {
    const path = server.socket;
    ways.push(['localSocket', `jdbc:mysql://localhost:1/${db.name}?localSocket=${path}`]);
    ways.push(['escaped', `jdbc:mysql:///${db.name}?unixSocket=${encodeURIComponent(path)}`]);
  }
  assert.ok(ways.length > 0 || server.socket === null);
  for (const [what, url] of ways) {
    using ws = new Workspace();
    await db.query('truncate table t');
    const reader = withUrl(mysqlReader(db, 's', { zeroDate: 'null' }), [url]);
    assertDone(await runJob(ws, { reader, writer: withUrl(mysqlWriter(db, 't'), url) }), [2, 2]);
    assert.deepEqual(await db.query('select * from t order by id'), ROWS, what);
  }
  if (proxy !== null) assert.ok(proxy.connections() >= 2);
});

serverTest(
  MYSQL_SERVERS,
  'C72 a host that does not answer fails within connectTimeout, a closed port at once',
  async (server) => {
    await using db = await setUp(server);
    using silent = await listening(0);
    using closed = await listening(0);
    assert.ok(silent && closed);
    closed[Symbol.dispose]();
    for (const [params, more, port, most] of [
      ['connectTimeout=1000', {}, silent.port, 5000],
      ['', { connectTimeOut: 1 }, silent.port, 5000],
      ['', { properties: { connectTimeout: 1000 } }, silent.port, 5000],
      ['', {}, closed.port, 5000],
    ] as const) {
      for (const side of ['reader', 'writer'] as const) {
        using ws = new Workspace();
        const url = `jdbc:mysql://127.0.0.1:${String(port)}/${db.name}?${params}`;
        const reader = mysqlReader(db, 's');
        const writer = mysqlWriter(db, 't');
        const job =
          side === 'reader'
            ? { reader: withUrl(reader, [url], more), writer: csvWriter() }
            : { reader, writer: withUrl(writer, url, more) };
        const r = await runJob(ws, job);
        assert.equal(r.code, 1, r.stderr);
        assert.ok(r.ms < most, `${String(r.ms)} ms`);
        assert.match(r.stderr, new RegExp(`127\\.0\\.0\\.1:${String(port)}`));
      }
    }
  },
);

serverTest(MYSQL_SERVERS, 'C72 alternates, users of an entry, and the database of an entry', async (server) => {
  await using db = await setUp(server);
  using closed = await listening(0);
  assert.ok(closed);
  closed[Symbol.dispose]();
  const { host } = new URL(db.url);
  const { username, password } = userOf(db);
  const nowhere = `127.0.0.1:${String(closed.port)}`;
  for (const [url, entry, more] of [
    [[`jdbc:mysql://${nowhere}/${db.name}`, jdbcUrl(db)], {}, {}],
    [`jdbc:mysql://${nowhere},${host}/${db.name}`, {}, {}],
    [`jdbc:mariadb://${host}/${db.name}`, {}, {}],
    [`jdbc:mysql://${host}/mysql`, { schema: db.name }, {}],
    [jdbcUrl(db), { username, password }, { username: 'nobody', password: 'wrong' }],
    [`${jdbcUrl(db)}?user=${username}&password=${password}`, {}, { username: undefined, password: undefined }],
  ] as const) {
    using ws = new Workspace();
    const reader = withUrl(mysqlReader(db, 's', { column: ['id'] }), url, more);
    const [connection] = reader.parameter['connection'] as readonly object[];
    const parameter = { ...reader.parameter, connection: [{ ...connection, ...entry }] };
    const r = await runJob(ws, { reader: { ...reader, parameter }, writer: csvWriter() });
    assertDone(r, [2, 2]);
    assert.deepEqual(outLines(ws), ['1', '2']);
  }
});

serverTest(MYSQL_SERVERS, 'C72 wrong passwords and parameters are named, and secrets are not', async (server) => {
  await using db = await setUp(server);
  using ws = new Workspace();
  const denied = await runJob(ws, {
    reader: mysqlReader(db, 's', { username: 'nobody', password: 'hush-1' }),
    writer: csvWriter(),
  });
  assert.equal(denied.code, 1, denied.stderr);
  assert.match(denied.summary?.error?.message ?? '', /nobody|Access denied/);
  const inUrl = withUrl(mysqlReader(db, 's', { username: undefined, password: undefined }), [`${jdbcUrl(db)}?user=nobody&password=hush-1`]); // prettier-ignore
  const again = await runJob(ws, { reader: inUrl, writer: csvWriter() }, { name: 'b.json' });
  assert.equal(again.code, 1, again.stderr);
  for (const r of [denied, again]) assert.doesNotMatch(r.stdout + r.stderr, /hush-1/);
  for (const [params, named] of [
    ['sslMode=SOMETIMES', /sslMode.*SOMETIMES/],
    ['connectTimeout=soon', /connectTimeout.*soon/],
  ] as const) {
    const r = await runJob(ws, { reader: mysqlReader(db, 's', {}, params), writer: csvWriter() }, { name: 'c.json' });
    assert.equal(r.code, 2, r.stderr);
    assert.match(r.stderr, named);
  }
});
