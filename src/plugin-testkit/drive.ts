import {
  toObjects,
  OP_INSERT,
  type JsonValue,
  type Position,
  type ReadItem,
  type Reader,
  type RejectedRow,
  type RowBatch,
  type SchemaChange,
  type SimpleValue,
  type Split,
  type SplitEnd,
} from '../plugin-api/index.js';
import { testLane, testRun } from './context.js';

/** A row as text that is equal for equal rows: op, table and cells. */
export function rowKey(row: Readonly<Record<string, SimpleValue>>, op = 0, table: string | null = null): string {
  const cells = Object.entries(row).map(([k, v]) => [
    k,
    v === undefined
      ? { absent: true }
      : typeof v === 'string' || v === null
        ? v
        : { hex: Buffer.from(v).toString('hex') },
  ]);
  return JSON.stringify([op, table, cells]);
}

/** Keys of a batch's rows, in order. */
export function batchKeys(batch: RowBatch): string[] {
  const tables = batch.sections.flatMap((s) => Array.from({ length: s.rows }, () => s.schema.table));
  return [...toObjects(batch)].map((row, i) => rowKey(row, batch.ops?.[i] ?? OP_INSERT, tables[i] ?? null));
}

export interface ReadBatch {
  readonly batch: RowBatch;
  readonly keys: readonly string[];
  /** Rows of the split, after this batch, since the assigned position. */
  readonly rowsAfter: number;
}

/** What was read of one split. */
export interface SplitLog {
  readonly split: Split;
  readonly batches: ReadBatch[];
  readonly rows: string[];
  readonly rejected: RejectedRow[];
  readonly changes: SchemaChange[];
  end: SplitEnd | null;
}

export interface Assignment {
  readonly split: Split;
  readonly from: Position | null;
}

export interface ReadAllOptions {
  /** Stop once this many rows were read in all and no bounded split is open. Needed for unbounded splits. */
  readonly rows?: number;
  /** And this many were rejected. */
  readonly rejected?: number;
  readonly shared?: JsonValue;
  /** Called with every item; what it returns is awaited before the next is asked for. */
  readonly onItem?: (item: ReadItem) => Promise<void> | void;
}

function logFor(split: Split): SplitLog {
  return { split, batches: [], rows: [], rejected: [], changes: [], end: null };
}

function note(log: SplitLog, item: ReadItem): void {
  switch (item.is) {
    case 'batch': {
      const keys = batchKeys(item);
      log.rows.push(...keys);
      log.rejected.push(...(item.rejected ?? []));
      log.batches.push({ batch: item, keys, rowsAfter: log.rows.length });
      return;
    }
    case 'splitEnd':
      log.end = item;
      return;
    case 'schema':
      log.changes.push(item);
  }
}

/** Reads these splits on one lane as the engine does: bounded ones one at a time, unbounded ones together. */
export async function readSplits(
  reader: Reader,
  assignments: readonly Assignment[],
  options: ReadAllOptions = {},
): Promise<ReadonlyMap<string, SplitLog>> {
  const logs = new Map(assignments.map((a) => [a.split.id, logFor(a.split)]));
  const bounded = assignments.filter((a) => a.split.bounded);
  const unbounded = assignments.filter((a) => !a.split.bounded);
  await using lane = await reader.openLane(testLane(testRun()), options.shared ?? reader.shared?.() ?? null);
  const stop = new AbortController();
  let openBounded = bounded.length;
  let rows = 0;
  let rejected = 0;
  const enough = (): boolean => rows >= (options.rows ?? 0) && rejected >= (options.rejected ?? 0);
  const done = (): boolean => openBounded === 0 && (unbounded.length === 0 || enough());
  const assignNext = (): void => {
    const a = bounded.shift();
    if (a) lane.assign(a.split, a.from);
  };
  for (const a of unbounded) lane.assign(a.split, a.from);
  assignNext();
  if (done()) return logs;
  for await (const item of lane.read(stop.signal)) {
    const log = logs.get(item.splitId);
    if (!log) throw new Error(`the reader sent an item of split ${item.splitId}, which is not assigned`);
    if (log.end) throw new Error(`the reader sent an item of split ${item.splitId} after its end`);
    note(log, item);
    if (item.is === 'batch') {
      rows += item.rows;
      rejected += item.rejected?.length ?? 0;
    }
    await options.onItem?.(item);
    if (item.is === 'splitEnd') {
      openBounded--;
      assignNext();
    }
    if (done()) stop.abort();
  }
  if (!done()) throw new Error('read() ended by itself; it may end only on abort');
  return logs;
}

/**
 * Plans and reads a whole source, telling the planner what it must know. `rows` is needed for unbounded sources.
 * Splits that the planner hands out together are read one after another; unbounded ones at the end, together.
 */
export async function readWhole(
  reader: Reader,
  saved: JsonValue | null,
  options: ReadAllOptions = {},
): Promise<{ readonly splits: readonly Split[]; readonly logs: ReadonlyMap<string, SplitLog> }> {
  const planner = await reader.planner(saved);
  const signal = new AbortController().signal;
  const splits: Split[] = [];
  const logs = new Map<string, SplitLog>();
  const unbounded: Assignment[] = [];
  for (;;) {
    const split = await planner.next(signal);
    if (split === 'end') break;
    splits.push(split);
    if (!split.bounded) {
      unbounded.push({ split, from: null });
      continue;
    }
    const log = (await readSplits(reader, [{ split, from: null }], options)).get(split.id);
    if (!log?.end) throw new Error(`split ${split.id} was not read to its end`);
    logs.set(split.id, log);
    planner.finished(split.id, log.end.outcome);
    planner.committed([split.id]);
  }
  const before = (of: (log: SplitLog) => number): number => [...logs.values()].reduce((n, l) => n + of(l), 0);
  const rest = await readSplits(reader, unbounded, {
    ...options,
    rows: (options.rows ?? 0) - before((l) => l.rows.length),
    rejected: (options.rejected ?? 0) - before((l) => l.rejected.length),
  });
  for (const [id, log] of rest) logs.set(id, log);
  return { splits, logs };
}

/** Resolves to the value, or rejects after `ms` with a message: a bound on a wait, never a pause. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${String(ms)} ms`)), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until `check` holds; true, or false once `ms` have passed. */
export async function eventually(ms: number, check: () => boolean | Promise<boolean>, everyMs = 5): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
