/** Where partitions begin and end when a run is planned. */
import { SyncError, type Logger } from 'syncx/plugin-api';
import type { KafkaClient, TopicPartition } from '../client/kafka-client.js';
import { splitIdOf } from './split-spec.js';

/** Offsets by the name of the partition (`topic-0`). */
export type Offsets = ReadonlyMap<string, number>;

export type StartMode =
  | { readonly is: 'earliest' }
  | { readonly is: 'latest' }
  | { readonly is: 'timestamp'; readonly ms: number }
  /** `reset`: of partitions for which the group has none. */
  | { readonly is: 'group'; readonly group: string; readonly reset: 'earliest' | 'latest' | 'none' }
  | { readonly is: 'offsets'; readonly at: Offsets };

export type StopMode =
  | { readonly is: 'latest' }
  | { readonly is: 'timestamp'; readonly ms: number }
  | { readonly is: 'offsets'; readonly at: Offsets };

export interface OffsetLookup {
  readonly client: KafkaClient;
  readonly isolation: 'committed' | 'uncommitted';
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const nameOf = (p: TopicPartition): string => splitIdOf(p.topic, p.partition);

/** In the order of the partitions. Of a time that no record is late enough for: the end. */
async function listed(
  { client, isolation, signal }: OffsetLookup,
  partitions: readonly TopicPartition[],
  at: 'earliest' | 'latest' | number,
): Promise<readonly number[]> {
  const query = (of: typeof at) =>
    client.listOffsets(
      partitions.map(({ topic, partition }) => ({ topic, partition, at: of })),
      isolation,
      signal,
    );
  const found = await query(at);
  if (found.every((f) => f.offset !== null)) return found.map((f) => f.offset ?? 0);
  const ends = await query('latest');
  return found.map((f, i) => f.offset ?? ends[i]?.offset ?? 0);
}

/** @throws SyncError SOURCE_IO where the group has no offset and `reset` is none; JOB_INVALID where a partition has none given. */
export async function startOffsets(
  lookup: OffsetLookup,
  partitions: readonly TopicPartition[],
  mode: StartMode,
): Promise<readonly number[]> {
  switch (mode.is) {
    case 'earliest':
    case 'latest':
      return listed(lookup, partitions, mode.is);
    case 'timestamp':
      return listed(lookup, partitions, mode.ms);
    case 'offsets':
      return partitions.map((p) => given(mode.at, p, 'offset'));
    case 'group':
      return groupOffsets(lookup, partitions, mode);
  }
}

async function groupOffsets(
  lookup: OffsetLookup,
  partitions: readonly TopicPartition[],
  { group, reset }: Extract<StartMode, { readonly is: 'group' }>,
): Promise<readonly number[]> {
  const { client, log, signal } = lookup;
  const committed = await client.offsetFetch(group, partitions, { stable: true }, signal);
  const missing = partitions.filter((_, i) => (committed[i]?.offset ?? null) === null);
  const [first] = missing;
  if (first !== undefined && reset === 'none') {
    throw new SyncError('SOURCE_IO', `the group ${group} has no offset of ${missing.map(nameOf).join(', ')}`, {
      place: nameOf(first),
      retry: 'never',
      blame: 'config',
      hint: 'Set mode to earliest-offset or latest-offset, or auto.offset.reset among consumerSettings.',
    });
  }
  const resets = first === undefined || reset === 'none' ? [] : await listed(lookup, missing, reset);
  if (missing.length > 0) {
    const names = missing.map(nameOf).join(', ');
    log.info(
      { group, partitions: names, start: reset },
      `the group has no offset of ${names}: these begin at the ${reset}`,
    );
  }
  return partitions.map((p, i) => committed[i]?.offset ?? resets[missing.indexOf(p)] ?? 0);
}

/** In the order of the partitions; the offset behind the last record of each. */
export async function stopOffsets(
  lookup: OffsetLookup,
  partitions: readonly TopicPartition[],
  mode: StopMode,
): Promise<readonly number[]> {
  if (mode.is === 'offsets') return partitions.map((p) => given(mode.at, p, 'end'));
  return listed(lookup, partitions, mode.is === 'latest' ? 'latest' : mode.ms);
}

function given(offsets: Offsets, p: TopicPartition, what: string): number {
  const offset = offsets.get(nameOf(p));
  if (offset !== undefined) return offset;
  throw new SyncError('JOB_INVALID', `no ${what} is given for ${nameOf(p)}`, {
    place: nameOf(p),
    blame: 'config',
    hint: 'Name an offset for each partition of the topics.',
  });
}
