/** Avro's binary encoding into cells: the examples of its specification, exact numbers, and bytes that are none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder, RowView, formatType } from 'syncx/plugin-api';
import { columnSpecs, type ColumnOption } from 'syncx/plugin-kit';
import { batchProblems } from 'syncx/plugin-testkit';
import { AvroPicker } from '../read/avro/avro-picker.js';
import { AvroSchemaProblem, parseAvroSchema } from '../read/avro/avro-schema.js';

type Cell = string | null;

function picker(schema: unknown, column: readonly ColumnOption[] = ['*']): AvroPicker {
  const type = parseAvroSchema(schema);
  assert.equal(type.is, 'record');
  const typed = new Set(column.flatMap((c) => (typeof c !== 'string' && c.type !== undefined ? [c.name] : [])));
  const columns = columnSpecs(column) ?? (['*'] as const);
  return new AvroPicker(type, { columns, typed: (c) => typed.has(c.name ?? undefined) });
}

interface Picked {
  readonly rows: readonly (readonly Cell[])[];
  readonly faults: readonly string[];
  readonly types: string;
}

function pick(p: AvroPicker, values: readonly Buffer[]): Picked {
  const builder = new BatchBuilder(p.schema);
  const faults: string[] = [];
  for (const value of values) {
    const around = Buffer.concat([Buffer.alloc(3, 0xff), value, Buffer.alloc(12, 1)]);
    const fault = p.pick(builder, around, 3, 3 + value.length, (b, c) => void b.appendText(String(c * 11)), 1);
    if (fault !== null) faults.push(`${fault.column ?? ''}: ${fault.reason}`);
  }
  const batch = builder.finish('s', { offset: 0 }, 0);
  assert.deepEqual(batchProblems(batch), []);
  const rows = batch.sections.flatMap((section) => {
    const view = new RowView(batch, section);
    return Array.from({ length: section.rows }, (_, row) => {
      view.at(row);
      return section.schema.columns.map(({ type }, c): Cell => {
        if (view.isNull(c)) return null;
        const bytes = Buffer.from(view.bytes(c));
        return type.is === 'binary' ? `0x${bytes.toString('hex')}` : bytes.toString();
      });
    });
  });
  return { rows, faults, types: p.schema.columns.map((c) => formatType(c.type)).join(' ') };
}

const record = (fields: Readonly<Record<string, unknown>>, more: object = {}) => ({
  type: 'record',
  name: 'r',
  ...more,
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
});

/** The cell of a record of one field. */
function cellOf(type: unknown, hex: string): Cell | undefined {
  const { rows, faults } = pick(picker(record({ v: type })), [Buffer.from(hex.replaceAll(' ', ''), 'hex')]);
  assert.deepEqual(faults, []);
  return rows[0]?.[0];
}

test('the examples of the specification', () => {
  for (const [n, hex] of [
    ['0', '00'],
    ['-1', '01'],
    ['1', '02'],
    ['-64', '7f'],
    ['64', '8001'],
  ] as const) {
    assert.equal(cellOf('long', hex), n);
    assert.equal(cellOf('int', hex), n);
  }
  assert.equal(cellOf('string', '06 66 6f 6f'), 'foo');
  const { rows } = pick(picker(record({ a: 'long', b: 'string' })), [Buffer.from('3606666f6f', 'hex')]);
  assert.deepEqual(rows, [['27', 'foo']]);
  assert.equal(cellOf({ type: 'array', items: 'long' }, '04 06 36 00'), '[3,27]');
  // A block with its size in bytes.
  assert.equal(cellOf({ type: 'array', items: 'long' }, '03 04 06 36 00'), '[3,27]');
  assert.equal(cellOf(['null', 'string'], '00'), null);
  assert.equal(cellOf(['null', 'string'], '02 02 61'), 'a');
  assert.equal(cellOf({ type: 'map', values: 'int' }, '02 02 61 02 00'), '{"a":1}');
});

test('numbers keep every digit', () => {
  for (const [n, hex] of [
    ['9007199254740991', 'feffffffffffff1f'],
    ['9007199254740993', '8280808080808020'],
    ['-9007199254740993', '8180808080808020'],
    ['4503599627370497', '8280808080808010'],
    ['9223372036854775807', 'feffffffffffffffff01'],
    ['-9223372036854775808', 'ffffffffffffffffff01'],
  ] as const) {
    assert.equal(cellOf('long', hex), n);
    assert.equal(cellOf({ type: 'array', items: 'long' }, `02${hex}00`), `[${n}]`);
  }
  const decimal = { type: 'bytes', logicalType: 'decimal', precision: 30, scale: 4 };
  assert.equal(cellOf(decimal, '02 ff'), '-0.0001');
  assert.equal(cellOf(decimal, '16 661efdf158f2a82c9f4b8a'), '12345678901234567890123.4570');
  assert.equal(cellOf(decimal, '00'), '0.0000');
  const fixed = { type: 'fixed', name: 'f', size: 3, logicalType: 'decimal', precision: 7 };
  assert.equal(cellOf(fixed, 'ff0000'), '-65536');
  assert.equal(cellOf('float', 'cdcccc3d'), '0.1');
  assert.equal(cellOf('double', '9a9999999999b93f'), '0.1');
  assert.equal(cellOf('double', '000000000000f07f'), 'Infinity');
  assert.equal(cellOf({ type: 'array', items: 'double' }, '02 000000000000f07f 00'), '["Infinity"]');
});

test('times, in and before 1970', () => {
  const of = (on: string, logicalType: string) => ({ type: on, logicalType });
  assert.equal(cellOf(of('int', 'date'), '01'), '1969-12-31');
  assert.equal(cellOf(of('int', 'date'), zigzag(18250n)), '2019-12-20');
  assert.equal(cellOf(of('int', 'time-millis'), zigzag(3_723_004n)), '01:02:03.004');
  assert.equal(cellOf(of('long', 'time-micros'), zigzag(86_399_999_999n)), '23:59:59.999999');
  assert.equal(cellOf(of('long', 'timestamp-millis'), zigzag(-1n)), '1969-12-31 23:59:59.999');
  assert.equal(cellOf(of('long', 'timestamp-micros'), zigzag(1_700_000_000_123_456n)), '2023-11-14 22:13:20.123456');
  assert.equal(
    cellOf(of('long', 'timestamp-nanos'), zigzag(1_700_000_000_123_456_789n)),
    '2023-11-14 22:13:20.123456789',
  );
  assert.equal(cellOf(of('long', 'local-timestamp-millis'), zigzag(253_402_300_799_999n)), '9999-12-31 23:59:59.999');
  const { faults } = pick(picker(record({ v: of('long', 'timestamp-millis') })), [
    Buffer.from(zigzag(253_402_300_800_000n), 'hex'),
  ]);
  assert.deepEqual(faults, ['v: a time is outside of the years 0000 to 9999']);
});

function zigzag(n: bigint): string {
  let u = BigInt.asUintN(64, (n << 1n) ^ (n >> 63n));
  const bytes: number[] = [];
  for (; u >= 128n; u >>= 7n) bytes.push(Number(u & 127n) | 128);
  return Buffer.from([...bytes, Number(u)]).toString('hex');
}

const ORDER = record(
  {
    id: 'long',
    who: ['null', record({ name: 'string', tags: { type: 'array', items: 'string' } }, { name: 'person' })],
    kind: { type: 'enum', name: 'kind', symbols: ['NEW', 'OLD'] },
    raw: 'bytes',
    again: ['null', 'person'],
    either: ['null', 'long', 'string'],
  },
  { name: 'shop.order' },
);
const ADA = '06 416461 04 02 78 02 22 00'; // Ada, ["x", "\""]
const FULL = Buffer.from(`${zigzag(7n)} 02 ${ADA} 02 04 00ff 00 04 02 31`.replaceAll(' ', ''), 'hex');
const BARE = Buffer.from(`${zigzag(8n)} 00 00 00 02 ${ADA} 02 ${zigzag(-5n)}`.replaceAll(' ', ''), 'hex');

test('all fields; fields by name and path; other types, constants and meta columns', () => {
  const all = pick(picker(ORDER), [FULL, BARE]);
  assert.equal(all.types, 'int64 json enum binary json json');
  const ada = '{"name":"Ada","tags":["x","\\""]}';
  assert.deepEqual(all, {
    rows: [
      ['7', ada, 'OLD', '0x00ff', null, '"1"'],
      ['8', null, 'NEW', '0x', ada, '-5'],
    ],
    faults: [],
    types: all.types,
  });
  const some = pick(
    picker(ORDER, [
      'again.name',
      'who.tags',
      { name: 'who.name', type: 'varchar(9)' },
      { name: 'id', type: 'decimal(5,2)' },
      { name: 'at', meta: 'offset' },
    ]),
    [FULL, BARE],
  );
  assert.equal(some.types, 'string json string decimal(5,2) int64');
  assert.deepEqual(some.rows, [
    [null, '["x","\\""]', 'Ada', '7', '44'],
    ['Ada', null, null, '8', '44'],
  ]);
});

test('a value that is not of the schema is no row, and says why', () => {
  const p = picker(ORDER, ['id', 'kind']);
  for (let cut = 0; cut < FULL.length; cut++) assert.equal(pick(p, [FULL.subarray(0, cut)]).rows.length, 0);
  const { rows, faults } = pick(p, [FULL, Buffer.concat([FULL, Buffer.from([0])]), FULL.subarray(0, 3), BARE]);
  assert.deepEqual(rows, [
    ['7', 'OLD'],
    ['8', 'NEW'],
  ]);
  assert.deepEqual(faults, [': 1 bytes are left over behind the record', ': the value ends too early']);
  const no = (type: unknown, hex: string): string | undefined =>
    pick(picker(record({ v: type })), [Buffer.from(hex, 'hex')]).faults[0];
  assert.equal(no('boolean', '02'), ': a boolean is 2');
  assert.equal(no('int', '8080808010'), ': an int has more than 32 bits');
  assert.equal(no('long', 'ffffffffffffffffff02'), ': a number has more than 64 bits');
  assert.equal(no('string', '02ff'), 'v: a string is not valid UTF-8');
  assert.equal(no('bytes', '01'), ': a length is -1');
  assert.equal(no(['null', 'int'], '04'), ': a union has no type 2');
  assert.equal(no({ type: 'enum', name: 'e', symbols: ['A'] }, '02'), ': an enum has no symbol 1');
  assert.equal(
    no({ type: 'bytes', logicalType: 'decimal', precision: 2, scale: 1 }, '0403e7'),
    'v: a decimal has 3 digits, not at most 2',
  );
  // 2^40 items that take no bytes.
  assert.match(no({ type: 'array', items: 'null' }, `${zigzag(2n ** 40n)}00`) ?? '', /more than/);
  // A list within a list within …
  const tree = { type: 'record', name: 'r', fields: [{ name: 'v', type: { type: 'array', items: 'r' } }] };
  assert.match(pick(picker(tree), [Buffer.alloc(4000, 2)]).faults[0] ?? '', /nested more than/);
});

test('columns that the schema does not have, and schemas that are none', () => {
  assert.throws(() => picker(ORDER, ['idd']), { code: 'COLUMN_MISMATCH', message: /no field `idd`/ });
  assert.throws(() => picker(ORDER, ['id.x']), { code: 'COLUMN_MISMATCH', message: /`id` of shop.order is no record/ });
  assert.throws(() => picker(ORDER, [{ name: 'raw', type: 'int' }]), { code: 'COLUMN_MISMATCH' });
  for (const [schema, why] of [
    [record({ a: 'nope' }), /a: the type nope is not known/],
    [record({ a: [] }), /union without a type/],
    [{ type: 'record', name: 'r' }, /has no fields/],
    [{ type: 'enum', name: 'e' }, /without symbols/],
    [7, /7 is no type/],
  ] as const) {
    assert.throws(() => parseAvroSchema(schema), { constructor: AvroSchemaProblem, message: why });
  }
  // Names of the namespace that encloses them.
  const spaced = record({ a: { type: 'fixed', name: 'f', size: 1 }, b: 'f', c: 'n.f' }, { name: 'r', namespace: 'n' });
  assert.deepEqual(pick(picker(spaced), [Buffer.from('010203', 'hex')]).rows, [['0x01', '0x02', '0x03']]);
});
