/** A failed job that starts again by itself, in its process. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { memoryLog, type LogLine } from '../../support/engine.js';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted } from './scripted-job.js';

const restart = { strategy: 'fixed-delay', attempts: 3, delayMs: 1 } as const;

for (const channel of [1, 3]) {
  for (const step of ['begin', 'openLane', 'write', 'prepare', 'commit', 'complete', 'sweep']) {
    test(`${step} fails twice, ${String(channel)} lanes: one start ends the job, each row once`, async () => {
      using ws = new Workspace();
      const fails = [{ step, times: 2 }];
      const first = step === 'sweep' ? [{ step: 'write', times: 1 }] : [];
      const s = new Scripted(ws, {
        splits: chain(20, 10, 5),
        writer: { failOn: [...first, ...fails] },
        more: { restart, channel },
      });
      const r = await s.run();
      await s.assertExact(r);
      // Several lanes may fail in one attempt.
      assert.ok(r.restarts >= (channel === 1 ? 2 : 1) && r.restarts <= 3, String(r.restarts));
      assert.equal(r.resumed, false);
      assert.deepEqual(r.thisStart, { ...r.thisStart, read: 35, written: 35 });
      assert.equal(attempts(s), r.restarts + 1);
    });
  }
}

function attempts(s: Scripted): number {
  return readdirSync(s.state, { recursive: true }).filter((n) => /attempt-\d+$/.test(String(n))).length;
}

test('the lost epoch of a failed commit is read again within the same start', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(20, 10),
    events: [{ split: 's1', at: 4, do: 'dirty' }],
    writer: { protocol: 'marker', lose: [{ epoch: 2 }], failOn: [{ step: 'commit', epoch: 2, times: 1 }] },
    more: { restart, errorLimit: { record: 1, percentage: null } },
  });
  const r = await s.run();
  await s.assertExact(r);
  assert.equal(r.restarts, 1);
});

test('after the last restart the failure is the job’s, and says how often it was tried', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5),
    events: [{ split: 's0', at: 3, do: 'fail', times: 99 }],
    more: { restart },
  });
  const r = await s.run();
  assertFails(r, 'SOURCE_IO', 1);
  assert.equal(r.restarts, 3);
  assert.deepEqual(
    r.logs.filter((l) => l.level === 'warn').map((l) => l.message),
    Array.from({ length: 3 }, () => 'the job failed and starts again in 1 ms'),
  );
});

test('what a person must decide, bad rows and a newer start are no reason to try again', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5, 5),
    writer: { unknown: [{ epoch: 2 }], failOn: [{ step: 'commit', epoch: 2, times: 1 }] },
    more: { restart },
  });
  const r = await s.run();
  assertFails(r, 'COMMIT_UNKNOWN', 4);
  assert.equal(r.restarts, 1);
  using ws2 = new Workspace();
  const d = new Scripted(ws2, {
    splits: chain(5),
    events: [{ split: 's0', at: 3, do: 'dirty' }],
    more: { restart },
  });
  assertFails(await d.run(), 'DIRTY_LIMIT', 3);
});

test('a stop during the pause ends the job with its failure, and the next start is exact', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5, 5),
    events: [{ split: 's1', at: 3, do: 'fail', times: 1 }],
    more: { restart: { ...restart, delayMs: 600_000 } },
  });
  const stop = new AbortController();
  const logs: LogLine[] = [];
  const running = s.run({ stop: stop.signal, log: memoryLog(logs) });
  await until('the pause', () => logs.some((l) => l.message.includes('starts again')));
  stop.abort('SIGTERM');
  assertFails(await running, 'SOURCE_IO', 1);
  await s.assertExact(await s.run());
});

test('a restart goes on with its run also where a start would begin a new one', async () => {
  using ws = new Workspace();
  const script = {
    splits: chain(5, 5),
    events: [{ split: 's1', at: 3, do: 'fail' as const, times: 1 }],
    more: { restart, checkpoint: { resume: false } },
  };
  const s = new Scripted(ws, script);
  const r = await s.run({ fresh: true });
  await s.assertExact(r);
  assert.equal(r.restarts, 1);
});

test('a newer start that comes during the pause fences the restart', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5, 5),
    events: [{ split: 's1', at: 3, do: 'fail', times: 1 }],
    more: { restart: { ...restart, delayMs: 1500 } },
  });
  const logs: LogLine[] = [];
  const running = s.run({ failpoint: 'lock:release', log: memoryLog(logs) });
  await until('the pause', () => logs.some((l) => l.message.includes('starts again')));
  await s.assertExact(await s.run());
  assertFails(await running, 'FENCED', 4);
  await s.assertRows();
});
