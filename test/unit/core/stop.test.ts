import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strayFiles, runsOf } from '../../../plugins/scripted/target.js';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { Dice } from '../../model/dice.js';
import { assertFails, chain, eachOf, Scripted } from './scripted-job.js';

test('a stop at any moment ends in a checkpoint, and the next start goes on', async () => {
  await eachOf(
    Array.from({ length: 24 }, (_, i) => i),
    async (i) => {
      using ws = new Workspace();
      const d = new Dice(i);
      const s = new Scripted(ws, {
        splits: [...chain(7, 9, 4), { id: 'u', rows: 12, transaction: 4 }],
        reader: { batchRows: d.int(1, 4) },
        writer: { pipelined: d.chance(0.5), writeDelay: d.int(0, 3) },
        more: { rowsPerSecond: 400, checkpoint: { intervalMs: d.of([1, 10_000]) } },
      });
      let stops = 0;
      for (;;) {
        const stop = new AbortController();
        const timer = setTimeout(() => stop.abort('SIGTERM'), d.int(0, 60) + stops * 15);
        const r = await s.run({ stop: stop.signal });
        clearTimeout(timer);
        assert.equal(r.error, null, JSON.stringify(r.error));
        assert.deepEqual(await strayFiles(s.target), []);
        assert.equal((await s.rows()).length, r.written);
        if (r.state === 'finished') {
          await s.assertExact(r);
          return;
        }
        assert.deepEqual([r.state, r.exitCode], ['stopped', 143]);
        stops++;
      }
    },
  );
});

test('what is read past the last barrier of a stop is not called finished', async () => {
  using ws = new Workspace();
  // The commit of the stop's epoch is slow; meanwhile the only split is read to its end.
  const s = new Scripted(ws, {
    splits: [
      { id: 'a', rows: 12 },
      { id: 'b', rows: 5, bounded: false },
    ],
    events: [{ split: 'a', at: 3, do: 'pause', until: ws.path('go') }],
    writer: { gates: [{ step: 'prepare', epoch: 1, until: ws.path('prepare') }] },
    reader: { batchRows: 2 },
  });
  const stop = new AbortController();
  let read = (): number => 0;
  const running = s.run({ stop: stop.signal, onStart: (p) => (read = () => p().counters.read) });
  await until('rows before the pause', () => read() === 2);
  stop.abort('SIGTERM');
  s.open('go');
  await until('the split is read to its end', () => read() >= 12);
  s.open('prepare');
  const r = await running;
  assert.deepEqual([r.state, r.exitCode], ['stopped', 143]);
  assert.equal((await s.rows()).length, r.written);
  const stop2 = new AbortController();
  const again = s.run({ stop: stop2.signal, onStart: (p) => (read = () => p().counters.read) });
  await until('all rows read', () => read() === 17);
  stop2.abort('SIGTERM');
  assert.deepEqual([(await again).written], [17]);
  await s.assertRows();
});

for (const when of ['before the barrier', 'in a barrier'] as const) {
  test(`a stop that finds no safe point gives up, and keeps the last checkpoint (${when})`, async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, {
      splits: [
        { id: 'a', rows: 3 },
        { id: 'b', rows: 10, after: ['a'], transaction: 10 },
      ],
      events: [{ split: 'b', at: 6, do: 'pause', until: ws.path('go') }],
      more: { checkpoint: { intervalMs: when === 'in a barrier' ? 1 : 10_000 } },
      reader: { batchRows: 1 },
    });
    const stop = new AbortController();
    let read = (): number => 0;
    const running = s.run({
      stop: stop.signal,
      stopTimeoutMs: 150,
      onStart: (p) => (read = () => p().counters.read),
    });
    await until('rows before the pause', () => read() === 8);
    stop.abort('SIGTERM');
    const r = await running;
    assertFails(r, 'STOP_TIMEOUT', 1, 'last checkpoint is kept');
    assert.deepEqual([r.read, r.written], [3, 3]);
    assert.ok(r.seconds < 3, String(r.seconds));
    s.open('go');
    await s.assertExact(await s.run());
  });
}

test('a stop during start and recovery ends cleanly', async () => {
  for (const step of ['begin', 'openLane', 'recover', 'sweep']) {
    using ws = new Workspace();
    const restart = step === 'recover' || step === 'sweep';
    const writer = { gates: [{ step, until: ws.path('go') }], failOn: restart ? [{ step: 'commit', epoch: 1 }] : [] };
    const s = new Scripted(ws, { splits: chain(3, 4, 5), writer });
    // In the restart one more split can be read before the stop is seen, but not the one after.
    if (restart) assertFails(await s.run(), 'SINK_IO', 1);
    const stop = new AbortController();
    const running = s.run({ stop: stop.signal });
    stop.abort('SIGINT');
    s.open('go');
    const r = await running;
    assert.equal(r.error, null, JSON.stringify(r.error));
    assert.deepEqual([r.state, r.exitCode], ['stopped', 130]);
    await s.assertExact(await s.finish());
  }
});

test('onCancel: delete gives the stopped run up; the next start is a new run', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(3, 4),
    events: [{ split: 's1', at: 3, do: 'pause', until: ws.path('go') }],
    more: { checkpoint: { onCancel: 'delete' } },
  });
  const stop = new AbortController();
  let read = (): number => 0;
  const running = s.run({ stop: stop.signal, onStart: (p) => (read = () => p().counters.read) });
  await until('rows before the pause', () => read() === 5);
  stop.abort('SIGTERM');
  const one = await running;
  assert.deepEqual([one.exitCode, one.written], [143, 5]);
  assert.deepEqual(await strayFiles(s.target), []);
  s.open('go');
  const two = await s.run();
  assert.equal(two.error, null);
  assert.deepEqual([two.resumed, two.written], [false, 7]);
  assert.notEqual(two.runId, one.runId);
  assert.equal((await s.rows()).length, 12);
  assert.deepEqual((await runsOf(s.target)).complete, [two.runId]);
});

test('a stop does not wait for the longer limit of a prepare that is under way', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(4, 4),
    writer: { gates: [{ step: 'prepare', epoch: 2, until: ws.path('never') }] },
  });
  const stop = new AbortController();
  let read = (): number => 0;
  const running = s.run({
    stop: stop.signal,
    stopTimeoutMs: 50,
    onStart: (p) => (read = () => p().counters.read),
  });
  await until('all is read', () => read() === 8);
  stop.abort('SIGTERM');
  assertFails(await running, 'STOP_TIMEOUT', 1, 'within 0.05 s of the stop');
  assert.equal((await s.rows()).length, 4);
  s.open('never');
  await s.assertExact(await s.run());
});
