/** Schedules that the model test found to go wrong, cut down to what matters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryLog, type LogLine } from '../support/engine.js';
import { tapped } from '../support/taps.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { assertFails, Scripted } from '../unit/core/scripted-job.js';

test('a stop outlives a barrier that runs out of its own time', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 8, bounded: false, transaction: 4 }],
    events: [{ split: 'a', at: 7, do: 'pause', until: ws.path('go') }],
    reader: { batchRows: 1 },
    // Inside the second transaction no barrier passes, however often it is tried.
    more: { checkpoint: { intervalMs: 1, timeoutMs: 20, tolerableFailed: 1000 } },
  });
  const stop = new AbortController();
  const lines: LogLine[] = [];
  const withdrawn = (): number => lines.filter((l) => l.message.startsWith('a checkpoint timed out')).length;
  let over = false;
  const running = s.run({ stop: stop.signal, log: memoryLog(lines) }).finally(() => (over = true));
  await until('a barrier is withdrawn', () => withdrawn() > 0);
  // Between two barriers, or, as here, inside one: most of the time one is under way.
  const before = withdrawn();
  await until('the next barrier is under way', () => withdrawn() > before);
  stop.abort('SIGTERM');
  const atStop = withdrawn();
  await until('the barrier of that moment is withdrawn', () => over || withdrawn() > atStop);
  s.open('go');
  const r = await running;
  assert.deepEqual([r.state, r.exitCode, r.error], ['stopped', 143, null]);
  await s.assertRows();
});

test('a start that a newer one overtook before it looked at the target is fenced, not told that its state is old', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 4 }],
    events: [{ split: 'a', at: 3, do: 'fail', times: 1 }],
    more: { checkpoint: { intervalMs: 1 } },
  });
  assertFails(await s.run(), 'SOURCE_IO', 1);
  let attempts = 0;
  let standing = false;
  let goOn: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (goOn = resolve));
  const first = tapped(
    {
      around: async (call, effect) => {
        const result = await effect();
        // The second look: the first one chose the run.
        const recovers = call.step === 'state.newest' && attempts === 1;
        if (call.step === 'state.createAttempt') attempts++;
        if (recovers) {
          standing = true;
          await gone;
        }
        return result;
      },
    },
    () => s.run({ failpoint: 'lock:release' }),
  );
  await until('the first start has read its state', () => standing);
  await s.assertExact(await s.run());
  goOn();
  assertFails(await first, 'FENCED', 4);
  await s.assertRows();
});
