/** What is where: versions, brokers, topics, coordinators. */
import type { Api } from './api.js';

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

export const METADATA: Api<{ readonly topics: readonly string[] | null; readonly rights: boolean }, MetadataAnswer> = {
  key: 3,
  name: 'Metadata',
  versions: [8, 7, 6, 5, 4],
  encode(w, q, version) {
    w.array(q.topics, (t) => {
      w.string(t);
    });
    w.bool(false); // a look must not create a topic
    if (version < 8) return;
    w.bool(false);
    w.bool(q.rights);
  },
  decode(r, version) {
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
      const bits = version >= 8 ? r.i32() : NOT_SAID;
      return { topic, code, internal, partitions, operations: bits === NOT_SAID ? null : bits };
    });
    return { brokers, cluster, controller, topics };
  },
};

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
