import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listStates } from '../../../src/core/checkpoint/state-admin.js';
import { readTarget } from '../../../plugins/scripted/target.js';
import { runEngine, type EngineJob } from '../../support/engine.js';
import { tree, Workspace } from '../../support/workspace.js';

function dirtyJob(ws: Workspace): EngineJob {
  return {
    reader: { splits: [{ id: 's', rows: 20 }], events: [{ split: 's', at: 3, do: 'dirty' }] },
    writer: { path: ws.path('target') },
    errorLimit: { record: 1, percentage: null },
    dirtyDir: ws.path('dirty'),
  };
}

test('a file of dirty rows that somebody took away is a warning; the rows and counts of the epoch hold', async () => {
  using ws = new Workspace();
  const job = dirtyJob(ws);
  const first = await runEngine(job, ws.path('state'), { failpoint: 'ckpt.after=throw' });
  assert.equal(first.state, 'failed');
  assert.equal(tree(ws.path('dirty')).length, 1, 'staged');
  rmSync(ws.path('dirty'), { recursive: true });
  const second = await runEngine(job, ws.path('state'));
  assert.equal(second.error, null);
  assert.deepEqual([second.read, second.written, second.dirty], [20, 19, 1]);
  assert.equal((await readTarget(ws.path('target'))).length, 19);
  assert.ok(
    second.logs.some((l) => l.level === 'warn' && /1 dirty rows are neither staged nor published/.test(l.message)),
  );
});

test('a damaged run does not hide the others from the list', async () => {
  using ws = new Workspace();
  await runEngine({ ...dirtyJob(ws), jobId: 'whole' }, ws.path('state'));
  await runEngine({ ...dirtyJob(ws), jobId: 'broken' }, ws.path('state'), { failpoint: 'ckpt.after=throw' });
  const run = tree(ws.path('state/broken')).find((n) => n.endsWith('/1.ckpt')) ?? '';
  const path = ws.path('state/broken', run);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"epoch":1', '"epoch":2'));
  const list = await listStates(ws.path('state'));
  assert.deepEqual(
    list.map((s) => [s.jobId, s.state]),
    [
      ['broken', 'damaged'],
      ['whole', 'finished'],
    ],
  );
});

test('a start that gets nowhere does not make an old run young', async () => {
  using ws = new Workspace();
  const job: EngineJob = { ...dirtyJob(ws), checkpoint: { resumeMaxAgeMs: 1000 } };
  await runEngine(job, ws.path('state'), { failpoint: 'ckpt.after=throw' });
  const runs = ws.path('state/test-job/runs/default');
  const id = readdirSync(runs).find((n) => !n.startsWith('current')) ?? '';
  const at = (name: string): number => {
    const line = readFileSync(join(runs, id, name), 'utf8').split('\n')[0] ?? '';
    return (JSON.parse(line) as { readonly at: number }).at;
  };
  await runEngine(job, ws.path('state'), { failpoint: 'sweep.after=throw' });
  assert.equal(at('2.ckpt'), at('1.ckpt'), 'the takeover keeps the time of what was done last');
});
