/** From the options of reader and writer to a client. */
import type { Finding } from 'syncx/plugin-api';
import type { Side } from './client/broker-errors.js';
import { connectionOf, type ConnectionOptions, type ConnectionSpec } from './client/connection-options.js';
import type { KafkaClient } from './client/kafka-client.js';
import type { ReaderOptions } from './reader-options.js';
import type { WriterOptions } from './writer-options.js';

/** Settings of Java's consumer that the reader takes itself. */
const OF_READER: ReadonlySet<string> = new Set(['group.id', 'auto.offset.reset', 'isolation.level']);

export function readerConnection(o: ReaderOptions): {
  readonly connection: ConnectionSpec;
  readonly findings: readonly Finding[];
} {
  const { brokers, clientId, ssl, sasl, consumerSettings } = o;
  const options: ConnectionOptions = { brokers, clientId, ssl, sasl };
  return connectionOf(options, consumerSettings, { option: 'consumerSettings', elsewhere: OF_READER });
}

/** Settings of Java's producer that the writer takes itself. */
const OF_WRITER: ReadonlySet<string> = new Set(['acks', 'compression.type', 'transaction.timeout.ms']);

export function writerConnection(o: WriterOptions): {
  readonly connection: ConnectionSpec;
  readonly findings: readonly Finding[];
} {
  const { brokers, clientId, ssl, sasl, producerSettings } = o;
  const options: ConnectionOptions = { brokers, clientId, ssl, sasl };
  return connectionOf(options, producerSettings, { option: 'producerSettings', elsewhere: OF_WRITER });
}

/** @throws SyncError JOB_INVALID where a file of the connection cannot be used. */
export async function openClient(connection: ConnectionSpec, side: Side): Promise<KafkaClient> {
  // Only by those who connect: a look at a job needs no client.
  const [{ clientSettings }, { openKafkajsClient }] = await Promise.all([
    import('./client/client-settings.js'),
    import('./client/kafkajs-client.js'),
  ]);
  return openKafkajsClient(await clientSettings(connection), side);
}
