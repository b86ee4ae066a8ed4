import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BatchBuilder, internSchema, type LogicalType, type RejectedRow, type RowBatch } from 'syncx/plugin-api';
import { bucketName, checkBucketFormat, localParts, timeBuckets } from '../bucket-names.js';
import { Bucketing } from '../bucketing.js';
import { regroup } from '../regroup.js';
import { writer } from '../index.js';
import { RUN, folder, laneOf, openWriter, rowsOf, writerOptions, type WriterOptions } from './drive.js';

const signal = new AbortController().signal;
type Row = readonly (string | null)[];

function batchOf(rows: readonly Row[], type: LogicalType = { is: 'string' }): RowBatch {
  const schema = internSchema([
    { name: 'id', type: { is: 'string' } },
    { name: 'k', type },
  ]);
  const b = new BatchBuilder(schema);
  for (const row of rows) {
    for (const cell of row) {
      if (cell === null) b.appendNull();
      else b.appendText(cell);
    }
    b.endRow();
  }
  return b.finish('s', null, 0);
}

/** Folder → lines, after one last epoch. */
async function write(
  dir: string,
  o: Partial<WriterOptions>,
  ...batches: readonly RowBatch[]
): Promise<{ readonly files: Record<string, string>; readonly rejected: readonly RejectedRow[] }> {
  const w = await openWriter({ path: dir, ...o });
  await w.begin(RUN);
  const lane = await w.openLane(laneOf(), null);
  const rejected: RejectedRow[] = [];
  for (const b of batches) rejected.push(...((await lane.write(b, signal)).rejected ?? []));
  await lane.prepare(1);
  await lane.commit(1);
  await w.complete(RUN);
  const files: Record<string, string> = {};
  for (const name of readdirSync(dir).sort()) {
    const path = join(dir, name);
    assert.ok(statSync(path).isDirectory(), name);
    files[name] = readdirSync(path)
      .sort()
      .map((n) => readFileSync(join(path, n), 'utf8'))
      .join('|');
  }
  assert.equal(await w.committer?.highWater(RUN.runId), 1);
  return { files, rejected };
}

test('a folder for each value of a column, rows in their order', async (t) => {
  const rows: readonly Row[] = [
    ['1', 'de'],
    ['2', 'fr'],
    ['3', 'de'],
    ['4', null],
    ['5', ''],
    ['6', '../../etc'],
    ['7', '__NULL__'],
    ['8', 'fr'],
  ];
  const { files } = await write(folder(t), { bucket: 'column', bucketColumn: 'k' }, batchOf(rows), batchOf(rows));
  assert.deepEqual(files, {
    de: '1,de\n3,de\n1,de\n3,de\n',
    fr: '2,fr\n8,fr\n2,fr\n8,fr\n',
    __EMPTY__: '5,\n5,\n',
    __NULL__: '4,\\N\n4,\\N\n',
    '%2E.%2F..%2Fetc': '6,../../etc\n6,../../etc\n',
    '%5F_NULL__': '7,__NULL__\n7,__NULL__\n',
  });
});

test('names are safe, never hidden, and one a value', () => {
  assert.equal(bucketName('a b-ä😀'), 'a b-ä😀');
  assert.equal(bucketName('..'), '%2E.');
  assert.equal(bucketName('_x'), '%5Fx');
  assert.equal(bucketName('%2E'), '%252E');
  assert.equal(bucketName('a\u0000\n\\/\u007f'), 'a%00%0A%5C%2F%7F');
  const long = '🙂'.repeat(100);
  const names = [long, `${long}x`, `x${long}`, `${'%'.repeat(300)}`].map(bucketName);
  assert.equal(new Set(names).size, 4);
  for (const n of names) {
    assert.ok(Buffer.byteLength(n) <= 200, n);
    assert.ok(!n.includes('\ufffd'), n);
  }
});

test('times by a pattern', () => {
  const name = timeBuckets("yyyy-MM-dd--HH'h'mm.ss");
  assert.equal(name(localParts(new Date(2024, 1, 3, 4, 5, 6).getTime())), '2024-02-03--04h05.06');
  assert.deepEqual(checkBucketFormat('yyyy-MM-dd--HH'), []);
  for (const bad of ['YYYY', 'yy', "yyyy'", 'yyyy/MM']) assert.equal(checkBucketFormat(bad).length, 1, bad);
});

test('by the time of writing, by event time, and by a column of times', async (t) => {
  const at = new Date(2024, 1, 3, 4, 59, 59).getTime();
  const batch = batchOf([
    ['1', '2024-02-03 04:59:59'],
    ['2', '2024-02-03 05:00:00'],
    ['3', null],
  ]);
  const timed: RowBatch = { ...batch, eventTimes: Float64Array.from([at, at + 1000, NaN]) };
  const now = await write(folder(t), { bucket: 'time', bucketFormat: "'t'" }, batch);
  assert.deepEqual(Object.keys(now.files), ['t']);
  const want = { '2024-02-03--04': '1', '2024-02-03--05': '2', __NULL__: '3' };
  const ids = (files: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(files).map(([k, v]) => [k, v.split(',')[0] ?? '']));
  assert.deepEqual(ids((await write(folder(t), { bucket: 'eventTime' }, timed)).files), want);
  const column = { bucket: 'column', bucketColumn: 'k', bucketFormat: 'yyyy-MM-dd--HH' } as const;
  assert.deepEqual(ids((await write(folder(t), column, batch)).files), want);
  await assert.rejects(write(folder(t), { bucket: 'eventTime' }, batch), { code: 'JOB_INVALID' });
  const lane = new Bucketing({ by: 'time', column: null, format: 'yyyy-MM-dd--HH' }, () => at);
  const [section] = batch.sections;
  assert.ok(section);
  assert.deepEqual(
    lane.bucketsOf(batch, section, { projection: [0], names: ['id'] }, () => undefined),
    { one: '2024-02-03--04' },
  );
});

test('a cell that is no date is a dirty row; the others are written', async (t) => {
  const rows: readonly Row[] = [
    ['1', '2024-02-03'],
    ['2', 'tomorrow'],
    ['3', '2024-02-03'],
    ['4', '2023-02-29'],
    ['5', '2024-04-31'],
    ['6', '2024-13-01'],
    ['7', '2024-02-03 24:00:00'],
    ['8', '2024-02-03 23:60'],
    ['9', '2024-02-29 23:59:59.9'],
    ['10', '0000-00-00'],
  ];
  const o = { bucket: 'column', bucketColumn: 'k', bucketFormat: 'yyyyMMdd' } as const;
  const { files, rejected } = await write(folder(t), o, batchOf(rows));
  assert.deepEqual(files, {
    '20240203': '1,2024-02-03\n3,2024-02-03\n',
    '20240229': '9,2024-02-29 23:59:59.9\n',
    '00000000': '10,0000-00-00\n',
  });
  const bad = [1, 3, 4, 5, 6, 7].map((i) => rows[i] ?? ['', '']);
  assert.deepEqual(
    rejected.map((r) => [r.row, r.column, r.code]),
    bad.map(([id, k]) => [{ id, k }, 'k', 'ROW_INVALID']),
  );
});

test('the column may be left out of the file, or named as it is written; one that is not there is an error', async (t) => {
  const batch = batchOf([['1', 'x']]);
  const only = await write(folder(t), { bucket: 'column', bucketColumn: 'k', column: ['id'] }, batch);
  assert.deepEqual(only.files, { x: '1\n' });
  const renamed = await write(folder(t), { bucket: 'column', bucketColumn: 'b', column: ['a', 'b'] }, batch);
  assert.deepEqual(renamed.files, { x: '1,x\n' });
  await assert.rejects(write(folder(t), { bucket: 'column', bucketColumn: 'z' }, batch), { code: 'COLUMN_MISMATCH' });
});

test('past maxOpenBuckets the least recently used file is finished', async (t) => {
  const dir = folder(t);
  const o = { bucket: 'column', bucketColumn: 'k', maxOpenBuckets: 2 } as const;
  const one = (k: string): RowBatch => batchOf([['1', k]]);
  const { files } = await write(dir, o, one('a'), one('b'), one('a'), one('c'), one('a'), one('b'));
  assert.deepEqual(files, { a: '1,a\n1,a\n1,a\n', b: '1,b\n|1,b\n', c: '1,c\n' });
});

test('rows are grouped with all their flags', () => {
  const batch = batchOf([
    ['1', 'x'],
    ['2', null],
    ['', 'yy'],
    ['4', 'z'],
    ['5', 'left out'],
  ]);
  const [section] = batch.sections;
  assert.ok(section);
  const groups = regroup(batch, section, Int32Array.from([1, 0, 1, 0, -1]), 2);
  assert.deepEqual(
    groups.map((g) => rowsOf(g.batch)),
    [
      [
        ['2', null],
        ['4', 'z'],
      ],
      [
        ['1', 'x'],
        ['', 'yy'],
      ],
    ],
  );
});

test('binary values name folders in hexadecimal', async (t) => {
  const b = batchOf([['1', 'ab']], { is: 'binary' });
  assert.deepEqual((await write(folder(t), { bucket: 'column', bucketColumn: 'k' }, b)).files, { '6162': '1,YWI=\n' });
});

test('options that do not fit are found', () => {
  const paths = (o: Partial<WriterOptions>): readonly string[] =>
    (writer.check?.(writerOptions({ path: 'a', ...o })) ?? []).map((f) => f.path);
  assert.deepEqual(paths({ bucket: 'time' }), []);
  assert.deepEqual(paths({ bucket: 'column' }), ['bucketColumn']);
  assert.deepEqual(paths({ bucketColumn: 'k' }), ['bucketColumn']);
  assert.deepEqual(paths({ bucket: 'time', bucketFormat: 'QQ' }), ['bucketFormat']);
  assert.deepEqual(paths({ bucket: 'time', path: '-' }), ['bucket']);
});
