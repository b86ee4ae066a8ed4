import type { JsonObject } from '../../src/plugin-api/index.js';
import { contractTests, readerHarness, type SeedKind } from '../../src/plugin-testkit/index.js';
import { reader } from '../../plugins/kafka/index.js';
import { openKafka, type Kafka, type NewRecord, type OwnTopic } from '../support/kafka.js';
import { serverSuite } from '../support/services.js';

const row = (id: number, more: object = {}): string =>
  JSON.stringify({ id, name: `name ${String(id)}`, note: id % 5 === 0 ? null : 'é🙂', ...more });

/** Messages of Canal with one to three rows. */
function messages(values: readonly string[], partition: number): readonly NewRecord[] {
  const records: NewRecord[] = [];
  for (let at = 0; at < values.length;) {
    const some = values.slice(at, at + 1 + (records.length % 3));
    at += some.length;
    const value = `{"data":[${some.join()}],"type":"INSERT","isDdl":false,"database":"d","table":"t","pkNames":["id"]}`;
    records.push({ partition, value });
  }
  return records;
}

type Codec = 'json' | 'canal-json';

function records(kind: SeedKind, rows: number, partitions: number, codec: Codec): readonly NewRecord[] {
  if (codec === 'canal-json') return canalRecords(kind, rows, partitions);
  const good = (n: number): NewRecord => ({ partition: n % partitions, value: row(n) });
  const all = Array.from({ length: rows }, (_, i) => good(i + 1));
  if (kind === 'bad-row') all.splice(Math.floor(rows / 2), 0, { partition: 0, value: '{"id":"no number"}' });
  return all;
}

function canalRecords(kind: SeedKind, rows: number, partitions: number): readonly NewRecord[] {
  const all = Array.from({ length: partitions }, (_, partition) => {
    const own = Array.from({ length: rows }, (_, i) => i + 1).filter((n) => n % partitions === partition);
    return messages(
      own.map((n) => row(n)),
      partition,
    );
  }).flat();
  if (kind === 'bad-row') all.splice(Math.floor(all.length / 2), 0, ...messages(['{"id":"no number"}'], 0));
  return all;
}

const OFFSETS = 'partition:0,offset:0;partition:1,offset:0;partition:2,offset:0';

/** 64 MiB of records, all in the first split. */
async function sendLarge(topic: OwnTopic): Promise<number> {
  const wide = 'x'.repeat(64 << 10);
  for (let i = 0; i < 16; i++) {
    const some = Array.from({ length: 64 }, (_, k) => ({ partition: 0, value: row(i * 64 + k, { note: wide }) }));
    await topic.send(some);
  }
  return 1024;
}

async function source(kafka: Kafka, kind: SeedKind, rows: number, codec: Codec) {
  // An endless stream is one split.
  const partitions = kind === 'endless' ? 1 : 3;
  const topic = await kafka.topic({ partitions });
  const options: JsonObject = {
    brokers: kafka.brokers,
    topic: topic.name,
    mode: 'earliest-offset',
    ...(kind === 'broken' ? { mode: 'specific-offsets', offset: OFFSETS } : {}),
    bounded: kind === 'endless' ? 'no' : 'latest-at-start',
    codec,
    column: [{ name: 'id', type: 'bigint' }, 'name', 'note'],
  };
  let there = rows;
  if (kind === 'missing') await topic[Symbol.asyncDispose]();
  else if (kind === 'large') there = await sendLarge(topic);
  else {
    const some = records(kind, rows, partitions, codec);
    if (some.length > 0) await topic.send(some);
  }
  // The first record of a partition is asked for, and is gone.
  if (kind === 'broken') await topic.deleteRecords(0, 1);
  const dispose = async (): Promise<void> => {
    if (kind !== 'missing') await topic[Symbol.asyncDispose]();
  };
  return { options, rows: there, dispose };
}

interface Tested {
  readonly codec: Codec;
  readonly seeds: readonly SeedKind[];
  readonly waive?: Readonly<Record<string, string>>;
}

function tests(kafka: () => Kafka, { codec, seeds, waive = {} }: Tested): void {
  contractTests(
    readerHarness({
      plugin: reader,
      seeds,
      seed: (kind, rows) => source(kafka(), kind, rows, codec),
      waive: {
        'descriptor.defaults': 'brokers, topics, times and offsets have no default',
        'transaction.safe-points':
          'a record stands by itself, whatever its transaction: one that is aborted gives none',
        ...waive,
      },
    }),
  );
}

serverSuite('kafka', 'the reader of Kafka', (server) => {
  let opened: Kafka | null = null;
  const kafka = (): Kafka => (opened ??= openKafka(server.url));
  tests(kafka, { codec: 'json', seeds: ['large', 'bad-row', 'broken', 'missing', 'endless'] });
  const above = 'it is not of the codec: it is seen to with json';
  const waive = {
    'batch.size': above,
    'flow.slow-consumer': above,
    'trouble.error': above,
    'trouble.missing': above,
  };
  tests(kafka, { codec: 'canal-json', seeds: ['bad-row', 'endless'], waive });
});
