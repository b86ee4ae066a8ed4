/** `table: ["*"]` on both sides: every table of a database into the tables of the same names. */
import assert from 'node:assert/strict';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import { assertDone, mysqlReader, mysqlWriter, runJob } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const TABLES = [
  'create table a_parents (id int primary key, name varchar(40)) engine=InnoDB',
  'create table `b.children-1` (id int primary key, parent int, at datetime, foreign key (parent) references a_parents (id)) engine=InnoDB',
  'create table c_keyless (x int, y varchar(10)) engine=InnoDB',
  'create table d_empty (id int primary key) engine=InnoDB',
];

async function databases(server: TestServer): Promise<readonly [OwnDatabase, OwnDatabase]> {
  const [source, target] = [await ownDatabase(server.url), await ownDatabase(server.url)];
  for (const db of [source, target]) for (const t of TABLES) await db.query(t);
  const numbers = Array.from({ length: 3000 }, (_, i) => i + 1);
  await source.query(`insert into a_parents values ${numbers.map((n) => `(${String(n)}, 'é ${String(n)}')`).join()}`);
  await source.query(
    `insert into \`b.children-1\` values ${numbers.map((n) => `(${String(n)}, ${String(1 + (n % 50))}, '2024-01-01')`).join()}`,
  );
  await source.query(`insert into c_keyless values ${numbers.map((n) => `(${String(n % 10)}, 'same')`).join()}`);
  return [source, target];
}

async function sums(db: OwnDatabase): Promise<unknown> {
  await using session = await openSession(db.url);
  const tables = ['a_parents', '`b.children-1`', 'c_keyless', 'd_empty'];
  return (await session.query(`checksum table ${tables.join()}`)).map(([, sum]) => sum);
}

for (const channel of [1, 3]) {
  serverTest(
    MYSQL_SERVERS,
    `a whole database is copied, exactly once, over ${String(channel)} lanes`,
    async (server) => {
      const [source, target] = await databases(server);
      await using _source = source;
      await using _target = target;
      using ws = new Workspace();
      // Lanes read tables at the same time: children may come before their parents.
      const off = channel === 1 ? '' : 'sessionVariables=foreign_key_checks%3D0';
      const job = {
        reader: mysqlReader(source, '*', { splitSize: 65_536 }),
        writer: mysqlWriter(target, '*', { epochBytes: 20_000 }, off),
        setting: { speed: { channel } },
      };
      const r = await runJob(ws, job);
      assertDone(r, [9000, 9000]);
      assert.equal(r.summary?.delivery, 'exactly-once');
      assert.deepEqual(await sums(target), await sums(source));
    },
  );
}

serverTest(
  'mariadb',
  'a table that is missing at the target stops the job, naming it; nothing is lost in silence',
  async (server) => {
    const [source, target] = await databases(server);
    await using _source = source;
    await using _target = target;
    await target.query('drop table c_keyless');
    using ws = new Workspace();
    const r = await runJob(ws, { reader: mysqlReader(source, '*'), writer: mysqlWriter(target, '*') });
    assert.equal(r.code, 1);
    assert.match(r.stderr, /there is no table \S+\.c_keyless/);
  },
);

serverTest('mariadb', 'what needs one table is refused beside `*`', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const more = { column: ['id'], uniqueKey: ['id'], createTable: 'auto', writeStrategy: 'swap' };
  const r = await runJob(ws, { reader: mysqlReader(db, '*', { column: ['id'] }), writer: mysqlWriter(db, '*', more) });
  assert.equal(r.code, 2);
  for (const option of Object.keys(more))
    assert.match(r.stderr + r.stdout, new RegExp(`writer\\.parameter\\.${option}`));
});
