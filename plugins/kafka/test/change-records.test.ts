import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BatchBuilder,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  internSchema,
  type LogicalType,
  type RejectedRow,
  type RowBatch,
  type RowOp,
  type RowSchema,
  type SimpleValue,
} from 'syncx/plugin-api';
import { codecRecords, type WriteCodec } from '../write/records/codec-records.js';
import { becomeTombstone, newRecord } from '../write/records/row-records.js';
import { PLAIN_CSV, readChanges, reasons, shown } from './change-support.js';

type Cells = readonly SimpleValue[];

function batchOf(schema: RowSchema, rows: readonly (readonly [RowOp, Cells])[]): RowBatch {
  const b = new BatchBuilder(schema);
  for (const [op, cells] of rows) {
    for (const c of cells) {
      if (c === null) b.appendNull();
      else if (c === undefined) b.appendAbsent();
      else b.appendBytes(Buffer.from(c));
    }
    b.endRow(op, 1000);
  }
  return b.finish('s', {}, 1);
}

interface Written {
  /** Key, value. */
  readonly records: readonly (readonly [string | null, string | null])[];
  readonly rejected: readonly RejectedRow[];
}

function write(
  codec: WriteCodec,
  batch: RowBatch,
  o: { keyColumns?: readonly string[]; tombstones?: boolean; onePartition?: boolean } = {},
): Written {
  const { keyColumns = [], tombstones = false, onePartition = false } = o;
  const records: [string | null, string | null][] = [];
  const rejected: RejectedRow[] = [];
  const to = newRecord();
  for (const section of batch.sections) {
    const o = { columns: null, keyColumns, tombstones, onePartition, csv: PLAIN_CSV };
    const made = codecRecords(codec, section.schema, o);
    for (let row = 0; row < section.rows; row++) {
      if (!made.record(batch, section, row, to, (r) => rejected.push(r))) continue;
      do {
        const value =
          to.valueEnd < to.valueStart ? null : Buffer.from(to.value).toString('utf8', to.valueStart, to.valueEnd);
        records.push([to.key === null ? null : Buffer.from(to.key).toString(), value]);
      } while (becomeTombstone(to));
    }
  }
  return { records, rejected };
}

const ORDERS = internSchema(
  [
    { name: 'id', type: { is: 'int64' }, rawType: 'bigint(20)' },
    { name: 'name', type: { is: 'string' } },
    { name: 'pic', type: { is: 'binary' } },
    { name: 'doc', type: { is: 'json' } },
  ],
  'shop.orders',
  [0],
);
const row = (id: string, name: string | null): Cells => [id, name, Buffer.from([0x61, 0xff, 0x22]), '{"a":1.50}'];
const CHANGES = batchOf(ORDERS, [
  [OP_INSERT, row('9007199254740993', 'say "é🙂"\n')],
  [OP_UPDATE_BEFORE, row('1', null)],
  [OP_UPDATE_AFTER, row('1', 'b')],
  [OP_DELETE, row('1', 'b')],
]);

test('debezium-json: an update is one record with both rows; numbers stand bare', () => {
  const image = (id: string, name: string) => `{"id":${id},"name":${name},"pic":"Yf8i","doc":"{\\"a\\":1.50}"}`;
  const rest = (op: string) => `"source":{"db":"shop","table":"orders"},"op":"${op}","ts_ms":1000}`;
  const { records, rejected } = write('debezium-json', CHANGES, { keyColumns: ['id'], tombstones: true });
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    ['9007199254740993', `{"before":null,"after":${image('9007199254740993', '"say \\"é🙂\\"\\n"')},${rest('c')}`],
    ['1', `{"before":${image('1', 'null')},"after":${image('1', '"b"')},${rest('u')}`],
    ['1', `{"before":${image('1', '"b"')},"after":null,${rest('d')}`],
    ['1', null],
  ]);
});

test('canal-json: values are texts, old has what changed', () => {
  const image = (id: string, name: string) => `{"id":"${id}","name":${name},"pic":"aÿ\\"","doc":"{\\"a\\":1.50}"}`;
  const types = '"mysqlType":{"id":"bigint(20)","name":"longtext","pic":"longblob","doc":"json"}';
  const message = (data: string, old: string, type: string) =>
    `{"data":[${data}],"database":"shop","es":1000,"id":0,"isDdl":false,${types},"old":${old},` +
    `"pkNames":["id"],"sql":"","sqlType":null,"table":"orders","ts":1000,"type":"${type}"}`;
  const { records, rejected } = write('canal-json', CHANGES);
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    ['9007199254740993', message(image('9007199254740993', '"say \\"é🙂\\"\\n"'), 'null', 'INSERT')],
    ['1', message(image('1', '"b"'), '[{"name":null}]', 'UPDATE')],
    ['1', message(image('1', '"b"'), 'null', 'DELETE')],
  ]);
});

const MOVED = batchOf(
  internSchema([
    { name: 'id', type: { is: 'int64' } },
    { name: 'name', type: { is: 'string' } },
  ]),
  [
    [OP_UPDATE_BEFORE, ['1', 'a']],
    [OP_UPDATE_AFTER, ['2', 'b']],
    [OP_UPDATE_BEFORE, ['2', 'b']],
    [OP_UPDATE_AFTER, ['2', 'c']],
  ],
);

test('an update that changes the key takes the old one away', () => {
  const { records } = write('debezium-json', MOVED, { keyColumns: ['id'], tombstones: true });
  assert.deepEqual(records, [
    ['1', '{"before":{"id":1,"name":"a"},"after":null,"op":"d","ts_ms":1000}'],
    ['1', null],
    ['2', '{"before":null,"after":{"id":2,"name":"b"},"op":"c","ts_ms":1000}'],
    ['2', '{"before":{"id":2,"name":"b"},"after":{"id":2,"name":"c"},"op":"u","ts_ms":1000}'],
  ]);
  const canal = write('canal-json', MOVED, { keyColumns: ['id'] }).records;
  assert.deepEqual(
    canal.map(([key, value]) => [key, (JSON.parse(value ?? '') as { type: string }).type]),
    [
      ['1', 'DELETE'],
      ['2', 'INSERT'],
      ['2', 'UPDATE'],
    ],
  );
  // Without a key it is an update as any other, and only in order where there is one partition.
  assert.equal(write('canal-json', MOVED, { onePartition: true }).records.length, 2);
  assert.throws(() => write('canal-json', MOVED), /its records have no key, so that they would not stay in order/);
});

test('codec json: the old key of an update that changes it gets a record without a value', () => {
  assert.deepEqual(write('json', MOVED, { keyColumns: ['id'] }).records, [
    ['1', null],
    ['2', '{"id":2,"name":"b"}'],
    ['2', '{"id":2,"name":"c"}'],
  ]);
  assert.deepEqual(write('json', MOVED, { keyColumns: ['id', 'name'] }).records, [
    ['{"id":1,"name":"a"}', null],
    ['{"id":2,"name":"b"}', '{"id":2,"name":"b"}'],
    ['{"id":2,"name":"b"}', null],
    ['{"id":2,"name":"c"}', '{"id":2,"name":"c"}'],
  ]);
});

test('what no record can tell is refused', () => {
  const schema = internSchema([
    { name: 'id', type: { is: 'int64' } },
    { name: 'name', type: { is: 'string' } },
  ]);
  const partial = batchOf(schema, [
    [OP_UPDATE_BEFORE, ['1', 'a']],
    [OP_UPDATE_AFTER, ['1', undefined]],
    [OP_DELETE, [null, 'a']],
  ]);
  const canal = write('canal-json', partial, { keyColumns: ['id'], tombstones: true });
  assert.deepEqual(canal.records, []);
  assert.deepEqual(
    canal.rejected.map((r) => [r.column, r.reason]),
    [
      ['name', 'the source did not send the cell, and the codec holds whole rows'],
      [null, 'a delete has no key, so that nobody could tell what it means'],
    ],
  );
  const torn = batchOf(schema, [[OP_UPDATE_BEFORE, ['1', 'a']]]);
  for (const codec of ['canal-json', 'debezium-json', 'json'] as const) {
    assert.throws(() => write(codec, torn, { keyColumns: ['id'] }), /not directly followed by its update-after/);
  }
});

const TYPES: readonly (readonly [LogicalType, string])[] = [
  [{ is: 'boolean' }, 'boolean'],
  [{ is: 'int8' }, 'tinyint'],
  [{ is: 'uint64' }, 'bigint unsigned'],
  [{ is: 'decimal', precision: 65, scale: 30 }, 'decimal(65,30)'],
  [{ is: 'float64' }, 'double'],
  [{ is: 'float32' }, 'float'],
  [{ is: 'string' }, 'string'],
  [{ is: 'json' }, 'json'],
  [{ is: 'binary' }, 'binary'],
  [{ is: 'date' }, 'date'],
  [{ is: 'year' }, 'year'],
  [{ is: 'time', fraction: 6 }, 'time(6)'],
  [{ is: 'datetime', fraction: 3 }, 'datetime(3)'],
  [{ is: 'timestamp', fraction: 6 }, 'timestamp(6)'],
  [{ is: 'bit', length: 64 }, 'bit(64)'],
  [{ is: 'enum', labels: null }, 'enum'],
  [{ is: 'set', labels: null }, 'set'],
  [{ is: 'geometry' }, 'geometry'],
];
const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const CONTROLS = String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i));
/** Rows of awkward cells, in the order of TYPES. */
const AWKWARD: readonly Cells[] = [
  TYPES.map(() => null),
  [
    ...['true', '-128', '18446744073709551615', '-12345678901234567890123456789012345.123456789012345678901234567890'],
    ...['NaN', '-0', `${CONTROLS}"\\/\u007f\u0080é🙂\ufeff`, '{"a":[1.50,"\\u0000\\"🙂"]}', EVERY_BYTE],
    ...['0000-00-00', '0000', '-838:59:59.000001', '2024-03-31 02:30:00.5', '2024-03-31 01:30:00.123456'],
    ...['18446744073709551615', 'a"b', 'a,c d', Buffer.concat([Buffer.alloc(4), EVERY_BYTE])],
  ],
  [
    ...['false', '0', '0', '0', '-Infinity', '16777216', '', 'null', Buffer.alloc(0), '2024-02-29', '2155', '00:00:00'],
    ...['9999-12-31 23:59:59', '1970-01-01 00:00:00', '0', '', '', Buffer.alloc(9)],
  ],
  [
    ...['true', '7', '7', '1.50', '5e-324', '0.1', 'null', '"null"', Buffer.from('bnVsbA=='), '1000-12-31', '1901'],
    ...['100:00:00', '0000-00-00 00:00:00', '2038-01-19 03:14:08', '7', 'null', 'null', Buffer.alloc(9)],
  ],
];

for (const codec of ['canal-json', 'debezium-json'] as const) {
  test(`${codec}: what the writer writes, the reader gives back`, () => {
    const named = TYPES.map(([type], i) => ({ name: `c${String(i)}`, type }));
    const more = ['n', 'k'].map((name) => ({ name, type: { is: 'string' } as const }));
    const schema = internSchema([...named, ...more], 'shop.awkward', [19]);
    const full = AWKWARD.map((cells, i): Cells => [...cells, String(i), 'key']);
    const rows: (readonly [RowOp, Cells])[] = full.map((cells) => [OP_INSERT, cells]);
    for (const before of full) {
      for (const after of full) rows.push([OP_UPDATE_BEFORE, before], [OP_UPDATE_AFTER, after]);
      rows.push([OP_DELETE, before]);
    }
    const batch = batchOf(schema, rows);
    const { records, rejected } = write(codec, batch);
    assert.deepEqual(rejected, []);
    const column = [...TYPES.map(([, type], i) => ({ name: `c${String(i)}`, type })), 'n', 'k'];
    const read = readChanges(
      codec,
      column,
      records.map(([, value]) => value),
    );
    assert.deepEqual(reasons(read), []);
    assert.deepEqual({ rows: read.rows, tables: read.tables }, shown(batch));
    if (codec !== 'canal-json') return;
    const all = readChanges(
      codec,
      ['*'],
      records.map(([, value]) => value),
    );
    assert.deepEqual({ rows: all.rows, tables: all.tables }, shown(batch));
    assert.deepEqual(
      all.batch.sections[0]?.schema.columns.map((c) => c.type),
      schema.columns.map((c) => c.type),
    );
    assert.deepEqual(all.batch.sections[0]?.schema.key, [19]);
  });
}

test('debezium-json: a cell that the source did not send stays one', () => {
  const batch = batchOf(ORDERS, [
    [OP_UPDATE_BEFORE, ['1', 'a', Buffer.from('x'), undefined]],
    [OP_UPDATE_AFTER, ['1', undefined, undefined, '1']],
  ]);
  const { records } = write('debezium-json', batch);
  const column = [
    { name: 'id', type: 'bigint' },
    'name',
    { name: 'pic', type: 'binary' },
    { name: 'doc', type: 'json' },
  ];
  assert.deepEqual(
    readChanges(
      'debezium-json',
      column,
      records.map(([, value]) => value),
    ).rows,
    shown(batch).rows,
  );
});
