import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChanges, reasons } from './change-support.js';

const ID_NAME = [{ name: 'id', type: 'bigint' }, 'name'];
const BIG = '9007199254740993';

const canal = (type: string, data: unknown, more: object = {}) => ({
  ...{ data, database: 'shop', es: 1, id: 1, isDdl: false, mysqlType: { id: 'bigint(20)', name: 'varchar(20)' } },
  ...{ old: null, pkNames: ['id'], sql: '', sqlType: {}, table: 'orders', ts: 2, type, ...more },
});

test('canal-json: each row of a message comes with its operation; old holds what changed', () => {
  const read = readChanges('canal-json', ID_NAME, [
    canal('INSERT', [
      { id: BIG, name: 'a' },
      { id: '2', name: null },
    ]),
    canal(
      'UPDATE',
      [
        { id: BIG, name: 'b' },
        { id: '3', name: null },
      ],
      { old: [{ name: 'a' }, { id: '2' }] },
    ),
    canal('DELETE', [{ id: '3', name: 'say "é🙂"' }]),
    null,
  ]);
  assert.deepEqual(reasons(read), []);
  assert.deepEqual(read.rows, [
    ['+', { id: BIG, name: 'a' }],
    ['+', { id: '2', name: null }],
    ['-U', { id: BIG, name: 'a' }],
    ['+U', { id: BIG, name: 'b' }],
    ['-U', { id: '2', name: null }],
    ['+U', { id: '3', name: null }],
    ['-', { id: '3', name: 'say "é🙂"' }],
  ]);
  assert.deepEqual([...new Set(read.tables)], ['shop.orders']);
  assert.deepEqual(read.batch.sections[0]?.schema.key, [0]);
  assert.deepEqual(read.batch.eventTimes?.[2], 1001);
});

test('canal-json: a value that was NULL stands in old as null', () => {
  const update = canal('UPDATE', [{ id: '1', name: 'b' }], { old: [{ name: null }] });
  assert.deepEqual(readChanges('canal-json', ID_NAME, [update]).rows, [
    ['-U', { id: '1', name: null }],
    ['+U', { id: '1', name: 'b' }],
  ]);
});

test('canal-json: a record is one dirty row where one of its rows is bad, and gives none', () => {
  const good = canal('INSERT', [{ id: '1', name: 'a' }]);
  const read = readChanges('canal-json', ID_NAME, [
    good,
    canal('INSERT', [
      { id: '2', name: 'a' },
      { id: 'x', name: 'b' },
    ]),
    canal('UPDATE', [{ id: '5', name: 'b' }], { old: [{ id: 'x' }] }),
    canal('UPDATE', [{ id: 'x', name: 'b' }], { old: [{ id: '5' }] }),
    good,
  ]);
  assert.deepEqual(read.rows, [
    ['+', { id: '1', name: 'a' }],
    ['+', { id: '1', name: 'a' }],
  ]);
  const bad = 'id: `"x"` is not a valid int64';
  assert.deepEqual(reasons(read), [`t-0@1: ${bad}`, `t-0@2: ${bad}`, `t-0@3: ${bad}`]);
});

test('canal-json: what is no message is dirty, each with its reason', () => {
  const row = [{ id: '1', name: 'a' }];
  const read = readChanges('canal-json', ID_NAME, [
    '{not json',
    '',
    '[1]',
    `${JSON.stringify(canal('INSERT', row))} 1`,
    Buffer.from([0xff]),
    canal('UPSERT', row),
    { database: 'shop', table: 'orders', data: row },
    canal('INSERT', null),
    canal('INSERT', [1]),
    canal('UPDATE', row),
    canal('UPDATE', row, { old: [] }),
    canal('TRUNCATE', null, { isDdl: true }),
    '{"type":"INSERT","type":"DELETE","data":[{"id":"1"}]}',
  ]);
  assert.deepEqual(read.rows, []);
  assert.deepEqual(reasons(read), [
    't-0@0: the value is not JSON, from byte 1 on',
    't-0@1: the value is empty, not JSON',
    't-0@2: the value is no JSON object',
    't-0@3: the value goes on behind its JSON object',
    't-0@4: the value is not valid UTF-8',
    't-0@5: the message is of the unknown type `UPSERT`',
    't-0@6: the message has no `type`',
    't-0@7: the message has no `data`',
    't-0@8: `data` is no list of rows',
    't-0@9: the message has no `old`',
    't-0@10: the message has not as many rows in `old` as in `data`',
    't-0@11: the message says that its table was emptied, which no row can tell: empty the target',
    't-0@12: the key `type` stands twice',
  ]);
});

test('canal-json: changes of definitions are told of, heartbeats are not', () => {
  const read = readChanges('canal-json', ID_NAME, [
    canal('ALTER', null, { isDdl: true, sql: 'alter table orders add x int' }),
    canal('QUERY', null),
    canal('MHEARTBEAT', null),
  ]);
  assert.deepEqual(read.rows, []);
  assert.deepEqual(reasons(read), []);
  assert.deepEqual(read.notes, ['ALTER shop.orders t-0@0', 'QUERY shop.orders t-0@1']);
});

test('canal-json: JSON is text, bytes are the characters up to U+00FF', () => {
  const columns = [
    { name: 'j', type: 'json' },
    { name: 'b', type: 'binary' },
  ];
  const read = readChanges('canal-json', columns, [
    canal('INSERT', [
      { j: '{"a":1.50}', b: 'abcd\u0000\u00ff' },
      { j: 'null', b: '' },
      { j: null, b: null },
    ]),
    canal('INSERT', [{ j: '{', b: '' }]),
    canal('INSERT', [{ j: '1', b: '\u0100' }]),
  ]);
  assert.deepEqual(read.rows, [
    ['+', { j: '{"a":1.50}', b: Uint8Array.of(97, 98, 99, 100, 0, 255) }],
    ['+', { j: 'null', b: Uint8Array.of() }],
    ['+', { j: null, b: null }],
  ]);
  assert.deepEqual(reasons(read), ['t-0@1: j: `"{"` is not a valid json', 't-0@2: b: `"Ā"` is not a valid binary']);
});

test('canal-json: with `*` columns are those of the record, of the types that it says', () => {
  const mysqlType = {
    id: 'bigint(20) unsigned',
    name: 'varchar(20)',
    pic: 'mediumblob',
    at: 'datetime(3)',
    e: "enum('a')",
  };
  const row = { id: '18446744073709551615', name: 'a', pic: '\u00ff', at: '2024-01-01 00:00:00.5', e: 'a' };
  const other = { table: 'notes', mysqlType: { n: 'int(11)' }, pkNames: null };
  const read = readChanges(
    'canal-json',
    ['*', { name: 't', meta: 'table' }],
    [
      canal('INSERT', [row], { mysqlType }),
      canal('INSERT', [{ n: '1' }], other),
      canal('INSERT', [{ n: '2' }, { n: '3', m: 'x' }, { n: 'y' }], other),
      canal('INSERT', [{ n: '2' }, { n: '3', m: 'x' }], other),
      canal('INSERT', [{ t: '2' }], other),
      canal('INSERT', [{}], other),
      canal('DELETE', [row], { mysqlType }),
    ],
  );
  const whole = { ...row, pic: Uint8Array.of(255), t: 'orders' };
  assert.deepEqual(read.rows, [
    ['+', whole],
    ['+', { n: '1', t: 'notes' }],
    ['+', { n: '2', t: 'notes' }],
    ['+', { n: '3', m: 'x', t: 'notes' }],
    ['-', whole],
  ]);
  const [first, second] = read.batch.sections;
  assert.deepEqual(
    first?.schema.columns.map((c) => c.type.is),
    ['uint64', 'string', 'binary', 'datetime', 'enum', 'string'],
  );
  assert.deepEqual(first.schema.key, [0]);
  assert.deepEqual([second?.schema.table, second?.schema.columns[0]?.type.is], ['shop.notes', 'int32']);
  assert.deepEqual(reasons(read), [
    't-0@2: n: `"y"` is not a valid int32',
    't-0@4: the row has the column `t` twice; another one stands beside `*`',
    't-0@5: the row has no columns',
  ]);
});

test('tables that are not asked for are passed over', () => {
  const of = (database: string | undefined, table: string) =>
    canal('INSERT', [{ id: '1', name: table }], { database, table });
  const values = [of('shop', 'orders'), of('shop', 'orders_old'), of('other', 'orders'), of(undefined, 'orders')];
  const read = readChanges('canal-json', ID_NAME, values, { database: 's.*', table: 'orders|refunds' });
  assert.deepEqual(read.rows, [['+', { id: '1', name: 'orders' }]]);
  assert.deepEqual(reasons(read), ['t-0@3: the record does not say of which table it is']);
});

const debezium = (op: string, before: unknown, after: unknown, more: object = {}) => ({
  ...{ before, after, source: { db: 'shop', table: 'orders', ts_ms: 1 }, op, ts_ms: 2, ...more },
});

test('debezium-json: operations, with and without the schema around; a read of a snapshot is an insert', () => {
  const a = { id: 1, name: 'a' };
  const b = { id: 1, name: 'b' };
  const c = debezium('c', null, a);
  const read = readChanges('debezium-json', ID_NAME, [
    debezium('r', null, a),
    { schema: { type: 'struct', fields: [] }, payload: c },
    { payload: { ...debezium('u', a, b), source: { db: 'pg', schema: 'public', table: 'notes' } } },
    debezium('d', b, null),
    null,
    debezium('m', null, null),
  ]);
  assert.deepEqual(reasons(read), []);
  assert.deepEqual(read.rows, [
    ['+', { id: '1', name: 'a' }],
    ['+', { id: '1', name: 'a' }],
    ['-U', { id: '1', name: 'a' }],
    ['+U', { id: '1', name: 'b' }],
    ['-', { id: '1', name: 'b' }],
  ]);
  assert.deepEqual(read.tables, ['shop.orders', 'shop.orders', 'public.notes', 'public.notes', 'shop.orders']);
});

test('debezium-json: without the row as it was, an update or delete is dirty', () => {
  const read = readChanges('debezium-json', ID_NAME, [
    debezium('u', null, { id: 1, name: 'b' }),
    debezium('d', null, null),
    debezium('u', { id: 1 }, null),
    debezium('c', null, null),
    debezium('t', null, null),
    debezium('x', null, { id: 1 }),
    { id: 1 },
    { payload: 1 },
    { payload: { op: 'c', after: [1] } },
  ]);
  assert.deepEqual(read.rows, []);
  const old =
    'the row as it was (`before`) is not there; of PostgreSQL it comes where the table has REPLICA IDENTITY FULL';
  assert.deepEqual(reasons(read), [
    `t-0@0: ${old}`,
    `t-0@1: ${old}`,
    't-0@2: the record has no `after`',
    't-0@3: the record has no `after`',
    't-0@4: the record says that its table was emptied, which no row can tell: empty the target',
    't-0@5: the record is of the unknown op `x`',
    't-0@6: the record has no `op`: it is no change of Debezium',
    't-0@7: the `payload` is no JSON object',
    't-0@8: `after` is no JSON object',
  ]);
});

test('debezium-json: a value that PostgreSQL did not send is ABSENT; encoded times and decimals are dirty, not wrong', () => {
  const gone = '__debezium_unavailable_value';
  const columns = ['text', { name: 'at', type: 'datetime' }, { name: 'n', type: 'decimal(20,2)' }];
  const row = { text: 'x', at: '2024-01-01T00:00:00', n: 5 };
  const read = readChanges('debezium-json', columns, [
    `{"op":"u","before":${JSON.stringify(row)},"after":{"text":"${gone}","at":null,"n":12345678901234567.89}}`,
    debezium('c', null, { text: gone, at: null, n: null }),
    debezium('c', null, { ...row, at: 1_700_000_000_000 }),
    debezium('c', null, { ...row, n: 'AeJA' }),
    { source: { db: 'shop' }, ddl: 'create table x (id int)', databaseName: 'shop', tableChanges: [] },
  ]);
  assert.deepEqual(read.rows, [
    ['-U', { text: 'x', at: '2024-01-01 00:00:00', n: '5' }],
    ['+U', { text: undefined, at: null, n: '12345678901234567.89' }],
    ['+', { text: gone, at: null, n: null }],
  ]);
  assert.deepEqual(reasons(read), [
    't-0@2: at: `1700000000000` is not a valid datetime(6)',
    't-0@3: n: `"AeJA"` is not a valid decimal(20,2)',
  ]);
  assert.deepEqual(read.notes, ['DDL null t-0@4']);
});

const maxwell = (type: string, data: unknown, more: object = {}) => ({
  ...{ database: 'shop', table: 'orders', type, ts: 1, data, ...more },
});

test('maxwell-json: operations, bootstraps and changes of definitions', () => {
  const read = readChanges(
    'maxwell-json',
    [...ID_NAME, { name: 'j', type: 'json' }, 'j.a', { name: 'b', type: 'binary' }],
    [
      maxwell('bootstrap-start', {}),
      maxwell('bootstrap-insert', { id: 1, name: 'a', j: { a: 1.5 }, b: '/wA=' }),
      maxwell('bootstrap-complete', {}),
      maxwell(
        'update',
        { id: 1, name: 'b', j: { a: 2 } },
        { old: { name: 'a', j: { z: 0 } }, primary_key_columns: ['id'] },
      ),
      maxwell('delete', { id: 1, name: 'b' }),
      maxwell('table-alter', undefined),
      maxwell('update', { id: 1, name: 'b' }),
      maxwell('upsert', { id: 1 }),
    ],
  );
  assert.deepEqual(read.rows, [
    ['+', { id: '1', name: 'a', j: '{"a":1.5}', 'j.a': '1.5', b: Uint8Array.of(255, 0) }],
    ['-U', { id: '1', name: 'a', j: '{"z":0}', 'j.a': null, b: null }],
    ['+U', { id: '1', name: 'b', j: '{"a":2}', 'j.a': '2', b: null }],
    ['-', { id: '1', name: 'b', j: null, 'j.a': null, b: null }],
  ]);
  assert.deepEqual(read.tables, Array(4).fill('shop.orders'));
  assert.deepEqual(read.batch.sections[1]?.schema.key, [0]);
  assert.deepEqual(read.notes, ['table-alter shop.orders t-0@5']);
  assert.deepEqual(reasons(read), [
    't-0@6: the message has no `old`',
    't-0@7: the message is of the unknown type `upsert`',
  ]);
});
