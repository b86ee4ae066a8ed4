import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirtyLimit, dirtyMemory, showingRows } from '../../../src/core/limits/dirty-limit.js';
import { SyncError, toSyncError, type RejectedRow } from '../../../src/plugin-api/index.js';

const bad = (n: number, reason: string): RejectedRow => ({
  row: null,
  column: n % 2 === 0 ? 'c' : null,
  code: 'ROW_INVALID',
  reason,
  place: `in/a.csv:${String(n)}`,
});

function passed(limit: DirtyLimit, rows: number): SyncError {
  try {
    limit.add(rows);
  } catch (e) {
    return toSyncError(e);
  }
  return assert.fail('the limit was not passed');
}

test('the error has the count, the limit and a line for each of the first rows, whatever their reasons hold', () => {
  const limit = new DirtyLimit({ record: 11, percentage: null }, dirtyMemory(0));
  limit.add(2);
  const first = [
    bad(1, 'two\r\n  lines\tand\u2028more\n'),
    bad(2, 'x'.repeat(5000)),
    ...Array.from({ length: 8 }, (_, i) => bad(i + 3, 'no int')),
  ];
  const error = showingRows(passed(limit, 10), first, 12);
  assert.equal(error.code, 'DIRTY_LIMIT');
  assert.deepEqual(error.message.split('\n'), [
    '12 dirty rows; errorLimit.record allows 11',
    '  in/a.csv:1: two   lines and more',
    `  in/a.csv:2, column c: ${'x'.repeat(300 - 'in/a.csv:2, column c: '.length)}…`,
    '  in/a.csv:3: no int',
    '  in/a.csv:4, column c: no int',
    '  in/a.csv:5: no int',
    '  in/a.csv:6, column c: no int',
    '  in/a.csv:7: no int',
    '  in/a.csv:8, column c: no int',
    '  in/a.csv:9: no int',
    '  in/a.csv:10, column c: no int',
    '  and 2 more',
  ]);
});

test('rows of earlier starts count against the limit', () => {
  const limit = new DirtyLimit({ record: 5, percentage: null }, dirtyMemory(5));
  assert.equal(passed(limit, 1).message, '6 dirty rows; errorLimit.record allows 5');
});

test('views of one memory count together', () => {
  const memory = dirtyMemory(1);
  const [a, b] = [0, 1].map(() => new DirtyLimit({ record: 4, percentage: null }, memory));
  a?.add(2);
  b?.add(1);
  assert.equal(a?.count, 4);
  assert.ok(b);
  assert.equal(passed(b, 1).message, '5 dirty rows; errorLimit.record allows 4');
});

test('errors of another code are not touched', () => {
  const e = new SyncError('SINK_IO', 'x');
  assert.equal(showingRows(e, [bad(1, 'no int')], 1), e);
});
