/** What the engine promises, said simply: each row of a run is committed once, or the start stops and says why. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobStore } from '../../src/core/checkpoint/job-store.js';
import { parseFailpoints } from '../../src/core/failpoints.js';
import type { Checkpoint } from '../../src/core/checkpoint/format.js';
import { resolveState } from '../../src/core/checkpoint/state-admin.js';
import { meant } from '../../plugins/scripted/faults.js';
import { Store, type LogEntry } from '../../plugins/scripted/store.js';
import { readTarget, strayFiles } from '../../plugins/scripted/target.js';
import type { EngineRun } from '../support/engine.js';
import type { Scripted } from '../unit/core/scripted-job.js';
import { secondOf } from './half-lost.js';
import type { ModelStart } from './start.js';

export const JOB_ID = 'test-job';

export interface Model {
  readonly job: Scripted;
  readonly dirtyDir: string;
  /** Rows of the source. */
  readonly total: number;
  readonly bounded: boolean;
}

export function jobStore(m: Model): JobStore {
  return new JobStore(m.job.state, JOB_ID, parseFailpoints(undefined));
}

async function rowsByRun(m: Model): Promise<ReadonlyMap<string, readonly string[]>> {
  const runs = new Map<string, string[]>();
  for (const r of await readTarget(m.job.target)) {
    const rows = runs.get(r.runId) ?? [];
    rows.push(JSON.stringify(r.values));
    runs.set(r.runId, rows);
  }
  return runs;
}

/** Ids of the rows that are not there. */
function missing(m: Model, rows: readonly string[]): readonly string[] {
  const there = new Set(rows);
  const gone = m.job.expected().filter((row) => !there.has(row));
  return gone.map((row) => (JSON.parse(row) as { readonly id: string }).id);
}

/** Ids of all committed rows. At once: nothing may happen between a call and the look at the target. */
function committedNow(m: Model): ReadonlySet<string> {
  const { target } = m.job;
  const ids = new Set<string>();
  for (const log of readdirSync(join(target, 'log'))) {
    for (const entry of readdirSync(join(target, 'log', log)).filter(
      (n) => n.endsWith('.json') && !n.startsWith('.'),
    )) {
      const { commit } = JSON.parse(readFileSync(join(target, 'log', log, entry), 'utf8')) as LogEntry;
      const lines = commit ? readFileSync(join(target, 'data', commit.file), 'utf8').split('\n') : [];
      for (const line of lines.filter((l) => l !== '')) {
        ids.add(String((JSON.parse(line) as { readonly cells: { readonly id: string } }).cells.id));
      }
    }
  }
  return ids;
}

/** A split that depends on others is handed out only when all their rows are committed. Null: it is right. */
export function missingBefore(m: Model, splitId: string): string | null {
  const after = m.job.script.splits.find((s) => s.id === splitId)?.after ?? [];
  if (after.length === 0) return null;
  const there = committedNow(m);
  const rows = m.job.expected().map((row) => JSON.parse(row) as { readonly id: string; readonly split: string });
  const gone = rows.find((r) => after.includes(r.split) && !there.has(r.id));
  return gone ? `${splitId} was handed out before ${gone.id} was committed` : null;
}

/** No row of a run more often than once, at any time; of a finished run each one; and only the last run is unfinished. */
export async function assertRows(m: Model): Promise<void> {
  const jobs = jobStore(m);
  const current = (await jobs.current('default'))?.run.runId;
  for (const [runId, rows] of await rowsByRun(m)) {
    const left = new Map(m.job.expected().map((row) => [row, 1]));
    for (const row of rows) {
      assert.ok((left.get(row) ?? 0) > 0, `doubled or alien in run ${runId}: ${row}`);
      left.set(row, 0);
    }
    const finished = await jobs.run('default', runId).has('finished');
    if (finished) assert.deepEqual(missing(m, rows), [], `missing in the finished run ${runId}`);
    else assert.equal(runId, current, 'a run was given up unfinished');
  }
}

/** Nothing is staged that no durable checkpoint names: a start removes what it has prepared in vain. */
export async function assertClean(m: Model, start: ModelStart): Promise<void> {
  const { attempts, durable, unclean } = start.watch;
  if (unclean) return;
  const stray = await strayFiles(m.job.target);
  const dirty = dirtyNames(m.dirtyDir).filter((n) => n.startsWith('.'));
  for (const { run, attempt } of attempts) {
    const mine = [
      ...stray.filter((f) => f.startsWith(`${run.runId}.${String(attempt)}.`)),
      ...dirty.filter((f) => f.startsWith(`.dirty-${run.runId}-a${String(attempt)}-`)),
    ];
    assert.deepEqual(
      mine.filter((f) => !durable.has(f)),
      [],
      `left behind by start ${String(attempt)}`,
    );
  }
}

function dirtyNames(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // no dirty row, no folder
  }
}

function dirtyExpected(m: Model): readonly string[] {
  const clean = new Set(m.job.expected().map((r) => (JSON.parse(r) as { readonly id: string }).id));
  const all = m.job.script.splits.flatMap((s) => Array.from({ length: s.rows }, (_, i) => `${s.id}:${String(i + 1)}`));
  return all.filter((id) => !clean.has(id)).sort();
}

/** The run that `r` has brought to its end: every row, every dirty row, and the summary's numbers. */
export async function assertComplete(m: Model, r: EngineRun): Promise<void> {
  const runId = r.runId ?? '';
  assert.deepEqual(missing(m, (await rowsByRun(m)).get(runId) ?? []), [], 'missing at the end');
  const dirty = dirtyExpected(m);
  const places = dirtyNames(m.dirtyDir)
    .filter((n) => n.startsWith(`dirty-${runId}-`))
    .flatMap((n) => readFileSync(join(m.dirtyDir, n), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly row: { readonly id: string } }).row.id);
  assert.deepEqual(places.sort(), dirty);
  assert.deepEqual([r.read, r.written, r.dirty], [m.total, m.total - dirty.length, dirty.length]);
}

/** What starts that could not clean up have left does not count: they say so. */
export async function assertNothingLeft(m: Model, starts: readonly ModelStart[]): Promise<void> {
  const excused = starts.filter((s) => s.watch.unclean).flatMap((s) => s.watch.attempts);
  const prefixes = excused.flatMap(({ run, attempt }) => [
    `${run.runId}.${String(attempt)}.`,
    `.dirty-${run.runId}-a${String(attempt)}-`,
  ]);
  const hidden = dirtyNames(m.dirtyDir).filter((n) => n.startsWith('.'));
  const left = [...(await strayFiles(m.job.target)), ...hidden];
  const wrong = left.filter((f) => !prefixes.some((p) => f.startsWith(p)));
  // A run that a late start has begun after all was done may well be unfinished.
  const jobs = jobStore(m);
  const runIds = new Set(starts.flatMap((s) => s.watch.attempts.map((a) => a.run.runId)));
  for (const runId of runIds) {
    if (!(await jobs.run('default', runId).has('finished'))) continue;
    assert.deepEqual(
      wrong.filter((f) => f.startsWith(`${runId}.`) || f.startsWith(`.dirty-${runId}-`)),
      [],
    );
  }
}

const SCRIPTED = /failpoint |the script fails|the model fails|the connection broke in the commit/;

/** A start may fail as it was made to, or where the promise says stop; not otherwise. */
export async function assertKnown(m: Model, start: ModelStart, r: EngineRun): Promise<void> {
  const { error } = r;
  if (error === null) return;
  const { code, message } = error;
  const text = `${code}: ${message}`;
  if (code === 'FENCED') {
    assert.equal(r.exitCode, 4);
    assert.ok(await isFenced(start, message), `nobody else was there: ${text}`);
  } else if (code === 'COMMIT_UNKNOWN') {
    assert.equal(r.exitCode, 4);
    assert.ok(await mayBeUnknown(m, start, message), `nothing was unknown: ${text}`);
  } else if (code === 'STATE_LOCKED') {
    // It stood still before it asked for the lock, and went on while the next one had it.
    assert.ok(start.done.some((x) => x.startsWith('drop ')) && start.watch.attempts.length === 0, text);
  } else if (code === 'CHECKPOINT_TIMEOUT') assert.ok(start.plan.barrierMs !== null, text);
  else assert.match(text, SCRIPTED);
}

async function isFenced(start: ModelStart, message: string): Promise<boolean> {
  if (/was ended by another process|another process has begun a run/.test(message)) return true;
  const last = start.watch.attempts.at(-1);
  return last === undefined || ((await last.run.attempts()).at(-1) ?? 0) > last.attempt;
}

interface LaneInDoubt {
  readonly lane: number;
  /** Of rows. */
  readonly files: readonly string[];
  /** The script lets nobody know of it. */
  readonly odd: boolean;
}

function lanesOf(m: Model, c: Checkpoint): readonly LaneInDoubt[] {
  const unknown = (m.job.script.writer?.['unknown'] ?? []) as unknown as readonly { lane: number; epoch: number }[];
  return c.lanes.map(({ lane, committables }) => {
    const seconds = committables.map(secondOf).filter((s) => s !== null);
    const rows = committables.filter((x) => secondOf(x) === null);
    const files = rows.map((x) => (x.data as { readonly file: string }).file);
    const unsaid = rows.length > 0 && unknown.some((u) => meant(u, { lane, epoch: c.epoch }));
    return { lane, files, odd: unsaid || seconds.some((s) => s.second !== 'same') };
  });
}

async function mayBeUnknown(m: Model, start: ModelStart, message: string): Promise<boolean> {
  const epoch = Number(/whether epoch (\d+) of/.exec(message)?.[1]);
  const c = await start.watch.attempts.at(-1)?.run.checkpoint(epoch);
  return !c || lanesOf(m, c).some((l) => l.odd); // gone: decided since, and pruned
}

/** Says of each lane of the epoch in doubt what is true of the target, as a person would. */
export async function resolve(m: Model): Promise<void> {
  const run = (await jobStore(m).current('default'))?.run;
  const newest = await run?.newest();
  // A start that stood still may have told in the meantime.
  if (!run || newest?.kind !== 'epoch' || (await run.outcome(newest.epoch))) return;
  const visible = await new Store(m.job.target).visibleFiles(run.runId);
  for (const { lane, files } of lanesOf(m, newest)) {
    await resolveState(m.job.state, JOB_ID, lane, files.every((f) => visible.has(f)) ? 'committed' : 'lost');
  }
}
