/** The real broker that these tests run on: SYNC_KAFKA_BROKERS and the listeners beside it (install/services/kafka.sh). */
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { KafkaClient } from '../client/kafka-client.js';
import { openKafkajsClient, type KafkaClientSettings } from '../client/kafkajs-client.js';
import type { BrokerAddress } from '../client/node-link.js';
import type { Side } from '../client/broker-errors.js';

export const never: AbortSignal = new AbortController().signal;

const CI = !['', '0', 'false'].includes(process.env['CI'] ?? '');

export type KafkaVariable =
  'SYNC_KAFKA_BROKERS' | 'SYNC_KAFKA_SASL_PLAINTEXT' | 'SYNC_KAFKA_SASL_SSL' | 'SYNC_KAFKA_SSL' | 'SYNC_KAFKA_CERTS';

export function addressOf(text: string): BrokerAddress {
  const at = text.lastIndexOf(':');
  return { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
}

export function settingsFor(
  brokers: readonly BrokerAddress[],
  o: Partial<KafkaClientSettings> = {},
): KafkaClientSettings {
  return {
    brokers,
    clientId: 'sync-test',
    tls: null,
    sasl: null,
    connectTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    ...o,
  };
}

export interface TestBroker {
  readonly address: BrokerAddress;
  /** Of a variable beside SYNC_KAFKA_BROKERS. */
  readonly variable: (name: KafkaVariable) => string;
  /** Who may do all. */
  readonly client: KafkaClient;
  readonly open: (side?: Side, o?: Partial<KafkaClientSettings>) => KafkaClient;
  /** A name that no other test has; topics of such names go with the test. */
  readonly fresh: (prefix?: string) => string;
  /** A new topic of a fresh name. */
  readonly topic: (partitions?: number, configs?: Readonly<Record<string, string>>, prefix?: string) => Promise<string>;
}

function variable(name: KafkaVariable): string {
  const value = process.env[name] ?? '';
  if (value === '') throw new Error(`no server: ${name} is not set; see install/services/README.md`);
  return value;
}

async function withBroker(body: (b: TestBroker) => Promise<void>): Promise<void> {
  const address = addressOf(variable('SYNC_KAFKA_BROKERS').split(',')[0] ?? '');
  const opened: KafkaClient[] = [];
  const topics: string[] = [];
  const open = (side: Side = 'source', o: Partial<KafkaClientSettings> = {}): KafkaClient => {
    const client = openKafkajsClient(settingsFor([address], o), side);
    opened.push(client);
    return client;
  };
  const client = open();
  const fresh = (prefix = 't'): string => `${prefix}-${randomBytes(5).toString('hex')}`;
  try {
    await body({
      address,
      variable,
      client,
      open,
      fresh,
      topic: async (partitions = 1, configs = {}, prefix = 't') => {
        const topic = fresh(prefix);
        await client.createTopics([{ topic, partitions, replicas: 1, configs }], never);
        topics.push(topic);
        return topic;
      },
    });
  } finally {
    try {
      await client.deleteTopics(topics, never);
    } finally {
      for (const c of opened) await c[Symbol.asyncDispose]();
    }
  }
}

/** A test on the broker. Skipped, and said so, where there is none; in CI that fails. */
export function onKafka(name: string, body: (b: TestBroker) => Promise<void>): void {
  const missing = (process.env['SYNC_KAFKA_BROKERS'] ?? '') === '';
  const why = 'no server: SYNC_KAFKA_BROKERS is not set; see install/services/README.md';
  test(name, { skip: missing && !CI ? why : false }, async () => {
    await withBroker(body);
  });
}
