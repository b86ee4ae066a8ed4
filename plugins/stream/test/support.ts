import {
  toObjects,
  type JsonObject,
  type JsonValue,
  type Position,
  type SimpleValue,
  type Split,
} from 'syncx/plugin-api';
import { fillOptions, testContext, testLane, testRun } from 'syncx/plugin-testkit';
import { reader } from '../index.js';

export type Row = Readonly<Record<string, SimpleValue>>;

export interface Slice {
  readonly splits: readonly Split[];
  readonly snapshot: JsonValue;
  /** Rows by split id. */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

export interface ReadOptions {
  readonly saved?: JsonValue;
  readonly from?: Readonly<Record<string, Position>>;
  /** Rows of a split that are enough; endless ones need it. */
  readonly enough?: number;
  /** Rows in a batch. */
  readonly batchRows?: number;
}

/** Reads every split of a stream reader with these options, to its end or until there is enough of each. */
export async function readStream(options: JsonObject, how: ReadOptions = {}): Promise<Slice> {
  const abort = new AbortController();
  const r = await reader.create(fillOptions(reader, options), testContext());
  const planner = await r.planner(how.saved ?? null);
  const splits: Split[] = [];
  for (let s = await planner.next(abort.signal); s !== 'end'; s = await planner.next(abort.signal)) splits.push(s);
  const base = testLane(testRun());
  const batch = { ...base.batch, rows: how.batchRows ?? base.batch.rows };
  await using lane = await r.openLane({ ...base, batch }, r.shared?.() ?? null);
  const rows = new Map<string, Row[]>(splits.map((s) => [s.id, []]));
  const open = new Set(splits.map((s) => s.id));
  for (const s of splits) lane.assign(s, how.from?.[s.id] ?? null);
  if (open.size === 0) return { splits, snapshot: planner.snapshot(1), rows };
  for await (const item of lane.read(abort.signal)) {
    if (item.is === 'splitEnd') open.delete(item.splitId);
    else if (item.is === 'batch') {
      const of = rows.get(item.splitId) ?? [];
      of.push(...toObjects(item));
      if (of.length >= (how.enough ?? Infinity)) open.delete(item.splitId);
    }
    if (open.size === 0) abort.abort();
  }
  return { splits, snapshot: planner.snapshot(1), rows };
}

/** The values of one column over all splits, in their order. */
export function column(slice: Slice, name: string): readonly SimpleValue[] {
  return [...slice.rows.values()].flatMap((rows) => rows.map((r) => r[name]));
}
