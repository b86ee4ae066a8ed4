import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUCKETS, BucketSums, bucketOf } from '../../../../src/core/verify/bucket-sums.js';
import { grouped } from '../../../../src/core/verify/compare-rows.js';
import { RowHash } from '../../../../src/core/verify/row-hash.js';

type Cell = string | null | undefined;

function hashOf(cells: readonly Cell[]): RowHash {
  const h = new RowHash();
  h.begin();
  for (const c of cells) {
    const bytes = Buffer.from(`##${c ?? ''}##`);
    if (c === null) h.addNull();
    else if (c === undefined) h.addAbsent();
    else h.add(bytes, 2, bytes.length - 2);
  }
  h.finish();
  return h;
}

const text = (cells: readonly Cell[]): string => {
  const { high, low } = hashOf(cells);
  return `${String(high)}.${String(low)}`;
};

test('rows that are not the same have other hashes: borders of cells, NULL, ABSENT, empty, zero bytes', () => {
  const rows: readonly (readonly Cell[])[] = [
    ['a', 'bc'],
    ['ab', 'c'],
    ['abc', ''],
    ['', 'abc'],
    ['abc', null],
    [null, 'abc'],
    ['abc', undefined],
    ['abc'],
    [],
    [''],
    [null],
    ['\0'],
    ['\0\0\0\0'],
    ['', ''],
    ['', null],
    [null, ''],
    ['abcd', 'efgh'],
    ['efgh', 'abcd'],
  ];
  assert.equal(new Set(rows.map(text)).size, rows.length);
  assert.equal(text(['a', null]), text(['a', null]));
});

test('100,000 hashes of rows that are alike are all different, in each half by what chance gives', () => {
  const whole = new Set<string>();
  const [highs, lows] = [new Set<number>(), new Set<number>()];
  const rows = 100_000;
  const perBucket = new Uint32Array(256);
  for (let i = 0; i < rows; i++) {
    const h = hashOf([String(i), 'name', String(i % 7)]);
    whole.add(`${String(h.high)}.${String(h.low)}`);
    highs.add(h.high);
    lows.add(h.low);
    perBucket[bucketOf(h.low) & 255] = (perBucket[bucketOf(h.low) & 255] ?? 0) + 1;
  }
  assert.equal(whole.size, rows);
  // By chance 1.2 of 100,000 meet in 32 bits.
  assert.ok(highs.size > rows - 12 && lows.size > rows - 12, `${String(highs.size)}, ${String(lows.size)}`);
  const [least, most] = [Math.min(...perBucket), Math.max(...perBucket)];
  assert.ok(least > 300 && most < 485, `390 a bucket are meant, there are ${String(least)} to ${String(most)}`);
});

function sumsOf(rows: readonly (readonly Cell[])[]): BucketSums {
  const sums = new BucketSums();
  for (const r of rows) {
    const { high, low } = hashOf(r);
    sums.add(5, high, low);
  }
  return sums;
}

test('sums do not depend on the order of rows, and see what an XOR would not', () => {
  const [a, b, x, y] = [
    ['1', 'a'],
    ['2', 'b'],
    ['1', 'x'],
    ['2', 'y'],
  ] as const;
  const differ = (one: readonly (readonly Cell[])[], other: readonly (readonly Cell[])[]): readonly number[] =>
    sumsOf(one).differing(sumsOf(other));
  assert.deepEqual(differ([a, b, x, y], [y, a, x, b]), []);
  assert.deepEqual(differ([a, a], [b, b]), [5], 'a pair for a pair');
  assert.deepEqual(differ([a, a, b], [x, x, b]), [5], 'the same change made twice');
  assert.deepEqual(
    differ(
      [
        ['1', 'p'],
        ['2', 'q'],
      ],
      [
        ['1', 'q'],
        ['2', 'p'],
      ],
    ),
    [5],
    'two values that changed places',
  );
  assert.deepEqual(differ([a], [a, a]), [5], 'a row twice');
});

test('the sum carries from its low half into the high one, and wraps around', () => {
  const most = 0xffff_ffff;
  const [one, other] = [new BucketSums(), new BucketSums()];
  one.add(0, 1, most);
  one.add(0, 1, 1);
  other.add(0, 3, 0);
  other.add(0, 0, 0);
  assert.deepEqual(one.differing(other), []);
  one.add(0, most, most);
  other.add(0, most, most);
  assert.deepEqual(one.differing(other), []);
  other.add(BUCKETS - 1, 0, 0);
  assert.deepEqual(one.differing(other), [BUCKETS - 1], 'a row whose hash is zero counts');
});

test('buckets come in as few sets as their rows allow', () => {
  const rows = (b: number): number => (b === 3 ? 500 : 40);
  assert.deepEqual(grouped([1, 2, 3, 4, 5, 6], rows, 100), [[1, 2], [3], [4, 5], [6]]);
  assert.deepEqual(grouped([], rows, 100), []);
});
