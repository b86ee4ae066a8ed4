/**
 * Random schedules over one lane against a simple oracle: whatever happens, a row is never committed twice, and a job that
 * ends holds every row once. MODEL_SEEDS: how many schedules (300); MODEL_SEED: the one to repeat.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseFailpoints } from '../../src/core/failpoints.js';
import { JobStore } from '../../src/core/checkpoint/job-store.js';
import { resolveState } from '../../src/core/checkpoint/state-admin.js';
import { Store } from '../../plugins/scripted/store.js';
import type { EngineRun } from '../support/engine.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { eachOf, Scripted } from '../unit/core/scripted-job.js';
import { Dice, scriptOf, startOf, type Start } from './script.js';

const STARTS = 10;
const only = process.env['MODEL_SEED'];
const SEEDS = only === undefined ? Number(process.env['MODEL_SEEDS'] ?? 300) : 1;
const FIRST = Number(only ?? 1);

const warnings: string[] = [];
const note = (w: Error): void => void warnings.push(`${w.name}: ${w.message}`);
before(() => process.on('warning', note));
after(() => process.off('warning', note));

interface Model {
  readonly job: Scripted;
  readonly dirtyDir: string;
  readonly total: number;
  readonly bounded: boolean;
}

/** Runs a start; an unbounded job is stopped once all its rows are read. */
async function run(m: Model, start: Start, job = m.job, stop = new AbortController()): Promise<EngineRun> {
  let read = (): number => 0;
  let over = false;
  const points = [start.failpoint, start.zombieAt === null ? undefined : 'lock:release'].filter((x) => x !== undefined);
  const running = job
    .run({
      stop: stop.signal,
      failpoint: points.join(','),
      onStart: (p) => (read = (): number => (p().phase === 'running' ? p().counters.read : -1)),
    })
    .finally(() => (over = true));
  const timer = start.stopAfter === null ? null : setTimeout(() => stop.abort('SIGTERM'), start.stopAfter);
  if (!m.bounded) {
    await until('all rows read', () => over || stop.signal.aborted || read() === m.total);
    stop.abort('SIGTERM');
  }
  const r = await running;
  if (timer) clearTimeout(timer);
  return r;
}

function assertKnown(r: EngineRun): void {
  if (r.error === null) return;
  const { code, message } = r.error;
  const scripted = message.startsWith('failpoint ') || message.startsWith('the script fails');
  assert.ok(scripted || ['COMMIT_UNKNOWN', 'FENCED', 'STATE_LOCKED'].includes(code), `${code}: ${message}`);
}

/** No row more often than once, at any time. */
async function assertNothingDoubled(m: Model): Promise<void> {
  const left = new Map<string, number>();
  for (const row of m.job.expected()) left.set(row, (left.get(row) ?? 0) + 1);
  for (const row of await m.job.rows()) {
    const n = left.get(row) ?? 0;
    assert.ok(n > 0, `doubled or alien: ${row}`);
    left.set(row, n - 1);
  }
}

/** Says of the epoch in doubt what is true of the target. */
async function resolve(m: Model): Promise<void> {
  const jobs = new JobStore(m.job.state, 'test-job', parseFailpoints(undefined));
  const current = await jobs.current('default');
  const doubt = await current?.run.newest();
  assert.ok(current && doubt);
  const visible = await new Store(m.job.target).visibleFiles(current.run.runId);
  const files = doubt.lanes.flatMap((l) => l.committables).map((c) => (c.data as { readonly file: string }).file);
  const as = files.every((f) => visible.has(f)) ? 'committed' : 'lost';
  await resolveState(m.job.state, 'test-job', 0, as);
}

function dirtyPlaces(dir: string): { readonly places: readonly string[]; readonly hidden: readonly string[] } {
  let names: readonly string[] = [];
  try {
    names = readdirSync(dir);
  } catch {
    // no dirty row, no folder
  }
  const lines = names
    .filter((n) => !n.startsWith('.'))
    .flatMap((n) =>
      readFileSync(join(dir, n), 'utf8')
        .split('\n')
        .filter((l) => l !== ''),
    );
  const places = lines.map((l) => String((JSON.parse(l) as { readonly row: { readonly id: string } }).row.id));
  return { places: places.sort(), hidden: names.filter((n) => n.startsWith('.')) };
}

function dirtyExpected(m: Model): readonly string[] {
  const clean = new Set(m.job.expected().map((r) => (JSON.parse(r) as { readonly id: string }).id));
  const all = m.job.script.splits.flatMap((s) => Array.from({ length: s.rows }, (_, i) => `${s.id}:${String(i + 1)}`));
  return all.filter((id) => !clean.has(id)).sort();
}

async function assertEnd(m: Model, r: EngineRun): Promise<void> {
  await m.job.assertRows();
  const dirty = dirtyExpected(m);
  assert.deepEqual(dirtyPlaces(m.dirtyDir), { places: dirty, hidden: [] });
  assert.deepEqual([r.read, r.written, r.dirty], [m.total, m.total - dirty.length, dirty.length]);
}

/**
 * One start stands still in a call of its writer (or does not get there), another one runs beside it, then the first one
 * goes on. Null: the first one had finished, so that the second one rightly began a new run.
 */
async function zombieAnd(m: Model, step: string, d: Dice): Promise<EngineRun | null> {
  const { job } = m;
  const wake = `wake-${String(d.int(0, 1e9))}`;
  const gates = [{ step, hit: d.int(1, 3), until: job.ws.path(wake) }];
  const stop = new AbortController();
  const start: Start = { failpoint: undefined, stopAfter: null, zombieAt: step };
  const gated = job.with({ writer: { ...job.script.writer, gates } });
  const first = run({ ...m, bounded: true }, start, gated, stop);
  await sleep(d.int(5, 60)); // anywhere in the first one's life
  const second = await run(m, { ...start, zombieAt: null });
  job.open(wake);
  stop.abort('SIGTERM');
  const z = await first;
  assertKnown(z);
  if (z.state !== 'finished') return second;
  return second.state === 'finished' && second.runId !== z.runId ? null : z;
}

async function schedule(seed: number): Promise<number> {
  using ws = new Workspace();
  const d = new Dice(seed);
  const script = scriptOf(d);
  const dirtyDir = ws.path('dirty');
  const job = new Scripted(ws, { ...script, more: { ...script.more, dirtyDir } });
  const total = script.splits.reduce((n, s) => n + s.rows, 0);
  const bounded = script.splits.every((s) => s.bounded !== false);
  const m: Model = { job, dirtyDir, total, bounded };
  for (let i = 1; ; i++) {
    const start = startOf(d, i > STARTS);
    let r: EngineRun;
    if (start.zombieAt === null) r = await run(m, start);
    else {
      const both = await zombieAnd(m, start.zombieAt, d);
      if (both === null) return i;
      r = both;
    }
    assertKnown(r);
    await assertNothingDoubled(m);
    if (r.error?.code === 'COMMIT_UNKNOWN') await resolve(m);
    const all = bounded ? r.state === 'finished' : r.state === 'stopped' && r.read === total;
    if (all) {
      await assertEnd(m, r);
      return i;
    }
    if (i >= STARTS * 3) throw new Error(`not done after ${String(i)} starts: ${JSON.stringify(r.error)}`);
  }
}

test(`${String(SEEDS)} random schedules from seed ${String(FIRST)}`, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST + i);
  const failures: string[] = [];
  let starts = 0;
  await eachOf(
    seeds,
    async (seed) => {
      try {
        const n = await schedule(seed);
        starts += n;
      } catch (e) {
        failures.push(`MODEL_SEED=${String(seed)}: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
      }
    },
    12,
  );
  console.log(`${String(SEEDS)} schedules, ${String(starts)} starts`);
  assert.deepEqual(failures, []);
  assert.deepEqual(warnings, []);
});
