import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTarget, strayFiles } from '../../../plugins/scripted/target.js';
import { runEngine, type EngineJob } from '../../support/engine.js';
import { Workspace } from '../../support/workspace.js';

const SPLITS = [
  { id: 'a', rows: 25 },
  { id: 'b', rows: 7 },
];

function ids(rows: Awaited<ReturnType<typeof readTarget>>): readonly string[] {
  return rows.map((r) => String(r.values['id'])).sort();
}

test('a bounded job moves every row once and says so', async () => {
  using ws = new Workspace();
  const job: EngineJob = { reader: { splits: SPLITS }, writer: { path: ws.path('target') } };
  const r = await runEngine(job, ws.path('state'));
  assert.equal(r.error, null);
  assert.equal(r.state, 'finished');
  assert.equal(r.exitCode, 0);
  assert.deepEqual([r.read, r.written, r.dirty], [32, 32, 0]);
  assert.equal(r.delivery, 'exactly-once');
  const rows = await readTarget(ws.path('target'));
  assert.equal(rows.length, 32);
  assert.equal(new Set(ids(rows)).size, 32);
  assert.deepEqual(await strayFiles(ws.path('target')), []);
});
