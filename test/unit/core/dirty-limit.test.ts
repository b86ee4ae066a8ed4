import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirtyLimit } from '../../../src/core/limits/dirty-limit.js';
import type { RejectedRow } from '../../../src/plugin-api/index.js';

const bad = (n: number, reason: string): RejectedRow => ({
  row: null,
  column: n % 2 === 0 ? 'c' : null,
  code: 'ROW_INVALID',
  reason,
  place: `in/a.csv:${String(n)}`,
});

function messageOf(limit: DirtyLimit, rows: readonly RejectedRow[]): string {
  try {
    limit.add(rows);
  } catch (e) {
    return (e as Error).message;
  }
  return assert.fail('the limit was not passed');
}

test('the error has the count, the limit and a line for each of the first ten rows, whatever their reasons hold', () => {
  const limit = new DirtyLimit({ record: 11, percentage: null }, 0);
  limit.add([bad(1, 'two\r\n  lines\tand\u2028more\n'), bad(2, 'x'.repeat(5000))]);
  const rest = Array.from({ length: 10 }, (_, i) => bad(i + 3, 'no int'));
  assert.deepEqual(messageOf(limit, rest).split('\n'), [
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

test('rows of earlier starts count against the limit and are no examples', () => {
  const limit = new DirtyLimit({ record: 5, percentage: null }, 5);
  assert.deepEqual(messageOf(limit, [bad(1, 'no int')]).split('\n'), [
    '6 dirty rows; errorLimit.record allows 5',
    '  in/a.csv:1: no int',
  ]);
});
