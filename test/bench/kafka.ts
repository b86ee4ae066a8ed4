/** Kafka cases beside the performance tools of the Java client, and copies between topics. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openKafka, type Kafka, type OwnTopic } from '../support/kafka.js';
import { SERVICES } from '../support/own-server.js';
import { SYNC } from '../support/sync.js';
import { measureNode, median, type Usage } from './measure.js';

export interface KafkaBench {
  readonly rows: number;
  readonly repeat: number;
  readonly work: string;
  say(line: Readonly<Record<string, unknown>>): void;
}

interface Bench extends KafkaBench {
  readonly kafka: Kafka;
  /** A file of `rows` lines of 200 letters. */
  readonly lines: string;
}

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const RECORD_BYTES = 200;
const PARTITIONS = 4;
const round = (n: number, digits = 2): number => Number(n.toFixed(digits));

/** The broker of install/services, or the user's own. */
function serve(): void {
  if ((process.env['SYNC_KAFKA_BROKERS'] ?? '') !== '' && (process.env['SYNC_KAFKA_LIB'] ?? '') !== '') return;
  execFileSync(SERVICES, ['start', 'kafka'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const env = execFileSync(SERVICES, ['env', 'kafka'], { encoding: 'utf8' });
  for (const [, name = '', value = ''] of env.matchAll(/(SYNC_KAFKA_\w+)=(\S+)/g)) process.env[name] = value;
}

async function withBench(o: KafkaBench, body: (b: Bench) => Promise<void>): Promise<void> {
  serve();
  await using kafka = openKafka(process.env['SYNC_KAFKA_BROKERS'] ?? '');
  await body({ ...o, kafka, lines: makeLines(o) });
}

/** As `ProducerPerformance` makes them: capital letters at random, so that codecs have something to do. */
function makeLines(o: KafkaBench): string {
  const path = join(o.work, `lines-${String(o.rows)}.txt`);
  if (existsSync(path)) return path;
  mkdirSync(o.work, { recursive: true });
  const bytes = Buffer.alloc(o.rows * (RECORD_BYTES + 1), '\n');
  let seed = 1;
  for (let row = 0, at = 0; row < o.rows; row++, at++) {
    for (const end = at + RECORD_BYTES; at < end; at++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      bytes[at] = 65 + ((seed >>> 16) % 26);
    }
  }
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
  return path;
}

/** A tool of the Java client, in a process of its own. */
async function javaTool(name: string, args: readonly string[]): Promise<string> {
  const jars = join(process.env['SYNC_KAFKA_LIB'] ?? '', '*');
  const jvm = ['-Xmx512m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=off', '-cp', jars];
  const run = promisify(execFile);
  return (await run('java', [...jvm, `org.apache.kafka.tools.${name}`, ...args], { maxBuffer: 1 << 26 })).stdout;
}

/** @returns records/s as the tool counts them: without the start of its process. */
async function javaProduces(b: Bench, topic: string, more: readonly string[], rows = b.rows): Promise<number> {
  const out = await javaTool('ProducerPerformance', [
    ...['--bootstrap-server', b.kafka.brokers, '--topic', topic, '--num-records', String(rows)],
    ...(more.includes('--throughput') ? [] : ['--throughput', '-1']),
    ...more,
  ]);
  const rates = [...out.matchAll(/^\d+ records sent, ([\d.]+) records\/sec/gm)];
  return Number(rates.at(-1)?.[1]);
}

/** @returns records/s as the tool counts them: without its process's start and the joining of its group. */
async function javaConsumes(b: Bench, topic: string): Promise<number> {
  const out = await javaTool('ConsumerPerformance', [
    ...['--bootstrap-server', b.kafka.brokers, '--topic', topic, '--num-records', String(b.rows), '--hide-header'],
  ]);
  const cells = out.trim().split('\n').at(-1)?.split(', ') ?? [];
  return Number(cells[9]);
}

function jobFile(b: Bench, name: string, reader: object, writer: object, setting: object = {}): string {
  const path = join(b.work, `${name}.json`);
  const job = { content: [{ reader, writer }], setting: { speed: { channel: 1 }, ...setting } };
  writeFileSync(path, JSON.stringify({ job }));
  return path;
}

const reads = (b: Bench, topic: string, codec: string, more: object = {}) => ({
  name: 'kafkareader',
  parameter: { brokers: b.kafka.brokers, topic, mode: 'earliest-offset', bounded: 'latest-at-start', codec, ...more },
});

const writes = (b: Bench, topic: string, codec: string, more: object = {}) => ({
  name: 'kafkawriter',
  parameter: { brokers: b.kafka.brokers, topic, codec, ...more },
});

interface Run extends Usage {
  /** Records/s from the run's first step to its last, without the start of the process. */
  readonly rate: number;
}

async function measureRun(b: Bench, job: string): Promise<Run> {
  const state = join(b.work, 'state');
  rmSync(state, { recursive: true, force: true });
  const usage = await measureNode([SYNC, 'run', job, '--state-dir', state, '--output', 'json'], b.work);
  const { written, seconds } = JSON.parse(usage.stdout) as { readonly written: number; readonly seconds: number };
  if (written !== b.rows) throw new Error(`${job}: ${String(written)} rows were written, not ${String(b.rows)}`);
  return { ...usage, rate: written / seconds };
}

const medianRate = (runs: readonly Run[]): number => Math.round(median(runs.map((r) => r.rate)));

function tell(b: Bench, name: string, ours: readonly Run[], more: Readonly<Record<string, unknown>>): void {
  b.say({
    case: name,
    rows: b.rows,
    recordsPerSecond: medianRate(ours),
    wallSeconds: round(median(ours.map((u) => u.seconds))),
    cpuSeconds: round(median(ours.map((u) => u.cpu))),
    peakRssMiB: Math.round(Math.max(...ours.map((u) => u.rss))),
    ...more,
    repeat: b.repeat,
  });
}

function tellBeside(b: Bench, name: string, ours: readonly Run[], yardstick: string, theirs: readonly number[]): void {
  const their = Math.round(median(theirs));
  tell(b, name, ours, { yardstick, yardstickRecordsPerSecond: their, ratio: round(medianRate(ours) / their) });
}

/** A text file to a topic, beside the Java producer that makes such lines of its own: what it does quickest. */
export async function kafkaProduce(o: KafkaBench): Promise<void> {
  await withBench(o, async (b) => {
    for (const codec of CODECS) {
      const ours: Run[] = [];
      const theirs: number[] = [];
      for (let i = 0; i < b.repeat; i++) {
        {
          await using topic = await b.kafka.topic({ partitions: PARTITIONS });
          const reader = { name: 'filereader', parameter: { path: b.lines, fileType: 'text', column: ['*'] } };
          const writer = writes(b, topic.name, 'text', { compression: codec });
          ours.push(await measureRun(b, jobFile(b, 'kafka-produce', reader, writer)));
        }
        await using topic = await b.kafka.topic({ partitions: PARTITIONS });
        const properties = ['--command-property', `compression.type=${codec}`];
        theirs.push(await javaProduces(b, topic.name, ['--record-size', String(RECORD_BYTES), ...properties]));
      }
      tellBeside(b, `kafka-produce-${codec}`, ours, 'ProducerPerformance of Java', theirs);
    }
  });
}

/** A topic to nowhere, beside the Java consumer. */
export async function kafkaConsume(o: KafkaBench): Promise<void> {
  await withBench(o, async (b) => {
    for (const codec of CODECS) {
      await using topic = await filled(b, codec);
      const ours: Run[] = [];
      const theirs: number[] = [];
      for (let i = 0; i < b.repeat; i++) {
        const writer = { name: 'streamwriter', parameter: { print: false } };
        ours.push(await measureRun(b, jobFile(b, 'kafka-consume', reads(b, topic.name, 'text'), writer)));
        theirs.push(await javaConsumes(b, topic.name));
      }
      tellBeside(b, `kafka-consume-${codec}`, ours, 'ConsumerPerformance of Java', theirs);
    }
  });
}

/** A topic of `rows` records of 200 bytes, by the Java producer. */
async function filled(b: Bench, codec: string): Promise<OwnTopic> {
  const topic = await b.kafka.topic({ partitions: PARTITIONS });
  await javaProduces(b, topic.name, ['--payload-file', b.lines, '--command-property', `compression.type=${codec}`]);
  return topic;
}

const JSON_COLUMNS = [
  { name: 'id', type: 'bigint' },
  { name: 'name', type: 'varchar(64)' },
  { name: 'amount', type: 'decimal(12,2)' },
  { name: 'note', type: 'varchar(255)' },
];

/** A topic of `rows` JSON objects of about 200 bytes, by our own writer. */
async function filledWithJson(b: Bench): Promise<OwnTopic> {
  const topic = await b.kafka.topic({ partitions: PARTITIONS });
  const path = join(b.work, 'rows.csv');
  const note = 'x'.repeat(120);
  const row = (i: number): string => `${String(i)},name ${String(i)},${String(i % 1000)}.25,${note}${String(i)}\n`;
  writeFileSync(path, Array.from({ length: b.rows }, (_, i) => row(i)).join(''));
  const column = JSON_COLUMNS.map((c, index) => ({ ...c, index }));
  const reader = { name: 'filereader', parameter: { path, fileType: 'csv', column } };
  await measureRun(b, jobFile(b, 'kafka-fill', reader, writes(b, topic.name, 'json')));
  return topic;
}

/** Topic to topic, bytes and JSON, at-least-once and exactly-once, alternating. */
export async function kafkaToKafka(o: KafkaBench): Promise<void> {
  await withBench(o, async (b) => {
    for (const codec of ['raw', 'json'] as const) {
      await using source = await (codec === 'raw' ? filled(b, 'none') : filledWithJson(b));
      const reader = reads(b, source.name, codec, codec === 'json' ? { column: JSON_COLUMNS } : {});
      const runs = { 'at-least-once': [] as Run[], 'exactly-once': [] as Run[] };
      for (let i = 0; i < b.repeat; i++) {
        for (const [semantic, of] of Object.entries(runs)) {
          await using topic = await b.kafka.topic({ partitions: PARTITIONS });
          of.push(await measureRun(b, jobFile(b, 'kafka-copy', reader, writes(b, topic.name, codec, { semantic }))));
        }
      }
      const plain = medianRate(runs['at-least-once']);
      for (const [semantic, of] of Object.entries(runs))
        tell(b, `kafka-to-kafka-${codec}-${semantic}`, of, { ofAtLeastOnce: round(medianRate(of) / plain) });
    }
  });
}

/** JSON records to a csv file. */
export async function kafkaToCsv(o: KafkaBench): Promise<void> {
  await withBench(o, async (b) => {
    await using source = await filledWithJson(b);
    const output = join(b.work, 'out-kafka');
    const writer = { name: 'filewriter', parameter: { path: output, fileType: 'csv' } };
    const runs: Run[] = [];
    for (let i = 0; i < b.repeat; i++) {
      rmSync(output, { recursive: true, force: true });
      runs.push(
        await measureRun(
          b,
          jobFile(b, 'kafka-to-csv', reads(b, source.name, 'json', { column: JSON_COLUMNS }), writer),
        ),
      );
    }
    rmSync(output, { recursive: true, force: true });
    tell(b, 'kafka-to-csv-json', runs, {});
  });
}

const LATENCY_RECORDS = 50_000;
const LATENCY_PER_SECOND = 5000;
/** Those of the first seconds stand for the start of the two processes. */
const WARM_UP = 15_000;

/**
 * From topic to topic at 5,000 records/s: from the moment that the Java producer made a record to the one when the broker
 * had its copy. Both are times of this machine, in whole ms.
 */
export async function kafkaLatency(o: KafkaBench): Promise<void> {
  await withBench(o, async (b) => {
    await using source = await b.kafka.topic();
    await using target = await b.kafka.topic({ config: { 'message.timestamp.type': 'LogAppendTime' } });
    const setting = { checkpoint: { interval: 1000 } };
    const reader = reads(b, source.name, 'raw', { bounded: 'no' });
    const job = jobFile(b, 'kafka-latency', reader, writes(b, target.name, 'raw'), setting);
    rmSync(join(b.work, 'state'), { recursive: true, force: true });
    const args = [SYNC, 'run', job, '--state-dir', join(b.work, 'state')];
    const child = spawn(process.execPath, args, { cwd: b.work, stdio: 'ignore' });
    const ended = once(child, 'close');
    try {
      await javaProduces(
        b,
        source.name,
        ['--record-size', String(RECORD_BYTES), '--throughput', String(LATENCY_PER_SECOND)],
        LATENCY_RECORDS,
      );
      const sent = await source.records();
      let copied = await target.records();
      while (copied.length < sent.length && child.exitCode === null) copied = await target.records();
      const ms = copied
        .map((c, i) => c.timestamp - (sent[i]?.timestamp ?? Number.NaN))
        .slice(WARM_UP)
        .sort((x, y) => x - y);
      const at = (share: number): number => ms[Math.floor(ms.length * share)] ?? Number.NaN;
      b.say({
        case: 'kafka-latency',
        records: sent.length,
        recordsPerSecond: LATENCY_PER_SECOND,
        p50Ms: at(0.5),
        p99Ms: at(0.99),
        maxMs: ms.at(-1),
      });
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
}
