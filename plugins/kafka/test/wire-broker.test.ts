/** Batches of our writer, on a real broker: it checks and recompresses them, the Java consumer and our reader read them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CODECS } from '../wire/codec.js';
import { NO_PRODUCER } from '../wire/batch-writer.js';
import { BrokerSocket } from './broker-socket.js';
import {
  batchOf,
  fixturePath,
  javaReport,
  plainOf,
  readAll,
  text,
  type JavaReport,
  type PlainRecord,
  type RecordToWrite,
} from './wire-support.js';

const TIME = 1_700_000_000_123;
const awkward: readonly RecordToWrite[] = [
  { timestamp: TIME, key: null, value: Buffer.from('v1'), headers: [] },
  { timestamp: TIME + 5000, key: Buffer.alloc(0), value: Buffer.alloc(0), headers: [] },
  { timestamp: TIME - 1e10, key: Buffer.from('k'), value: null, headers: [] },
  { timestamp: TIME, key: null, value: null, headers: [{ key: 'h', value: null }] },
  {
    timestamp: 0,
    key: Buffer.from('k'),
    value: Buffer.from([255, 254, 0, 128]),
    headers: [
      { key: 'h', value: Buffer.from('a') },
      { key: 'h', value: Buffer.from('b') },
      { key: '', value: Buffer.alloc(0) },
      { key: 'ü😀', value: Buffer.from([255]) },
    ],
  },
];
/** More than one block of each codec; some of it cannot be made smaller. */
const large: readonly RecordToWrite[] = [
  { timestamp: TIME, key: null, value: Buffer.from('0123456789 abc '.repeat(20_000)), headers: [] },
  { timestamp: TIME, key: null, value: randomBytes(200_000), headers: [] },
  ...Array.from({ length: 2000 }, (_, i) =>
    text(`{"id":${String(i)},"name":"customer ${String(i * 7919)}"}`, TIME + i),
  ),
];

interface Topic {
  readonly name: string;
  readonly configs: Readonly<Record<string, string>>;
  readonly codec: (typeof CODECS)[number];
}

const run = promisify(execFile);
const random = randomBytes(5).toString('hex');
const topics: readonly Topic[] = [
  ...CODECS.map((codec) => ({ name: `wire-${codec}-${random}`, configs: {}, codec })),
  // The broker decodes what it gets and encodes it anew.
  ...CODECS.map((codec, i) => {
    const forced = CODECS[(i + 1) % CODECS.length] ?? 'none';
    return {
      name: `wire-${codec}-as-${forced}-${random}`,
      configs: { 'compression.type': forced.replace('none', 'uncompressed') },
      codec,
    };
  }),
  { name: `wire-append-${random}`, configs: { 'message.timestamp.type': 'LogAppendTime' }, codec: 'snappy' },
];

const variable = (name: string) => process.env[name] ?? '';
const brokers = variable('SYNC_KAFKA_BROKERS');
const lib = variable('SYNC_KAFKA_LIB');
const CI = !['', '0', 'false'].includes(variable('CI'));
const missing = brokers === '' || lib === '' ? 'no server: SYNC_KAFKA_BROKERS and SYNC_KAFKA_LIB are not set' : false;

/** A topic is there a little later than it is told. */
async function produce(broker: BrokerSocket, topic: string, batch: Buffer): Promise<void> {
  const NOT_YET = [3, 5, 6];
  for (let tries = 0; ; tries++) {
    const error = await broker.produce(topic, batch);
    if (error === 0) return;
    assert.ok(NOT_YET.includes(error) && tries < 100, `${topic}: error ${String(error)}`);
    await sleep(50);
  }
}

async function readByJava(names: readonly string[]): Promise<readonly JavaReport[]> {
  const source = fixturePath('MakeFixtures.java');
  const args = ['-Xmx256m', '-cp', `${lib}/*`, source, 'read', brokers, ...names];
  const { stdout } = await run('java', args, { maxBuffer: 256 << 20 });
  return (JSON.parse(stdout) as unknown[]).map((r) => javaReport(JSON.stringify(r)));
}

async function readByUs(broker: BrokerSocket, topic: string, end: number): Promise<readonly PlainRecord[]> {
  const records: PlainRecord[] = [];
  for (let from = 0; from < end;) {
    const fetched = await broker.fetch(topic, from);
    assert.equal(fetched.error, 0);
    const got = await readAll(fetched.records, { from, committedOnly: true });
    records.push(...got.records);
    from = got.nextOffset;
  }
  return records;
}

test(
  'what we write: the broker takes it, Java and we read it, with all codecs',
  { skip: CI ? false : missing },
  async (t) => {
    assert.equal(missing, false);
    await using broker = await BrokerSocket.open(brokers);
    t.after(async () => {
      await using cleaner = await BrokerSocket.open(brokers);
      await cleaner.deleteTopics(topics.map((x) => x.name));
    });
    const producerId = await broker.initProducerId();
    const wanted = [...awkward, ...large, ...awkward];
    for (const { name, configs, codec } of topics) {
      await broker.createTopic(name, { 'retention.ms': '-1', ...configs });
      // Idempotent ones: the broker refuses sequences with gaps, so that it must find them where they are.
      const producer = { ...NO_PRODUCER, producerId, producerEpoch: 0 };
      await produce(broker, name, await batchOf(awkward, { codec, producer: { ...producer, baseSequence: 0 } }));
      const next = { ...producer, baseSequence: awkward.length };
      await produce(broker, name, await batchOf(large, { codec, producer: next }));
      await produce(broker, name, await batchOf(awkward, { codec }));
      const wrong = { ...producer, baseSequence: 9999 };
      const OUT_OF_ORDER = 45;
      assert.equal(await broker.produce(name, await batchOf(awkward, { codec, producer: wrong })), OUT_OF_ORDER);
    }
    const reports = await readByJava(topics.map((x) => x.name));
    for (const [i, { name, configs }] of topics.entries()) {
      const java = reports[i];
      assert.ok(java !== undefined);
      assert.equal(java.end, wanted.length);
      const appended = 'message.timestamp.type' in configs;
      const right = wanted.map((r, offset) => {
        return { ...plainOf(r, offset), timestamp: appended ? java.all[offset]?.timestamp : r.timestamp };
      });
      assert.deepEqual(java.all, right, name);
      assert.deepEqual(await readByUs(broker, name, java.end), right, name);
      if (appended) assert.ok(java.all.every((r) => r.timestamp > TIME + 1e10));
    }
  },
);

test('a batch with a wrong CRC is refused by the broker', { skip: CI ? false : missing }, async (t) => {
  assert.equal(missing, false);
  await using broker = await BrokerSocket.open(brokers);
  const name = `wire-crc-${random}`;
  t.after(async () => {
    await using cleaner = await BrokerSocket.open(brokers);
    await cleaner.deleteTopics([name]);
  });
  await broker.createTopic(name, {});
  const batch = await batchOf(awkward);
  await produce(broker, name, batch);
  batch[batch.length - 1] = 9;
  const CORRUPT = 2;
  assert.equal(await broker.produce(name, batch), CORRUPT);
});
