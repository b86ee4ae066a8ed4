/** A server that is reached at an IPv6 address. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { ownDatabase } from '../support/databases.js';
import { assertDone, mysqlReader, mysqlWriter, runJob, userOf, type PluginPart } from '../support/mysql-job.js';
import { ownServer } from '../support/own-server.js';
import { testServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some((i) => i.address === '::1'));
const skip =
  testServer('mariadb') === null
    ? 'no server: SYNC_MARIADB_URL is not set; see install/services/README.md'
    : hasIpv6
      ? false
      : 'this machine has no ::1';

/** The part with this URL. */
function withUrl(part: PluginPart, url: string | readonly string[]): PluginPart {
  const [connection] = part.parameter['connection'] as readonly object[];
  return { ...part, parameter: { ...part.parameter, connection: [{ ...connection, jdbcUrl: url }] } };
}

test('an IPv6 address in jdbcUrl, bare, with a user, as one of several hosts', { skip }, async () => {
  await using server = await ownServer('mariadb', ['bind-address=127.0.0.1,::1']);
  await using db = await ownDatabase(server.url);
  const { port } = new URL(db.url);
  const { username, password } = userOf(db);
  await db.query('create table s (id int primary key, host varchar(60))');
  await db.query("insert into s values (1, 'a')");
  await db.query('create table t like s');
  // Tells by which way the rows came.
  await db.query("create trigger six before insert on t for each row set new.host = substring_index(user(), '@', -1)");
  const urls = [
    `jdbc:mysql://[::1]:${port}/${db.name}`,
    `jdbc:mysql://[0:0:0:0:0:0:0:1]:${port}/${db.name}?useUnicode=true`,
    `jdbc:mysql://${username}:${password}@[::1]:${port}/${db.name}`,
    `jdbc:mysql://[::1]:1,[::1]:${port}/${db.name}`,
  ];
  for (const url of urls) {
    using ws = new Workspace();
    await db.query('truncate t');
    const job = { reader: withUrl(mysqlReader(db, 's'), [url]), writer: withUrl(mysqlWriter(db, 't'), url) };
    assertDone(await runJob(ws, job), [1, 1]);
    assert.deepEqual(await db.query('select id, host from t'), [['1', '::1']], url);
  }
});

test('nobody listens at an IPv6 address: the message names it as the URL does', { skip }, async () => {
  await using db = await ownDatabase(testServer('mariadb')?.url ?? '');
  await db.query('create table s (id int primary key)');
  using ws = new Workspace();
  const reader = withUrl(mysqlReader(db, 's'), [`jdbc:mysql://[::1]:1/${db.name}`]);
  const r = await runJob(ws, { reader, writer: mysqlWriter(db, 's') });
  assert.equal(r.code, 1, r.stderr);
  assert.match(r.summary?.error?.message ?? '', /cannot connect to \[::1\]:1: ECONNREFUSED/);
});
