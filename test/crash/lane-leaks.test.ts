/** A start of several worker lanes that fails leaves nothing open in its process: no thread, file, timer or listener. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import type { RunDeps } from '../../src/core/job/run-types.js';
import type { JsonObject } from '../../src/plugin-api/index.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { Scripted, type Script } from '../unit/core/scripted-job.js';

process.env['SYNC_TEST_PLUGINS'] = '1'; // workers look the scripted plugin up

const WORKERS: Partial<RunDeps> = { workerEntry: new URL('../../src/worker/lane-worker.js', import.meta.url) };

const splits = Array.from({ length: 6 }, (_, i) => ({ id: `s${String(i)}`, rows: 30 }));
const slow: Script = {
  splits,
  reader: { batchRows: 3 },
  more: { channel: 3, rowsPerSecond: 600, checkpoint: { intervalMs: 20 } },
};

/** Open files and sockets, and threads. */
function held(): { readonly files: number; readonly threads: number; readonly resources: string } {
  return {
    files: readdirSync('/proc/self/fd').length,
    threads: readdirSync('/proc/self/task').length,
    resources: process.getActiveResourcesInfo().sort().join(),
  };
}

const fail = (f: JsonObject): Partial<Script> => ({ writer: { failOn: [f] } });

const CASES: readonly { readonly name: string; readonly code: string; readonly script: Partial<Script> }[] = [
  { name: 'a write fails', code: 'SINK_IO', script: fail({ step: 'write', lane: 1, hit: 4 }) },
  { name: 'a lane cannot be opened', code: 'SINK_IO', script: fail({ step: 'openLane', lane: 2 }) },
  { name: 'a prepare fails', code: 'SINK_IO', script: fail({ step: 'prepare', lane: 0 }) },
  { name: 'a commit fails', code: 'SINK_IO', script: fail({ step: 'commit', lane: 1, when: 'after' }) },
  {
    name: 'the reader fails',
    code: 'SOURCE_IO',
    script: { events: [{ split: 's4', at: 8, do: 'fail' }] },
  },
  {
    name: 'too many dirty rows',
    code: 'DIRTY_LIMIT',
    script: { events: [{ split: 's2', at: 8, do: 'dirty' }] },
  },
  {
    name: 'a prepare takes too long',
    code: 'CHECKPOINT_TIMEOUT',
    script: {
      writer: { gates: [{ step: 'prepare', lane: 1, until: '/never/there' }] },
      more: { ...slow.more, checkpoint: { intervalMs: 20, timeoutMs: 200 } },
    },
  },
  { name: 'a thread ends', code: 'LANE_DIED', script: fail({ step: 'write', lane: 1, hit: 4, how: 'exit' }) },
  { name: 'a thread throws', code: 'LANE_DIED', script: fail({ step: 'prepare', lane: 2, how: 'throw-async' }) },
];

test('a failed start of three worker lanes leaves nothing open after 2 s', async (t) => {
  const warnings: string[] = [];
  const note = (w: Error): void => void warnings.push(`${w.name}: ${w.message}`);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  {
    // The first start loads modules and wakes Node's own threads.
    using ws = new Workspace();
    const s = new Scripted(ws, slow);
    await s.assertExact(await s.run(WORKERS));
  }
  await macrotask(); // the last answer of the file system is still being told
  const before = held();
  const assertNothingHeld = async (): Promise<void> => {
    const same = (): boolean => JSON.stringify(held()) === JSON.stringify(before);
    await until('all is closed', same, 2000).catch(() => {
      assert.deepEqual(held(), before);
    });
  };
  for (const { name, code, script } of CASES) {
    await t.test(name, async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, { ...slow, ...script });
      const r = await s.run(WORKERS);
      assert.equal(r.error?.code, code, JSON.stringify(r.error));
      await assertNothingHeld();
    });
  }
  await t.test('a stop', async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, slow);
    const stop = new AbortController();
    const running = s.run({ ...WORKERS, stop: stop.signal });
    await until('an epoch is committed', () => s.has('1.outcome'));
    stop.abort('SIGTERM');
    assert.equal((await running).exitCode, 143);
    await assertNothingHeld();
  });
  assert.deepEqual(warnings, []);
});
