import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { csvFormat, csvWriter, decodeAll, encodeAll, strings } from '../unit/plugin-kit/format-harness.js';

const CHUNKS = [1, 2, 3, 7, 1000];

test('C56 quoted delimiters, quotes and line ends; spaces stay; a quote inside an unquoted field is data', () => {
  const bytes = Buffer.from('1,"a,b","he said ""hi""","line1\nline2\r\nline3"\n2, lead , trail ,\n3,"",x"y,"""\n"');
  for (const chunk of CHUNKS) {
    const got = decodeAll(csvFormat(), bytes, { chunk });
    assert.deepEqual(got.rows, [
      ['1', 'a,b', 'he said "hi"', 'line1\nline2\r\nline3'],
      ['2', ' lead ', ' trail ', ''],
      ['3', '', 'x"y', '"\n'],
    ]);
    assert.deepEqual(got.rejected, []);
    assert.equal(got.end.offset, bytes.length);
  }
});

test('C56 a delimiter of two characters; one of them alone is data', () => {
  for (const chunk of CHUNKS) {
    assert.deepEqual(decodeAll(csvFormat({ delimiter: '||' }), Buffer.from('1||a|b||c\n'), { chunk }).rows, [
      ['1', 'a|b', 'c'],
    ]);
  }
});

test('C56 a control character as delimiter, with an escape character', () => {
  const format = csvFormat({ delimiter: '\u0001', escape: '\\' });
  for (const chunk of CHUNKS) {
    assert.deepEqual(decodeAll(format, Buffer.from('1\u0001a\\\u0001b\u0001c\\\\d\n'), { chunk }).rows, [
      ['1', 'a\u0001b', 'c\\d'],
    ]);
  }
});

const PIECES = [',', '"', '\\', '\n', '\r', '\t', ' ', '|', 'é', '😀', ';', '\\N', '\u0001', '\ufeff'];

test('C56 what the CSV writer writes, the CSV reader with the same options reads back equal', () => {
  const field = fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 9, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((p) => p.join('')) },
  );
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) =>
      fc.array(fc.array(field, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    );
  const dialect = fc.record({
    delimiter: fc.constantFrom(',', '||', '\u0001', '\t', 'é', ';;|', '😀'),
    escape: fc.constantFrom(null, '\\'),
    quote: fc.constantFrom('"', "'"),
    nullText: fc.constantFrom('\\N', '', 'null', ' '),
  });
  fc.assert(
    fc.property(table, dialect, fc.constantFrom(1, 2, 3, 5, 64, 4096), fc.boolean(), (rows, d, chunk, header) => {
      const columns = strings(rows[0]?.length ?? 0);
      const written = encodeAll(csvWriter(d, header), columns, rows, 16);
      assert.deepEqual(written.rejected, []);
      const read = decodeAll(
        csvFormat(
          d,
          header,
          columns.map((c) => c.name),
        ),
        written.bytes,
        { chunk },
      );
      assert.deepEqual(read.rejected, []);
      assert.deepEqual(read.rows, rows);
    }),
    { numRuns: 1000 },
  );
});
