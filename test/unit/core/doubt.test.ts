import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitUnknown } from '../../../src/core/checkpoint/doubt.js';
import type { Committable, RecoverAnswer } from '../../../src/plugin-api/index.js';

const file = (n: number): Committable => ({
  data: { staged: 'x'.repeat(300) },
  place: `/out/part-${String(n)}`,
  rows: n,
});

test('a lane of which only some files are published: counts, names, and what either word would do', () => {
  const answers: readonly RecoverAnswer[] = [
    'committed',
    'unknown',
    'committed',
    'unknown',
    'committed',
    'unknown',
    'unknown',
  ];
  const committables = answers.map((_, i) => file(i + 1));
  const e = commitUnknown(7, 'run0', '/state', [{ lane: 2, committables, answers }]);
  assert.equal(e.code, 'COMMIT_UNKNOWN');
  assert.equal(
    e.message,
    'it cannot be told whether epoch 7 of run run0 was committed:\n' +
      '  lane 2: 3 of 7 pieces of epoch 7 are published; ' +
      '4 (19 rows) cannot be found, neither prepared nor published: /out/part-2, /out/part-4, /out/part-6 and 1 more',
  );
  const hint = e.hint ?? '';
  assert.ok(hint.includes('--as'), hint);
  assert.ok(hint.includes('committed: the missing rows (19 rows) are never written again'), hint);
  assert.ok(hint.includes('lost: the whole epoch of the lane (28 rows) is read and written again'), hint);
  assert.ok(hint.includes('first remove what is published of it: /out/part-1, /out/part-3, /out/part-5.'), hint);
});

test('committables of an unknown form are shown as short JSON, without counts; nothing is to be removed', () => {
  const c: Committable = { data: ['y'.repeat(500)] };
  const e = commitUnknown(1, 'r', '/s', [{ lane: 0, committables: [c], answers: ['unknown'] }]);
  assert.match(
    e.message,
    /0 of 1 pieces of epoch 1 are published; 1 cannot be found, neither prepared nor published: \["y+…$/,
  );
  assert.ok(e.message.length < 350, e.message);
  assert.doesNotMatch(e.hint ?? '', /rows\)|first remove/);
});
