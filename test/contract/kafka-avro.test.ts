/** Codec avro: values of a schema file, bare and framed as Confluent's serializers do, into typed rows. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { Workspace } from '../support/workspace.js';

const SCHEMA = {
  type: 'record',
  name: 'order',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 12, scale: 2 } },
    { name: 'note', type: ['null', 'string'] },
    { name: 'tags', type: { type: 'array', items: 'long' } },
  ],
};
/** Written by avsc 5.7.9: 9007199254740993, -12.34, "é", [1, 9007199254740993]. */
const FULL = '8280808080808020' + '04fb2e' + '0204c3a9' + '04028280808080808020' + '00';
const BARE = '0e' + '0205' + '00' + '00';
const framed = (id: number, hex: string): Buffer => {
  const frame = Buffer.from([0, 0, 0, 0, 0]);
  frame.writeUInt32BE(id, 1);
  return Buffer.concat([frame, Buffer.from(hex, 'hex')]);
};

kafkaTest('avro by a schema file: exact cells, places of what is not of it', async (kafka) => {
  await using topic = await kafka.topic();
  const values = [FULL, BARE, FULL.slice(0, -2), `${BARE}00`].map((hex) => Buffer.from(hex, 'hex'));
  await topic.send([...values, null].map((value) => ({ value })));
  using ws = new Workspace();
  writeFileSync(ws.path('order.avsc'), JSON.stringify(SCHEMA));
  const read = { topic: topic.name, codec: 'avro', avroSchema: 'order.avsc' };
  const job = kafkaToFile(ws, kafka, read, { errorLimit: { record: 2 } });
  const r = await runKafka(ws, job);
  assertDone(r, 2);
  assert.equal(r.summary?.dirty, 2);
  assert.deepEqual(job.lines(), [
    '{"id":7,"price":0.05,"note":null,"tags":[]}',
    '{"id":9007199254740993,"price":-12.34,"note":"é","tags":[1,9007199254740993]}',
  ]);
});

kafkaTest('avro in Confluent’s frame: the id says whether a value is of the schema', async (kafka) => {
  await using topic = await kafka.topic();
  const values = [framed(7, BARE), framed(8, BARE), Buffer.from(BARE, 'hex'), framed(9, BARE)];
  await topic.send(values.map((value) => ({ value })));
  using ws = new Workspace();
  const read = { topic: topic.name, codec: 'avro', avroSchema: SCHEMA, avroFraming: 'confluent' };
  const column = ['id', { name: 'at', meta: 'offset' }];
  const job = kafkaToFile(
    ws,
    kafka,
    { ...read, avroSchemaId: [7, 9], column },
    { errorLimit: { record: 2 } },
    { column: ['id', 'at'] },
  );
  const r = await runKafka(ws, job);
  assertDone(r, 2);
  assert.equal(r.summary?.dirty, 2);
  assert.deepEqual(job.lines(), ['{"id":7,"at":0}', '{"id":7,"at":3}']);

  // Without an id any record would be taken for one of the schema.
  const unsaid = await runKafka(ws, kafkaToFile(ws, kafka, read));
  assert.equal(unsaid.code, 2);
  assert.match(unsaid.stderr, /avroSchemaId/);
});
