import { SyncError } from 'syncx/plugin-api';
import type { MissingModule } from './codec-modules.js';

/** `topic-partition@offset` of a batch. */
export function batchPlace(place: string, offset: number): string {
  return `${place}@${String(offset)}`;
}

/** Bytes that no client writes. `at`: topic-partition@offset. */
export function damagedBatch(at: string, why: string, cause?: unknown): SyncError {
  return new SyncError('SOURCE_FORMAT', `The record batch at ${at} is damaged: ${why}`, {
    place: at,
    ...(cause === undefined ? {} : { cause }),
    hint: "Look at the batch with Kafka's own tools (kafka-dump-log --deep-iteration); to go on without it, start behind its last offset.",
  });
}

export function tooLargeBatch(at: string, codec: string, limit: number): SyncError {
  return new SyncError('SOURCE_FORMAT', `The ${codec} record batch at ${at} holds more than ${String(limit)} bytes`, {
    place: at,
    hint: 'So much is not decompressed at once: look at who writes such batches; to go on without it, start behind its last offset.',
  });
}

export function unknownCodec(at: string, id: number): SyncError {
  return new SyncError('SOURCE_FORMAT', `The record batch at ${at} has the unknown compression codec ${String(id)}`, {
    place: at,
    hint: 'Known are none, gzip, snappy, lz4 and zstd: the batch is from a newer Kafka, or damaged.',
  });
}

/** `about`: what it was needed for. */
export function missingCodec(about: string, codec: string, e: MissingModule): SyncError {
  const message = `${about} cannot be handled: ${codec} needs the package ${e.module}, which cannot be loaded`;
  return new SyncError('PLUGIN_BROKEN', message, {
    cause: e,
    hint: 'Its binary is an optional dependency: install again without --omit=optional. Not all kinds of machines have one.',
  });
}

export function oldFormat(at: string, magic: number): SyncError {
  return new SyncError('SOURCE_FORMAT', `The messages at ${at} are of the old format ${String(magic)}`, {
    place: at,
    hint: 'Record batches (format 2, since Kafka 0.11) can be read: copy the topic with a current Kafka client, or start behind the old messages.',
  });
}

export function hugeOffset(place: string): SyncError {
  return new SyncError('SOURCE_FORMAT', `${place} has an offset beyond 2^53, which cannot be told exactly`, { place });
}
