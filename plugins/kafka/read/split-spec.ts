import { SyncError, type JsonValue, type Position, type PositionCodec, type Split } from 'syncx/plugin-api';

/** A partition of a topic, as far as one run reads it. */
export interface PartitionSpec {
  readonly topic: string;
  readonly partition: number;
  /** Of the topic; null, or left out by older versions: not known. */
  readonly topicId?: string | null;
  /** Offset of the first record. */
  readonly start: number;
  /** Offset behind the last record; null: there is no end. */
  readonly stop: number | null;
}

const FORMAT = 1;

export const splitIdOf = (topic: string, partition: number): string => `${topic}-${String(partition)}`;

export function splitOf({ topic, topicId = null, partition, start, stop }: PartitionSpec): Split {
  return {
    id: splitIdOf(topic, partition),
    bounded: stop !== null,
    spec: { format: FORMAT, topic, topicId, partition, start, stop },
    weight: null,
  };
}

/** @throws SyncError STATE_CORRUPT */
export function specOf(split: Split): PartitionSpec {
  const spec = split.spec as unknown as (PartitionSpec & { readonly format: JsonValue }) | null;
  if (spec?.format === FORMAT) return spec;
  throw new SyncError('STATE_CORRUPT', `the split ${split.id} is not of a form that this version knows`, {
    hint: 'It was written by another version; go on with that version, or run with --fresh.',
  });
}

/** The offset of the record to go on with. */
export const offsetOf = (p: Position): number => (p as unknown as { readonly offset: number }).offset;

/** Id of the topic that the offset is of; null: not known, as in positions of older versions. */
export const topicIdOf = (p: Position): string | null =>
  (p as unknown as { readonly topicId?: string }).topicId ?? null;

export const positionAt = (offset: number, topicId: string | null): Position =>
  topicId === null ? { offset } : { offset, topicId };

export const positions: PositionCodec = {
  format: 1,
  compare: (a, b) => {
    const by = offsetOf(a) - offsetOf(b);
    return by < 0 ? -1 : by > 0 ? 1 : 0;
  },
  show: (p) => `offset ${String(offsetOf(p))}`,
};
