import { SyncError } from 'syncx/plugin-api';
import type { Side } from './client/broker-errors.js';
import type { KafkaClient } from './client/kafka-client.js';
import { openKafkajsClient } from './client/kafkajs-client.js';

interface Connection {
  readonly brokers?: string | readonly string[] | undefined;
  readonly consumerSettings: Readonly<Record<string, unknown>>;
}

export function openClient(o: Connection, side: Side): KafkaClient {
  const named = o.brokers ?? (o.consumerSettings['bootstrap.servers'] as string | undefined) ?? '';
  const list = typeof named === 'string' ? named.split(',') : named;
  const brokers = list
    .map((b) => b.trim())
    .filter((b) => b !== '')
    .map((b) => {
      const at = b.lastIndexOf(':');
      return { host: b.slice(0, at), port: Number(b.slice(at + 1)) };
    });
  if (brokers.length === 0) throw new SyncError('JOB_INVALID', 'no brokers are named', { place: 'brokers' });
  const settings = {
    brokers,
    clientId: 'syncx',
    tls: null,
    sasl: null,
    connectTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
  };
  return openKafkajsClient(settings, side);
}
