/** One CSV record at a time: by the rules of the file decoder, and nothing but that one record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BatchBuilder, RowView, internSchema, type ColumnInit, type RowBatch } from 'syncx/plugin-api';
import { ByteBuffer, CsvPicker, columnSpecs, isSpec, type ColumnOption, type ColumnSpec } from 'syncx/plugin-kit';
import { csvFormat, csvWriter, decodeAll, dialectOf, type Cell, type DialectText } from './format-harness.js';

const specs = (columns: readonly ColumnOption[]): readonly ColumnSpec[] => (columnSpecs(columns) ?? []).filter(isSpec);
const named = (width: number): readonly ColumnOption[] => Array.from({ length: width }, (_, i) => `c${String(i)}`);

function rowsOf(batch: RowBatch): Cell[][] {
  return batch.sections.flatMap((section) => {
    const view = new RowView(batch, section);
    return Array.from({ length: section.rows }, (_, row) => {
      view.at(row);
      return section.schema.columns.map((__, c) => (view.isNull(c) ? null : Buffer.from(view.bytes(c)).toString()));
    });
  });
}

/** Amid other bytes, which must stay as they are. */
function pickAll(picker: CsvPicker, records: readonly Buffer[]): { rows: Cell[][]; faults: (string | null)[] } {
  const builder = new BatchBuilder(picker.schema, { bytes: 4096, rows: 1000 });
  const faults = records.map((record) => {
    const around = Buffer.concat([Buffer.from('x,"'), record, Buffer.from('\n"y')]);
    const before = Buffer.from(around);
    const end = around.length - 3;
    const fault = picker.pick(builder, around, 3, end, (b, c) => {
      b.appendText(`other ${String(c)}`);
    });
    assert.deepEqual(around, before);
    return fault === null ? null : `${fault.column ?? ''}: ${fault.reason}`;
  });
  const batch = builder.finish('s', null, 0);
  assert.equal(batch.rejected, null);
  return { rows: rowsOf(batch), faults };
}

const SPECIAL = [',', '|', '"', "'", '\\', '\n', '\r', '\t', ' ', 'é', '😀', 'N', '1'];
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom(...SPECIAL, 'a'), maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\\N', '\ufeff', 'x'.repeat(300)) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const DIALECTS: readonly DialectText[] = [
  {},
  { delimiter: '|', quote: "'" },
  { delimiter: '||', escape: '\\' },
  { delimiter: '\t', nullText: '' },
];
const dialect = fc.constantFrom(...DIALECTS);

/** Each row by itself, as writers of records take them, without its line end. */
function encodeEach(d: DialectText, rows: readonly (readonly Cell[])[]): Buffer[] {
  const width = rows[0]?.length ?? 0;
  const schema = internSchema(named(width).map((name): ColumnInit => ({ name: String(name), type: { is: 'string' } })));
  const builder = new BatchBuilder(schema);
  for (const row of rows) {
    for (const c of row) {
      if (c === null) builder.appendNull();
      else builder.appendText(c);
    }
    builder.endRow();
  }
  const batch = builder.finish('s', null, 0);
  const projection = Array.from({ length: width }, (_, i) => i);
  const encoder = csvWriter(d).encoder(schema, { projection, names: projection.map(String) });
  return batch.sections.flatMap((section) =>
    Array.from({ length: section.rows }, (_, row) => {
      const out = new ByteBuffer(0);
      assert.equal(
        encoder.encode(batch, section, row, out, () => undefined),
        row + 1,
      );
      return Buffer.from(out.data.subarray(0, out.length - 1));
    }),
  );
}

test('what is written row by row is picked record by record', () => {
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((w) => fc.array(fc.array(cell, { minLength: w, maxLength: w }), { minLength: 1, maxLength: 6 }));
  fc.assert(
    fc.property(table, dialect, fc.constantFrom('', '\n', '\r\n'), (rows, d, lineEnd) => {
      const records = encodeEach(d, rows).map((r) => Buffer.concat([r, Buffer.from(lineEnd)]));
      const picker = new CsvPicker(dialectOf(d), specs(named(rows[0]?.length ?? 0)));
      const { rows: picked, faults } = pickAll(picker, records);
      assert.deepEqual(
        faults.filter((f) => f !== null),
        [],
      );
      assert.deepEqual(picked, rows);
    }),
    { numRuns: 300 },
  );
});

test('any text gives the one row that a file of it has, or none', () => {
  const text = fc.string({ unit: fc.constantFrom(...SPECIAL, 'a', 'b'), maxLength: 14 });
  fc.assert(
    fc.property(text, dialect, fc.constantFrom(1, 2, 3), (value, d, width) => {
      const bytes = Buffer.from(value);
      // Columns by position, as those of a record without a header.
      const read = (() => {
        try {
          return decodeAll(csvFormat(d, false, named(width)), bytes);
        } catch {
          return null; // a quote that is never closed
        }
      })();
      const picker = new CsvPicker(dialectOf(d), specs(named(width)));
      const good = Buffer.from(Array.from({ length: width }, () => 'g').join(d.delimiter ?? ','));
      const { rows, faults } = pickAll(picker, [good, bytes, good]);
      const g = Array.from({ length: width }, () => 'g');
      const one = read?.rows.length === 1 && read.rejected.length === 0 ? read.rows : [];
      const empty = value === '' && width === 1 ? [[d.nullText === '' ? null : '']] : [];
      assert.deepEqual(rows, [g, ...one, ...empty, g]);
      assert.equal(faults[1] === null, one.length + empty.length === 1);
    }),
    // A CR at the end, where a line feed of the record before is still in the buffer.
    { numRuns: 1500, examples: [['|\n\r', { delimiter: '|' }, 2]] },
  );
});

test('types, constants and columns by index beside what the caller knows; reasons', () => {
  const columns: readonly ColumnOption[] = [
    { index: 2, name: 'n', type: 'bigint' },
    { name: 'where', meta: 'topic' },
    { index: 0, name: 'd', type: 'date', format: 'dd.MM.yyyy' },
    { index: 2, name: 'again' },
  ];
  const picker = new CsvPicker(dialectOf(), specs(columns));
  const { rows, faults } = pickAll(
    picker,
    [
      '01.02.2024,x,+007',
      '"01.02.2024",x,8,more',
      '1,2',
      '1.2.x,x,1',
      '',
      '\n',
      '"a',
      '"a"b,1,2',
      'x\ny',
      '01.02.2024,b,1\n'.repeat(2),
    ].map((t) => Buffer.from(t)),
  );
  assert.deepEqual(rows, [
    ['7', 'other 1', '2024-02-01', '+007'],
    ['8', 'other 1', '2024-02-01', '8'],
  ]);
  assert.deepEqual(faults, [
    null,
    null,
    ': the record has 2 fields, not at least 3',
    'd: `1.2.x` is not a valid date',
    ': it is empty',
    ': it is empty',
    ': a quote that opens is never closed',
    ': a quoted field goes on behind its closing quote',
    ': the record has 1 fields, not at least 3',
    ': it has more than one line outside of quotes',
  ]);
});

test('a row has the time that it is given', () => {
  const picker = new CsvPicker(dialectOf(), specs(['a', 'b']));
  const builder = new BatchBuilder(picker.schema);
  const line = Buffer.from('1,2');
  for (const time of [5, undefined, 7]) picker.pick(builder, line, 0, 3, () => undefined, time);
  picker.pick(builder, Buffer.from('1,2\n3,4'), 0, 7, () => undefined, 9);
  const { rows, eventTimes } = builder.finish('s', null, 0);
  assert.deepEqual([rows, [...(eventTimes ?? [])]], [3, [5, Number.NaN, 7]]);
});
