/** State that an earlier version stored is gone on with: each fixture of format 1 is put back and the job is run. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inPairs } from '../support/crash.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';
import { PREPARED, ROWS, putStage, removeStaged, STAGES, start, state, UNDECIDED, type Stage } from './stages.js';
import { documentOf, FIXTURES, JOB_ID, publishedDirty, runFolder, runIds, seal } from './stored.js';

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
  return { epoch, doc: epoch === 0 ? null : documentOf(join(dir, `${String(epoch)}.ckpt`)) };
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
      assert.deepEqual(shown['run'], documentOf(join(runFolder(ws, ids.length), '0.ckpt')));
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

test('a stored open file is gone on with: one file holds its row and all that follow', async () => {
  using ws = new Workspace();
  const stage = stageOf('open-files');
  putStage(ws, 'open-files');
  const old = ws.path('out/.syncx-fixturerun01/3-0-0.open');
  assert.equal(readFileSync(old, 'utf8'), `${ROWS[0]}\n`);
  appendFileSync(old, '{"id":"late","n":0}\n'); // behind what the checkpoint says: of nobody
  await assertGoesOn(ws, stage);
  assert.equal(tree(ws.path('out')).length, 1);
});

test('a stored open file that is gone is told, with its rows', async () => {
  using ws = new Workspace();
  putStage(ws, 'open-files');
  for (const n of ['2-0-0.open', '3-0-0.open']) rmSync(ws.path('out/.syncx-fixturerun01', n));
  const r = await start(ws, stageOf('open-files').job);
  assert.equal(r.summary?.error?.code, 'SINK_CONFLICT', r.stderr);
  assert.match(r.summary.error.message, /3-0-0\.open is gone: 1 committed rows \(18 bytes\) were in it/);
});

/** As a version before them would have stored it. */
function withoutNewerParts(ws: Workspace): void {
  const dir = runFolder(ws, 1);
  for (const name of ['0.ckpt', '1.ckpt', '2.ckpt', '3.ckpt']) {
    const { positions: _, ...doc } = documentOf<Record<string, unknown>>(join(dir, name));
    for (const side of ['reader', 'writer']) {
      const record = doc[side] as { readonly options: object; readonly identity: object } | undefined;
      for (const part of record ? [record.options, record.identity] : []) Reflect.deleteProperty(part, 'nullFormat');
    }
    writeFileSync(join(dir, name), seal(JSON.stringify(doc)));
  }
  writeFileSync(ws.path('state', JOB_ID, 'job'), JSON.stringify({ jobId: JOB_ID }));
}

test('what an older version did not store yet has its default', async (t) => {
  await t.test('the run goes on', async () => {
    using ws = new Workspace();
    putStage(ws, 'undecided');
    withoutNewerParts(ws);
    await assertGoesOn(ws, UNDECIDED);
  });
  await t.test('reset reaches the target', async () => {
    using ws = new Workspace();
    putStage(ws, 'undecided');
    withoutNewerParts(ws);
    const list = await state(ws, 'list');
    assert.match(list.stdout, /"state":"in doubt"/);
    const r = await state(ws, 'reset', JOB_ID);
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stdout, /1 left-over\(s\) removed/);
  });
  await t.test('another value than the default is a change', async () => {
    using ws = new Workspace();
    putStage(ws, 'undecided');
    withoutNewerParts(ws);
    const job = JSON.parse(
      JSON.stringify(UNDECIDED.job).replace('"path":"in"', '"path":"in","nullFormat":"-"'),
    ) as object;
    const r = await start(ws, job);
    assert.equal(r.summary?.error?.code, 'STATE_MISFIT', r.stderr);
    assert.match(r.summary.error.message, /reader\.parameter\.nullFormat \("\\\\N" → "-"\)/);
  });
});
