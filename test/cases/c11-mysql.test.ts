/** C11: identifiers that need quoting, and case that differs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSession } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  dirtyRows,
  mysqlReader,
  mysqlWriter,
  outLines,
  ownServerSuite,
  runJob,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const COLUMNS = ['order', 'a b', 'a.b', 'a`b', '"q"', '中文', 'id', "x'y"];
const DDL =
  '(`order` int, `a b` int, `a.b` int, `a``b` int, `"q"` int, `中文` int, `Id` int primary key, `x\'y` int) character set utf8mb4';
const TABLE = 'my.table-1';

ownServerSuite(MYSQL_SERVERS, 'C11', (server) => {
  const url = (database: string): { readonly url: string } => ({ url: new URL(`/${database}`, server().url).href });

  const setUp = async (globalMode: string) => {
    const admin = await openSession(server().url);
    for (const db of ['my-db', "o'ther `db`"]) {
      const name = `\`${db.replaceAll('`', '``')}\``;
      await admin.query(`drop database if exists ${name}`);
      await admin.query(`create database ${name}`);
      await admin.query(`create table ${name}.\`my.table-1\` ${DDL}`);
    }
    await admin.query('insert into `my-db`.`my.table-1` values (1,2,3,4,5,6,7,8)');
    await admin.query(`set global sql_mode = '${globalMode}'`);
    return admin;
  };
  const OTHER = "`o'ther ``db```";

  for (const mode of ['', 'ANSI_QUOTES', 'ANSI', 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT']) {
    test(`the names of the case, with the server's sql_mode '${mode}'`, async () => {
      await using admin = await setUp(mode);
      using ws = new Workspace();
      const more = { column: COLUMNS, splitPk: 'id', where: '1=1' };
      const to = url(encodeURIComponent("o'ther `db`"));
      const setting = { speed: { channel: 2 } };
      const r = await runJob(ws, { reader: mysqlReader(url('my-db'), TABLE, more), writer: csvWriter(), setting });
      assertDone(r, [1, 1]);
      assert.deepEqual(outLines(ws), ['1,2,3,4,5,6,7,8']);
      for (const way of [{}, { loadData: 'never' }, { writeMode: 'update' }, { writeMode: 'replace' }]) {
        await admin.query(`truncate table ${OTHER}.\`my.table-1\``);
        const writer = mysqlWriter(to, TABLE, { column: COLUMNS, ...way });
        const name = 'copy.json';
        assertDone(
          await runJob(ws, { reader: mysqlReader(url('my-db'), TABLE, more), writer, setting }, { name }),
          [1, 1],
        );
        assert.deepEqual(await admin.query(`select * from ${OTHER}.\`my.table-1\``), [
          ['1', '2', '3', '4', '5', '6', '7', '8'],
        ]);
      }
    });
  }

  test('the table with its database, in backticks, and by schema', async () => {
    await using _ = await setUp('');
    for (const [database, table, more] of [
      ['my-db', '`my.table-1`', {}],
      ['', '`my-db`.`my.table-1`', {}],
      ['', TABLE, { schema: 'my-db' }],
    ] as const) {
      using ws = new Workspace();
      const reader = mysqlReader(url(database), table);
      const [connection] = reader.parameter['connection'] as readonly object[];
      const parameter = { ...reader.parameter, connection: [{ ...connection, ...more }] };
      const r = await runJob(ws, { reader: { ...reader, parameter }, writer: csvWriter() });
      assertDone(r, [1, 1]);
      assert.deepEqual(outLines(ws), ['1,2,3,4,5,6,7,8']);
    }
  });

  test('texts with quotes and backslashes are exact under NO_BACKSLASH_ESCAPES as the default', async () => {
    await using admin = await setUp('NO_BACKSLASH_ESCAPES,ANSI_QUOTES');
    const texts = ['a\\', "it's", '"q"', "\\'", '\\\\', "'; drop table x; --", '\u0000\n', '%_'];
    await admin.query(
      'create table `my-db`.q (id varchar(40) character set utf8mb4 primary key, t text character set utf8mb4)',
    );
    await admin.query('create table `my-db`.q2 like `my-db`.q');
    for (const t of texts) await admin.query('insert into `my-db`.q values (?, ?)', [t, t]);
    for (const way of [{}, { loadData: 'never' }, { writeMode: 'update' }]) {
      using ws = new Workspace();
      await admin.query('truncate table `my-db`.q2');
      // Keys with quotes, as bounds of splits too.
      const reader = mysqlReader(url('my-db'), 'q', { splitPk: 'ID', splitSize: 1 });
      const r = await runJob(ws, {
        reader,
        writer: mysqlWriter(url('my-db'), 'q2', way),
        setting: { speed: { channel: 3 } },
      });
      assertDone(r, [texts.length, texts.length]);
      const rows = (t: string) => admin.query(`select hex(id), hex(t) from \`my-db\`.${t} order by 1`);
      assert.deepEqual(await rows('q2'), await rows('q'));
    }
  });

  for (const [what, reader, writer] of [
    ['a column to read', { column: ['nope', ...COLUMNS.slice(1)] }, {}],
    ['a split column', { splitPk: 'nope' }, {}],
    ['an incremental column', { increColumn: 'nope' }, {}],
    ['a column to write', { column: ['id'] }, { column: ['nope'] }],
    ['a key column', {}, { uniqueKey: ['nope'], writeMode: 'update' }],
  ] as const) {
    test(`${what} that does not exist fails before anything is read or written, naming it`, async () => {
      await using admin = await setUp('');
      using ws = new Workspace();
      const preSql = [`delete from \`${TABLE}\``];
      const job = {
        reader: mysqlReader(url('my-db'), TABLE, { column: COLUMNS, ...reader }),
        writer: mysqlWriter(url('my-db'), TABLE, { column: COLUMNS, preSql, semantic: 'at-least-once', ...writer }),
        setting: { dirty: { path: 'dirty' } },
      };
      const r = await runJob(ws, job);
      assert.equal(r.code, 2, r.stderr);
      assert.match(r.summary?.error?.message ?? r.stderr, /nope/);
      assert.deepEqual(await admin.query('select count(*) from `my-db`.`my.table-1`'), [['1']], 'preSql has not run');
      assert.deepEqual(dirtyRows(ws), []);
    });
  }

  test('a table that does not exist is named', async () => {
    await using _ = await setUp('');
    using ws = new Workspace();
    for (const job of [
      { reader: mysqlReader(url('my-db'), 'nope'), writer: csvWriter() },
      { reader: mysqlReader(url('my-db'), TABLE), writer: mysqlWriter(url('my-db'), 'nope') },
    ]) {
      const r = await runJob(ws, job);
      assert.notEqual(r.code, 0);
      assert.match(r.summary?.error?.message ?? '', /nope/);
    }
  });
});
