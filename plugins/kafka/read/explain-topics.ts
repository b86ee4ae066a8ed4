/** What `sync plan` says of topics that are read. */
import type { PlanColumn, ReaderFacts, Split } from 'syncx/plugin-api';
import { columnSpecs, isSpec, unnamed } from 'syncx/plugin-kit';
import type { ReaderOptions } from '../reader-options.js';
import { groupOf, textOf } from './check-options.js';
import { isChangeCodec } from './rows/codec-rows.js';
import { specOf, type PartitionSpec } from './split-spec.js';
import type { OffsetLookup } from './start-offsets.js';

/** @param splits those of a new run. */
export async function explainTopics(
  { client, isolation, signal }: OffsetLookup,
  splits: readonly Split[],
  o: ReaderOptions,
): Promise<ReaderFacts> {
  const specs = splits.map(specOf);
  const ends = await client.listOffsets(
    specs.map(({ topic, partition }) => ({ topic, partition, at: 'latest' as const })),
    isolation,
    signal,
  );
  // Offsets count markers of transactions, and records that compaction has taken, too.
  const counts = specs.map(({ start, stop }, i) => Math.max(0, (stop ?? ends[i]?.offset ?? start) - start));
  const topics = [...new Set(specs.map((s) => s.topic))];
  return {
    reads: topics.map((topic) => {
      const most = specs.reduce((n, s, i) => n + (s.topic === topic ? (counts[i] ?? 0) : 0), 0);
      return `${partitions(specs, topic)} of topic ${topic}, ${o.codec}: ${from(o)}, ${to(o)}; up to ${most.toLocaleString('en-US')} records now`;
    }),
    columns: columnsOf(o),
    rows: counts.reduce((n, c) => n + c, 0),
    bytes: null,
    problems: [],
  };
}

/** Of a run that goes on: its splits and positions say the rest. */
export const explainResumed = (topics: readonly string[], o: ReaderOptions): ReaderFacts => ({
  reads: topics.map((topic) => `topic ${topic}, ${o.codec}: behind the last checkpoint, ${to(o)}`),
  columns: columnsOf(o),
  rows: null,
  bytes: null,
  problems: [],
});

function partitions(specs: readonly PartitionSpec[], topic: string): string {
  const n = specs.filter((s) => s.topic === topic).length;
  return n === 1 ? '1 partition' : `${String(n)} partitions`;
}

const time = (ms: number): string => new Date(ms).toISOString();

function from(o: ReaderOptions): string {
  switch (o.mode) {
    case 'earliest-offset':
      return 'from the first record';
    case 'latest-offset':
      return 'from the end';
    case 'timestamp':
      return `from ${time(o.timestamp ?? 0)} on`;
    case 'specific-offsets':
      return 'from the given offsets';
    case 'group-offsets': {
      const reset = textOf(o, 'auto.offset.reset') ?? 'earliest';
      const without =
        reset === 'none' ? '' : ` (where it has none, from the ${reset === 'latest' ? 'end' : 'first record'})`;
      return `from the offsets of the group ${groupOf(o) ?? ''}${without}`;
    }
  }
}

function to(o: ReaderOptions): string {
  switch (o.bounded) {
    case 'no':
      return 'without an end';
    case 'latest-at-start':
      return 'to the last one that is there at the start';
    case 'timestamp':
      return `to ${time(o.boundedTimestamp ?? 0)}`;
    case 'offsets':
      return 'to the given offsets';
  }
}

/** Null: they are those of each record, or of the schema. */
function columnsOf(o: ReaderOptions): readonly PlanColumn[] | null {
  const columns = columnSpecs(o.column);
  if (columns === null || !columns.every(isSpec) || isChangeCodec(o.codec) || o.codec === 'avro') return null;
  return columns.map((c, i) => ({
    name: c.name ?? unnamed(c.index ?? i),
    type: c.type,
    ...(c.meta === null ? {} : { role: 'meta' as const }),
  }));
}
