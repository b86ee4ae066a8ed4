/** The two requests that carry records. Record batches stay bytes in both directions. */
import { readByTopic, writeByTopic, type Api } from './api.js';

export interface ProduceRequest {
  readonly transactionalId: string | null;
  readonly acks: -1 | 0 | 1;
  readonly timeoutMs: number;
  readonly parts: readonly { readonly topic: string; readonly partition: number; readonly batch: Buffer }[];
}

export interface ProducePart {
  readonly topic: string;
  readonly partition: number;
  readonly code: number;
  readonly message: string | null;
  readonly baseOffset: number;
  /** -1: the topic keeps the producer's timestamps. */
  readonly logAppendTime: number;
}

export const PRODUCE: Api<ProduceRequest, readonly ProducePart[]> = {
  key: 0,
  name: 'Produce',
  versions: [8, 7, 6, 5, 4, 3],
  sizeOf: (q) => q.parts.reduce((sum, p) => sum + p.topic.length * 3 + 32, 256),
  answered: (q) => q.acks !== 0,
  encode(w, q) {
    w.string(q.transactionalId);
    w.i16(q.acks);
    w.i32(q.timeoutMs);
    writeByTopic(w, q.parts, (p) => {
      w.bytes(p.batch);
    });
  },
  decode(r, version) {
    const parts = readByTopic(r, (topic, partition): ProducePart => {
      const code = r.i16();
      const baseOffset = r.i64();
      const logAppendTime = r.i64();
      if (version >= 5) r.i64(); // log start offset
      let message: string | null = null;
      if (version >= 8) {
        const records = r.array(() => `record ${String(r.i32())}: ${r.nullableString() ?? 'refused'}`);
        message = r.nullableString() ?? records[0] ?? null;
      }
      return { topic, partition, code, message, baseOffset, logAppendTime };
    });
    r.throttle();
    return parts;
  },
};

export interface FetchRequest {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly committedOnly: boolean;
  readonly parts: readonly {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    readonly maxBytes: number;
  }[];
}

export interface FetchPart {
  readonly topic: string;
  readonly partition: number;
  readonly code: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly logStartOffset: number;
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
  readonly records: Buffer;
}

const NO_SESSION = { id: 0, epoch: -1 };

export const FETCH: Api<FetchRequest, { readonly code: number; readonly parts: readonly FetchPart[] }> = {
  key: 1,
  name: 'Fetch',
  versions: [11, 10, 9, 8, 7, 6, 5, 4],
  sizeOf: (q) => q.parts.reduce((sum, p) => sum + p.topic.length * 3 + 40, 256),
  encode(w, q, version) {
    w.i32(-1); // a consumer, no replica
    w.i32(q.maxWaitMs);
    w.i32(q.minBytes);
    w.i32(q.maxBytes);
    w.i8(q.committedOnly ? 1 : 0);
    if (version >= 7) {
      w.i32(NO_SESSION.id);
      w.i32(NO_SESSION.epoch);
    }
    writeByTopic(w, q.parts, (p) => {
      if (version >= 9) w.i32(-1); // leader epoch: unknown
      w.i64(p.offset);
      if (version >= 5) w.i64(-1); // log start offset: for replicas
      w.i32(p.maxBytes);
    });
    if (version >= 7) w.array([], () => undefined); // topics to forget
    if (version >= 11) w.string(''); // rack: always the leader
  },
  decode(r, version) {
    r.throttle();
    const code = version >= 7 ? r.i16() : 0;
    if (version >= 7) r.i32(); // session
    const parts = readByTopic(r, (topic, partition): FetchPart => {
      const partCode = r.i16();
      const highWatermark = r.i64();
      const lastStableOffset = r.i64();
      const logStartOffset = version >= 5 ? r.i64() : -1;
      const aborted = r.array(() => ({ producerId: r.bigI64(), firstOffset: r.i64() }));
      if (version >= 11) r.i32(); // preferred replica
      const records = r.bytes();
      return { topic, partition, code: partCode, highWatermark, lastStableOffset, logStartOffset, aborted, records };
    });
    return { code, parts };
  },
};
