/** Producer ids, transactions, and offsets of groups, in transactions or not. */
import { readByTopic, readCodes, writeByTopic, type Api, type PartitionCode } from './api.js';
import type { RequestBytes } from './request-bytes.js';

/** What the broker knows a transactional producer by. */
export interface TxnIds {
  readonly transactionalId: string;
  readonly producerId: bigint;
  readonly epoch: number;
}

function writeIds(w: RequestBytes, { transactionalId, producerId, epoch }: TxnIds): void {
  w.string(transactionalId);
  w.i64(producerId);
  w.i16(epoch);
}

export const INIT_PRODUCER_ID: Api<
  { readonly transactionalId: string | null; readonly timeoutMs: number },
  { readonly code: number; readonly producerId: bigint; readonly epoch: number }
> = {
  key: 22,
  name: 'InitProducerId',
  versions: [1, 0],
  encode(w, q) {
    w.string(q.transactionalId);
    w.i32(q.timeoutMs);
  },
  decode(r) {
    r.throttle();
    return { code: r.i16(), producerId: r.bigI64(), epoch: r.i16() };
  },
};

export const ADD_PARTITIONS_TO_TXN: Api<
  TxnIds & { readonly parts: readonly { readonly topic: string; readonly partition: number }[] },
  readonly PartitionCode[]
> = {
  key: 24,
  name: 'AddPartitionsToTxn',
  versions: [2, 1, 0],
  encode(w, q) {
    writeIds(w, q);
    writeByTopic(w, q.parts, () => undefined);
  },
  decode(r) {
    r.throttle();
    return readCodes(r);
  },
};

export const ADD_OFFSETS_TO_TXN: Api<TxnIds & { readonly group: string }, { readonly code: number }> = {
  key: 25,
  name: 'AddOffsetsToTxn',
  versions: [2, 1, 0],
  encode(w, q) {
    writeIds(w, q);
    w.string(q.group);
  },
  decode(r) {
    r.throttle();
    return { code: r.i16() };
  },
};

export const END_TXN: Api<TxnIds & { readonly commit: boolean }, { readonly code: number }> = {
  key: 26,
  name: 'EndTxn',
  versions: [2, 1, 0],
  encode(w, q) {
    writeIds(w, q);
    w.bool(q.commit);
  },
  decode(r) {
    r.throttle();
    return { code: r.i16() };
  },
};

export interface OffsetPart {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string | null;
}

export const TXN_OFFSET_COMMIT: Api<
  TxnIds & { readonly group: string; readonly parts: readonly OffsetPart[] },
  readonly PartitionCode[]
> = {
  key: 28,
  name: 'TxnOffsetCommit',
  versions: [2, 1, 0],
  encode(w, q, version) {
    w.string(q.transactionalId);
    w.string(q.group);
    w.i64(q.producerId);
    w.i16(q.epoch);
    writeByTopic(w, q.parts, (p) => {
      w.i64(p.offset);
      if (version >= 2) w.i32(-1); // leader epoch
      w.string(p.metadata);
    });
  },
  decode(r) {
    r.throttle();
    return readCodes(r);
  },
};

export const OFFSET_COMMIT: Api<
  { readonly group: string; readonly parts: readonly OffsetPart[] },
  readonly PartitionCode[]
> = {
  key: 8,
  name: 'OffsetCommit',
  versions: [6, 5, 4, 3, 2],
  encode(w, q, version) {
    w.string(q.group);
    w.i32(-1); // no generation and no member: we own partitions by our own plan
    w.string('');
    if (version <= 4) w.i64(-1); // retention: the broker's
    writeByTopic(w, q.parts, (p) => {
      w.i64(p.offset);
      if (version >= 6) w.i32(-1); // leader epoch
      w.string(p.metadata);
    });
  },
  decode(r, version) {
    if (version >= 3) r.throttle();
    return readCodes(r);
  },
};

export interface OffsetFetchPart extends PartitionCode {
  /** -1: none is committed. */
  readonly offset: number;
  readonly metadata: string;
}

/** Version 7 can be asked to wait for transactions that are being ended (UNSTABLE_OFFSET_COMMIT); older ones answer what was. */
export const OFFSET_FETCH: Api<
  {
    readonly group: string;
    readonly stable: boolean;
    readonly parts: readonly { readonly topic: string; readonly partition: number }[];
  },
  { readonly code: number; readonly parts: readonly OffsetFetchPart[] }
> = {
  key: 9,
  name: 'OffsetFetch',
  versions: [7, 5, 4, 3, 2],
  flexibleFrom: 6,
  encode(w, q, version) {
    if (version < 6) {
      w.string(q.group);
      writeByTopic(w, q.parts, () => undefined);
      return;
    }
    w.compactString(q.group);
    const topics = [...new Set(q.parts.map((p) => p.topic))];
    w.compactArray(topics, (topic) => {
      w.compactString(topic);
      const parts = q.parts.filter((p) => p.topic === topic);
      w.compactArray(parts, (p) => {
        w.i32(p.partition);
      });
      w.noTags();
    });
    w.bool(q.stable);
    w.noTags();
  },
  decode(r, version) {
    if (version >= 3) r.throttle();
    if (version < 6) {
      const parts = readByTopic(r, (topic, partition): OffsetFetchPart => {
        const offset = r.i64();
        if (version >= 5) r.i32(); // leader epoch
        return { topic, partition, offset, metadata: r.string(), code: r.i16() };
      });
      return { code: r.i16(), parts };
    }
    const topics = r.compactArray(() => {
      const topic = r.compactString();
      const parts = r.compactArray((): OffsetFetchPart => {
        const partition = r.i32();
        const offset = r.i64();
        r.i32(); // leader epoch
        const part = { topic, partition, offset, metadata: r.compactString(), code: r.i16() };
        r.tags();
        return part;
      });
      r.tags();
      return parts;
    });
    const code = r.i16();
    r.tags();
    return { code, parts: topics.flat() };
  },
};

export interface TxnStateAnswer {
  readonly code: number;
  readonly state: string;
  readonly timeoutMs: number;
  readonly startTime: number;
  readonly producerId: bigint;
  readonly epoch: number;
}

/** Kafka 3.0 and later. */
export const DESCRIBE_TRANSACTIONS: Api<{ readonly transactionalId: string }, readonly TxnStateAnswer[]> = {
  key: 65,
  name: 'DescribeTransactions',
  versions: [0],
  flexibleFrom: 0,
  encode(w, q) {
    w.compactArray([q.transactionalId], (id) => {
      w.compactString(id);
    });
    w.noTags();
  },
  decode(r) {
    r.throttle();
    return r.compactArray((): TxnStateAnswer => {
      const code = r.i16();
      r.compactString();
      const state = r.compactString();
      const timeoutMs = r.i32();
      const startTime = r.i64();
      const producerId = r.bigI64();
      const epoch = r.i16();
      r.compactArray(() => {
        r.compactString();
        r.compactArray(() => r.i32());
        r.tags();
      });
      r.tags();
      return { code, state, timeoutMs, startTime, producerId, epoch };
    });
  },
};
