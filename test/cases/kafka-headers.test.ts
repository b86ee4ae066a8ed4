/** Headers of records that are written: the same for all, and of a column. */
import assert from 'node:assert/strict';
import { kafkaTest, type Kafka, type KafkaRecord } from '../support/kafka.js';
import { sync, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const plain = (r: KafkaRecord): unknown => [
  r.value?.toString() ?? null,
  r.headers.map((h) => [h.key, h.value?.toString('hex') ?? null]),
];

async function run(ws: Workspace, reader: object, writer: object, setting: object = {}): Promise<SyncResult> {
  const job = ws.job({ job: { content: [{ reader, writer }], setting } });
  return sync(['run', job, '--output', 'json'], { cwd: ws.dir });
}

const writes = (kafka: Kafka, topic: string, more: object) => ({
  name: 'kafkawriter',
  parameter: { brokers: kafka.brokers, topic, ...more },
});

const hex = (text: string): string => Buffer.from(text).toString('hex');

kafkaTest('headers of all records and of a column; a cell that holds none is a dirty row', async (kafka) => {
  await using topic = await kafka.topic();
  using ws = new Workspace();
  const cells = [
    '[{"key":"a","value":"AP8="},{"key":"a","value":null},{"key":"é","value":""}]',
    '[]',
    null,
    'no json',
    '{"key":"a","value":"AA=="}',
    '[null]',
    '[{"key":1,"value":"AA=="}]',
  ];
  ws.write('in.json', cells.map((h, id) => `${JSON.stringify({ id, h })}\n`).join(''));
  const reader = { name: 'filereader', parameter: { path: 'in.json', fileType: 'json', column: ['id', 'h'] } };
  const writer = writes(kafka, topic.name, { headers: { source: 'syncx', empty: '' }, headersColumn: 'h' });
  const r = await run(ws, reader, writer, { errorLimit: { record: 4 } });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual([r.summary?.written, r.summary?.dirty], [3, 4]);
  const always = [
    ['source', hex('syncx')],
    ['empty', ''],
  ];
  assert.deepEqual((await topic.records()).map(plain), [
    ['{"id":"0"}', [...always, ['a', '00ff'], ['a', null], ['é', '']]],
    ['{"id":"1"}', always],
    ['{"id":"2"}', always],
  ]);
});

kafkaTest(
  'headers and times are carried from topic to topic beside a value of JSON, and of text with a key',
  async (kafka) => {
    await using source = await kafka.topic();
    await using target = await kafka.topic();
    const headers = [
      { key: 'h', value: Buffer.from([0, 255]) },
      { key: 'h', value: null },
    ];
    const timestamp = 1_700_000_000_123;
    await source.send([
      { value: '{"id":1}', headers, timestamp },
      { value: '{"id":2}', timestamp: timestamp + 1 },
    ]);
    const expected = [
      ['h', '00ff'],
      ['h', null],
    ];
    for (const [codec, value, more] of [
      ['json', 'id', {}],
      ['text', 'message', { keyColumns: ['k'] }],
    ] as const) {
      using ws = new Workspace();
      const column = [
        { name: value, type: codec === 'json' ? 'int' : 'string' },
        { name: 'k', value: 'key' },
        { name: 'heads', meta: 'headers' },
      ];
      const parameter = {
        brokers: kafka.brokers,
        topic: source.name,
        mode: 'earliest-offset',
        bounded: 'latest-at-start',
      };
      const reader = { name: 'kafkareader', parameter: { ...parameter, codec, column } };
      const columns = codec === 'json' ? { column: ['id'] } : {};
      const r = await run(
        ws,
        reader,
        writes(kafka, target.name, { codec, headersColumn: 'heads', ...columns, ...more }),
      );
      assert.equal(r.code, 0, r.stderr);
      const copies = (await target.records()).slice(-2);
      assert.deepEqual(copies.map(plain), [
        ['{"id":1}', expected],
        ['{"id":2}', []],
      ]);
      assert.deepEqual(
        copies.map((c) => c.timestamp),
        [timestamp, timestamp + 1],
      );
    }
  },
);

kafkaTest('a column of headers that is not there is told before a record is written', async (kafka) => {
  await using topic = await kafka.topic();
  using ws = new Workspace();
  ws.write('in.csv', '1\n');
  const reader = { name: 'filereader', parameter: { path: 'in.csv', fileType: 'csv', column: ['id'] } };
  const r = await run(ws, reader, writes(kafka, topic.name, { headersColumn: 'h' }));
  assert.notEqual(r.code, 0);
  assert.match(r.stderr, /COLUMN_MISMATCH: the reader has no column `h`/);
  assert.deepEqual(await topic.records(), []);
});
