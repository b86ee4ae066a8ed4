/**
 * kill -9 with a target that lives outside the process: prepared rows that outlive it (staged) or die with it (marker),
 * epochs that are lost, outcomes that nobody can tell.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedRow } from '../../plugins/scripted/rows.js';
import { readTarget, strayFiles } from '../../plugins/scripted/target.js';
import { assertKilled, inPairs } from '../support/crash.js';
import { sync, type SyncResult } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

const SPLITS = [
  { id: 'a', rows: 30, transaction: 4 },
  { id: 'b', rows: 20 },
  { id: 'c', rows: 10, after: ['a', 'b'] },
];
/** Row 7 of split b is dirty. */
const DIRTY = [{ split: 'b', at: 7, do: 'dirty' }];

function expected(): readonly string[] {
  const rows: string[] = [];
  for (const s of SPLITS) {
    for (let n = 1; n <= s.rows; n++) if (s.id !== 'b' || n !== 7) rows.push(JSON.stringify(scriptedRow(s.id, n)));
  }
  return rows.sort();
}

function scripted(ws: Workspace, writer: Readonly<Record<string, unknown>>): string {
  return ws.job({
    job: {
      content: [
        {
          reader: { name: 'scripted', parameter: { splits: SPLITS, batchRows: 5, events: DIRTY } },
          writer: { name: 'scripted', parameter: { path: 'target', ...writer } },
        },
      ],
      setting: {
        speed: { record: 200 },
        checkpoint: { interval: 10 },
        errorLimit: { record: 1 },
        dirty: { path: 'dirty' },
      },
    },
  });
}

const run = (ws: Workspace, job: string, failpoint?: string): Promise<SyncResult> =>
  sync(['run', job, '--output', 'json'], { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) });

async function assertExact(ws: Workspace, r: SyncResult, context: string): Promise<void> {
  assert.equal(r.code, 0, `${context}: exit ${String(r.code)}\n${r.stderr}`);
  assert.deepEqual([r.summary?.read, r.summary?.written, r.summary?.dirty], [60, 59, 1], context);
  const rows = (await readTarget(ws.path('target'))).map((row) => JSON.stringify(row.values)).sort();
  assert.deepEqual(rows, expected(), context);
  assert.deepEqual(await strayFiles(ws.path('target')), [], context);
  const dirty = publishedLines(ws.path('dirty')).map((l) => JSON.parse(l) as { readonly place: string | null });
  assert.equal(dirty.length, 1, `${context}: the dirty row is on file once`);
  assert.deepEqual(
    tree(ws.path('dirty')).filter((n) => n.startsWith('.')),
    [],
    context,
  );
}

const STEPS = [
  'write.after#3',
  'barrier.passed#2',
  'prepare.before#2',
  'prepare.after#2',
  'ckpt.before#2',
  'ckpt.written#2',
  'ckpt.after#2',
  'commit.before#2',
  'commit.data#2',
  'commit.after#2',
  'outcome.before#2',
  'outcome.after#2',
  'committed.after#2',
  'prune.after#2',
  'complete.before',
  'complete.after',
];

for (const protocol of ['staged', 'marker'] as const) {
  test(`${protocol}: killed at any step, exact after the next run`, { concurrency: 2 }, async (t) => {
    await inPairs(STEPS, async (step) => {
      await t.test(step, async () => {
        using ws = new Workspace();
        const job = scripted(ws, { protocol });
        assertKilled(await run(ws, job, step), step);
        await assertExact(ws, await run(ws, job), step);
      });
    });
  });

  test(`${protocol}: killed at the commit and again in recovery`, { concurrency: 2 }, async (t) => {
    const seconds = [
      'recover.after',
      'recover.outcome',
      'takeover.written',
      'takeover.after',
      'sweep.after',
      'ckpt.after',
    ];
    const pairs = ['ckpt.after#2', 'commit.data#2', 'outcome.before#2'].flatMap((a) =>
      seconds.map((b) => [a, b] as const),
    );
    await inPairs(pairs, async ([first, second]) => {
      await t.test(`${first} then ${second}`, async () => {
        using ws = new Workspace();
        const job = scripted(ws, { protocol });
        assertKilled(await run(ws, job, first), first);
        assertKilled(await run(ws, job, second), second);
        await assertExact(ws, await run(ws, job), `${first}, ${second}`);
      });
    });
  });
}

test(
  'a prepared epoch that the target lost is read again, also when recovery is killed',
  { concurrency: 2 },
  async (t) => {
    const seconds = [
      null,
      'recover.after',
      'recover.outcome',
      'takeover.written',
      'takeover.after',
      'sweep.after',
      'planner.after',
    ];
    await inPairs(seconds, async (second) => {
      await t.test(second ?? 'not killed again', async () => {
        using ws = new Workspace();
        const job = scripted(ws, { lose: [{ epoch: 2 }] });
        assertKilled(await run(ws, job, 'ckpt.after#2'), 'ckpt.after#2');
        if (second !== null) assertKilled(await run(ws, job, second), second);
        await assertExact(ws, await run(ws, job), `lost, ${second ?? 'once'}`);
      });
    });
  },
);

for (const as of ['committed', 'lost'] as const) {
  test(`an outcome that nobody can tell stops the job until it is resolved as ${as}`, async () => {
    using ws = new Workspace();
    const unknown = { unknown: [{ epoch: 2 }] };
    // Killed after the commit, the rows are there; killed before it, they are not.
    const step = as === 'committed' ? 'outcome.before#2' : 'ckpt.after#2';
    const job = scripted(ws, { protocol: 'marker', ...unknown });
    assertKilled(await run(ws, job, step), step);
    for (let i = 0; i < 2; i++) {
      const r = await run(ws, job);
      assert.equal(r.code, 4, r.stderr);
      assert.equal(r.summary?.error?.code, 'COMMIT_UNKNOWN');
      assert.match(r.summary.error.message, /epoch 2 .*\n.*lane 0/);
    }
    const said = await sync(['state', 'resolve', job, '--lane', '0', '--as', as], { cwd: ws.dir });
    assert.equal(said.code, 0, said.stderr);
    await assertExact(ws, await run(ws, job), as);
  });
}

test('state list, show and reset: reset sweeps the target first', async () => {
  using ws = new Workspace();
  const job = scripted(ws, {});
  assertKilled(await run(ws, job, 'ckpt.after#2'), 'ckpt.after#2');
  assert.equal((await strayFiles(ws.path('target'))).length, 1, 'the prepared epoch');
  const list = await sync(['state', 'list'], { cwd: ws.dir });
  assert.match(list.stdout, /in doubt/);
  const show = await sync(['state', 'show', job], { cwd: ws.dir });
  assert.equal(show.code, 0, show.stderr);
  assert.match(show.stdout, /"epoch"/);
  const reset = await sync(['state', 'reset', job], { cwd: ws.dir });
  assert.equal(reset.code, 0, reset.stderr);
  assert.deepEqual(await strayFiles(ws.path('target')), []);
  const gone = await sync(['state', 'show', job], { cwd: ws.dir });
  assert.equal(gone.code, 2, gone.stdout);
});
