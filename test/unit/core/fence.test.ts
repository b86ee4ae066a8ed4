import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { strayFiles, readTarget } from '../../../plugins/scripted/target.js';
import type { EngineRun } from '../../support/engine.js';
import { until } from '../../support/sync.js';
import { tree, Workspace } from '../../support/workspace.js';
import { assertFails, chain, eachOf, Scripted } from './scripted-job.js';

const ZOMBIE = { failpoint: 'lock:release' };

function isNew(e: number, i: number, all: readonly number[]): boolean {
  return all.indexOf(e) === i;
}

function runDir(s: Scripted): string {
  const found = tree(s.state).find((p) => p.endsWith('/attempt-1')) ?? '';
  return join(s.state, dirname(found));
}

test('a start that sees a newer attempt commits nothing any more', async () => {
  for (const step of ['write', 'prepare', 'commit', 'complete'] as const) {
    using ws = new Workspace();
    const hit = step === 'complete' ? 1 : 2;
    const s = new Scripted(ws, { splits: chain(3, 4, 5), writer: { gates: [{ step, hit, until: ws.path('go') }] } });
    const running = s.run();
    await until('the start is at the gate', () => {
      if (step === 'commit') return s.has('2.ckpt');
      if (step === 'complete') return s.has('3.outcome');
      return s.has('1.outcome');
    });
    writeFileSync(join(runDir(s), 'attempt-2'), 'made by hand');
    s.open('go');
    const r = await running;
    assertFails(r, 'FENCED', 4, 'start 2');
    const newest = Math.max(...(await readTarget(s.target)).map((x) => x.epoch));
    // A commit that was under way when the attempt was made may land, as it was the newest when it began. Whether it had
    // begun cannot be seen from here: the checkpoint shows a moment before.
    const landed = { write: [1], prepare: [1], commit: [1, 2], complete: [3] }[step];
    assert.ok(landed.includes(newest), `${step}: epoch ${String(newest)}`);
    assert.ok(!s.has('finished'));
  }
});

test('a start whose state folder is removed says so, and what the next start would do, whatever it was doing', async () => {
  for (const step of ['write', 'prepare', 'commit', 'complete'] as const) {
    for (const gone of ['run', 'state']) {
      using ws = new Workspace();
      const hit = step === 'complete' ? 1 : 2;
      const s = new Scripted(ws, { splits: chain(3, 4, 5), writer: { gates: [{ step, hit, until: ws.path('go') }] } });
      const running = s.run();
      await until('the start is at the gate', () => {
        if (step === 'commit') return s.has('2.ckpt');
        if (step === 'complete') return s.has('3.outcome');
        return s.has('1.outcome');
      });
      const dir = runDir(s);
      rmSync(gone === 'run' ? dir : s.state, { recursive: true });
      s.open('go');
      const r = await running;
      assertFails(r, 'STATE_CORRUPT', 4, 'has vanished', dir, `run ${String(r.runId)}`, 'a new run', 'twice');
      assert.equal(existsSync(dir), false, `${step}: it was made again`);
    }
  }
});

/** What may happen to a start that stands still while another one runs the job to its end. */
async function beside(s: Scripted, ready: () => boolean): Promise<EngineRun> {
  const zombie = s.run(ZOMBIE);
  await until('the first start stands still', ready);
  const calm = s.with({ writer: { ...s.script.writer, gates: [] } });
  const r = await calm.run();
  await calm.assertExact(r);
  s.open('wake');
  const z = await zombie;
  await calm.assertExact(r);
  assert.deepEqual(await strayFiles(s.target), []);
  return z;
}

test('a zombie that wakes at any call of its writer changes nothing', async () => {
  const cases = ['staged', 'marker'].flatMap((protocol) =>
    ['openLane', 'write', 'prepare', 'commit', 'complete'].flatMap((step) =>
      [false, true].map((pipelined) => ({ protocol, step, pipelined })),
    ),
  );
  await eachOf(cases, async ({ protocol, step, pipelined }) => {
    using ws = new Workspace();
    const second = step === 'write' || step === 'prepare' || step === 'commit';
    const s = new Scripted(ws, {
      splits: chain(3, 4, 5),
      writer: { protocol, pipelined, gates: [{ step, hit: second ? 2 : 1, until: ws.path('wake') }] },
    });
    const ready: Record<string, string> = { openLane: 'begun', commit: '2.ckpt', complete: '3.outcome' };
    const z = await beside(s, () => s.has(ready[step] ?? '1.outcome'));
    assertFails(z, 'FENCED', 4);
  });
});

test('a zombie that stops before the link of its checkpoint finds the slot sealed', async () => {
  using ws = new Workspace();
  // Standing still inside prepare is standing still before the link: the takeover seals epoch 2.
  const s = new Scripted(ws, {
    splits: chain(3, 4, 5),
    writer: { gates: [{ step: 'prepare', epoch: 2, until: ws.path('wake') }] },
  });
  const z = await beside(s, () => s.has('1.outcome'));
  assertFails(z, 'FENCED', 4);
  assert.deepEqual((await readTarget(s.target)).map((r) => r.epoch).filter(isNew), [1, 3, 4]);
});

test('a zombie whose checkpoint is linked has its epoch rolled forward by the next start', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(3, 4, 5),
    writer: { gates: [{ step: 'commit', epoch: 2, until: ws.path('wake') }] },
  });
  const z = await beside(s, () => s.has('2.ckpt'));
  assertFails(z, 'FENCED', 4);
  assert.deepEqual((await readTarget(s.target)).map((r) => r.epoch).filter(isNew), [1, 2, 4]);
});

test('two starts at once: one of them ends the job, whatever the other says', async () => {
  await eachOf([1, 2, 3, 4, 5, 6, 7, 8], async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, { splits: chain(3, 4, 5) });
    const both = await Promise.all([s.run(ZOMBIE), s.run(ZOMBIE)]);
    for (const r of both)
      assert.ok(r.error === null || ['FENCED', 'STATE_LOCKED'].includes(r.error.code), r.error?.message);
    const done = both.find((r) => r.state === 'finished') ?? (await s.run());
    await s.assertExact(done);
  });
});
