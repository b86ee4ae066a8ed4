/**
 * The roads that look at four bytes at a time against those that look at each: an escape character that no input has
 * turns the former off and changes nothing else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvFormat, csvWriter, decodeAll, encodeAll } from './format-harness.js';

const NEVER = '\x01';

/** Mostly plain bytes, so that whole words are plain; and everything that ends or opens something, at any offset. */
const piece = fc.oneof(
  { weight: 12, arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀', '0', ' '), maxLength: 9 }) },
  { weight: 6, arbitrary: fc.constantFrom(',', ',', '\n', '\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '"', '""', '\\N', ',\\N,', '"x,\ny"', ',,', '\n\n', ',\r\n') },
);
const field = fc.oneof(
  fc.constantFrom('', '\r', 'a\r', '\\N', 'é', '"q,\n"', 'a"', '0'),
  fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' '), maxLength: 12 }),
);
const record = fc
  .tuple(field, field, field, fc.constantFrom('\n', '\n', '\r\n'))
  .map(([x, y, z, end]) => `${x},${y},${z}${end}`);
const text = fc.array(fc.oneof(piece, { weight: 2, arbitrary: record }), { maxLength: 40 }).map((p) => p.join(''));

test('any bytes: the same rows, rejections and places', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5 }), (body, chunk, batchRows) => {
      // A quote that stays open is an error on both roads: close it.
      const quotes = body.split('"').length - 1;
      const bytes = Buffer.from(`x,y,z\n${body}${quotes % 2 === 1 ? '"' : ''}\n`);
      const outcome = (escape: string | null): unknown => {
        try {
          return decodeAll(csvFormat({ escape }, true), bytes, { chunk, batchRows });
        } catch (e) {
          return String(e);
        }
      };
      assert.deepEqual(outcome(null), outcome(NEVER));
    }),
    { numRuns: 3000 },
  );
});

test('any cells: the same bytes', () => {
  const cell = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((p) => p.join('')),
    fc.constant(null),
  );
  const columns = ['x', 'y', 'z'].map((name) => ({ name, type: { is: 'string' as const } }));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 20 }),
      fc.integer({ min: 1, max: 300 }),
      (rows, target) => {
        const byWord = encodeAll(csvWriter(), columns, rows, target);
        const byByte = encodeAll(csvWriter({ escape: NEVER }), columns, rows, target);
        assert.equal(byWord.bytes.toString(), byByte.bytes.toString());
      },
    ),
    { numRuns: 2000 },
  );
});
