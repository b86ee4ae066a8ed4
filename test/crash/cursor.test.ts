/** Incremental jobs: each run reads what has come since the last one, whatever happened to that. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readTarget, strayFiles } from '../../plugins/scripted/target.js';
import { tree, Workspace } from '../support/workspace.js';
import { sync, type SyncResult } from '../support/sync.js';

class Incremental {
  readonly #ws: Workspace;
  readonly #job: string;

  constructor(ws: Workspace, setting: object = {}) {
    this.#ws = ws;
    this.#job = ws.job({
      job: {
        content: [
          {
            reader: {
              name: 'scripted',
              parameter: { splits: [], increColumn: 'n', sourceFile: 'source', batchRows: 5 },
            },
            writer: { name: 'scripted', parameter: { path: 'target' } },
          },
        ],
        setting: { checkpoint: { interval: 1 }, speed: { record: 200 }, ...setting },
      },
    });
  }

  source(rows: number): void {
    this.#ws.write('source', String(rows));
  }

  run(more: { readonly args?: readonly string[]; readonly failpoint?: string } = {}): Promise<SyncResult> {
    const { failpoint } = more;
    return sync(['run', this.#job, '--output', 'json', ...(more.args ?? [])], {
      cwd: this.#ws.dir,
      ...(failpoint === undefined ? {} : { failpoint }),
    });
  }

  async command(...args: readonly string[]): Promise<unknown> {
    const job = args.includes('list') ? [] : [this.#job];
    const r = await sync([...args, ...job, '--output', 'json'], { cwd: this.#ws.dir });
    assert.equal(r.code, 0, r.stderr);
    return JSON.parse(r.stdout);
  }

  reset(): Promise<SyncResult> {
    return sync(['state', 'reset', this.#job], { cwd: this.#ws.dir });
  }

  async cursor(): Promise<unknown> {
    return ((await this.command('state', 'show', '--cursor')) as { readonly cursor: unknown }).cursor;
  }

  /** The rows of the target by their number in the source; each must be there once. */
  async assertHolds(last: number, times = 1): Promise<void> {
    const numbers = (await readTarget(this.#ws.path('target'))).map((r) => {
      const { split, n } = r.values as { readonly split: string; readonly n: string };
      return Number(split.replace('after-', '')) + Number(n);
    });
    const expected = Array.from({ length: last * times }, (_, i) => Math.floor(i / times) + 1);
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      expected,
    );
    assert.deepEqual(await strayFiles(this.#ws.path('target')), []);
  }
}

test('each run reads what has come since the last one; one with nothing new is fine', async () => {
  using ws = new Workspace();
  const job = new Incremental(ws);
  for (const [rows, read] of [
    [20, 20],
    [20, 0],
    [33, 13],
    [33, 0],
  ] as const) {
    job.source(rows);
    const r = await job.run();
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.read, read);
    assert.equal(await job.cursor(), rows);
    await job.assertHolds(rows);
  }
});

for (const failpoint of [
  'run.chosen',
  'attempt.after',
  'ckpt.after#2',
  'outcome.after#2',
  'complete.after',
  'finished.after',
]) {
  test(`killed at ${failpoint}, the next start finishes that run and goes on with the next one`, async () => {
    using ws = new Workspace();
    const job = new Incremental(ws);
    job.source(20);
    assert.equal((await job.run()).code, 0);
    job.source(50);
    assert.equal((await job.run({ failpoint })).signal, 'SIGKILL');
    assert.equal(await job.cursor(), failpoint === 'finished.after' ? 50 : 20);
    job.source(70);
    const r = await job.run();
    assert.equal(r.code, 0, r.stderr);
    assert.equal(await job.cursor(), 70);
    await job.assertHolds(70);
    const known = failpoint === 'finished.after' ? 20 : 50;
    assert.equal(r.summary?.written, known, 'the summary counts both runs of the start');
  });
}

test('killed in the second run of a start that finished another one first', async () => {
  using ws = new Workspace();
  const job = new Incremental(ws);
  job.source(30);
  assert.equal((await job.run({ failpoint: 'outcome.after' })).signal, 'SIGKILL');
  job.source(60);
  assert.equal((await job.run({ failpoint: 'begun.after' })).signal, 'SIGKILL');
  await job.assertHolds(30);
  job.source(75);
  const r = await job.run();
  assert.equal(r.code, 0, r.stderr);
  await job.assertHolds(75);
});

test('--fresh gives the unfinished run up and keeps the cursor; its rows come again', async () => {
  using ws = new Workspace();
  const job = new Incremental(ws);
  job.source(20);
  assert.equal((await job.run()).code, 0);
  job.source(40);
  assert.equal((await job.run({ failpoint: 'prepare.after' })).signal, 'SIGKILL');
  const r = await job.run({ args: ['--fresh'] });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.read, 20);
  await job.assertHolds(40);
});

test('state reset keeps the cursor, and --cursor drops it', async () => {
  using ws = new Workspace();
  const job = new Incremental(ws);
  job.source(20);
  assert.equal((await job.run()).code, 0);
  const kept = (await job.command('state', 'reset')) as { readonly message: string };
  assert.match(kept.message, /its cursor stays at 20 \(--cursor drops it too\)/);
  assert.equal(await job.cursor(), 20);
  assert.equal(((await job.command('state', 'list', '--cursor')) as readonly unknown[]).length, 1);
  job.source(25);
  assert.equal((await job.run()).summary?.read, 5);
  await job.command('state', 'reset');
  assert.equal(await job.cursor(), 25);
  await job.command('state', 'reset');
  assert.equal(await job.cursor(), 25, 'a reset of nothing but a cursor keeps it');
  await job.command('state', 'reset', '--cursor');
  assert.equal((await job.run()).summary?.read, 25);
  await job.assertHolds(25, 2);
});

test('a damaged state can be reset, and it is said that the cursor is lost', async () => {
  using ws = new Workspace();
  const job = new Incremental(ws);
  job.source(20);
  assert.equal((await job.run()).code, 0);
  const info = tree(ws.path('state')).find((n) => n.endsWith('/0.ckpt')) ?? assert.fail('no run');
  writeFileSync(ws.path('state', info), 'damaged');
  const r = await job.reset();
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stderr, /if the job keeps a cursor, it is lost, and the next run reads everything/);
  assert.equal(await job.cursor(), null);
});
