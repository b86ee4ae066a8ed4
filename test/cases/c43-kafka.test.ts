/** C43, reading: null, empty, and awkward records. */
import assert from 'node:assert/strict';
import { kafkaTest, type NewRecord } from '../support/kafka.js';
import { BYTES, RECORDS, assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { Workspace } from '../support/workspace.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

kafkaTest('C43: codec raw keeps null and empty apart, headers in their order, bytes and times', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(RECORDS);
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, codec: 'raw' });
  assertDone(await runKafka(ws, job), 6);
  const at = '2023-11-14 22:13:20.123';
  const row = (value: string | null, key: string | null, headers: unknown = []): string =>
    JSON.stringify({ value, key, headers, timestamp: at });
  const expected = [
    row(base64('v1'), null),
    row('', ''),
    row(null, base64('k')),
    row(base64('v4'), base64('k'), [{ key: 'h', value: null }]),
    row(base64('v5'), base64('k'), [
      { key: 'h', value: base64('a') },
      { key: 'h', value: base64('b') },
    ]),
    row(BYTES.toString('base64'), base64('k')),
  ].sort();
  assert.deepEqual(job.lines(), expected);
});

const AWKWARD: readonly NewRecord[] = [
  { key: 'k', value: '{"id":1}' },
  { key: 'k', value: null },
  { key: 'k', value: '{not json' },
  { key: 'k', value: BYTES },
];

kafkaTest('C43: codec json: what is no JSON is a dirty row with its place; a null value is no row', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(AWKWARD);
  using ws = new Workspace();
  const read = { topic: topic.name, codec: 'json', column: [{ name: 'id', type: 'bigint' }] };
  const tolerant = kafkaToFile(ws, kafka, read, { errorLimit: { record: 2 } });
  const r = await runKafka(ws, tolerant);
  assertDone(r, 1);
  assert.equal(r.summary?.dirty, 2);
  assert.deepEqual(tolerant.lines(), ['{"id":1}']);

  using strict = new Workspace();
  const failing = await runKafka(strict, kafkaToFile(strict, kafka, read, { errorLimit: { record: 0 } }));
  assert.equal(failing.code, 3, failing.stderr);
  assert.match(failing.stderr + failing.stdout, new RegExp(`${topic.name}-0@2`));
});

kafkaTest('C43: codec text: a null value is NULL, bytes that are no text are dirty', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send(AWKWARD);
  using ws = new Workspace();
  const column = ['*', { name: 'k', meta: 'key' }, { name: 'o', meta: 'offset' }];
  const job = kafkaToFile(
    ws,
    kafka,
    { topic: topic.name, column },
    { errorLimit: { record: 1 } },
    { column: ['message', 'k', 'o'] },
  );
  const r = await runKafka(ws, job);
  assertDone(r, 3);
  assert.deepEqual(
    job.lines(),
    [
      '{"message":"{\\"id\\":1}","k":"k","o":0}',
      '{"message":null,"k":"k","o":1}',
      '{"message":"{not json","k":"k","o":2}',
    ].sort(),
  );
});
