/**
 * Random schedules over several lanes against a simple oracle: whatever happens, a row is never committed twice, and a
 * job that ends holds every row once; else it stops with exit 4 and says why.
 * MODEL_SEEDS: how many schedules (2000); MODEL_FIRST: the first (1); MODEL_SEED: the only one,
 * told step by step; MODEL_FAILURES: after how many a thread gives up (20).
 */
import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ModelReport, ModelWork } from './model-worker.js';
import { Workspace } from '../support/workspace.js';
import { MUST_HAPPEN, Tally } from './tally.js';

const only = process.env['MODEL_SEED'];
const SEEDS = only === undefined ? Number(process.env['MODEL_SEEDS'] ?? 2000) : 1;
const FIRST = Number(only ?? process.env['MODEL_FIRST'] ?? 1);
const THREADS = Math.min(4, availableParallelism());
const AT_ONCE = 8;
/** Then a thread gives up. */
const MOST_FAILURES = Number(process.env['MODEL_FAILURES'] ?? 20);

/** In memory where there is such a place: a power cut is not part of the model, and syncs would be most of the time. */
function fastFolder(): string {
  const shm = '/dev/shm';
  try {
    accessSync(shm, constants.W_OK);
    return shm;
  } catch {
    return tmpdir();
  }
}

function inThread(work: ModelWork): Promise<ModelReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./model-worker.js', import.meta.url), {
      workerData: work,
      // Short-lived objects are all there is: with room for them the collector has a fifth less to do.
      resourceLimits: { maxYoungGenerationSizeMb: 96 },
    });
    worker.once('message', (report: ModelReport) => {
      resolve(report);
      void worker.terminate(); // a schedule that hangs would keep it alive
    });
    worker.once('error', reject);
    worker.once('exit', (code) => {
      reject(new Error(`a thread of the model ended with ${String(code)}`));
    });
  });
}

test(`${String(SEEDS)} random schedules from seed ${String(FIRST)}`, async () => {
  // One folder around all: schedules that hang are cut off, and cannot clean up.
  using all = new Workspace(fastFolder());
  const work: ModelWork = {
    first: FIRST,
    count: SEEDS,
    atOnce: AT_ONCE,
    taken: new SharedArrayBuffer(4),
    root: all.dir,
    watchful: only !== undefined,
    mostFailures: MOST_FAILURES,
  };
  const reports = await Promise.all(Array.from({ length: only === undefined ? THREADS : 1 }, () => inThread(work)));
  const tally = new Tally();
  for (const r of reports) tally.merge(r.counts);
  console.log(JSON.stringify(tally.counts));
  assert.deepEqual(
    reports.flatMap((r) => r.failures),
    [],
  );
  assert.equal(tally.counts['schedules'], SEEDS);
  if (SEEDS < 500) return;
  assert.deepEqual(
    MUST_HAPPEN.filter((what) => tally.counts[what] === undefined),
    [],
  );
});
