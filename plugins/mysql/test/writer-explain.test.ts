/** What `sync plan` is told of a table; nothing is changed by it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { PlanColumn } from 'syncx/plugin-api';
import { testRun } from 'syncx/plugin-testkit';
import { onServers, SERVERS } from './servers.js';
import { drive } from './writer-drive.js';

const FROM: readonly PlanColumn[] = [
  { name: 'ID', type: { is: 'int64' } },
  { name: 'text', type: { is: 'string' } },
];
const T = 'create table t (id int primary key, text varchar(100), g int as (id * 2)) engine=InnoDB';
const T55 = 'create table t (id int primary key, text varchar(100)) engine=InnoDB';

onServers(SERVERS, 'explain: SQL, columns by their types, what is there, and nothing made', async (db) => {
  await db.run(db.kind === 'mariadb' ? T : T55, "insert into t (id, text) values (1, 'a'), (2, 'b')");
  const w = await drive(db, { preSql: ['truncate table t'], writeMode: 'insert' }, testRun(), false);
  const facts = await w.writer.explain?.(FROM, null);
  assert.ok(facts);
  const [pre, sql] = facts.writes;
  assert.equal(pre, 'preSql: truncate table t');
  assert.match(sql ?? '', /^127\.0\.0\.1:\d+\/t_\w+: INSERT INTO `t_\w+`\.`t` \(`ID`, `text`\) VALUES …$/);
  assert.deepEqual(facts.columns, [
    { name: 'ID', type: { is: 'int32' } },
    { name: 'text', type: { is: 'string' } },
  ]);
  assert.deepEqual(facts.target, {
    place: `${db.name}.t`,
    state: 'filled',
    holds: 'about 2 rows',
    effect: 'they stay; a row whose key is there already is a dirty row',
  });
  assert.equal(facts.whyDelivery, null);
  assert.deepEqual(
    facts.problems.map((p) => [p.level, p.message]),
    [
      [
        'warning',
        'preSql may run twice, if the job is killed in the middle of it: it is not only INSERT, UPDATE, DELETE, REPLACE, or the job is not exactly-once',
      ],
    ],
  );
  assert.deepEqual((await db.rows('show tables')).flat(), ['t']);
  assert.deepEqual(await db.rows('select count(*) from t'), [['2']]);
});

onServers(SERVERS, 'explain: columns that do not fit, and rights that are missing', async (db) => {
  await db.run(T55);
  const name = `u_${randomBytes(4).toString('hex')}`;
  await db.run(`create user '${name}'@'%' identified by 'pw'`, `grant select on ${db.name}.t to '${name}'@'%'`);
  try {
    const as = { username: name, password: 'pw', writeMode: 'replace' };
    const w = await drive(db, as, testRun(), false);
    const facts = await w.writer.explain?.([...FROM, { name: 'more', type: { is: 'date' } }], null);
    assert.deepEqual(
      facts?.problems.map((p) => [p.level, p.code, p.message]),
      [
        ['error', 'COLUMN_MISMATCH', `the table ${db.name}.t has no column \`more\``],
        ['error', 'SINK_IO', `the user has no right to INSERT, DELETE on ${db.name}.t`],
      ],
    );
    assert.equal(facts.target?.state, 'empty');
    assert.equal(facts.whyDelivery, 'writeMode replace is at-least-once unless semantic is exactly-once');
  } finally {
    await db.run(`drop user '${name}'@'%'`);
  }
});

onServers(SERVERS, 'explain: a table that is to be made', async (db) => {
  const w = await drive(db, { createTable: 'auto' }, testRun(), false);
  const facts = await w.writer.explain?.(FROM, null);
  assert.equal(facts?.writes[0], `CREATE TABLE \`${db.name}\`.\`t\` (\`ID\` bigint null, \`text\` longtext null)`);
  assert.equal(facts.target?.state, 'missing');
  assert.deepEqual(await db.rows('show tables'), []);
});
