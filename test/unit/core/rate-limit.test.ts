import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimit } from '../../../src/core/limits/rate-limit.js';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { Scripted } from './scripted-job.js';

const never = new AbortController().signal;

async function seconds(limit: RateLimit, batches: number, rows: number, bytes: number): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < batches; i++) await limit.take(rows, bytes, never);
  return (performance.now() - began) / 1000;
}

function near(actual: number, wanted: number): void {
  assert.ok(Math.abs(actual / wanted - 1) < 0.15, `${String(actual)} is not within 15 % of ${String(wanted)}`);
}

test('the mean of rows and bytes a second is right from the start', async () => {
  // Each: 2 s' worth, in batches of 1/50 s.
  const all = await Promise.all([
    seconds(new RateLimit(1000, 0), 101, 20, 9999),
    seconds(new RateLimit(0, 50_000), 101, 9999, 1000),
    seconds(new RateLimit(10_000, 50_000), 101, 1, 1000),
    seconds(new RateLimit(1000, 500_000), 101, 20, 1),
  ]);
  for (const s of all) near(s, 2);
});

test('batches larger than a second’s worth are paid for by the next one', async () => {
  near(await seconds(new RateLimit(100, 0), 3, 100, 0), 2);
});

test('a run keeps to its limit', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: [{ id: 'a', rows: 800 }], more: { rowsPerSecond: 400 } });
  const r = await s.run();
  await s.assertExact(r);
  assert.ok(r.seconds > 1.7 && r.seconds < 2.5, String(r.seconds));
});

test('barriers and a stop pass while the lane sleeps in the limiter', async () => {
  using ws = new Workspace();
  // One row in ten seconds: after the first one the lane sleeps for longer than this test takes.
  const slow = { rowsPerSecond: 0.1, checkpoint: { intervalMs: 1 } };
  const s = new Scripted(ws, { splits: [{ id: 'a', rows: 50 }], reader: { batchRows: 1 }, more: slow });
  const stop = new AbortController();
  let epochs = (): number => 0;
  const running = s.run({ stop: stop.signal, onStart: (p) => (epochs = () => p().epochs) });
  await until('the first row is committed', () => epochs() === 1);
  stop.abort('SIGINT');
  const r = await running;
  assert.equal(r.error, null);
  assert.equal(r.exitCode, 130);
  assert.deepEqual([r.read, r.written], [1, 1]);
  assert.ok(r.seconds < 5, String(r.seconds));
  const fast = s.with({ more: {} });
  await fast.assertExact(await fast.run());
});
