import type { RequestBytes } from './request-bytes.js';
import type { ResponseBytes } from './response-bytes.js';

/** One request of Kafka's protocol, with the versions that are spoken here; names and numbers as in Kafka's protocol guide. */
export interface Api<Q, A> {
  readonly key: number;
  readonly name: string;
  /** In the order in which they are wanted. */
  readonly versions: readonly number[];
  /** First version with compact types and tagged fields; absent: none of ours has them. */
  readonly flexibleFrom?: number;
  /** Of the body, where it is worth knowing. */
  readonly sizeOf?: (q: Q) => number;
  /** False: the broker sends no answer. */
  readonly answered?: (q: Q) => boolean;
  readonly encode: (w: RequestBytes, q: Q, version: number) => void;
  readonly decode: (r: ResponseBytes, version: number) => A;
}

/** Lists of partitions travel by topic. Topics come in the order of their first partition. */
export function byTopic<T extends { readonly topic: string }>(
  items: readonly T[],
): readonly (readonly [string, T[]])[] {
  const topics = new Map<string, T[]>();
  for (const item of items) {
    const known = topics.get(item.topic);
    if (known === undefined) topics.set(item.topic, [item]);
    else known.push(item);
  }
  return [...topics];
}

/** Writes `[topic [partition …]]`. */
export function writeByTopic<T extends { readonly topic: string; readonly partition: number }>(
  w: RequestBytes,
  items: readonly T[],
  write: (item: T) => void,
): void {
  w.array(byTopic(items), ([topic, parts]) => {
    w.string(topic);
    w.array(parts, (p) => {
      w.i32(p.partition);
      write(p);
    });
  });
}

/** Reads `[topic [partition …]]`. */
export function readByTopic<T>(r: ResponseBytes, read: (topic: string, partition: number) => T): readonly T[] {
  return r
    .array(() => {
      const topic = r.string();
      return r.array(() => read(topic, r.i32()));
    })
    .flat();
}

/** The broker's number for how a partition fared; 0: well. */
export interface PartitionCode {
  readonly topic: string;
  readonly partition: number;
  readonly code: number;
}

export const readCodes = (r: ResponseBytes): readonly PartitionCode[] =>
  readByTopic(r, (topic, partition) => ({ topic, partition, code: r.i16() }));
