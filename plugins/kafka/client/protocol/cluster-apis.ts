/** What is where: versions, brokers, topics, coordinators. */
import type { Api } from './api.js';
import type { ResponseBytes } from './response-bytes.js';

export interface VersionRange {
  readonly key: number;
  readonly min: number;
  readonly max: number;
}

/** Version 0: each broker answers it. */
export const API_VERSIONS: Api<null, { readonly code: number; readonly ranges: readonly VersionRange[] }> = {
  key: 18,
  name: 'ApiVersions',
  versions: [0],
  encode: () => undefined,
  decode: (r) => ({ code: r.i16(), ranges: r.array(() => ({ key: r.i16(), min: r.i16(), max: r.i16() })) }),
};

export interface MetadataPart {
  readonly partition: number;
  readonly code: number;
  /** -1: none now. */
  readonly leader: number;
}

export interface MetadataTopic {
  readonly topic: string;
  /** Another one where a topic of the same name is made anew; null: the broker does not say. */
  readonly id: string | null;
  readonly code: number;
  readonly internal: boolean;
  readonly partitions: readonly MetadataPart[];
  /** Bits by Kafka's numbers of operations; null: the broker does not say. */
  readonly operations: number | null;
}

export interface MetadataAnswer {
  readonly brokers: readonly { readonly node: number; readonly host: string; readonly port: number }[];
  readonly cluster: string | null;
  readonly controller: number;
  readonly topics: readonly MetadataTopic[];
}

const NOT_SAID = -0x8000_0000;

/** Version 12 (Kafka 3.1 and later) has the ids of topics. */
export const METADATA: Api<{ readonly topics: readonly string[] | null; readonly rights: boolean }, MetadataAnswer> = {
  key: 3,
  name: 'Metadata',
  versions: [12, 8, 7, 6, 5, 4],
  flexibleFrom: 9,
  encode(w, q, version) {
    if (version >= 12) {
      w.compactArray(q.topics, (t) => {
        w.noUuid();
        w.compactString(t);
        w.noTags();
      });
      w.bool(false); // a look must not create a topic
      w.bool(q.rights);
      w.noTags();
      return;
    }
    w.array(q.topics, (t) => {
      w.string(t);
    });
    w.bool(false);
    if (version < 8) return;
    w.bool(false);
    w.bool(q.rights);
  },
  decode(r, version) {
    return version >= 12 ? flexibleMetadata(r) : plainMetadata(r, version);
  },
};

const operationsOf = (bits: number): number | null => (bits === NOT_SAID ? null : bits);

function flexibleMetadata(r: ResponseBytes): MetadataAnswer {
  r.throttle();
  const brokers = r.compactArray(() => {
    const broker = { node: r.i32(), host: r.compactString(), port: r.i32() };
    r.compactNullableString(); // rack
    r.tags();
    return broker;
  });
  const cluster = r.compactNullableString();
  const controller = r.i32();
  const topics = r.compactArray((): MetadataTopic => {
    const code = r.i16();
    const topic = r.compactString();
    const id = r.uuid();
    const internal = r.bool();
    const partitions = r.compactArray((): MetadataPart => {
      const part = { code: r.i16(), partition: r.i32(), leader: r.i32() };
      r.i32(); // leader epoch
      r.compactArray(() => r.i32()); // replicas
      r.compactArray(() => r.i32()); // in-sync replicas
      r.compactArray(() => r.i32()); // offline replicas
      r.tags();
      return part;
    });
    const operations = operationsOf(r.i32());
    r.tags();
    return { topic, id, code, internal, partitions, operations };
  });
  r.tags();
  return { brokers, cluster, controller, topics };
}

function plainMetadata(r: ResponseBytes, version: number): MetadataAnswer {
  r.throttle();
  const brokers = r.array(() => {
    const broker = { node: r.i32(), host: r.string(), port: r.i32() };
    r.nullableString(); // rack
    return broker;
  });
  const cluster = r.nullableString();
  const controller = r.i32();
  const topics = r.array((): MetadataTopic => {
    const code = r.i16();
    const topic = r.string();
    const internal = r.bool();
    const partitions = r.array((): MetadataPart => {
      const part = { code: r.i16(), partition: r.i32(), leader: r.i32() };
      if (version >= 7) r.i32(); // leader epoch
      r.array(() => r.i32()); // replicas
      r.array(() => r.i32()); // in-sync replicas
      if (version >= 5) r.array(() => r.i32()); // offline replicas
      return part;
    });
    const operations = version >= 8 ? operationsOf(r.i32()) : null;
    return { topic, id: null, code, internal, partitions, operations };
  });
  return { brokers, cluster, controller, topics };
}

export type CoordinatorKind = 'group' | 'transaction';

export interface CoordinatorAnswer {
  readonly code: number;
  readonly message: string | null;
  readonly node: number;
  readonly host: string;
  readonly port: number;
}

export const FIND_COORDINATOR: Api<{ readonly key: string; readonly kind: CoordinatorKind }, CoordinatorAnswer> = {
  key: 10,
  name: 'FindCoordinator',
  versions: [2, 1],
  encode(w, q) {
    w.string(q.key);
    w.i8(q.kind === 'group' ? 0 : 1);
  },
  decode(r) {
    r.throttle();
    return { code: r.i16(), message: r.nullableString(), node: r.i32(), host: r.string(), port: r.i32() };
  },
};
