/** C67: dirty-record limits by count and by share, in FlinkX's units. (h) is in c67-config-error-limit.test.ts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { scriptedRow } from '../../plugins/scripted/rows.js';
import type { EngineRun } from '../support/engine.js';
import { tree, Workspace } from '../support/workspace.js';
import { assertFails, Scripted } from '../unit/core/scripted-job.js';

const ROWS = 1000;
const THREE = [1, 500, 1000];
const NEVER = 3_600_000;

interface Outcome {
  readonly r: EngineRun;
  readonly ws: Workspace;
  readonly job: Scripted;
}

async function limited(
  ws: Workspace,
  errorLimit: { readonly record: number | null; readonly percentage: number | null } | undefined,
  bad: readonly number[] = THREE,
  intervalMs = NEVER,
): Promise<Outcome> {
  const job = new Scripted(ws, {
    splits: [{ id: 'a', rows: ROWS }],
    events: bad.map((at) => ({ split: 'a', at, do: 'dirty' })),
    reader: { batchRows: 50 },
    more: { dirtyDir: ws.path('dirty'), checkpoint: { intervalMs }, ...(errorLimit ? { errorLimit } : {}) },
  });
  return { r: await job.run(), ws, job };
}

function assertDirtyFile({ r, ws }: Outcome, bad: readonly number[]): void {
  const [name, ...others] = tree(ws.path('dirty'));
  assert.equal(name, `dirty-${String(r.runId)}-0-1.jsonl`);
  assert.deepEqual(others, []);
  const lines = readFileSync(ws.path('dirty', name), 'utf8').split('\n').slice(0, -1);
  assert.deepEqual(
    lines.map((l) => JSON.parse(l) as unknown),
    bad.map((n) => ({
      row: scriptedRow('a', n),
      column: 'n',
      code: 'ROW_INVALID',
      reason: `the script makes row ${String(n)} dirty`,
      place: `a:${String(n)}`,
      lane: 0,
    })),
  );
}

async function assertPasses(o: Outcome, bad: readonly number[]): Promise<void> {
  await o.job.assertExact(o.r);
  assert.deepEqual([o.r.exitCode, o.r.written, o.r.dirty], [0, ROWS - bad.length, bad.length]);
  assertDirtyFile(o, bad);
}

async function assertRefused(o: Outcome, ...words: readonly string[]): Promise<void> {
  assertFails(o.r, 'DIRTY_LIMIT', 3, ...words);
  assert.deepEqual(await o.job.rows(), []);
}

test('C67 (a) as many bad rows as the record limit pass', async () => {
  using ws = new Workspace();
  await assertPasses(await limited(ws, { record: 3, percentage: null }), THREE);
});

test('C67 (b) one more than the record limit fails', async () => {
  using ws = new Workspace();
  await assertRefused(await limited(ws, { record: 2, percentage: null }), '3 dirty rows', 'allows 2');
});

test('C67 (c) percentage is in percent: 3 of 1,000 are 0.3', async () => {
  using ws = new Workspace();
  await assertPasses(await limited(ws, { record: null, percentage: 0.3 }), THREE);
});

test('C67 (d) a share above the percentage fails at the end at the latest', async () => {
  using ws = new Workspace();
  await assertRefused(await limited(ws, { record: null, percentage: 0.2 }), '3 of 1000', '0.300 %', '0.2 %');
});

test('C67 (e) either limit is enough', async () => {
  using ws = new Workspace();
  await assertRefused(await limited(ws, { record: 100, percentage: 0.2 }), 'errorLimit.percentage');
});

test('C67 (f) without errorLimit no bad row is allowed', async () => {
  using ws = new Workspace();
  await assertRefused(await limited(ws, undefined), '1 dirty row;', 'allows 0');
});

test('C67 (g) the share is not taken after the first row', async () => {
  for (const interval of [NEVER, 1]) {
    using ws = new Workspace();
    await assertPasses(await limited(ws, { record: null, percentage: 10 }, [1], interval), [1]);
  }
});
