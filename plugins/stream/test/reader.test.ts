import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from 'syncx/plugin-api';
import { fillOptions, testContext } from 'syncx/plugin-testkit';
import { reader } from '../index.js';
import { column, readStream } from './support.js';

const ID = { column: [{ name: 'id', type: 'ID' }] };

function findings(options: JsonObject): readonly string[] {
  return (reader.check?.(fillOptions(reader, options)) ?? []).map(
    (f) => `${f.level ?? 'error'} ${f.path}: ${f.message}`,
  );
}

test('the counter goes from 1 over all splits, whatever their number', async () => {
  assert.deepEqual(column(await readStream({ ...ID, sliceRecordCount: 3 }), 'id'), ['1', '2', '3']);
  const two = await readStream({ ...ID, sliceRecordCount: [2, 3] });
  assert.deepEqual(
    two.splits.map((s) => [s.id, s.bounded]),
    [
      ['slice-0', true],
      ['slice-1', true],
    ],
  );
  assert.deepEqual(column(two, 'id'), ['1', '2', '3', '4', '5']);
});

test('with an endless split the counters take turns, so that none is there twice', async () => {
  const s = await readStream({ ...ID, sliceRecordCount: [0, 2] }, { enough: 3, batchRows: 3 });
  assert.deepEqual(
    s.splits.map((x) => x.bounded),
    [false, true],
  );
  assert.deepEqual(
    s.rows
      .get('slice-0')
      ?.slice(0, 3)
      .map((r) => r['id']),
    ['1', '3', '5'],
  );
  assert.deepEqual(
    s.rows.get('slice-1')?.map((r) => r['id']),
    ['2', '4'],
  );
});

test('a saved plan that lacks a part is refused: it would give rows again', async () => {
  const r = await reader.create(fillOptions(reader, { ...ID, sliceRecordCount: 3 }), testContext());
  for (const saved of [
    { format: 1, baseTime: 5 },
    { format: 1, next: 1 },
    { format: 1, next: '1', baseTime: 5 },
    { format: 2 },
  ]) {
    await assert.rejects(async () => r.planner(saved), { code: 'STATE_CORRUPT' });
  }
});

test('no count, or 0, is endless; the job is unbounded then', () => {
  const bounded = (o: JsonObject) => reader.boundedness(fillOptions(reader, { ...ID, ...o }));
  assert.equal(bounded({}), 'unbounded');
  assert.equal(bounded({ sliceRecordCount: [5, 0] }), 'unbounded');
  assert.equal(bounded({ sliceRecordCount: 5 }), 'bounded');
});

test('a constant is in every row; a column without a name has its number', async () => {
  const s = await readStream({
    column: [
      { type: 'string', value: 'é, "x"' },
      { type: 'decimal(5,2)', value: '-1.50' },
    ],
    sliceRecordCount: [2],
  });
  const row = { column1: 'é, "x"', column2: '-1.50' };
  assert.deepEqual(s.rows.get('slice-0'), [row, row]);
});

test('dates and times start from the first start of the run, and move with the rows', async () => {
  const types = ['date', 'time', 'time(3)', 'datetime(0)', 'timestamp(3)', 'timestamp', 'timestamp(9)', 'year'];
  const options = { column: types.map((type) => ({ name: type, type })), sliceRecordCount: [2] };
  const saved = { format: 1, next: 0, baseTime: Date.UTC(2024, 11, 31, 23, 59, 59, 999) };
  assert.deepEqual((await readStream(options, { saved })).rows.get('slice-0'), [
    {
      date: '2024-12-31',
      time: '23:59:59',
      'time(3)': '23:59:59.999',
      'datetime(0)': '2024-12-31 23:59:59',
      'timestamp(3)': '2024-12-31 23:59:59.999',
      timestamp: '2024-12-31 23:59:59.999000',
      'timestamp(9)': '2024-12-31 23:59:59.999000000',
      year: '2024',
    },
    {
      date: '2025-01-01',
      time: '00:00:00',
      'time(3)': '00:00:00.000',
      'datetime(0)': '2025-01-01 00:00:00',
      'timestamp(3)': '2025-01-01 00:00:00.000',
      timestamp: '2025-01-01 00:00:00.000000',
      'timestamp(9)': '2025-01-01 00:00:00.000000000',
      year: '2025',
    },
  ]);
});

test('a plan that is resumed keeps its time and hands out only what is left', async () => {
  const options = { column: [{ name: 'at', type: 'timestamp(3)' }], sliceRecordCount: [1, 1] };
  const first = await readStream(options);
  assert.deepEqual((await readStream(options, { saved: first.snapshot })).splits, []);
  const saved = { ...(first.snapshot as JsonObject), next: 1 };
  const rest = await readStream(options, { saved });
  assert.deepEqual(
    rest.splits.map((s) => s.id),
    ['slice-1'],
  );
  assert.deepEqual(rest.rows.get('slice-1'), first.rows.get('slice-1'));
});

test('values have the lengths and ranges of their types', async () => {
  const options = {
    column: ['char', 'varchar(3)', 'byte', 'bit(1)', 'bigint'].map((type) => ({ name: type, type })),
    sliceRecordCount: [5000],
  };
  const s = await readStream(options);
  const of = (name: string) => column(s, name).map(String);
  assert.ok(of('char').every((v) => /^[a-z0-9]$/.test(v)));
  assert.ok(of('varchar(3)').every((v) => /^[a-z0-9]{3}$/.test(v)));
  const bytes = of('byte').map(Number);
  assert.deepEqual([Math.min(...bytes), Math.max(...bytes)], [0, 127]);
  assert.deepEqual([...new Set(of('bit(1)'))].sort(), ['0', '1']);
  assert.equal(new Set(of('bigint')).size, 5000);
  assert.ok(of('bigint').every((v) => BigInt(v) < 2n ** 53n && /^[1-9]\d*$/.test(v)));
});

test('a rate holds back the rows of a split', async () => {
  const began = performance.now();
  await readStream({ ...ID, sliceRecordCount: [31], permitsPerSecond: 100 });
  // 31 rows at 100 a second, in batches of ten: the last may come after 300 ms at the soonest.
  assert.ok(performance.now() - began >= 299);
});

test('a position behind the end of a split is refused', async () => {
  await assert.rejects(readStream({ ...ID, sliceRecordCount: [2] }, { from: { 'slice-0': { row: 3 } } }), {
    code: 'SOURCE_CHANGED',
  });
});

test('columns that cannot be made are findings', () => {
  const column = [
    { name: 'a', type: 'strng' },
    { name: 'b', type: 'int', value: '1.5' },
    { name: 'c', type: 'byte', value: '128' },
    { name: 'a', type: 'date', value: '2024-02-30' },
    { name: 'd', type: 'geometry' },
    { name: 'e', type: 'int', value: '-7', format: 'x' },
  ];
  assert.deepEqual(findings({ column }), [
    'error column[0].type: "strng" is not a type that can be made up',
    'error column[1].value: "1.5" is not a value of type int',
    'error column[2].value: "128" is not a value of type byte',
    'error column[3].name: a column before it has the name "a"',
    'error column[3].value: "2024-02-30" is not a value of type date',
    'error column[4].type: "geometry" is not a type that can be made up',
    'warning column[5].format: has no effect',
  ]);
});
