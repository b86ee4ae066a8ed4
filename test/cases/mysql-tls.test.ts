/** TLS against a real server: what a job asks for is what it gets, and rows are the same. */
import assert from 'node:assert/strict';
import { writeFileSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { authority, type Authority } from '../support/certificates.js';
import { ownDatabase, openSession, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  mysqlReader,
  mysqlWriter,
  numberOf,
  outLines,
  runJob,
  type Json,
  type PluginPart,
} from '../support/mysql-job.js';
import { ownServer, type OwnServer } from '../support/own-server.js';
import { serverSuite } from '../support/services.js';
import { startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

type Expected = 'done' | RegExp;

interface Try {
  /** Of the URL. */
  readonly params?: string;
  readonly options?: Json;
  readonly user?: 'plain' | 'tls' | 'x509';
  readonly host?: string;
  readonly expected: Expected;
}

interface Place {
  readonly ws: Workspace;
  readonly ca: Authority;
  readonly other: Authority;
  readonly server: OwnServer;
  readonly db: OwnDatabase;
}

/** The URL of the database for a user and a host of the test's. */
function at(p: Place, t: Pick<Try, 'user' | 'host'> = {}): { readonly url: string } {
  const u = new URL(p.db.url);
  if (t.host !== undefined) u.hostname = t.host;
  u.username = t.user ?? 'plain';
  u.password = 'secret';
  return { url: u.href };
}

/** The server goes on with another certificate. */
async function serveWith(p: Place, names: readonly string[]): Promise<void> {
  const issued = await p.ca.issue('server', names);
  writeFileSync(p.ws.path('now.pem'), readFileSync(issued.cert));
  writeFileSync(p.ws.path('now-key.pem'), readFileSync(issued.key));
  await p.db.query('flush ssl');
}

async function attempt(p: Place, t: Try): Promise<void> {
  using ws = new Workspace();
  const reader = mysqlReader(at(p, t), 's', t.options ?? {}, t.params ?? '');
  const r = await runJob(ws, { reader, writer: csvWriter() });
  const what = JSON.stringify(t);
  if (t.expected === 'done') {
    assert.equal(r.code, 0, `${what}\n${r.stderr}`);
    assert.deepEqual(outLines(ws), ['1,é', '2,b'], what);
    return;
  }
  assert.notEqual(r.code, 0, `${what}\n${r.stderr}`);
  assert.match(r.stderr, t.expected, what);
  assert.deepEqual(outLines(ws), [], what);
}

async function eachOf(p: Place, tries: readonly Try[]): Promise<void> {
  for (const t of tries) await attempt(p, t);
}

const HOST = '127.0.0.1';
const WRONG_CA = /SOURCE_IO.*HANDSHAKE_SSL_ERROR[\s\S]*authorities in sslCa/;
const WRONG_HOST = /SOURCE_IO.*HANDSHAKE_SSL_ERROR[\s\S]*certificate is for another host/;
const DENIED = /1045[\s\S]*whether it must use TLS/;

serverSuite('mariadb', 'TLS', () => {
  let place: Place | null = null;
  const get = (): Place => {
    if (place === null) throw new Error('not set up');
    return place;
  };

  before(async () => {
    const ws = new Workspace();
    const ca = await authority(ws, 'right');
    const other = await authority(ws, 'other');
    const first = await ca.issue('server', [`IP:${HOST}`]);
    writeFileSync(ws.path('now.pem'), readFileSync(first.cert));
    writeFileSync(ws.path('now-key.pem'), readFileSync(first.key));
    const server = await ownServer('mariadb', [
      `ssl-ca="${ca.cert}"`,
      `ssl-cert="${ws.path('now.pem')}"`,
      `ssl-key="${ws.path('now-key.pem')}"`,
    ]);
    const db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key, name varchar(20) character set utf8mb4)');
    await db.query("insert into s values (1, 'é'), (2, 'b')");
    for (const [user, demand] of [
      ['plain', 'none'],
      ['tls', 'ssl'],
      ['x509', 'x509'],
    ] as const)
      // prettier-ignore
      await db.query(`grant all on *.* to ${user}@'%' identified by 'secret' require ${demand}`);
    place = { ws, ca, other, server, db };
  });

  after(async () => {
    await place?.db.close();
    await place?.server[Symbol.asyncDispose]();
    place?.ws[Symbol.dispose]();
  });

  test('the words of the URL: TLS where it is there, none, insisted on', async () => {
    await eachOf(get(), [
      // A user who must use TLS shows which words come to it.
      { user: 'tls', expected: 'done' },
      { user: 'tls', params: 'useSSL=true', expected: 'done' },
      { user: 'tls', params: 'sslMode=PREFERRED', expected: 'done' },
      { user: 'tls', params: 'requireSSL=true&useSSL=true', expected: 'done' },
      { user: 'tls', params: 'sslMode=REQUIRED&useSSL=false', expected: 'done' },
      { user: 'tls', options: { properties: { sslMode: 'trust' } }, expected: 'done' },
      { user: 'tls', params: 'useSSL=false', expected: DENIED },
      { user: 'tls', params: 'sslMode=DISABLED', expected: DENIED },
      { user: 'plain', params: 'useSSL=false', expected: 'done' },
      { params: 'sslMode=SOMETIMES', expected: /no ssl mode/ },
    ]);
  });

  test('the authority is checked: the right one, another one, none, the ones of the system', async () => {
    const { ca, other } = get();
    const right = { sslCa: ca.cert };
    const wrong = { sslCa: other.cert };
    await eachOf(get(), [
      { params: 'sslMode=VERIFY_CA', options: right, expected: 'done' },
      { params: 'verifyServerCertificate=true', options: right, expected: 'done' },
      { params: `sslMode=verify-ca&serverSslCert=${encodeURIComponent(ca.cert)}`, expected: 'done' },
      { params: 'sslMode=VERIFY_CA', options: wrong, expected: WRONG_CA },
      { params: 'verifyServerCertificate=true&useSSL=true', options: wrong, expected: WRONG_CA },
      { params: 'sslMode=VERIFY_IDENTITY', options: wrong, expected: WRONG_CA },
      { params: 'sslMode=VERIFY_CA', expected: WRONG_CA },
      // Authorities that are named are there to be checked against.
      { options: wrong, expected: WRONG_CA },
      { params: 'requireSSL=true', options: wrong, expected: WRONG_CA },
      { user: 'tls', options: right, expected: 'done' },
      { params: 'sslMode=REQUIRED', options: wrong, expected: 'done' },
    ]);
  });

  test('the name of the host is checked where that is asked for, addresses as such', async () => {
    const p = get();
    const options = { sslCa: p.ca.cert };
    const identity = { params: 'sslMode=VERIFY_IDENTITY', options };
    await eachOf(p, [
      { ...identity, host: HOST, expected: 'done' },
      { ...identity, host: 'localhost', expected: WRONG_HOST },
      { params: 'sslMode=VERIFY_CA', options, host: 'localhost', expected: 'done' },
    ]);
    await serveWith(p, ['DNS:localhost']);
    await eachOf(p, [
      { ...identity, host: 'localhost', expected: 'done' },
      { ...identity, host: HOST, expected: WRONG_HOST },
      { params: 'sslMode=verify-full', options, host: HOST, expected: WRONG_HOST },
    ]);
    await serveWith(p, [`IP:${HOST}`, 'DNS:localhost']);
  });

  test('a certificate of ours: taken where a user must have one, refused where it is missing or unusable', async () => {
    const p = get();
    const client = await p.ca.issue('client');
    const stranger = await p.other.issue('stranger');
    const mine = { sslCert: client.cert, sslKey: client.key };
    await eachOf(p, [
      { user: 'x509', options: mine, expected: 'done' },
      { user: 'x509', options: { ...mine, sslCa: p.ca.cert }, expected: 'done' },
      { user: 'x509', expected: DENIED },
      { user: 'x509', options: { sslCert: client.cert }, expected: /sslCert has no effect without sslKey[\s\S]*1045/ },
      { user: 'x509', options: { sslCert: stranger.cert, sslKey: stranger.key }, expected: /SOURCE_IO/ },
      { options: { ...mine, sslKey: stranger.key }, expected: /JOB_INVALID.*no usable PEM/ },
      { options: { ...mine, sslKey: p.ws.path('none.pem') }, expected: /JOB_INVALID.*sslKey cannot be read.*ENOENT/ },
      {
        options: { sslCa: p.ws.write('text.pem', 'no certificate\n') },
        expected: /JOB_INVALID.*sslCa is no usable PEM/,
      },
    ]);
  });

  test('what has no effect is said', async () => {
    const p = get();
    const tries: readonly (readonly [params: string, options: Json, said: RegExp])[] = [
      ['useSSL=false', { sslCa: p.ca.cert }, /sslCa has no effect beside useSSL=false/],
      ['sslMode=REQUIRED', { sslCa: p.ca.cert }, /sslCa has no effect beside sslMode REQUIRED/],
      ['requireSSL=true&useSSL=false', {}, /requireSSL has no effect beside useSSL=false/],
      ['trustCertificateKeyStoreUrl=file:ca.jks', {}, /trustCertificateKeyStoreUrl.*key store of Java.*sslCa/],
      ['keyStore=file:me.jks', {}, /keyStore.*key store of Java.*sslCert and sslKey/],
    ];
    for (const [params, options, said] of tries) {
      using ws = new Workspace();
      const r = await runJob(ws, { reader: mysqlReader(at(p), 's', options, params), writer: csvWriter() });
      assertDone(r, [2, 2]);
      assert.match(r.stderr, said);
    }
  });

  /** Cells of 34 MiB take several packets; the writer is slow enough that the reader rests. */
  test('rows of every size come and go over TLS, by LOAD DATA and by INSERT', { timeout: 120_000 }, async () => {
    const p = get();
    await p.db.query('create table big (id int primary key, b longblob)');
    for (const [id, mib] of [[1, 0], [2, 16], [3, 1], [4, 34], [5, 1]] as const) // prettier-ignore
      await p.db.query(`insert into big values (${String(id)}, repeat(concat(unhex('00ff0a5c'), rpad('${String(id)}', 12, 'x')), ${String(mib * 65_536)}))`); // prettier-ignore
    await p.db.query('create table many (id int primary key, name varchar(100), f double)');
    await p.db.query("insert into many select seq, repeat(concat(seq, 'ä\\t'), seq % 9), seq / 7 from seq_1_to_60000");
    const identity = { sslCa: p.ca.cert };
    for (const table of ['big', 'many'])
      for (const loadData of ['auto', 'never']) {
        using ws = new Workspace();
        await p.db.query(`create or replace table t like ${table}`);
        const over = (part: PluginPart): PluginPart => ({ ...part, parameter: { ...part.parameter, ...identity } });
        const user = { user: 'tls' } as const;
        const reader = over(mysqlReader(at(p, user), table, {}, 'sslMode=VERIFY_IDENTITY'));
        const writer = over(mysqlWriter(at(p, user), 't', { loadData }, 'sslMode=VERIFY_IDENTITY'));
        assertDone(await runJob(ws, { reader, writer, setting: { speed: { channel: table === 'many' ? 2 : 1 } } }));
        assert.equal(await numberOf(p.db, `select count(*) from t`), table === 'big' ? 5 : 60_000);
        assert.equal(
          await numberOf(p.db, `select count(*) from (select * from t except all select * from ${table}) d`),
          0,
        );
      }
  });

  test('a connection that is cut in mid-read is an error, not the end of the rows', async () => {
    const p = get();
    using ws = new Workspace();
    await using admin = await openSession(p.server.url);
    await p.db.query('create or replace table many (id int primary key, name varchar(200))');
    await p.db.query("insert into many select seq, repeat('x', 200) from seq_1_to_60000");
    const reader = mysqlReader(at(p, { user: 'tls' }), 'many');
    const setting = { speed: { record: 20_000 } };
    const file = ws.job({ job: { content: [{ reader, writer: csvWriter() }], setting } });
    const job = startSync(['run', file, '--output', 'json'], { cwd: ws.dir });
    const reading = (): Promise<number> =>
      numberOf(
        admin,
        "select coalesce(max(id), 0) from information_schema.processlist where user = 'tls' and info like 'select%many%'",
      );
    let id = 0;
    await until('it reads', async () => (id = await reading()) > 0);
    await admin.query(`kill ${String(id)}`);
    const r = await job.done;
    assertDone(r, [60_000, 60_000]);
    assert.match(r.stderr, /PROTOCOL_CONNECTION_LOST.*reading of \S+many goes on behind the last row/);
    assert.equal(new Set(outLines(ws)).size, 60_000);
  });
});

serverSuite('mariadb', 'TLS of a server without it', (server) => {
  test('a job that asks for it is refused, one that does not goes on', async () => {
    await using db = await ownDatabase(server.url);
    await db.query('create table s (id int primary key)');
    const [[has] = []] = await db.query('select @@have_ssl');
    assert.notEqual(has, 'YES');
    for (const params of ['sslMode=REQUIRED', 'requireSSL=true', 'sslMode=VERIFY_CA', 'sslMode=VERIFY_IDENTITY']) {
      using ws = new Workspace();
      const r = await runJob(ws, { reader: mysqlReader(db, 's', {}, params), writer: csvWriter() });
      assert.equal(r.code, 1, r.stderr);
      assert.equal(r.summary?.error?.code, 'SOURCE_IO');
      assert.match(r.stderr, /HANDSHAKE_NO_SSL_SUPPORT[\s\S]*The server has no TLS, which the job asks for/);
      const w = await runJob(ws, { reader: mysqlReader(db, 's'), writer: mysqlWriter(db, 's', {}, params) }, { name: 'w.json' }); // prettier-ignore
      assert.equal(w.summary?.error?.code, 'SINK_IO', w.stderr);
    }
    for (const params of ['', 'useSSL=true', 'sslMode=PREFERRED']) {
      using ws = new Workspace();
      assertDone(await runJob(ws, { reader: mysqlReader(db, 's', {}, params), writer: csvWriter() }), [0, 0]);
    }
  });
});
