/** The engine of transforms: exact values, NULLs, what is kept of a batch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ABSENT_FLAG,
  BatchBuilder,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  internSchema,
  isSyncError,
  type RowBatch,
  type RowOp,
} from '../../../../src/plugin-api/index.js';
import { RowTransform, type Transformed } from '../../../../src/core/transform/row-transform.js';
import type { TransformSpec } from '../../../../src/job/transform-spec.js';
import { batchProblems } from '../../../../src/plugin-testkit/check-batch.js';
import { append, batchOf, rowsOf, schemaOf, type TestRow } from '../../../support/rows.js';

async function apply(specs: readonly TransformSpec[], batch: RowBatch): Promise<Transformed> {
  const done = (await RowTransform.load(specs)).apply(batch);
  assert.deepEqual(batchProblems(done.batch), []);
  return done;
}

async function compute(expression: string, row: TestRow, types: Readonly<Record<string, string>>, type?: string) {
  const spec: TransformSpec = { op: 'compute', column: 'x', expression, ...(type === undefined ? {} : { type }) };
  const { batch } = await apply([spec], batchOf(schemaOf(types), [row]));
  return batch.rejected?.[0]?.reason ?? rowsOf(batch)[0]?.['x'];
}

const cast = (column: string, type: string, more: { format?: string; onError?: 'null' } = {}): TransformSpec => ({
  op: 'cast',
  column,
  type,
  onError: 'dirty',
  ...more,
});
const filter = (where: string): TransformSpec => ({ op: 'filter', where });

test('a bigint beyond 2^53 is never rounded', async () => {
  const a = { a: '9007199254740993' };
  const types = { a: 'bigint' };
  assert.equal(await compute('a + 0', a, types), '9007199254740993');
  assert.equal(await compute('a - 1', a, types), '9007199254740992');
  assert.equal(await compute('a * 1000', a, types), '9007199254740993000');
  assert.equal(await compute('-a', a, types), '-9007199254740993');
  assert.equal(await compute('a % 10', a, types), '3');
  assert.equal(await compute('abs(-a)', a, types), '9007199254740993');
  assert.equal(await compute('a = 9007199254740992', a, types), 'false');
  assert.equal(await compute('a > 9007199254740992', a, types), 'true');
  assert.equal(await compute('a in (9007199254740992, 9007199254740993)', a, types), 'true');
  assert.equal(await compute('a = 9007199254740993.0', a, types), 'true');
  assert.equal(await compute('a = float(a)', a, types), 'false', 'the nearest double is another number');
  assert.equal(await compute('4503599627370496 * 2 + a - a', a, types), '9007199254740992');
  const u = { a: '18446744073709551615' };
  assert.equal(await compute('a', u, { a: 'bigint unsigned' }, 'bigint unsigned'), '18446744073709551615');
  assert.equal(
    await compute('a', u, { a: 'bigint unsigned' }),
    'transform[0].expression: `18446744073709551615` is not a valid int64',
  );
  assert.equal(
    await compute('a * a * a', u, { a: 'bigint unsigned' }, 'decimal(65,0)'),
    '6277101735386680762814942322444851025767571854389858533375',
  );
  assert.match(String(await compute('a + 1', { a: '9223372036854775807' }, types)), /not a valid int64/);
});

test('decimals are exact', async () => {
  const types = { a: 'decimal(65,30)' };
  const a = { a: '12345678901234567890123456789012345.000000000000000000000000000001' };
  assert.equal(await compute('a + a', a, types), '24691357802469135780246913578024690.000000000000000000000000000002');
  assert.equal(await compute('a = 12345678901234567890123456789012345', a, types), 'false');
  assert.equal(await compute('a > 12345678901234567890123456789012345', a, types), 'true');
  assert.equal(await compute('floor(a) = 12345678901234567890123456789012345', a, types), 'true');
  assert.equal(await compute('a - a', a, types), '0.000000000000000000000000000000');
  const b = { a: '-1.005' };
  assert.equal(await compute('round(a, 2)', b, types), '-1.01');
  assert.equal(await compute('round(a)', b, types), '-1');
  assert.equal(await compute('ceil(a)', b, types), '-1');
  assert.equal(await compute('floor(a)', b, types), '-2');
  assert.equal(await compute('a / 3', b, types), '-0.335000000');
  assert.equal(await compute('2 / 3', b, types), '0.666667');
  assert.equal(await compute('a % 1', b, types), '-0.005');
  assert.equal(await compute('a = -1.0050', b, types), 'true');
  assert.equal(await compute('0.1 * 3 = 0.3', b, types), 'true');
  assert.equal(await compute('float(0.1) * 3 = float(0.3)', b, types), 'false');
  assert.equal(await compute('1 / (a - a)', b, types), 'transform[0].expression: division by zero');
  assert.equal(await compute('int(a)', b, types), "transform[0].expression: '-1.005' is not an integer");
  assert.equal(await compute('int(a + 0.005)', b, types), '-1');
});

test('three-valued logic', async () => {
  const row = { n: null, t: 'true', f: 'false' };
  const types = { n: 'boolean', t: 'boolean', f: 'boolean' };
  const table: Readonly<Record<string, string | null>> = {
    'n and t': null,
    'n and f': 'false',
    'f and n': 'false',
    'n or t': 'true',
    't or n': 'true',
    'n or f': null,
    'not n': null,
    'n = t': null,
    'n is null': 'true',
    'n is not null': 'false',
    'n in (true, false)': null,
    't in (n, true)': 'true',
    'f in (n, true)': null,
    'f not in (n, true)': null,
    'coalesce(n, f)': 'false',
    'if(n, t, f)': 'false',
    'nullif(t, n)': 'true',
    'upper(null)': null,
    '1 + null': null,
    null: null,
  };
  for (const [e, expected] of Object.entries(table)) assert.equal(await compute(e, row, types), expected, e);
  const { batch, filtered } = await apply([filter('n')], batchOf(schemaOf(types), [row]));
  assert.deepEqual([batch.rows, filtered], [0, 1], 'NULL is not kept');
});

test('texts compare by code point, dates as dates', async () => {
  const types = { a: 'string', d: 'date', t: 'datetime', s: 'timestamp(3)', h: 'time(3)' };
  const row = {
    a: '\u{1F600}',
    d: '2024-02-29',
    t: '2024-02-29 00:00:00.500',
    s: '2024-02-29 10:00:00.120',
    h: '-01:00:00',
  };
  const all: Readonly<Record<string, string>> = {
    "a > '\uFFFD'": 'true',
    "a = '\u{1F600}'": 'true',
    'd < t': 'true',
    "t = '2024-02-29 00:00:00.5'": 'true',
    "t > '2024-02-29'": 'true',
    "s = '2024-02-29 10:00:00.12'": 'true',
    "h < '00:00:00'": 'true',
    "h > '-100:00:00'": 'true',
    "d in ('2024-02-28', '2024-02-29')": 'true',
    'date(t) = d': 'true',
    'text(s)': '2024-02-29 10:00:00.12',
  };
  for (const [e, expected] of Object.entries(all)) assert.equal(await compute(e, row, types), expected, e);
});

test('casts', async () => {
  const one = async (value: string, from: string, to: string, format?: string): Promise<unknown> => {
    const spec = cast('a', to, format === undefined ? {} : { format });
    const { batch } = await apply([spec], batchOf(schemaOf({ a: from, keep: 'string' }), [{ a: value, keep: value }]));
    if (batch.rejected) return 'dirty';
    assert.equal(rowsOf(batch)[0]?.['keep'], value, 'the other column is as it was');
    return rowsOf(batch)[0]?.['a'];
  };
  const table: readonly (readonly [string, string, string, string])[] = [
    ['TRUE', 'string', 'boolean', 'true'],
    ['1', 'bigint', 'boolean', 'true'],
    ['2', 'bigint', 'boolean', 'dirty'],
    ['true', 'boolean', 'int', '1'],
    ['300', 'int', 'tinyint', 'dirty'],
    ['1.00', 'decimal(5,2)', 'bigint', '1'],
    ['1.50', 'decimal(5,2)', 'bigint', 'dirty'],
    ['1.500', 'decimal(5,3)', 'decimal(3,1)', '1.5'],
    ['1.550', 'decimal(5,3)', 'decimal(3,1)', 'dirty'],
    ['1e+21', 'double', 'decimal(30,0)', '1000000000000000000000'],
    ['NaN', 'double', 'bigint', 'dirty'],
    ['9007199254740993', 'bigint', 'string', '9007199254740993'],
    ['9007199254740993', 'bigint', 'double', '9007199254740992'],
    ['2024-02-29', 'date', 'datetime', '2024-02-29 00:00:00'],
    ['2024-02-29 10:11:12.999', 'datetime(3)', 'datetime(0)', '2024-02-29 10:11:12'],
    ['2024-02-29 10:11:12.999', 'datetime(3)', 'time(1)', '10:11:12.9'],
    ['2024-02-29 10:11:12', 'timestamp', 'date', '2024-02-29'],
    ['2024-02-29T10:11:12+02:00', 'string', 'timestamp', '2024-02-29 08:11:12'],
    ['2023-02-29', 'string', 'date', 'dirty'],
    ['', 'string', 'bigint', 'dirty'],
    [' 1', 'string', 'bigint', 'dirty'],
    ['{"a":1}', 'string', 'json', '{"a":1}'],
    ['{a}', 'string', 'json', 'dirty'],
  ];
  for (const [value, from, to, expected] of table)
    assert.equal(await one(value, from, to), expected, `${value} → ${to}`);
  assert.equal(await one('29/2/2024', 'string', 'date', 'MM/dd/yyyy'), 'dirty');
  assert.equal(await one('29/2/2024', 'string', 'date', 'dd/M/yyyy'), '2024-02-29');
  assert.equal(
    await one('2024-02-29 10:11:12.5', 'datetime', 'string', "yyyy'y'M.d H:m:s.SSS"),
    '2024y2.29 10:11:12.500',
  );
  const bytes = schemaOf({ a: 'binary' });
  const text = await apply([cast('a', 'string')], batchOf(bytes, [{ a: Buffer.from('é') }, { a: Buffer.from([255]) }]));
  assert.deepEqual(rowsOf(text.batch), [{ a: 'é' }]);
  assert.deepEqual(
    text.batch.rejected?.map((r) => r.row),
    [{ a: '/w==' }],
  );
});

test('a row that fails is rejected as it came, with column and reason', async () => {
  const schema = schemaOf({ id: 'bigint', qty: 'string', n: 'string' });
  const rows = [
    { id: '1', qty: '5', n: null },
    { id: '2', qty: 'five', n: null },
  ];
  const { batch, filtered } = await apply([cast('qty', 'int'), filter('id > 0')], batchOf(schema, rows));
  assert.deepEqual(rowsOf(batch), [{ id: '1', qty: '5', n: null }]);
  assert.equal(filtered, 0);
  assert.deepEqual(batch.rejected, [
    {
      row: { id: '2', qty: 'five', n: null },
      column: 'qty',
      code: 'ROW_INVALID',
      reason: 'transform[0]: `five` is not a valid int32',
      place: null,
    },
  ]);
});

test('what the reader rejected stays, before what is rejected here', async () => {
  const schema = schemaOf({ a: 'string' });
  const b = new BatchBuilder(schema);
  const early = { row: 'x', column: null, code: 'ROW_INVALID', reason: 'early', place: 'f:1:1' } as const;
  b.reject(early);
  append(b, schema, [{ a: 'x' }]);
  const { batch } = await apply([cast('a', 'int')], b.finish('s', null, 3));
  assert.deepEqual(
    batch.rejected?.map((r) => r.reason),
    ['early', 'transform[0]: `x` is not a valid int32'],
  );
  assert.equal(batch.rejected[0], early);
});

test('rename, and a filter that all rows pass, copy nothing', async () => {
  const schema = schemaOf({ a: 'bigint', b: 'string' }, [0]);
  const batch = batchOf(schema, [
    { a: '1', b: 'x' },
    { a: '2', b: null },
  ]);
  const renamed = await apply([{ op: 'rename', columns: { a: 'z' } }], batch);
  assert.equal(renamed.batch.data, batch.data);
  assert.equal(renamed.batch.ends, batch.ends);
  assert.deepEqual(rowsOf(renamed.batch), [
    { z: '1', b: 'x' },
    { z: '2', b: null },
  ]);
  assert.deepEqual(renamed.batch.sections[0]?.schema.key, [0]);
  const kept = await apply([filter('a > 0')], batch);
  assert.equal(kept.batch.data, batch.data);
  assert.equal(kept.batch.sections[0]?.schema, schema);
});

test('a batch without rows left carries its position', async () => {
  const schema = schemaOf({ a: 'bigint' });
  const batch = batchOf(schema, [{ a: '1' }, { a: '2' }], { times: [5, 6] });
  const { batch: out, filtered } = await apply([filter('a > 5')], batch);
  assert.equal(filtered, 2);
  assert.deepEqual(
    [out.rows, out.position, out.sourceBytes, out.splitId, out.sections, out.data.length, out.ends.length],
    [0, 7, 11, 's', [], 0, 0],
  );
  assert.equal(out.eventTimes?.length, 0);
  const idle: RowBatch = { ...batch, rows: 0, sections: [], data: new Uint8Array(0), ends: new Uint32Array(0) };
  assert.equal((await RowTransform.load([filter('nothing = 1')])).apply(idle).batch, idle);
});

test('ops and event times stay with their rows', async () => {
  const schema = schemaOf({ a: 'bigint' });
  const rows = ['1', '2', '3', '4'].map((a) => ({ a }));
  const ops = [OP_INSERT, OP_DELETE, OP_DELETE, OP_INSERT] as const;
  for (const specs of [
    [filter('a in (2, 4)')],
    [filter('a in (2, 4)'), { op: 'constant', column: 'c', value: 'x', type: 'string' } as const],
  ]) {
    const { batch } = await apply(specs, batchOf(schema, rows, { ops, times: [1, 2, 3, NaN] }));
    assert.deepEqual([...(batch.ops ?? [])], [OP_DELETE, OP_INSERT]);
    assert.deepEqual([...(batch.eventTimes ?? [])], [2, NaN]);
    assert.deepEqual(
      rowsOf(batch).map((r) => r['a']),
      ['2', '4'],
    );
  }
});

test('a filter that takes half of an update makes it an insert or a delete', async () => {
  const schema = schemaOf({ id: 'bigint', v: 'string' }, [0]);
  const rows = [
    { id: '1', v: 'in' },
    { id: '1', v: 'in' }, // stays
    { id: '2', v: 'in' },
    { id: '2', v: 'out' }, // leaves
    { id: '3', v: 'out' },
    { id: '3', v: 'in' }, // enters
    { id: '4', v: 'out' },
    { id: '4', v: 'out' }, // never there
    { id: '5', v: 'in' },
    { id: '5', v: null }, // leaves: NULL is not true
  ];
  const ops = rows.map((_, i): RowOp => (i % 2 === 0 ? OP_UPDATE_BEFORE : OP_UPDATE_AFTER));
  for (const more of [
    [],
    [{ op: 'mask', columns: ['v'], method: 'null', keepFirst: 0, keepLast: 0, with: '*' } as const],
  ]) {
    const { batch, filtered } = await apply([filter("v = 'in'"), ...more], batchOf(schema, rows, { ops }));
    assert.equal(filtered, 5);
    assert.deepEqual(
      rowsOf(batch).map((r, i) => [batch.ops?.[i], r['id']]),
      [
        [OP_UPDATE_BEFORE, '1'],
        [OP_UPDATE_AFTER, '1'],
        [OP_DELETE, '2'],
        [OP_INSERT, '3'],
        [OP_DELETE, '5'],
      ],
    );
    assert.equal(batch.sections[0]?.schema.key.length, 1);
  }
});

test('an update of which one half fails is rejected whole', async () => {
  const schema = schemaOf({ id: 'bigint', v: 'string' });
  const ops: RowOp[] = [OP_INSERT, OP_UPDATE_BEFORE, OP_UPDATE_AFTER, OP_UPDATE_BEFORE, OP_UPDATE_AFTER, OP_INSERT];
  const values = ['1', '2', 'x', 'y', '3', '4'];
  const rows = values.map((v, i) => ({ id: String(i), v }));
  for (const specs of [[cast('v', 'int')], [filter('int(v) > 0')]]) {
    const { batch, filtered } = await apply(specs, batchOf(schema, rows, { ops }));
    assert.equal(filtered, 0);
    assert.deepEqual(
      rowsOf(batch).map((r) => r['id']),
      ['0', '5'],
    );
    assert.deepEqual([...(batch.ops ?? [])], [OP_INSERT, OP_INSERT]);
    assert.deepEqual(batch.rejected?.map((r) => (r.row as { id: string }).id).sort(), ['1', '2', '3', '4']);
  }
});

test('ABSENT cells', async () => {
  const schema = schemaOf({ id: 'bigint', a: 'string', b: 'string' });
  const row = { id: '1', b: '5' };
  const specs: TransformSpec[] = [
    { op: 'mask', columns: ['a'], method: 'sha256', keepFirst: 0, keepLast: 0, with: '*' },
    { op: 'compute', column: 'c', expression: 'upper(a)' },
    cast('a', 'int'),
  ];
  const ops: RowOp[] = [OP_DELETE];
  const { batch } = await apply(specs, batchOf(schema, [row], { ops }));
  assert.deepEqual(rowsOf(batch), [{ id: '1', a: undefined, b: '5', c: undefined }]);
  assert.ok(batch.ends.some((e) => (e & ABSENT_FLAG) !== 0));
  const mixed = await apply(
    [{ op: 'compute', column: 'c', expression: 'concat(a, b)' }],
    batchOf(schema, [row], { ops }),
  );
  assert.equal(
    mixed.batch.rejected?.[0]?.reason,
    'transform[0].expression: the row has no value of a: it is a partial image',
  );
  assert.deepEqual(mixed.batch.rejected[0]?.row, row);
  const dropped = await apply([filter("a = 'x'")], batchOf(schema, [row], { ops }));
  assert.equal(dropped.batch.rejected?.length, 1, 'unknown is not false');
});

test('sections of several tables, and a table that lacks a column', async () => {
  const one = schemaOf({ a: 'bigint', b: 'string' });
  const two = schemaOf({ b: 'string', a: 'bigint', c: 'string' });
  const b = new BatchBuilder(one);
  append(b, one, [
    { a: '1', b: 'x' },
    { a: '5', b: 'y' },
  ]);
  b.startSection(two);
  append(b, two, [
    { a: '6', b: 'z', c: 'w' },
    { a: '2', b: 'v', c: 'u' },
  ]);
  const batch = b.finish('s', 1, 1);
  const out = await apply([filter('a > 4')], batch);
  assert.deepEqual(rowsOf(out.batch), [
    { a: '5', b: 'y' },
    { b: 'z', a: '6', c: 'w' },
  ]);
  assert.equal(out.batch.sections.length, 2);
  const picked = await apply([{ op: 'select', columns: [{ name: 'b', as: 'x' }] }], batch);
  assert.deepEqual(
    rowsOf(picked.batch).map((r) => r['x']),
    ['x', 'y', 'z', 'v'],
  );
  await assert.rejects(apply([{ op: 'drop', columns: ['c'] }], batch), (e) => {
    assert.ok(isSyncError(e));
    assert.deepEqual(
      [e.code, e.place, e.message, e.hint],
      ['COLUMN_MISMATCH', 'transform[0]', 'there is no column "c"', 'columns here: a, b'],
    );
    return true;
  });
});

test('a schema change passes through transformed', async () => {
  const before = schemaOf({ id: 'bigint', name: 'string' }, [0]);
  const after = schemaOf({ id: 'bigint', name: 'string', extra: 'date' }, [0]);
  const t = await RowTransform.load([{ op: 'rename', columns: { name: 'who' } }]);
  const change = t.change({ is: 'schema', splitId: 's', table: 't', before, after, statement: 'alter' });
  assert.deepEqual(
    change.before?.columns.map((c) => c.name),
    ['id', 'who'],
  );
  assert.deepEqual(
    change.after?.columns.map((c) => c.name),
    ['id', 'who', 'extra'],
  );
  assert.deepEqual(change.after.key, [0]);
  assert.equal(t.change({ ...change, before: null, after: null }).after, null);
});

test('keys: kept where values stay one to one, else gone', async () => {
  const schema = schemaOf({ id: 'bigint', v: 'string' }, [0]);
  const key = async (spec: TransformSpec): Promise<readonly number[] | undefined> =>
    (await apply([spec], batchOf(schema, [{ id: '1', v: 'x' }]))).batch.sections[0]?.schema.key;
  const mask = { op: 'mask', columns: ['id'], keepFirst: 0, keepLast: 0, with: '*' } as const;
  assert.deepEqual(await key({ op: 'select', columns: ['v', { name: 'id', as: 'z' }] }), [1]);
  assert.deepEqual(await key(cast('id', 'string')), [0]);
  assert.deepEqual(await key({ ...mask, method: 'sha256' }), [0]);
  assert.deepEqual(await key({ ...mask, method: 'partial' }), []);
  assert.deepEqual(await key({ op: 'drop', columns: ['id'] }), []);
  assert.deepEqual(await key({ op: 'compute', column: 'id', expression: 'id + 1' }), []);
});

test('meta columns and raw types', async () => {
  const schema = internSchema([
    { name: 'a', type: { is: 'string' }, rawType: 'varchar(9)', nullable: false },
    { name: 'topic', type: { is: 'string' }, role: 'meta' },
  ]);
  const specs: TransformSpec[] = [{ op: 'rename', columns: { topic: 't' } }, cast('a', 'int', { onError: 'null' })];
  const { batch } = await apply(specs, batchOf(schema, [{ a: 'x', topic: 'k' }]));
  assert.deepEqual(
    batch.sections[0]?.schema.columns.map((c) => [c.name, c.role, c.rawType, c.nullable]),
    [
      ['a', 'data', null, true],
      ['t', 'meta', null, true],
    ],
  );
  assert.deepEqual(rowsOf(batch), [{ a: null, t: 'k' }]);
});

test('large cells', async () => {
  const big = 'é'.repeat(3_000_000);
  const schema = schemaOf({ a: 'string', b: 'string' });
  const specs: TransformSpec[] = [
    { op: 'compute', column: 'c', expression: 'concat(a, b)' },
    { op: 'compute', column: 'd', expression: "concat(b, '.')" },
    { op: 'drop', columns: ['a'] },
  ];
  const { batch } = await apply(
    specs,
    batchOf(schema, [
      { a: big, b: 'x' },
      { a: 'q', b: 'y' },
    ]),
  );
  assert.deepEqual(rowsOf(batch), [
    { b: 'x', c: `${big}x`, d: 'x.' },
    { b: 'y', c: 'qy', d: 'y.' },
  ]);
});
