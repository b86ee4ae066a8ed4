import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SplitTrack } from '../../../src/core/lane/split-track.js';

const split = (id: string): { id: string; bounded: boolean; spec: null; weight: null } => ({
  id,
  bounded: true,
  spec: null,
  weight: null,
});
const shown = (t: SplitTrack): unknown => t.cut().map((p) => [p.split.id, p.from, p.to, p.ended !== null]);

test('an epoch that grows after its barrier was withdrawn reaches back to its beginning', () => {
  const t = new SplitTrack();
  t.assign(split('a'), 1);
  t.assign(split('b'), null);
  t.moved('a', 5);
  t.moved('b', 3);
  t.ended('b', 4, null);
  const cut = t.cut();
  t.moved('a', 9);
  t.uncut(cut);
  assert.deepEqual(shown(t), [
    ['a', 1, 9, false],
    ['b', null, 4, true],
  ]);
  assert.deepEqual(shown(t), []);
  t.moved('a', 10);
  assert.deepEqual(shown(t), [['a', 9, 10, false]]);
});

test('no position inside a transaction, and no rows of a split that is not open', () => {
  const t = new SplitTrack();
  t.assign(split('a'), null);
  t.moved('a', 2);
  t.moved('a', null);
  assert.equal(t.allSafe, false);
  assert.deepEqual([t.openIds(), t.isSafe('a')], [['a'], false]);
  t.moved('a', 6);
  assert.equal(t.allSafe, true);
  assert.deepEqual(shown(t), [['a', null, 6, false]]);
  assert.throws(() => t.moved('b', 1), { code: 'PLUGIN_BROKEN' });
  t.ended('a', 6, null);
  assert.throws(() => t.moved('a', 7), { code: 'PLUGIN_BROKEN' });
  assert.throws(() => t.assign(split('a'), null), { code: 'PLUGIN_BROKEN' });
});
