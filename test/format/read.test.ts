/** State that an earlier version stored is gone on with: each fixture of format 1 is put back and the job is run. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { inPairs } from '../support/crash.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';
import { PREPARED, putStage, removeStaged, STAGES, start, state, UNDECIDED, type Stage } from './stages.js';
import { documentOf, FIXTURES, JOB_ID, publishedDirty, runFolder, runIds } from './stored.js';

const names = Object.keys(STAGES);
const stageOf = (name: string): Stage => STAGES[name] ?? assert.fail(name);

function assertExact(ws: Workspace, stage: Stage): void {
  assert.deepEqual(publishedLines(ws.path('out')), [...stage.rows].sort());
  assert.deepEqual(publishedDirty(ws), [...stage.dirty].sort());
  const hidden = tree(ws.dir).filter((n) => n.split('/').some((p) => p.startsWith('.')));
  assert.deepEqual(hidden, [], 'left over');
}

async function assertGoesOn(ws: Workspace, stage: Stage): Promise<void> {
  const r = await start(ws, stage.job);
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.['resumed'], stage.resumed);
  assertExact(ws, stage);
}

/** The newest checkpoint of the current run, as the folder holds it. */
function newest(ws: Workspace): { readonly epoch: number; readonly doc: unknown } {
  const dir = runFolder(ws, runIds(ws).length);
  const epochs = readdirSync(dir).map((n) => Number(/^([1-9]\d*)\.ckpt$/.exec(n)?.[1] ?? 0));
  const epoch = Math.max(...epochs);
  return { epoch, doc: epoch === 0 ? null : documentOf(`${dir}/${String(epoch)}.ckpt`) };
}

test('there is a stage for each fixture', () => {
  assert.deepEqual(readdirSync(FIXTURES).sort(), [...names].sort());
});

test('a run goes on from stored state: each row once, nothing left over', async (t) => {
  await inPairs(names, async (name) => {
    await t.test(name, async () => {
      using ws = new Workspace();
      putStage(ws, name);
      await assertGoesOn(ws, stageOf(name));
    });
  });
});

test('`state list` and `state show` read stored state', async (t) => {
  await inPairs(names, async (name) => {
    await t.test(name, async () => {
      using ws = new Workspace();
      putStage(ws, name);
      const ids = runIds(ws);
      const { epoch, doc } = newest(ws);
      const list = await state(ws, 'list');
      assert.equal(list.code, 0, list.stderr);
      const listed = JSON.parse(list.stdout) as readonly Readonly<Record<string, unknown>>[];
      assert.deepEqual(
        listed.map((l) => [l['jobId'], l['runId'], l['state']]).sort(),
        ids.map((id, i) => [JOB_ID, id, i + 1 === ids.length ? stageOf(name).state : 'given up']).sort(),
      );
      assert.equal(listed.find((l) => l['runId'] === ids.at(-1))?.['epoch'], epoch);
      const show = await state(ws, 'show', JOB_ID);
      assert.equal(show.code, 0, show.stderr);
      const shown = JSON.parse(show.stdout) as Readonly<Record<string, unknown>>;
      assert.equal(shown['state'], stageOf(name).state);
      assert.deepEqual(shown['run'], documentOf(`${runFolder(ws, ids.length)}/0.ckpt`));
      assert.deepEqual(shown['checkpoint'], doc);
    });
  });
});

test('`state resolve` decides a stored epoch', async (t) => {
  const stage = UNDECIDED;
  const outcomes = [
    ['lost', stage.rows, stage.dirty],
    ['committed', stage.rows.filter((r) => r !== PREPARED), stage.dirty],
  ] as const;
  await inPairs(outcomes, async ([as, rows, dirty]) => {
    await t.test(as, async () => {
      using ws = new Workspace();
      putStage(ws, 'undecided');
      removeStaged(ws);
      const unknown = await start(ws, stage.job);
      assert.equal(unknown.code, 4, unknown.stderr);
      assert.equal(unknown.summary?.error?.code, 'COMMIT_UNKNOWN');
      const r = await state(ws, 'resolve', JOB_ID, '--lane', 'all', '--as', as);
      assert.equal(r.code, 0, r.stderr);
      await assertGoesOn(ws, { ...stage, rows, dirty });
    });
  });
});

test('`state reset` sweeps what a stored run left and drops its state', async (t) => {
  await inPairs(names, async (name) => {
    await t.test(name, async () => {
      using ws = new Workspace();
      putStage(ws, name);
      const before = publishedLines(ws.path('out'));
      const r = await state(ws, 'reset', JOB_ID);
      assert.equal(r.code, 0, r.stderr);
      assert.deepEqual(publishedLines(ws.path('out')), before, 'published rows stay');
      assert.deepEqual(
        tree(ws.path('out')).filter((n) => n.startsWith('.')),
        [],
        'left over',
      );
      assert.equal(existsSync(ws.path('state', JOB_ID)), false);
    });
  });
});

test('a source that is not the one of the stored state is refused', async () => {
  using ws = new Workspace();
  putStage(ws, 'undecided');
  rmSync(ws.path('in/a.csv'));
  ws.write('in/a.csv', 'id,n\nz9,9\n');
  const r = await start(ws, UNDECIDED.job);
  assert.equal(r.code, 4, r.stderr);
  assert.equal(r.summary?.error?.code, 'SOURCE_CHANGED');
});
