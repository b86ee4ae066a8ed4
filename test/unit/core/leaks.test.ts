import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import { Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted } from './scripted-job.js';

const warnings: string[] = [];
const note = (w: Error): void => void warnings.push(`${w.name}: ${w.message}`);
before(() => process.on('warning', note));
after(() => process.off('warning', note));

function timers(): number {
  return process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length;
}

test('a run that fails in a barrier leaves no timer that keeps the process alive', async () => {
  using ws = new Workspace();
  const before = timers();
  const s = new Scripted(ws, { splits: chain(3), writer: { failOn: [{ step: 'write' }] } });
  assertFails(await s.run(), 'SINK_IO', 1);
  await macrotask();
  assert.equal(timers(), before);
});

test('200 epochs leave no growing number of listeners', async () => {
  using ws = new Workspace();
  const stop = new AbortController();
  const s = new Scripted(ws, { splits: chain(...Array.from({ length: 200 }, () => 1)) });
  const r = await s.run({ stop: stop.signal });
  await s.assertExact(r);
  assert.equal(r.epochs, 200);
  assert.deepEqual(warnings, []);
  assert.ok(getEventListeners(stop.signal, 'abort').length <= 2);
});
