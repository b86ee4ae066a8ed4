/** C08: a string as split key, under the server's own collation. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { assertDone, csvWriter, jobFile, mysqlReader, outLines, runJob, type Json } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const CHANNELS = [1, 2, 3, 4, 7];

/** Each row once, whatever the number of channels; `more`: options of the reader. */
async function assertEachOnce(
  db: OwnDatabase,
  table: string,
  rows: readonly string[],
  more: Json = {},
  channels: readonly number[] = CHANNELS,
): Promise<void> {
  for (const channel of channels) {
    using ws = new Workspace();
    const reader = mysqlReader(db, table, { splitPk: 'id', ...more });
    const r = await runJob(ws, { reader, writer: csvWriter(), setting: { speed: { channel } } });
    assertDone(r, [rows.length, rows.length]);
    assert.deepEqual(outLines(ws), [...rows].sort(), `${table} ${JSON.stringify(more)} channel ${String(channel)}`);
  }
}

const CI = ['0000', '1111', 'aaaa', 'bbbb', 'Fxxx', 'fyyy', 'ZZZZ'];
const CI2 = ['aGGGGGG', 'GbGGGGG', 'GGcGGGG', 'GGGdGGG', 'GGGGeGG', 'GGGGGfG', 'GGGGGGg'];

async function table(db: OwnDatabase, name: string, type: string, rows: readonly string[]): Promise<void> {
  await db.query(`create table ${name} (id ${type})`);
  for (let i = 0; i < rows.length; i += 500) {
    const part = rows.slice(i, i + 500);
    await db.query(`insert into ${name} values ${part.map(() => '(?)').join(',')}`, part);
  }
}

serverTest(MYSQL_SERVERS, 'C08 seven keys that differ in case, by 1, 2, 3, 4 and 7 channels', async (server) => {
  await using db = await ownDatabase(server.url);
  await table(db, 'ci', 'varchar(20) character set utf8mb4 collate utf8mb4_general_ci primary key', CI);
  await table(db, 'ci2', 'varchar(20) character set utf8 collate utf8_general_ci primary key', CI2);
  await assertEachOnce(db, 'ci', CI);
  await assertEachOnce(db, 'ci2', CI2);
  // Splits of a row or two, that is.
  await assertEachOnce(db, 'ci', CI, { splitSize: 1 }, [3, 7]);
  await assertEachOnce(db, 'ci2', CI2, { splitSize: 1 }, [3, 7]);
});

serverTest(MYSQL_SERVERS, 'C08 many keys of that kind do split, and each row comes once', async (server) => {
  await using db = await ownDatabase(server.url);
  // Case and accents at random places, so that the order of bytes says nothing; padding too.
  const letters = ['a', 'A', 'á', 'b', 'B', 'z', 'Z', 'é', 'E', '_', '-', '~', '中'];
  const keys = Array.from({ length: 3000 }, (_, i) => {
    const at = (n: number): string => letters[(i * 7919 + n * 104729 + Math.floor(i / 13 ** n)) % letters.length] ?? '';
    return `${at(0)}${at(1)}${at(2)}${String(i)}`;
  });
  for (const [name, collation] of [
    ['g', 'utf8mb4_general_ci'],
    ['u', 'utf8mb4_unicode_ci'],
    ['b', 'utf8mb4_bin'],
  ] as const) {
    await table(db, name, `varchar(40) character set utf8mb4 collate ${collation} primary key`, keys);
    await db.query(`analyze table ${name}`);
    await assertEachOnce(db, name, keys, { splitSize: 8192 }, [1, 4]);
    using ws = new Workspace();
    const reader = mysqlReader(db, name, { splitPk: 'id', splitSize: 8192 });
    const job = jobFile(ws, { reader, writer: csvWriter(), setting: { speed: { channel: 4 } } });
    const plan = await sync(['plan', job], { cwd: ws.dir });
    assert.equal(plan.code, 0, plan.stderr);
    const splits = Number(/^ *splits +(\d+)/m.exec(plan.stdout)?.[1]);
    assert.ok(splits > 1 || /one split|not split/i.test(plan.stdout), plan.stdout);
  }
});

serverTest(
  MYSQL_SERVERS,
  'C08 relatives: keys that are equal to the collation, padded, empty, binary',
  async (server) => {
    await using db = await ownDatabase(server.url);
    // Not unique: all of these are two or three values only to the server.
    const same = Array.from(
      { length: 300 },
      (_, i) => ['a', 'A', 'á', 'Á', 'a ', 'b', 'B', '', 'ss', 'ß'][i % 10] ?? '',
    );
    for (const [name, type] of [
      ['e1', 'varchar(20) character set utf8mb4 collate utf8mb4_unicode_ci not null, key (id)'],
      ['e2', 'varchar(20) character set latin1 collate latin1_german2_ci, key (id)'],
      ['e3', 'varchar(20) character set utf8mb4 collate utf8mb4_general_ci'],
    ] as const) {
      await table(db, name, type, same);
      await assertEachOnce(
        db,
        name,
        same.map((s) => (s === '' ? '""' : s)),
        { splitSize: 1 },
        [1, 3],
      );
    }
    await db.query('create table bin (id binary(16) primary key, n int)');
    const uuids = Array.from({ length: 400 }, (_, i) => i);
    await db.query(
      `insert into bin values ${uuids.map((i) => `(unhex(md5('${String(i)}')), ${String(i)})`).join(',')}`,
    );
    for (const channel of [1, 4]) {
      using ws = new Workspace();
      const reader = mysqlReader(db, 'bin', { splitPk: 'id', splitSize: 2000, column: ['n'] });
      assertDone(await runJob(ws, { reader, writer: csvWriter(), setting: { speed: { channel } } }), [400, 400]);
      assert.deepEqual(
        outLines(ws)
          .map(Number)
          .sort((a, b) => a - b),
        uuids,
      );
    }
  },
);

serverTest(MYSQL_SERVERS, 'C08 relatives: an enum, a composite key, and NULL among the texts', async (server) => {
  await using db = await ownDatabase(server.url);
  await db.query(`create table en (id enum('zebra','apple','Mango') not null, n int, primary key (id, n))`);
  const enums = Array.from({ length: 300 }, (_, i) => `('${['zebra', 'apple', 'Mango'][i % 3] ?? ''}', ${String(i)})`);
  await db.query(`insert into en values ${enums.join(',')}`);
  const wanted = Array.from({ length: 300 }, (_, i) => `${['zebra', 'apple', 'Mango'][i % 3] ?? ''},${String(i)}`);
  await assertEachOnce(db, 'en', wanted, { splitSize: 1000 }, [1, 3]);
  await db.query('create table nul (id varchar(10) character set utf8mb4, n int, key (id))');
  const nulls = Array.from({ length: 200 }, (_, i) => [i % 4 === 0 ? null : `k${String(i % 20)}`, i] as const);
  await db.query(`insert into nul values ${nulls.map(() => '(?,?)').join(',')}`, nulls.flat());
  await assertEachOnce(
    db,
    'nul',
    nulls.map(([k, n]) => `${k ?? '\\N'},${String(n)}`),
    { splitSize: 500 },
    [1, 3],
  );
});
