/** A topic that grows while a job is killed over and over, and what of it a copy must hold. */
import assert from 'node:assert/strict';
import type { Kafka, KafkaRecord, NewRecord, OwnTopic, Producer } from './kafka.js';
import type { Workspace } from './workspace.js';
import { startSync, until, type SyncOptions, type SyncProcess, type SyncResult } from './sync.js';

/** Records whose values are the numbers from 1 on, in turns over the partitions. */
export class Growth implements AsyncDisposable {
  readonly topic: OwnTopic;
  readonly #producer: Producer;
  readonly #partitions: number;
  #sent = 0;

  private constructor(topic: OwnTopic, producer: Producer, partitions: number) {
    this.topic = topic;
    this.#producer = producer;
    this.#partitions = partitions;
  }

  static async of(kafka: Kafka, topic: OwnTopic, partitions: number): Promise<Growth> {
    return new Growth(topic, await kafka.producer({ 'compression.type': 'lz4' }), partitions);
  }

  get sent(): number {
    return this.#sent;
  }

  async send(records = 30): Promise<void> {
    const of = (n: number): NewRecord => ({
      partition: n % this.#partitions,
      key: `k${String(n % 7)}`,
      value: String(n),
    });
    await this.#producer.send(
      this.topic.name,
      Array.from({ length: records }, () => of(++this.#sent)),
    );
  }

  /** Each of them once, and within a partition of the copy in the order of those of one partition of the source. */
  assertCopy(records: readonly KafkaRecord[], o: { readonly ordered: boolean }): void {
    const values = records.map((r) => Number(r.value?.toString()));
    const all = Array.from({ length: this.#sent }, (_, i) => i + 1);
    assert.deepEqual(
      [...values].sort((a, b) => a - b),
      all,
    );
    if (!o.ordered) return;
    const last = new Map<string, number>();
    for (const [i, r] of records.entries()) {
      const value = values[i] ?? 0;
      const way = `${String(value % this.#partitions)} to ${String(r.partition)}`;
      assert.ok((last.get(way) ?? 0) < value, `${String(value)} of ${way} came out of order`);
      last.set(way, value);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#producer[Symbol.asyncDispose]();
  }
}

/** One start after the other is killed at its point, while the topic grows. */
export async function killWhileItGrows(
  growth: Growth,
  args: readonly string[],
  options: SyncOptions,
  points: readonly string[],
): Promise<void> {
  for (const failpoint of points) {
    const run = startSync(args, { ...options, failpoint });
    await until(`it is killed at ${failpoint}`, async () => {
      await growth.send();
      return ended(run);
    });
    const r = await run.done;
    assert.equal(r.signal, 'SIGKILL', `${failpoint} was not reached: ${r.stderr}`);
  }
}

export const ended = ({ child }: SyncProcess): boolean => child.signalCode !== null || child.exitCode !== null;

/** Until the copy has as many records as were sent; then it is stopped, as a user stops it. */
export async function stopWhenCopied(
  growth: Growth,
  run: SyncProcess,
  read: () => Promise<readonly KafkaRecord[]>,
): Promise<SyncResult> {
  await until('all records are there', async () => ended(run) || (await read()).length >= growth.sent);
  run.child.kill('SIGTERM');
  const r = await run.done;
  assert.equal(r.code, 143, r.stderr);
  return r;
}

/** Byte for byte and exactly once, without an end. @returns arguments of the command line. */
export const copyJob = (
  ws: Workspace,
  { brokers }: Pick<Kafka, 'brokers'>,
  topics: { readonly from: string; readonly to: string },
  channel: number,
  setting: Readonly<Record<string, unknown>> = {},
): readonly string[] => {
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'kafkareader',
            parameter: { brokers, topic: topics.from, mode: 'earliest-offset', codec: 'raw', partitionDiscovery: 200 },
          },
          writer: {
            name: 'kafkawriter',
            parameter: { brokers, topic: topics.to, codec: 'raw', semantic: 'exactly-once' },
          },
        },
      ],
      setting: { speed: { channel }, checkpoint: { interval: 50 }, ...setting },
    },
  });
  return ['run', job, '--output', 'json'];
};
