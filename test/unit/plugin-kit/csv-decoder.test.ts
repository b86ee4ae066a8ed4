import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { BatchBuilder } from 'syncx/plugin-api';
import { csvFormat, csvWriter, decodeAll, encodeAll, strings } from './format-harness.js';

/** Well-formed CSV text in all its freedom: needless quotes, CR LF and LF mixed, a last line without its end. */
const csvText = fc
  .integer({ min: 2, max: 4 })
  .chain((width) => {
    const plain = fc
      .array(fc.constantFrom('a', 'b c', ' ', 'é', '😀', "'", '\t', '1.5'), { maxLength: 3 })
      .map((p) => p.join(''));
    const quoted = fc
      .array(fc.constantFrom('a', ',', '""', '\n', '\r\n', 'é', ' '), { maxLength: 4 })
      .map((p) => `"${p.join('')}"`);
    const line = fc.array(fc.oneof(plain, quoted), { minLength: width, maxLength: width }).map((f) => f.join(','));
    return fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 8 });
  })
  .chain((lines) =>
    fc.boolean().map((cut) => {
      const text = lines.map(([l, e]) => l + e).join('');
      return cut ? text.replace(/\r?\n$/, '') : text;
    }),
  );

test('the decoder agrees with csv-parse on well-formed CSV, whatever the chunks', () => {
  fc.assert(
    fc.property(csvText, fc.constantFrom(1, 2, 5, 1000), (text, chunk) => {
      const want = parse(text, { relax_column_count: false, record_delimiter: ['\r\n', '\n'] });
      const got = decodeAll(csvFormat({ nullText: null }), Buffer.from(text), { chunk });
      assert.deepEqual(got.rejected, []);
      assert.deepEqual(got.rows, want);
    }),
    { numRuns: 1000 },
  );
});

test('from every position that is given out, the rest of the rows follow and none twice', () => {
  const field = fc.array(fc.constantFrom('a', '"', ',', '\n', 'é'), { maxLength: 3 }).map((p) => p.join(''));
  const rows = fc.array(fc.tuple(field, field), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      rows,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.constantFrom(1, 7, 999),
      (table, n, head, chunk) => {
        const { bytes } = encodeAll(csvWriter({}, head), strings(2), table);
        const format = csvFormat({}, head, ['c0', 'c1']);
        const whole = decodeAll(format, bytes, { batchRows: n, chunk });
        assert.deepEqual(whole.rows, table);
        assert.ok(whole.points.length >= Math.ceil(table.length / n));
        for (const p of whole.points) {
          const rest = decodeAll(format, bytes, { from: p.point, chunk: 3 });
          assert.deepEqual([...whole.rows.slice(0, p.rows), ...rest.rows], table);
          assert.deepEqual(rest.end, whole.end);
          const before = bytes.subarray(0, p.point.offset).toString('latin1');
          assert.equal(p.point.line, before.split('\n').length);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('too few and too many fields, and text behind a closing quote, make a row dirty; the rows around it stand', () => {
  const bytes = Buffer.from('id,name,age\n1,ann,30\n2,bob\n3,carl,40,extra\n4,"x"y,1\n5,eve,2');
  for (const chunk of [1, 2, 100]) {
    const got = decodeAll(csvFormat({}, true), bytes, { chunk });
    assert.deepEqual(got.rows, [
      ['1', 'ann', '30'],
      ['5', 'eve', '2'],
    ]);
    assert.deepEqual(
      got.rejected.map((r) => [r.row, r.place, r.reason]),
      [
        ['2,bob', 'x.csv:3', 'the record has 2 fields, not 3 (record at byte 21)'],
        ['3,carl,40,extra', 'x.csv:4', 'the record has 4 fields, not 3 (record at byte 27)'],
        ['4,"x"y,1', 'x.csv:5', 'a quoted field goes on behind its closing quote (record at byte 43)'],
      ],
    );
  }
});

test('columns come by name, by index, in any order, twice and as constants', () => {
  const bytes = Buffer.from('a,b,c\n1,2,3\n4,,6\n');
  const by = (columns: Parameters<typeof csvFormat>[2], header = true): readonly (readonly (string | null)[])[] =>
    decodeAll(csvFormat({ nullText: '' }, header, columns), bytes, { chunk: 2 }).rows;
  assert.deepEqual(by(['c', 'a']), [
    ['3', '1'],
    ['6', '4'],
  ]);
  assert.deepEqual(by(['b']), [['2'], [null]]);
  assert.deepEqual(
    by([
      { name: 'x', index: 1 },
      { name: 'k', value: '7' },
      { name: 'y', index: 1 },
    ]),
    [
      ['2', '7', '2'],
      [null, '7', null],
    ],
  );
  assert.deepEqual(by([{ index: 2 }], false), [['c'], ['3'], ['6']]);
});

test('an index beyond the record makes it dirty when columns are picked by index; more fields do not', () => {
  const got = decodeAll(csvFormat({}, false, [{ index: 1, name: 'b' }]), Buffer.from('1,2\n3\n4,5,6\n'));
  assert.deepEqual(got.rows, [['2'], ['5']]);
  assert.deepEqual(
    got.rejected.map((r) => [r.place, r.reason]),
    [['x.csv:2', 'the record has 1 fields, not at least 2 (record at byte 4)']],
  );
});

test('a cell that is not of its type makes the row dirty and names the column', () => {
  const format = csvFormat({}, true, [
    { name: 'id', type: 'tinyint' },
    { name: 'd', type: 'date', format: 'dd.MM.yyyy' },
  ]);
  const got = decodeAll(
    format,
    Buffer.from('id,d\n1,03.11.2024\n128,01.01.2024\n2,30.02.2024\n\\N,\\N\n,01.01.2024\n'),
  );
  assert.deepEqual(got.rows, [
    ['1', '2024-11-03'],
    [null, null],
  ]);
  assert.deepEqual(
    got.rejected.map((r) => [r.column, r.place]),
    [
      ['id', 'x.csv:3'],
      ['d', 'x.csv:4'],
      ['id', 'x.csv:6'],
    ],
  );
});

test('empty lines are skipped, but are rows where records have one field', () => {
  assert.deepEqual(decodeAll(csvFormat(), Buffer.from('\na,b\n\n\r\nc,d\n\n')).rows, [
    ['a', 'b'],
    ['c', 'd'],
  ]);
  assert.deepEqual(decodeAll(csvFormat({}, true), Buffer.from('a\n1\n\n\r\n2')).rows, [['1'], [''], [''], ['2']]);
});

test('a byte order mark is no part of the first field; a lone CR is data', () => {
  const got = decodeAll(csvFormat({}, true), Buffer.from('\ufeffa,b\r\n1,x\ry\r\n'), { chunk: 1 });
  assert.deepEqual(got.names, ['a', 'b']);
  assert.deepEqual(got.rows, [['1', 'x\ry']]);
});

test('a quote that is never closed is loud and names the line where it opened', () => {
  for (const chunk of [1, 1000]) {
    assert.throws(() => decodeAll(csvFormat(), Buffer.from('a,b\nc,"d\ne,f\n'), { chunk }), {
      code: 'SOURCE_FORMAT',
      place: 'x.csv:2',
      message: 'the quote that opens in x.csv:2 is never closed',
    });
  }
  // In the first record, which is read for the columns.
  for (const header of [true, false]) {
    assert.throws(() => decodeAll(csvFormat({}, header), Buffer.from('\r\n"a\nb","c\nd,e\n')), {
      code: 'SOURCE_FORMAT',
      place: 'x.csv:3',
      message: 'the quote that opens in x.csv:3 is never closed',
    });
  }
});

test('a field that runs on for more than 64 MiB is an error, not all of the memory', () => {
  const format = csvFormat({}, false, ['a', 'b']);
  const head = format.head(Buffer.from('1,2\n'), true, 'x.csv');
  assert.ok(head);
  const decoder = format.decoder(head, {
    place: 'x.csv',
    from: null,
    target: { bytes: 1024, rows: 10 },
    columns: null,
  });
  const chunk = Buffer.alloc(4 << 20, 'x\n');
  decoder.push(Buffer.from('1,2\n3,"'), false);
  const builder = new BatchBuilder(decoder.schema, { bytes: 1024, rows: 10 });
  assert.equal(decoder.decode(builder), 'hungry');
  assert.equal(builder.finish('s', null, 0).rows, 1);
  assert.throws(
    () => {
      for (let n = 0; n < 20; n++) {
        decoder.push(chunk, false);
        decoder.decode(builder);
      }
    },
    { code: 'ROW_TOO_LARGE', place: 'x.csv:2' },
  );
});

test('a header that names a column twice is loud; so is a wanted column that is not there', () => {
  assert.throws(() => decodeAll(csvFormat({}, true), Buffer.from('id,id,age\n9,9,9\n')), {
    code: 'SOURCE_FORMAT',
    message: 'the header of x.csv has the name `id` twice',
  });
  assert.throws(() => decodeAll(csvFormat({}, true, ['nope']), Buffer.from('id,age\n')), {
    code: 'COLUMN_MISMATCH',
    message: 'x.csv has no column `nope`',
    hint: 'Its header names `id`, `age`.',
  });
});
