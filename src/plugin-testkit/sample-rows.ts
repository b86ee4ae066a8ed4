import {
  BatchBuilder,
  internSchema,
  type Column,
  type ColumnInit,
  type LogicalName,
  type LogicalType,
  type RowBatch,
  type RowSchema,
  type SimpleValue,
} from '../plugin-api/index.js';

/** The schema of most writer cases: a key, and a text that may be NULL. */
export const PLAIN: RowSchema = internSchema(
  [
    { name: 'id', type: { is: 'int64' }, nullable: false },
    { name: 'text', type: { is: 'string' } },
  ],
  'contract',
  [0],
);

/** A batch of `PLAIN` rows with these ids; the text is `row <id>`, or what `text` says. */
export function plainBatch(
  ids: readonly number[],
  text: (id: number) => string = (id) => `row ${String(id)}`,
): RowBatch {
  const b = new BatchBuilder(PLAIN);
  for (const id of ids) {
    b.appendText(String(id));
    b.appendText(text(id));
    b.endRow();
  }
  return b.finish('contract', { to: ids.at(-1) ?? 0 }, ids.length);
}

const GEOMETRY = Buffer.from('e6100000' + '0101000000' + '000000000000f03f' + '0000000000000040', 'hex');

interface Awkward {
  readonly type: LogicalType;
  readonly values: readonly (string | Uint8Array)[];
}

/** Every logical type with the values that go wrong most often. NULL is added to each. */
const AWKWARD: readonly Awkward[] = [
  { type: { is: 'boolean' }, values: ['true', 'false'] },
  { type: { is: 'int8' }, values: ['-128', '127', '0'] },
  { type: { is: 'int16' }, values: ['-32768', '32767'] },
  { type: { is: 'int32' }, values: ['-2147483648', '2147483647'] },
  { type: { is: 'int64' }, values: ['-9223372036854775808', '9223372036854775807', '9007199254740993'] },
  { type: { is: 'uint8' }, values: ['0', '255'] },
  { type: { is: 'uint16' }, values: ['0', '65535'] },
  { type: { is: 'uint32' }, values: ['0', '4294967295'] },
  { type: { is: 'uint64' }, values: ['18446744073709551615', '9007199254740993'] },
  {
    type: { is: 'decimal', precision: 65, scale: 30 },
    values: [
      '99999999999999999999999999999999999.999999999999999999999999999999',
      '-0.000000000000000000000000000001',
      '1.50',
      '0',
    ],
  },
  { type: { is: 'float32' }, values: ['0.1', '16777216', '-0', '3.4028235e+38', '1e-45'] },
  { type: { is: 'float64' }, values: ['0.1', '-0', '5e-324', '1.7976931348623157e+308', '123456789012345680000'] },
  {
    type: { is: 'string' },
    values: [
      '',
      ' edges ',
      'say "hi", ok',
      "it's",
      'a\tb\\c',
      'two\nlines\r\nthree',
      '🙂 é 汉 e\u0301',
      'NULL',
      '\\N',
      'a\u0000b',
      '\ufeffbom',
    ],
  },
  { type: { is: 'json' }, values: ['{"a":[1,2.50,null],"b":"ü"}', 'null', '"text"', '12345678901234567890'] },
  {
    type: { is: 'binary' },
    values: [Buffer.from([0, 255, 10, 13, 34, 92, 128]), Buffer.alloc(0), Buffer.from('text')],
  },
  { type: { is: 'date' }, values: ['2024-02-29', '0000-00-00', '9999-12-31', '1000-01-01'] },
  { type: { is: 'year' }, values: ['1901', '2155', '0000'] },
  { type: { is: 'time', fraction: 6 }, values: ['-838:59:59', '838:59:59', '00:00:00.000001', '23:59:59.5'] },
  {
    type: { is: 'datetime', fraction: 6 },
    values: ['2024-03-31 02:30:00', '0000-00-00 00:00:00', '9999-12-31 23:59:59.999999'],
  },
  {
    type: { is: 'timestamp', fraction: 6 },
    values: ['1970-01-01 00:00:01', '2024-03-31 01:30:00.123456', '2038-01-19 03:14:07'],
  },
  { type: { is: 'bit', length: 64 }, values: ['0', '18446744073709551615'] },
  { type: { is: 'enum', labels: ['small', 'größer', ''] }, values: ['small', 'größer', ''] },
  { type: { is: 'set', labels: ['a', 'b', 'c d'] }, values: ['', 'a', 'a,c d'] },
  { type: { is: 'geometry' }, values: [GEOMETRY] },
];

export type SampleRow = Readonly<Record<string, SimpleValue>>;

export interface SampleRows {
  readonly schema: RowSchema;
  readonly batch: RowBatch;
  readonly rows: readonly SampleRow[];
}

/** Rows with every logical type but `without`: one row for each awkward value, the last one NULL wherever that is possible. */
export function allTypes(without: ReadonlySet<LogicalName> = new Set()): SampleRows {
  const used = AWKWARD.filter((a) => !without.has(a.type.is));
  const columns: ColumnInit[] = [
    { name: 'id', type: { is: 'int64' }, nullable: false },
    ...used.map((a): ColumnInit => ({ name: `c_${a.type.is}`, type: a.type })),
  ];
  const schema = internSchema(columns, 'contract_types', [0]);
  const count = Math.max(...used.map((a) => a.values.length)) + 1;
  const b = new BatchBuilder(schema);
  const rows: SampleRow[] = [];
  for (let r = 0; r < count; r++) {
    const row: Record<string, SimpleValue> = { id: String(r + 1) };
    b.appendText(String(r + 1));
    for (const a of used) {
      const value = r === count - 1 ? null : (a.values[r % a.values.length] ?? null);
      row[`c_${a.type.is}`] = appendCell(b, value);
    }
    b.endRow();
    rows.push(row);
  }
  return { schema, batch: b.finish('contract', { to: count }, count), rows };
}

function appendCell(b: BatchBuilder, value: string | Uint8Array | null): SimpleValue {
  if (value === null) b.appendNull();
  else if (typeof value === 'string') b.appendText(value);
  else b.appendBytes(value);
  return value === null || typeof value === 'string' ? value : Uint8Array.from(value);
}

/** Which value a target gives back for one that it cannot say better; the identity where the harness says nothing. */
export function asReadRow(
  row: SampleRow,
  schema: RowSchema,
  asRead: ((column: Column, value: SimpleValue) => SimpleValue) | undefined,
): SampleRow {
  if (!asRead) return row;
  return Object.fromEntries(schema.columns.map((c) => [c.name, asRead(c, row[c.name])]));
}
