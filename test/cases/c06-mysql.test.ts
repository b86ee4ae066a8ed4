/** C06: bytes, character sets, geometry, NULL and empty string. */
import assert from 'node:assert/strict';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { assertSameRows, mustRun, mysqlReader, mysqlWriter, outLines, type Json } from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const DDL = `(id int primary key, l varchar(20) charset latin1, g varchar(20) charset gbk, u varchar(20) charset utf8mb4,
  t text charset gbk, bb varbinary(20), bin binary(4), c char(5) charset utf8mb4, w varchar(20) charset utf16, e varchar(9), p point)`;
const COLUMNS = ['l', 'g', 'u', 't', 'bb', 'bin', 'c', 'w', 'e', 'p'];
const HEX: Json = {
  l: '636166E9',
  g: 'B2E2CAD4',
  u: 'E6B8ACE8A9A6F09F9880C3A9',
  t: 'B6ABCEF77C61',
  bb: '00FF805C',
  bin: '61000000',
  c: '6162',
  w: '00E9D83DDE00',
  e: '',
  p: '000000000101000000000000000000F03F0000000000000040',
};
/** Every way in which rows get into a table. */
const WAYS: readonly Json[] = [
  {},
  { loadData: 'never' },
  { writeMode: 'update' },
  { writeMode: 'replace' },
  { writeMode: 'insert-ignore' },
];

async function fill(db: OwnDatabase, server: TestServer): Promise<void> {
  await db.query(`create table cs ${DDL}`);
  await db.query(`create table cs2 ${DDL}`);
  const geometry = server.kind === 'mariadb' ? 'st_geomfromtext' : 'geomfromtext';
  await db.query(`insert into cs values (1,'café','测试','測試😀é','东西|a',x'00FF805C',x'61','ab  ','é😀','',${geometry}('POINT(1 2)',0)),
    (2,null,null,null,null,null,null,null,null,null,null)`);
}

async function assertHolds(db: OwnDatabase, table: string, what: string): Promise<void> {
  const columns = COLUMNS.map((c) => `hex(${c})`).join(', ');
  const [row = [], nulls] = await db.query(`select ${columns} from ${table} order by id`);
  assert.deepEqual(Object.fromEntries(COLUMNS.map((c, i) => [c, row[i]])), HEX, what);
  assert.deepEqual(nulls, Array(10).fill(null), what);
}

serverTest(MYSQL_SERVERS, 'C06 to MySQL: every byte, in every way of writing', async (server) => {
  await using db = await ownDatabase(server.url);
  await fill(db, server);
  for (const way of WAYS) {
    using ws = new Workspace();
    await db.query('truncate table cs2');
    await mustRun(ws, { reader: mysqlReader(db, 'cs'), writer: mysqlWriter(db, 'cs2', way) });
    await assertHolds(db, 'cs2', JSON.stringify(way));
  }
});

serverTest(
  MYSQL_SERVERS,
  'C06 to JSON and CSV: proper Unicode, base64 for bytes, NULL is not empty; and back',
  async (server) => {
    await using db = await ownDatabase(server.url);
    using ws = new Workspace();
    await fill(db, server);
    const to = (fileType: string) => ({ name: 'filewriter', parameter: { path: fileType, fileType } });
    await mustRun(ws, { reader: mysqlReader(db, 'cs'), writer: to('json') });
    const [one = '', two = ''] = outLines(ws, 'json');
    assert.deepEqual(JSON.parse(one), {
      id: 1,
      l: 'café',
      g: '测试',
      u: '測試😀é',
      t: '东西|a',
      bb: Buffer.from('00FF805C', 'hex').toString('base64'),
      bin: 'YQAAAA==',
      c: 'ab',
      w: 'é😀',
      e: '',
      p: Buffer.from(String(HEX['p']), 'hex').toString('base64'),
    });
    assert.deepEqual(JSON.parse(two), { id: 2, ...Object.fromEntries(COLUMNS.map((c) => [c, null])) });
    await mustRun(ws, { reader: mysqlReader(db, 'cs'), writer: to('csv') });
    const type = (name: string) => (['bb', 'bin', 'p'].includes(name) ? 'binary' : name === 'id' ? 'int' : 'string');
    for (const fileType of ['json', 'csv']) {
      const column = ['id', ...COLUMNS].map((name, index) =>
        fileType === 'csv' ? { name, index, type: type(name) } : { name, type: type(name) },
      );
      const reader = {
        name: 'filereader',
        parameter: { path: fileType, fileType, column, ...(fileType === 'csv' ? { nullFormat: '\\N' } : {}) },
      };
      await db.query('truncate table cs2');
      await mustRun(ws, { reader, writer: mysqlWriter(db, 'cs2') });
      await assertHolds(db, 'cs2', fileType);
    }
  },
);

/** Texts with bytes that are quotes, backslashes, tabs or newlines in a character set, or look like the ends of fields. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  gbk: ['縗縗', '\\\'"\t\n\r\0\u001a', '誠\\', '許功蓋', 'a,b|c;', '\\N', ''],
  big5: ['許功蓋', '餐\\', '\\N', 'ab\tc'],
  sjis: ['表ソ能', 'ﾊﾝｶｸ', '表\\', "表'"],
  euckr: ['한국어', '\\'],
  latin1: ['äöü€ß', '\\N', "it's"],
  utf8: ['漢字é', '\\'],
  utf8mb4: ['😀👨‍👩‍👧', '\u0000a\u0000', '\\N', 'NULL', '  spaces ', 'e\u0301'],
  ucs2: ['漢字', 'a'],
  utf16: ['😀', 'a'],
  utf32: ['😀漢', 'a'],
  cp1251: ['Привет', 'ёЁ'],
  koi8r: ['Привет', '│'],
  ascii: ['plain', '\\'],
  tis620: ['ไทย'],
};

serverTest(
  MYSQL_SERVERS,
  'C06 relatives: character sets with backslashes and quotes as second bytes',
  async (server) => {
    await using db = await ownDatabase(server.url);
    const sets = Object.keys(TEXTS);
    const ddl = `(id int primary key, ${sets.map((s) => `\`${s}\` varchar(40) character set ${s}`).join(', ')}) character set utf8mb4`;
    await db.query(`create table x ${ddl}`);
    await db.query(`create table x2 ${ddl}`);
    const rows = Math.max(...Object.values(TEXTS).map((t) => t.length));
    for (let i = 0; i < rows; i++) {
      const values = sets.map((s) => TEXTS[s]?.[i] ?? null);
      await db.query(`insert into x values (${[i, ...values].map(() => '?').join(',')})`, [i, ...values]);
    }
    for (const way of WAYS) {
      using ws = new Workspace();
      await db.query('truncate table x2');
      await mustRun(ws, { reader: mysqlReader(db, 'x'), writer: mysqlWriter(db, 'x2', way) });
      await assertSameRows(db, 'x', 'x2', ['id', ...sets]);
    }
  },
);

serverTest(
  MYSQL_SERVERS,
  'C06 relatives: all bytes in binary types, labels of ENUM and SET, other geometry',
  async (server) => {
    await using db = await ownDatabase(server.url);
    const ddl = `(id int primary key, v varbinary(300), b blob, m mediumblob, l longblob, t tinyblob, bin binary(255),
    e enum('a','é,','x''y','') character set gbk, s set('a','b c','ü') character set latin1, g geometry, y bit(9), txt longtext)`;
    for (const t of ['y', 'y2']) await db.query(`create table ${t} ${ddl}`);
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const geometry = server.kind === 'mariadb' ? 'st_geomfromtext' : 'geomfromtext';
    const insert = `insert into y values (?,?,?,?,?,?,?,?,?,${geometry}(?, 4326),?,?)`;
    await db.query(insert, [1, all, all, all, all, all.subarray(0, 255), all.subarray(0, 255), 'é,', 'a,ü', 'POLYGON((0 0,1 0,1 1,0 0))', 257, '\\\'"\n\t\u0000'.repeat(5000)]); // prettier-ignore
    await db.query(insert, [
      2,
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      'GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))',
      0,
      '',
    ]);
    await db.query(insert, [3, null, null, null, null, null, null, null, null, null, null, null]);
    await db.query(insert, [4, '\\N', 'NULL', '\\', "'", '"', '\n', "x'y", 'b c', 'MULTIPOINT(0 0,1 1)', 511, '\\N']);
    const columns = ['id', 'v', 'b', 'm', 'l', 't', 'bin', 'e', 's', 'g', 'y', 'txt'];
    for (const way of WAYS) {
      using ws = new Workspace();
      await db.query('truncate table y2');
      await mustRun(ws, { reader: mysqlReader(db, 'y'), writer: mysqlWriter(db, 'y2', way) });
      await assertSameRows(db, 'y', 'y2', columns);
      assert.deepEqual(
        await db.query('select e + 0, s + 0 from y2 order by id'),
        await db.query('select e + 0, s + 0 from y order by id'),
      );
    }
  },
);
