/** C04: TIME as a signed duration, extreme DATETIME and YEAR; and dates that no calendar has. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertSameRows,
  csvWriter,
  dirtyRows,
  mustRun,
  mysqlReader,
  mysqlWriter,
  outLines,
  runJob,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const COLUMNS = ['a', 'b', 'c', 'e', 'y'];

async function copies(db: OwnDatabase, columns: readonly string[], from: string, to: string): Promise<void> {
  for (const way of [{}, { loadData: 'never' }, { writeMode: 'update' }, { writeMode: 'replace' }]) {
    using ws = new Workspace();
    await db.query(`truncate table ${to}`);
    await mustRun(ws, { reader: mysqlReader(db, from), writer: mysqlWriter(db, to, way) });
    await assertSameRows(db, from, to, columns);
  }
}

serverTest('mariadb', 'C04 to CSV as it is, and to MySQL equal', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const ddl = '(id int primary key, a time, b time(6), c time(2), e datetime(6), y year)';
  await db.query(`create table tm ${ddl}`);
  await db.query(`create table tm2 ${ddl}`);
  await db.query(`insert into tm values
    (1,'-838:59:59','-838:59:59','-00:00:00.12','1000-01-01 00:00:00.000001',1901),
    (2,'838:59:59','838:59:59.999999','00:00:00.12','9999-12-31 23:59:59.999999',2155),
    (3,'-00:00:01','-00:00:00.000001','-01:00:00.50','2016-12-21 17:57:16.000001',0),
    (4,'24:00:00','100:08:04.123456','-507:48:27.00','1969-12-31 23:59:59.999999',1999)`);
  await mustRun(ws, { reader: mysqlReader(db, 'tm', { column: ['id', ...COLUMNS] }), writer: csvWriter() });
  assert.deepEqual(outLines(ws), [
    '1,-838:59:59,-838:59:59.000000,-00:00:00.12,1000-01-01 00:00:00.000001,1901',
    '2,838:59:59,838:59:59.999999,00:00:00.12,9999-12-31 23:59:59.999999,2155',
    '3,-00:00:01,-00:00:00.000001,-01:00:00.50,2016-12-21 17:57:16.000001,0000',
    '4,24:00:00,100:08:04.123456,-507:48:27.00,1969-12-31 23:59:59.999999,1999',
  ]);
  await copies(db, COLUMNS, 'tm', 'tm2');
});

serverTest('mysql55', 'C04 without fractions, which this server lacks', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  const ddl = '(id int primary key, a time, e datetime, y year, y2 year(2))';
  await db.query(`create table tm ${ddl}`);
  await db.query(`create table tm2 ${ddl}`);
  await db.query(`insert into tm values (1,'-838:59:59','1000-01-01 00:00:00',1901,70), (2,'838:59:59','9999-12-31 23:59:59',2155,69),
    (3,'-00:00:01','2016-12-21 17:57:16',0,0), (4,'24:00:00','1969-12-31 23:59:59',1999,99)`);
  await mustRun(ws, { reader: mysqlReader(db, 'tm'), writer: csvWriter() });
  assert.deepEqual(outLines(ws), [
    '1,-838:59:59,1000-01-01 00:00:00,1901,1970',
    '2,838:59:59,9999-12-31 23:59:59,2155,2069',
    '3,-00:00:01,2016-12-21 17:57:16,0000,2000',
    '4,24:00:00,1969-12-31 23:59:59,1999,1999',
  ]);
  await copies(db, ['a', 'e', 'y', 'y2'], 'tm', 'tm2');
});

const ZERO_ROWS = `(1,'0000-00-00','0000-00-00 00:00:00',0), (2,'2024-00-15','2024-02-31 10:00:00','2024-05-01 10:00:00'),
  (3,'0001-01-01','0000-12-31 23:59:59','1970-01-01 00:00:01'), (4,'9999-12-31','2024-01-00 00:00:00','2038-01-19 03:14:07')`;

async function zeroDates(db: OwnDatabase): Promise<void> {
  const ddl = '(id int primary key, d date, t datetime, s timestamp null)';
  for (const t of ['z', 'z2']) await db.query(`create table ${t} ${ddl}`);
  await db.query("set session sql_mode = 'ALLOW_INVALID_DATES'");
  await db.query(`insert into z values ${ZERO_ROWS}`);
}

serverTest(MYSQL_SERVERS, 'C04 relatives: dates of zeros and off the calendar are kept as they are', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await zeroDates(db);
  await mustRun(ws, { reader: mysqlReader(db, 'z'), writer: csvWriter() });
  assert.deepEqual(outLines(ws), [
    '1,0000-00-00,0000-00-00 00:00:00,0000-00-00 00:00:00',
    '2,2024-00-15,2024-02-31 10:00:00,2024-05-01 10:00:00',
    '3,0001-01-01,0000-12-31 23:59:59,1970-01-01 00:00:01',
    '4,9999-12-31,2024-01-00 00:00:00,2038-01-19 03:14:07',
  ]);
  await copies(db, ['d', 't', 's'], 'z', 'z2');
});

serverTest(
  MYSQL_SERVERS,
  'C04 relatives: zeroDate null and error, and what zeroDateTimeBehavior says',
  async (server) => {
    await using db = await ownDatabase(server.url);
    await zeroDates(db);
    for (const [more, params] of [
      [{ zeroDate: 'null' }, ''],
      [{}, 'zeroDateTimeBehavior=convertToNull'],
    ] as const) {
      using ws = new Workspace();
      await mustRun(ws, { reader: mysqlReader(db, 'z', more, params), writer: csvWriter() });
      assert.equal(outLines(ws)[0], '1,\\N,\\N,\\N');
    }
    using ws = new Workspace();
    const setting = { errorLimit: { record: 10 }, dirty: { path: 'dirty' } };
    const r = await runJob(ws, { reader: mysqlReader(db, 'z', { zeroDate: 'error' }), writer: csvWriter(), setting });
    assert.equal(r.code, 0, r.stderr);
    assert.ok(
      dirtyRows(ws).some((d) => d.row['id'] === '1' || d.row['id'] === 1),
      JSON.stringify(dirtyRows(ws)),
    );
    assert.match(dirtyRows(ws)[0]?.reason ?? '', /zero date/);
    assert.ok(!outLines(ws).some((l) => l.startsWith('1,')));
  },
);
