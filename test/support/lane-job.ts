/** Scripted jobs of several lanes that crash tests start in child processes, and what their target must hold. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { scriptedRow } from '../../plugins/scripted/rows.js';
import { readTarget, strayFiles } from '../../plugins/scripted/target.js';
import type { SyncResult } from './sync.js';
import { publishedLines, tree, type Workspace } from './workspace.js';

export interface ScriptedSplit {
  readonly id: string;
  readonly rows: number;
  readonly transaction?: number;
  readonly after?: readonly string[];
}

/**
 * `rounds` times `width` splits, each round after the one before it: with as many lanes, round n is epoch n and every lane
 * has one split of it. (Of the first round a fast lane may read two.)
 */
export function roundsOf(rounds: number, width: number, rows = 12): readonly ScriptedSplit[] {
  const id = (r: number, i: number): string => `r${String(r)}.${String(i)}`;
  const all = Array.from({ length: width }, (_, i) => i);
  return Array.from({ length: rounds }, (_, n) => n + 1).flatMap((r) =>
    all.map((i) => ({
      id: id(r, i),
      rows,
      transaction: i === 0 ? 4 : 1,
      after: r === 1 ? [] : all.map((j) => id(r - 1, j)),
    })),
  );
}

/** Splits that any lane may take at any time. */
export function flowOf(width: number, rows: number): readonly ScriptedSplit[] {
  return Array.from({ length: width }, (_, i) => ({ id: `s${String(i)}`, rows, transaction: i % 2 === 0 ? 4 : 1 }));
}

export interface LaneJobOptions {
  readonly splits: readonly ScriptedSplit[];
  readonly channel?: number;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly events?: readonly Readonly<Record<string, unknown>>[];
  /** `<split>:<row>` of rows that are dirty. */
  readonly dirty?: readonly string[];
  /** Rows a second; 0: no limit. */
  readonly limit?: number;
  readonly checkpoint?: Readonly<Record<string, unknown>>;
  readonly restart?: Readonly<Record<string, unknown>>;
}

export interface LaneJob {
  readonly ws: Workspace;
  readonly job: string;
  readonly total: number;
  readonly dirty: readonly string[];
  /** The rows of a whole run as JSON, sorted. */
  readonly expected: readonly string[];
}

export function laneJob(ws: Workspace, o: LaneJobOptions): LaneJob {
  const { splits, dirty = [] } = o;
  const expected = splits.flatMap((s) =>
    Array.from({ length: s.rows }, (_, i) => i + 1)
      .filter((n) => !dirty.includes(`${s.id}:${String(n)}`))
      .map((n) => JSON.stringify(scriptedRow(s.id, n))),
  );
  const dirtyEvents = dirty.map((d) => {
    const [split = '', at] = d.split(':');
    return { split, at: Number(at), do: 'dirty' };
  });
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'scripted',
            parameter: { splits, batchRows: 5, events: [...dirtyEvents, ...(o.events ?? [])], folder: 'reader' },
          },
          writer: { name: 'scripted', parameter: { path: 'target', ...o.writer } },
        },
      ],
      setting: {
        speed: { channel: o.channel ?? 3, record: o.limit ?? 0 },
        checkpoint: { interval: 60_000, ...o.checkpoint },
        errorLimit: { record: dirty.length },
        dirty: { path: 'dirty' },
        ...(o.restart ? { restart: o.restart } : {}),
      },
    },
  });
  return { ws, job, total: splits.reduce((n, s) => n + s.rows, 0), dirty, expected: expected.sort() };
}

export async function targetRows(j: LaneJob): Promise<readonly string[]> {
  return (await readTarget(j.ws.path('target'))).map((r) => JSON.stringify(r.values)).sort();
}

/** Finished; each row once, each dirty row on file once, nothing left over, and a true summary. */
export async function assertLaneJobExact(j: LaneJob, r: SyncResult, context: string): Promise<void> {
  assert.equal(r.code, 0, `${context}: exit ${String(r.code)}\n${r.stderr}`);
  const written = j.expected.length;
  const counts = [r.summary?.read, r.summary?.written, r.summary?.dirty];
  assert.deepEqual(counts, [j.total, written, j.total - written], `${context}: read, written, dirty`);
  assert.deepEqual(await targetRows(j), j.expected, context);
  assert.deepEqual(await strayFiles(j.ws.path('target')), [], context);
  const dirty = publishedLines(j.ws.path('dirty')).map((l) => JSON.parse(l) as { readonly place: string | null });
  assert.deepEqual(dirty.map((d) => d.place).sort(), [...j.dirty].sort(), `${context}: dirty rows on file`);
  const hidden = tree(j.ws.path('dirty')).filter((n) => n.startsWith('.'));
  assert.deepEqual(hidden, [], `${context}: left over`);
}

interface SavedCheckpoint {
  readonly kind: string;
  readonly epoch: number;
  readonly lanes: readonly { readonly lane: number; readonly committables: readonly unknown[] }[];
}

/** The newest checkpoint of the only job in the state folder. */
export function newestCheckpoint(ws: Workspace): SavedCheckpoint {
  const epochOf = (name: string): number => Number(/\/(\d+)\.ckpt$/.exec(name)?.[1] ?? -1);
  const newest = [...tree(ws.path('state'))].sort((a, b) => epochOf(a) - epochOf(b)).at(-1) ?? '';
  const [line = ''] = readFileSync(ws.path('state', newest), 'utf8').split('\n');
  return JSON.parse(line) as SavedCheckpoint;
}
