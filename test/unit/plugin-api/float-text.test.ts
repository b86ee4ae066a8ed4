import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { float32Text, float64Text } from '../../../src/plugin-api/float-text.js';

test('float32Text gives the shortest text of that width', () => {
  const table: readonly (readonly [number, string])[] = [
    [Math.fround(0.1), '0.1'],
    [Math.fround(1 / 3), '0.33333334'],
    [16777216, '16777216'],
    [16777218, '16777218'],
    [100, '100'],
    [1.5, '1.5'],
    [3.4028234663852886e38, '3.4028235e+38'],
    [1.401298464324817e-45, '1e-45'],
    [-0, '-0'],
    [0, '0'],
    [NaN, 'NaN'],
    [-Infinity, '-Infinity'],
    [0.1, '0.1'],
  ];
  for (const [n, text] of table) assert.equal(float32Text(n), text);
});

test('float64Text keeps the sign of zero and the shortest digits', () => {
  for (const [n, text] of [
    [0.1, '0.1'],
    [-0, '-0'],
    [5e-324, '5e-324'],
    [1e21, '1e+21'],
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
  ] as const) {
    assert.equal(float64Text(n), text);
  }
});

test('both texts parse back to the same value', () => {
  fc.assert(fc.property(fc.float(), (n) => Object.is(Math.fround(Number(float32Text(n))), n)));
  fc.assert(fc.property(fc.double(), (n) => Object.is(Number(float64Text(n)), n)));
});

test('no shorter text would do for a float32', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (n) => {
      const digits = float32Text(n)
        .replace(/e.*$/, '')
        .replace(/[-.]/g, '')
        .replace(/^0+|0+$/g, '').length;
      return digits <= 1 || Math.fround(Number(n.toPrecision(digits - 1))) !== n;
    }),
  );
});
