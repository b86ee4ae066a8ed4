import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryLog, type LogLine } from '../../support/engine.js';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted } from './scripted-job.js';

const OFTEN = { checkpoint: { intervalMs: 1 } };

test('a tolerated barrier timeout at the end of input loses nothing', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5),
    writer: { gates: [{ step: 'write', until: ws.path('go') }] },
    more: { checkpoint: { timeoutMs: 100, tolerableFailed: 1000 } },
  });
  const logs: LogLine[] = [];
  const running = s.run({ log: memoryLog(logs) });
  await until('two timeouts', () => logs.filter((l) => l.message.includes('tolerated')).length >= 2);
  s.open('go');
  await s.assertExact(await running);
});

test('barrier timeouts are tolerated so often, then fail the run; nothing is committed of the epoch', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5),
    writer: { gates: [{ step: 'write', until: ws.path('go') }] },
    more: { checkpoint: { timeoutMs: 30, tolerableFailed: 2 } },
  });
  const r = await s.run();
  assertFails(r, 'CHECKPOINT_TIMEOUT', 1);
  assert.equal(r.logs.filter((l) => l.level === 'warn' && l.message.includes('tolerated')).length, 2);
  assert.deepEqual(await s.rows(), []);
  s.open('go');
  await s.assertExact(await s.run());
});

test('a prepare that takes longer than the timeout fails the run and is undone', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(5, 3),
    writer: { gates: [{ step: 'prepare', epoch: 2, until: ws.path('go') }] },
    more: { checkpoint: { timeoutMs: 200, tolerableFailed: 5 } },
  });
  const r = await s.run();
  assertFails(r, 'CHECKPOINT_TIMEOUT', 1, 'prepare');
  assert.deepEqual([r.read, r.written], [5, 5]);
  s.open('go');
  await s.assertExact(await s.run());
});

for (const batchRows of [1, 2, 3]) {
  test(`two splits in transactions pass barriers every millisecond (batches of ${String(batchRows)})`, async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, {
      splits: [
        { id: 'a', rows: 60, transaction: 4, bounded: false },
        { id: 'b', rows: 66, transaction: 7, bounded: false },
        { id: 'c', rows: 40 },
      ],
      reader: { batchRows },
      more: { ...OFTEN, rowsPerSecond: 400 },
    });
    const stop = new AbortController();
    let rows = (): number => 0;
    const running = s.run({
      stop: stop.signal,
      onStart: (p) => (rows = () => p().counters.read),
    });
    await until('all rows read', () => rows() === 166);
    stop.abort('SIGTERM');
    const r = await running;
    assert.equal(r.error, null);
    assert.equal(r.exitCode, 143);
    assert.ok(r.epochs > 1, `${String(r.epochs)} epochs`);
    await s.assertRows();
    assert.deepEqual([r.read, r.written], [166, 166]);
  });
}
