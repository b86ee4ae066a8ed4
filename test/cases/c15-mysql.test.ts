/** C15: batches, and rows, larger than max_allowed_packet of the target. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import {
  assertDone,
  dirtyRows,
  mysqlReader,
  mysqlWriter,
  ownServerSuite,
  runJob,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, testServer } from '../support/services.js';
import type { SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const MIB = 1_048_576;

ownServerSuite(MYSQL_SERVERS, 'C15', (server) => {
  /** A source on the shared server, and a target on ours, whose packets are small. */
  const setUp = async () => {
    const shared = testServer(server().kind);
    assert.ok(shared);
    await limit(MIB);
    const source = await ownDatabase(shared.url);
    const target = await ownDatabase(server().url);
    for (const db of [source, target])
      await db.query('create table t (id int primary key, v longtext character set latin1)');
    await source.query(`insert into t select n, repeat(char(96 + n), 300000)
      from (select 1 n union select 2 union select 3 union select 4 union select 5) x`);
    return { source, target };
  };
  const limit = async (bytes: number): Promise<void> => {
    await using admin = await openSession(server().url);
    await admin.query(`set global max_allowed_packet = ${String(bytes)}`);
  };
  const held = (db: OwnDatabase) => db.query('select id, length(v), md5(v) from t order by id');
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
  const FIVE = ['a', 'b', 'c', 'd', 'e'].map((c, i) => [String(i + 1), '300000', md5(c.repeat(300_000))]);
  const SIX = [...FIVE, ['6', '2000000', md5('f'.repeat(2_000_000))]];

  const run = (
    ws: Workspace,
    source: OwnDatabase,
    target: OwnDatabase,
    record: number,
    more: Json = {},
  ): Promise<SyncResult> =>
    runJob(ws, {
      reader: mysqlReader(source, 't'),
      writer: mysqlWriter(target, 't', { batchSize: 1024, ...more }),
      setting: { errorLimit: { record }, dirty: { path: 'dirty' } },
    });

  for (const way of [{}, { loadData: 'never' }, { writeMode: 'update' }, { writeMode: 'replace', loadData: 'never' }]) {
    test(`five rows that are too large together arrive; ${JSON.stringify(way)}`, async () => {
      const { source, target } = await setUp();
      await using _ = source;
      await using __ = target;
      using ws = new Workspace();
      assertDone(await run(ws, source, target, 0, way), [5, 5]);
      assert.deepEqual(await held(target), FIVE);
    });

    test(`a row that is too large alone is dirty, its neighbours arrive; ${JSON.stringify(way)}`, async () => {
      const { source, target } = await setUp();
      await using _ = source;
      await using __ = target;
      using ws = new Workspace();
      await source.query("insert into t values (6, repeat('f', 2000000))");
      assertDone(await run(ws, source, target, 1, way), [6, 5, 1]);
      assert.deepEqual(await held(target), FIVE);
      const [dirty, ...others] = dirtyRows(ws);
      assert.deepEqual(others, []);
      assert.equal(String(dirty?.row['id']), '6');
      assert.match(dirty?.reason ?? '', /max_allowed_packet/);
      assert.match(dirty?.reason ?? '', /2[,.]?0\d\d[,.]?\d\d\d|1\.9 Mi?B|2\.0 MB/, 'its size');
    });
  }

  test('without a limit for dirty rows it fails loudly; with a higher limit of the server the same job then completes', async () => {
    const { source, target } = await setUp();
    await using _ = source;
    await using __ = target;
    using ws = new Workspace();
    await source.query("insert into t values (6, repeat('f', 2000000))");
    const failed = await run(ws, source, target, 0, { writeMode: 'update' });
    assert.equal(failed.code, 3, failed.stderr);
    assert.match(failed.summary?.error?.message ?? '', /max_allowed_packet/);
    const committed = (await held(target)) as unknown as string[][];
    assert.deepEqual(committed, FIVE.slice(0, committed.length), 'whole rows only');
    await limit(16 * MIB);
    assertDone(await run(ws, source, target, 0, { writeMode: 'update' }));
    assert.deepEqual(await held(target), SIX);
  });

  test('values that grow by escaping, and rows just below the limit', async () => {
    const { source, target } = await setUp();
    await using _ = source;
    await using __ = target;
    await source.query('delete from t');
    // Quotes and backslashes take two bytes in a statement; 1,048,400 bytes fit nearly alone.
    const texts = ["'", '\\', '\n', 'x'].map((c, i) => [i + 1, c, i === 3 ? 1_048_400 : 500_000] as const);
    for (const [id, c, n] of texts) await source.query('insert into t values (?, repeat(?, ?))', [id, c, n]);
    for (const way of [{ loadData: 'never' }, {}, { writeMode: 'update' }]) {
      using ws = new Workspace();
      await target.query('truncate table t');
      const r = await run(ws, source, target, 4, way);
      assert.equal(r.code, 0, r.stderr);
      // What did not fit is dirty, and said so; nothing is cut, lost or stands twice.
      const ids = (await held(target)).map(([id]) => Number(id));
      const dirty = dirtyRows(ws).map((d) => Number(d.row['id']));
      assert.deepEqual([...ids, ...dirty].sort(), [1, 2, 3, 4], JSON.stringify(way));
      for (const [id, length, hash] of await held(target)) {
        const [, c = '', n = 0] = texts[Number(id) - 1] ?? [];
        assert.deepEqual([length, hash], [String(n), md5(c.repeat(n))]);
      }
    }
  });

  test('40 columns and 5,000 rows: statements stay below both limits', async () => {
    const { source, target } = await setUp();
    await using _ = source;
    await using __ = target;
    using ws = new Workspace();
    const columns = Array.from({ length: 40 }, (_, i) => `c${String(i)} text character set utf8mb4`).join(', ');
    for (const db of [source, target]) {
      await db.query('drop table t');
      await db.query(`create table t (id int auto_increment primary key, ${columns})`);
    }
    const values = Array.from({ length: 40 }, (_, i) => `repeat('é', ${String(i + 20)})`).join(', ');
    const names = Array.from({ length: 40 }, (_, i) => `c${String(i)}`).join(', ');
    await source.query(`insert into t (${names}) values ${Array(500).fill(`(${values})`).join(',')}`);
    for (let i = 0; i < 3; i++) await source.query(`insert into t (${names}) select ${names} from t`);
    const rows = 4000;
    assertDone(await run(ws, source, target, 0, { loadData: 'never', batchSize: 65535 }), [rows, rows]);
    const sum = (db: OwnDatabase) => db.query(`select count(*), sum(crc32(concat_ws('|', id, ${names}))) from t`);
    assert.deepEqual(await sum(target), await sum(source));
  });
});
