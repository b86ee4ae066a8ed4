/** C01: every integer, decimal and float keeps its exact value. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  assertSameRows,
  csvWriter,
  mustRun,
  mysqlReader,
  mysqlWriter,
  outLines,
  runJob,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const DDL = `(id int primary key, tu tinyint unsigned, bu bigint unsigned, b bigint, d decimal(65,30), w decimal(10,2), f float)`;
const COLUMNS = ['id', 'tu', 'bu', 'b', 'd', 'w', 'f'];

async function fill(db: OwnDatabase): Promise<void> {
  await db.query(`create table n ${DDL}`);
  await db.query(`create table n2 ${DDL}`);
  await db.query(`insert into n values
    (1,255,18446744073709551615,-9223372036854775808, 99999999999999999999999999999999999.999999999999999999999999999999, 500.00, 16777217),
    (2,128, 9223372036854775808, 9007199254740993,   -0.000000000000000000000000000001,                                     -0.50, 345.678894)`);
}

const EXACT = [
  '1,255,18446744073709551615,-9223372036854775808,99999999999999999999999999999999999.999999999999999999999999999999,500.00,16777216',
  '2,128,9223372036854775808,9007199254740993,-0.000000000000000000000000000001,-0.50,345.6789',
];

serverTest(MYSQL_SERVERS, 'C01 A: to CSV, digit for digit', async (server) => {
  await using db = await ownDatabase(server.url);
  using ws = new Workspace();
  await fill(db);
  for (const channel of [1, 3]) {
    const writer = csvWriter({ path: `out${String(channel)}` });
    const r = await runJob(ws, { reader: mysqlReader(db, 'n'), writer, setting: { speed: { channel } } });
    assertDone(r, [2, 2]);
    assert.deepEqual(outLines(ws, `out${String(channel)}`), EXACT);
  }
});

const WAYS: readonly Json[] = [
  { writeMode: 'insert' },
  { writeMode: 'insert', loadData: 'never' },
  { writeMode: 'replace', loadData: 'never' },
  { writeMode: 'update' },
];

serverTest(MYSQL_SERVERS, 'C01 B: to a table of the same form, the same in every way of writing', async (server) => {
  await using db = await ownDatabase(server.url);
  await fill(db);
  for (const way of WAYS) {
    using ws = new Workspace();
    await db.query('truncate table n2');
    assertDone(await runJob(ws, { reader: mysqlReader(db, 'n'), writer: mysqlWriter(db, 'n2', way) }), [2, 2]);
    const floats = await db.query('select f + 0e0 from n2 order by id');
    assert.deepEqual(floats, [['16777216'], ['345.67889404296875']], JSON.stringify(way));
    const differing = `select count(*) from n join n2 using (id) where not (${COLUMNS.map((c) => `n.${c} <=> n2.${c}`).join(' and ')})`;
    assert.deepEqual(await db.query(differing), [['0']], JSON.stringify(way));
    await assertSameRows(db, 'n', 'n2', COLUMNS);
  }
});

const EDGES = `(id int primary key, t1 tinyint(1), z int(6) unsigned zerofill, m mediumint, s smallint unsigned, y bit(64),
  dz decimal(12,4) zerofill, fd float(7,3), dd double(30,10), f float, x double, n decimal(65,0))`;
const EDGE_COLUMNS = ['id', 't1', 'z', 'm', 's', 'y', 'dz', 'fd', 'dd', 'f', 'x', 'n'];
const EDGE_ROWS = `
  (1, 2, 42, -8388608, 65535, b'1111111111111111111111111111111111111111111111111111111111111111',
   1.5, 1234.567, 0.1, 3.4028234663852886e38, 1.7976931348623157e308, 99999999999999999999999999999999999999999999999999999999999999999),
  (2, -128, 0, 8388607, 0, b'0', 0, -0.001, -123456789.0123456789, 1.17549435e-38, 2.2250738585072014e-308, -1),
  (3, 127, 999999, 0, 1, b'101', 99999999.9999, 9999.999, 1e15, -0.1, 0.1, 0),
  (4, null, null, null, null, null, null, null, null, null, null, null),
  (5, 0, 1, 1, 1, b'1', 0.0001, 0, 0, 123456792, 9007199254740993, 10000000000000000000000),
  (6, 1, 1, 1, 1, b'1', 1, 1, 1, 0.333333333, 0.30000000000000004, 1)`;

serverTest(
  MYSQL_SERVERS,
  'C01 relatives: edges of all number types, through MySQL, CSV and JSON and back',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    for (const t of ['e', 'copy', 'fromcsv', 'fromjson']) await db.query(`create table ${t} ${EDGES}`);
    await db.query(`insert into e values ${EDGE_ROWS}`);
    await mustRun(ws, { reader: mysqlReader(db, 'e'), writer: mysqlWriter(db, 'copy') });
    await assertSameRows(db, 'e', 'copy', EDGE_COLUMNS);
    const doubles = (t: string) => db.query(`select id, f + 0e0, fd + 0e0, dd + 0e0, x + 0e0 from ${t} order by id`);
    assert.deepEqual(await doubles('copy'), await doubles('e'));
    const types = ['int', 'tinyint', 'int unsigned', 'mediumint', 'smallint unsigned', 'bit(64)', 'decimal(12,4)'];
    const all = [...types, 'float', 'double', 'float', 'double', 'decimal(65,0)'];
    const column = EDGE_COLUMNS.map((name, index) => ({ name, index, type: all[index] }));
    for (const fileType of ['csv', 'json']) {
      const path = `out-${fileType}`;
      await mustRun(ws, {
        reader: mysqlReader(db, 'e'),
        writer: { name: 'filewriter', parameter: { path, fileType } },
      });
      const json = column.map(({ name, type }) => ({ name, type }));
      const reader = {
        name: 'filereader',
        parameter: { path, fileType, column: fileType === 'csv' ? column : json, nullFormat: '\\N' },
      };
      if (fileType === 'json') Reflect.deleteProperty(reader.parameter, 'nullFormat');
      await mustRun(ws, { reader, writer: mysqlWriter(db, `from${fileType}`) });
      await assertSameRows(db, 'e', `from${fileType}`, EDGE_COLUMNS);
      assert.deepEqual(await doubles(`from${fileType}`), await doubles('e'), fileType);
    }
    assert.equal(outLines(ws, 'out-csv')[0], `1,2,42,-8388608,65535,18446744073709551615,${EDGE_CSV_1}`);
  },
);

const EDGE_CSV_1 = `1.5000,1234.567,0.1,3.4028235e+38,1.7976931348623157e+308,${'9'.repeat(65)}`;
