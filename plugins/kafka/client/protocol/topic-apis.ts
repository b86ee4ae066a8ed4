/** Topics and their partitions: offsets, creation, settings. */
import { readByTopic, writeByTopic, type Api, type PartitionCode } from './api.js';

/** In place of a timestamp. */
export const LATEST = -1;
export const EARLIEST = -2;

export interface ListOffsetsRequest {
  readonly committedOnly: boolean;
  /** `timestamp`: ms, or {@link LATEST}, {@link EARLIEST}. */
  readonly parts: readonly { readonly topic: string; readonly partition: number; readonly timestamp: number }[];
}

export interface ListOffsetsPart extends PartitionCode {
  readonly timestamp: number;
  /** -1: no record is that late. */
  readonly offset: number;
}

export const LIST_OFFSETS: Api<ListOffsetsRequest, readonly ListOffsetsPart[]> = {
  key: 2,
  name: 'ListOffsets',
  versions: [3, 2],
  encode(w, q) {
    w.i32(-1);
    w.i8(q.committedOnly ? 1 : 0);
    writeByTopic(w, q.parts, (p) => {
      w.i64(p.timestamp);
    });
  },
  decode(r) {
    r.throttle();
    return readByTopic(r, (topic, partition) => ({
      topic,
      partition,
      code: r.i16(),
      timestamp: r.i64(),
      offset: r.i64(),
    }));
  },
};

export interface TopicCode {
  readonly topic: string;
  readonly code: number;
  readonly message: string | null;
}

export interface NewTopicRequest {
  readonly topic: string;
  /** -1: the broker's default. */
  readonly partitions: number;
  readonly replicas: number;
  readonly configs: readonly (readonly [string, string])[];
}

export const CREATE_TOPICS: Api<
  { readonly topics: readonly NewTopicRequest[]; readonly timeoutMs: number },
  readonly TopicCode[]
> = {
  key: 19,
  name: 'CreateTopics',
  versions: [4, 3, 2],
  encode(w, q) {
    w.array(q.topics, (t) => {
      w.string(t.topic);
      w.i32(t.partitions);
      w.i16(t.replicas);
      w.array([], () => undefined); // assignments
      w.array(t.configs, ([name, value]) => {
        w.string(name);
        w.string(value);
      });
    });
    w.i32(q.timeoutMs);
    w.bool(false);
  },
  decode(r) {
    r.throttle();
    return r.array(() => ({ topic: r.string(), code: r.i16(), message: r.nullableString() }));
  },
};

export const DELETE_TOPICS: Api<
  { readonly topics: readonly string[]; readonly timeoutMs: number },
  readonly TopicCode[]
> = {
  key: 20,
  name: 'DeleteTopics',
  versions: [3, 2, 1],
  encode(w, q) {
    w.array(q.topics, (t) => {
      w.string(t);
    });
    w.i32(q.timeoutMs);
  },
  decode(r) {
    r.throttle();
    return r.array(() => ({ topic: r.string(), code: r.i16(), message: null }));
  },
};

export const CREATE_PARTITIONS: Api<
  { readonly topic: string; readonly count: number; readonly timeoutMs: number },
  readonly TopicCode[]
> = {
  key: 37,
  name: 'CreatePartitions',
  versions: [1, 0],
  encode(w, q) {
    w.array([q], (t) => {
      w.string(t.topic);
      w.i32(t.count);
      w.array(null, () => undefined); // assignments
    });
    w.i32(q.timeoutMs);
    w.bool(false);
  },
  decode(r) {
    r.throttle();
    return r.array(() => ({ topic: r.string(), code: r.i16(), message: r.nullableString() }));
  },
};

export const DELETE_RECORDS: Api<
  {
    readonly parts: readonly { readonly topic: string; readonly partition: number; readonly before: number }[];
    readonly timeoutMs: number;
  },
  readonly PartitionCode[]
> = {
  key: 21,
  name: 'DeleteRecords',
  versions: [1, 0],
  encode(w, q) {
    writeByTopic(w, q.parts, (p) => {
      w.i64(p.before);
    });
    w.i32(q.timeoutMs);
  },
  decode(r) {
    r.throttle();
    return readByTopic(r, (topic, partition) => {
      r.i64(); // the log's start now
      return { topic, partition, code: r.i16() };
    });
  },
};

export interface ConfigResource {
  readonly kind: 'topic' | 'broker';
  readonly name: string;
  readonly keys: readonly string[] | null;
}

export interface ConfigAnswer {
  readonly code: number;
  readonly message: string | null;
  readonly values: readonly (readonly [string, string | null])[];
}

export const DESCRIBE_CONFIGS: Api<ConfigResource, readonly ConfigAnswer[]> = {
  key: 32,
  name: 'DescribeConfigs',
  versions: [2, 1],
  encode(w, q) {
    w.array([q], (res) => {
      w.i8(res.kind === 'topic' ? 2 : 4);
      w.string(res.name);
      w.array(res.keys, (k) => {
        w.string(k);
      });
    });
    w.bool(false); // synonyms
  },
  decode(r) {
    r.throttle();
    return r.array(() => {
      const code = r.i16();
      const message = r.nullableString();
      r.i8();
      r.string();
      const values = r.array((): readonly [string, string | null] => {
        const name = r.string();
        const value = r.nullableString();
        r.bool(); // read-only
        r.i8(); // source
        r.bool(); // sensitive
        r.array(() => [r.string(), r.nullableString(), r.i8()]); // synonyms
        return [name, value];
      });
      return { code, message, values };
    });
  },
};
