/** Topics of changes (Canal, Debezium, Maxwell) are carried out at a table: inserts, updates, deletes. */
import assert from 'node:assert/strict';
import { ownDatabase } from '../support/databases.js';
import { kafkaTest, type Kafka, type OwnTopic } from '../support/kafka.js';
import { kafkaToFile, runKafka } from '../support/kafka-job.js';
import { assertDone, dirtyRows, mysqlWriter, runJob, type Json, type PluginPart } from '../support/mysql-job.js';
import { testServer, type TestServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

/** With a MariaDB beside. */
function changesTest(name: string, body: (kafka: Kafka, server: TestServer) => Promise<void>): void {
  kafkaTest(name, async (kafka, t) => {
    const server = testServer('mariadb');
    if (server === null) t.skip('no server: SYNC_MARIADB_URL is not set');
    else await body(kafka, server);
  });
}

const reader = (kafka: Kafka, topic: OwnTopic, more: Json): PluginPart => ({
  name: 'kafkareader',
  parameter: {
    brokers: kafka.brokers,
    topic: topic.name,
    mode: 'earliest-offset',
    bounded: 'latest-at-start',
    ...more,
  },
});

const send = (topic: OwnTopic, values: readonly (object | string | null)[]) =>
  topic.send(values.map((v) => ({ value: v === null || typeof v === 'string' ? v : JSON.stringify(v) })));

const BIG = '18446744073709551615';

changesTest('canal-json into all tables of a database, each change at its own', async (kafka, server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table orders (id bigint unsigned primary key, amount decimal(20,2), pic blob) engine=InnoDB');
  await db.query('create table notes (n int primary key, body json) engine=InnoDB');
  const orders = {
    ...{ database: 'shop', table: 'orders', pkNames: ['id'], isDdl: false, es: 1, ts: 2, sql: '' },
    mysqlType: { id: 'bigint(20) unsigned', amount: 'decimal(20,2)', pic: 'blob' },
  };
  const notes = { ...orders, table: 'notes', pkNames: ['n'], mysqlType: { n: 'int(11)', body: 'json' } };
  const row = (id: string, amount: string | null, pic: string | null = null) => ({ id, amount, pic });
  await using topic = await kafka.topic();
  await send(topic, [
    {
      ...orders,
      type: 'INSERT',
      data: [row('1', '1.10'), row(BIG, '12345678901234567.89', 'a\u0000\u00ff')],
      old: null,
    },
    {
      ...notes,
      type: 'INSERT',
      data: [
        { n: '1', body: '{"a":1}' },
        { n: '2', body: null },
      ],
      old: null,
    },
    { ...orders, type: 'UPDATE', data: [row('1', null), row('7', '3.00')], old: [{ amount: '1.10' }, { id: '6' }] },
    { ...orders, type: 'INSERT', data: [row('6', '9.00')], old: null },
    { ...orders, type: 'UPDATE', data: [row('8', '9.00')], old: [{ id: '6' }] },
    { ...notes, type: 'DELETE', data: [{ n: '1', body: '{"a":1}' }], old: null },
    { ...orders, type: 'ALTER', isDdl: true, data: null, old: null, sql: 'alter table orders add x int' },
    { ...orders, table: 'others', type: 'INSERT', data: [row('1', '1')], old: null },
  ]);
  using ws = new Workspace();
  const read = { codec: 'canal-json', tableInclude: 'orders|notes' };
  const r = await runJob(ws, { reader: reader(kafka, topic, read), writer: mysqlWriter(db, '*') });
  assertDone(r);
  assert.match(r.stderr, new RegExp(`${topic.name}-0@6 is a change of definitions of shop.orders \\(ALTER\\)`));
  assert.deepEqual(await db.query('select id, amount, hex(pic) from orders order by id'), [
    ['1', null, null],
    ['7', '3.00', null],
    ['8', '9.00', null],
    [BIG, '12345678901234567.89', '6100FF'],
  ]);
  assert.deepEqual(await db.query('select n, body from notes'), [['2', null]]);
});

changesTest('debezium-json into a table; a record without the row as it was is dirty', async (kafka, server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table t (id bigint primary key, name varchar(20), at datetime(3)) engine=InnoDB');
  const row = (id: number, name: string | null) => ({ id, name, at: '2024-03-31T02:30:00.5' });
  const change = (op: string, before: object | null, after: object | null) => ({ before, after, op, ts_ms: 1 });
  await using topic = await kafka.topic();
  await send(topic, [
    change('r', null, row(1, 'a')),
    { schema: {}, payload: change('c', null, row(2, '🙂')) },
    change('c', null, row(3, 'c')),
    change('u', row(1, 'a'), row(1, null)),
    change('u', row(3, 'c'), row(4, 'c')),
    change('d', row(2, '🙂'), null),
    null,
    change('u', null, row(4, 'd')),
  ]);
  using ws = new Workspace();
  const column = [{ name: 'id', type: 'bigint' }, 'name', { name: 'at', type: 'datetime(3)' }];
  const setting = { errorLimit: { record: 1 }, dirty: { path: 'dirty' } };
  const job = {
    reader: reader(kafka, topic, { codec: 'debezium-json', column }),
    writer: mysqlWriter(db, 't'),
    setting,
  };
  assertDone(await runJob(ws, job));
  assert.deepEqual(
    dirtyRows(ws).map((d) => d.place),
    [`${topic.name}-0@7`],
  );
  assert.deepEqual(await db.query('select id, name, at from t order by id'), [
    ['1', null, '2024-03-31 02:30:00.500'],
    ['4', 'c', '2024-03-31 02:30:00.500'],
  ]);
});

changesTest('maxwell-json into a table', async (kafka, server) => {
  await using db = await ownDatabase(server.url);
  await db.query('create table t (id bigint primary key, name varchar(20)) engine=InnoDB');
  const of = (type: string, data: object, old?: object) => ({ database: 'shop', table: 't', type, ts: 1, data, old });
  await using topic = await kafka.topic();
  await send(topic, [
    of('bootstrap-start', {}),
    of('bootstrap-insert', { id: 1, name: 'a' }),
    of('bootstrap-complete', {}),
    `{"database":"shop","table":"t","type":"insert","data":{"id":9007199254740993,"name":"b"}}`,
    of('update', { id: 2, name: 'a' }, { id: 1 }),
    of('insert', { id: 3, name: 'c' }),
    of('delete', { id: 3, name: 'c' }),
  ]);
  using ws = new Workspace();
  const job = { reader: reader(kafka, topic, { codec: 'maxwell-json' }), writer: mysqlWriter(db, '*') };
  assertDone(await runJob(ws, job));
  assert.deepEqual(await db.query('select id, name from t order by id'), [
    ['2', 'a'],
    ['9007199254740993', 'b'],
  ]);
});

kafkaTest('changes into files are refused, inserts are taken', async (kafka) => {
  await using topic = await kafka.topic();
  const insert = { database: 'd', table: 't', type: 'insert', data: { id: 1 } };
  await send(topic, [insert]);
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, codec: 'maxwell-json', column: ['id'] });
  const done = await runKafka(ws, job);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(job.lines(), ['{"id":"1"}']);

  await send(topic, [{ ...insert, type: 'delete' }]);
  using other = new Workspace();
  const refused = await runKafka(
    other,
    kafkaToFile(other, kafka, { topic: topic.name, codec: 'maxwell-json', column: ['id'] }),
  );
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.summary?.error?.message ?? '', /the file writer got an update or delete/);
});

kafkaTest('changes from topic to topic: canal-json to debezium-json and back', async (kafka) => {
  await using from = await kafka.topic();
  await using between = await kafka.topic({ partitions: 2 });
  await using to = await kafka.topic();
  const type = { id: 'bigint(20)', name: 'varchar(20)' };
  const message = (op: string, data: object, old: object | null = null) => ({
    ...{ data: [data], database: 'shop', es: 1000, id: 0, isDdl: false, mysqlType: type, old: old && [old] },
    ...{ pkNames: ['id'], sql: '', sqlType: null, table: 'orders', ts: 1000, type: op },
  });
  const [a, b, moved] = [
    { id: '9007199254740993', name: 'say "é🙂"' },
    { id: '9007199254740993', name: null },
    { id: '2', name: null },
  ];
  const changes = [
    message('INSERT', a),
    message('UPDATE', b, { name: a.name }),
    message('UPDATE', moved, { id: b.id }),
    message('DELETE', moved),
  ];
  await from.send(changes.map((c) => ({ value: JSON.stringify(c), timestamp: 1000 })));
  const column = [{ name: 'id', type: 'bigint' }, 'name'];
  const copy = async (source: OwnTopic, codec: string, target: OwnTopic, more: Json): Promise<void> => {
    using ws = new Workspace();
    const parameter = { brokers: kafka.brokers, topic: target.name, semantic: 'exactly-once', ...more };
    const job = { reader: reader(kafka, source, { codec, column }), writer: { name: 'kafkawriter', parameter } };
    assertDone(await runJob(ws, job));
  };
  await copy(from, 'canal-json', between, {
    codec: 'debezium-json',
    keyColumns: ['id'],
    tombstones: true,
    partition: 1,
  });
  const source = '"source":{"db":"shop","table":"orders"}';
  const [was, is, now] = [
    '{"id":9007199254740993,"name":"say \\"é🙂\\""}',
    '{"id":9007199254740993,"name":null}',
    '{"id":2,"name":null}',
  ];
  const record = (before: string, after: string, op: string) =>
    `{"before":${before},"after":${after},${source},"op":"${op}","ts_ms":1000}`;
  const records = await between.records();
  assert.deepEqual(
    records.map((r) => [r.key?.toString(), r.value?.toString()]),
    [
      [a.id, record('null', was, 'c')],
      [a.id, record(was, is, 'u')],
      [a.id, record(is, 'null', 'd')],
      [a.id, undefined],
      ['2', record('null', now, 'c')],
      ['2', record(now, 'null', 'd')],
      ['2', undefined],
    ],
  );
  await copy(between, 'debezium-json', to, { codec: 'canal-json', partition: 0 });
  const back = (await to.records()).map((r) => JSON.parse(r.value?.toString() ?? '') as Json);
  const own = { mysqlType: { id: 'bigint', name: 'longtext' }, pkNames: null };
  assert.deepEqual(
    back,
    [
      message('INSERT', a),
      message('UPDATE', b, { name: a.name }),
      message('DELETE', b),
      message('INSERT', moved),
      message('DELETE', moved),
    ].map((m) => ({ ...m, ...own })),
  );
});
