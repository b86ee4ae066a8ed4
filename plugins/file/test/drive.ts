import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  RowView,
  type BatchTarget,
  type LaneContext,
  type OptionsOf,
  type PluginContext,
  type Position,
  type Reader,
  type ReadItem,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type RunIdentity,
  type Split,
  type Writer,
} from 'syncx/plugin-api';
import { reader, writer } from '../index.js';
import type { READER_OPTIONS, WRITER_OPTIONS } from '../options.js';

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
export type WriterOptions = OptionsOf<typeof WRITER_OPTIONS>;
export type Rows = readonly (readonly (string | null)[])[];

export function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'file-plugin-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** The defaults of a schema, as the config layer fills them in. */
function withDefaults(schema: { readonly properties: object }, given: object): object {
  const out: Record<string, unknown> = {};
  for (const [name, p] of Object.entries(schema.properties) as [string, { default?: unknown }][]) {
    if (p.default !== undefined) out[name] = p.default;
  }
  return { ...out, ...given };
}

export const readerOptions = (o: Partial<ReaderOptions>): ReaderOptions =>
  withDefaults(reader.options, o) as ReaderOptions;
export const writerOptions = (o: Partial<WriterOptions>): WriterOptions =>
  withDefaults(writer.options, o) as WriterOptions;

const nothing = (): void => undefined;
const instrument = { add: nothing, set: nothing, mark: nothing, record: nothing };
const CONTEXT: PluginContext = {
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  metrics: {
    counter: () => instrument,
    gauge: () => instrument,
    meter: () => instrument,
    histogram: () => instrument,
  },
  signal: new AbortController().signal,
  failpoint: nothing,
};

export const RUN: RunIdentity = { jobId: 'j', runId: 'run0run0run0', attempt: 1 };

export function laneOf(batch: BatchTarget = { bytes: 1 << 20, rows: 65_536 }, run = RUN): LaneContext {
  return { ...CONTEXT, run, lane: 0, lanes: 1, batch };
}

/** `warnings` gets the warnings of the log. */
export function openReader(o: Partial<ReaderOptions>, warnings: string[] = []): Promise<Reader> {
  const warn = (_fields: unknown, message: string): void => void warnings.push(message);
  return reader.create(readerOptions(o), { ...CONTEXT, log: { ...CONTEXT.log, warn } });
}
export const openWriter = (o: Partial<WriterOptions>, context: Partial<PluginContext> = {}): Promise<Writer> =>
  writer.create(writerOptions(o), { ...CONTEXT, ...context });

export function rowsOf(batch: RowBatch): Rows {
  return batch.sections.flatMap((section) => {
    const view = new RowView(batch, section);
    return Array.from({ length: section.rows }, (_, r) => {
      view.at(r);
      return section.schema.columns.map((_c, c) => view.text(c));
    });
  });
}

export interface SplitRead {
  readonly split: Split;
  readonly rows: Rows;
  readonly rejected: readonly RejectedRow[];
  /** The position behind each batch, with the rows of the split up to it. */
  readonly positions: readonly { readonly position: Position; readonly rows: number }[];
  readonly end: Position;
  readonly sourceBytes: number;
  /** Of the last rows; null: there were none. */
  readonly schema: RowSchema | null;
}

/** Reads one split to its end. */
export async function readSplit(
  r: Reader,
  split: Split,
  from: Position | null = null,
  batch?: BatchTarget,
): Promise<SplitRead> {
  const lane = await r.openLane(laneOf(batch), r.shared?.() ?? null);
  const stop = new AbortController();
  lane.assign(split, from);
  const rows: (readonly (string | null)[])[] = [];
  const rejected: RejectedRow[] = [];
  const positions: { position: Position; rows: number }[] = [];
  let sourceBytes = 0;
  let schema: RowSchema | null = null;
  try {
    for await (const item of lane.read(stop.signal)) {
      if (item.is === 'splitEnd') return { split, rows, rejected, positions, end: item.position, sourceBytes, schema };
      if (item.is !== 'batch') continue;
      rows.push(...rowsOf(item));
      schema = item.sections.at(-1)?.schema ?? schema;
      rejected.push(...(item.rejected ?? []));
      sourceBytes += item.sourceBytes;
      if (item.position !== null) positions.push({ position: item.position, rows: rows.length });
    }
  } finally {
    stop.abort();
    await lane[Symbol.asyncDispose]();
  }
  throw new Error('the lane ended before its split');
}

/** Reads all splits, one after another. */
export async function readAll(
  o: Partial<ReaderOptions>,
  batch?: BatchTarget,
  warnings: string[] = [],
): Promise<readonly SplitRead[]> {
  const r = await openReader(o, warnings);
  const planner = await r.planner(null);
  const out: SplitRead[] = [];
  for (;;) {
    const split = await planner.next(CONTEXT.signal);
    if (split === 'end') return out;
    out.push(await readSplit(r, split, null, batch));
  }
}

export async function nextItem(items: AsyncIterator<ReadItem>): Promise<ReadItem> {
  const r = (await items.next()) as IteratorResult<ReadItem, undefined>;
  if (r.done === true) throw new Error('the lane ended');
  return r.value;
}
