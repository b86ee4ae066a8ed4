import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { publishedLines, Workspace } from '../../support/workspace.js';
import { startSync, sync, until, type Summary } from '../../support/sync.js';

const LINES = ['1,a', '2,b', '3,c'];

function part(name: string, writer: Readonly<Record<string, unknown>> = {}) {
  return {
    reader: { name: 'file', parameter: { path: `${name}.csv`, format: 'csv' } },
    writer: { name: 'file', parameter: { path: `out-${name}`, format: 'csv', ...writer } },
  };
}

function jobOf(ws: Workspace, content: readonly unknown[], setting: object = {}): string {
  for (const name of ['a', 'b', 'c']) ws.write(`${name}.csv`, LINES.map((l) => `${name}${l}\n`).join(''));
  return ws.job({ job: { content, setting } });
}

const expected = (name: string): readonly string[] => LINES.map((l) => name + l);
const parts = (s: Summary | null) =>
  (s?.['parts'] as readonly (Summary & { readonly outcome: string })[] | undefined) ?? [];

test('several content entries run one after the other, each with state of its own', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b'), part('c')]);
  const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual([r.summary?.state, r.summary?.read, r.summary?.written], ['finished', 9, 9]);
  assert.deepEqual(
    parts(r.summary).map((p) => [p.outcome, p.read]),
    [
      ['ran', 3],
      ['ran', 3],
      ['ran', 3],
    ],
  );
  for (const name of ['a', 'b', 'c']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
  const ids = parts(r.summary).map((p) => p['jobId']);
  assert.deepEqual(ids, [job, `${job}#2`, `${job}#3`]);
});

test('after a failed entry a start goes on with it, and does not run the finished ones again', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b', { encoding: 'latin1' }), part('c')]);
  ws.write('b.csv', 'b1,\u4e2d\n');
  const failed = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(failed.code, 3, failed.stderr);
  assert.deepEqual(
    parts(failed.summary).map((p) => p.outcome),
    ['ran', 'ran', 'not run'],
  );
  ws.write('b.csv', 'b1,x\n');
  const again = await sync(['run', job, '--output', 'json', '--fresh'], { cwd: ws.dir });
  // --fresh is asked for: all entries start anew.
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(publishedLines(ws.path('out-a')), [...expected('a'), ...expected('a')].sort());
});

test('killed in its second entry, the job goes on there', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b'), part('c')]);
  const killed = await sync(['run', job, '--output', 'json'], { cwd: ws.dir, failpoint: 'prepare.after#2' });
  assert.equal(killed.signal, 'SIGKILL');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(
    parts(again.summary).map((p) => p.outcome),
    ['done before', 'ran', 'ran'],
  );
  for (const name of ['a', 'b', 'c']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
  const third = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.deepEqual(
    parts(third.summary).map((p) => p.outcome),
    ['ran', 'ran', 'ran'],
    'the round was over: a start is a new one',
  );
});

test('killed once its first entry is noted finished, the job does not run it again', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b')]);
  const killed = await sync(['run', job], { cwd: ws.dir, failpoint: 'finished.after' });
  assert.equal(killed.signal, 'SIGKILL');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  for (const name of ['a', 'b']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
});

test('entries that change their places in an open round are refused; none is skipped or run twice', async () => {
  using ws = new Workspace();
  const setting = { jobId: 'j' };
  const before = jobOf(ws, [part('a'), part('b')], setting);
  rmSync(ws.path('b.csv'));
  assert.equal((await sync(['run', before], { cwd: ws.dir })).code, 1);
  const swapped = jobOf(ws, [part('b'), part('a')], setting);
  for (const command of ['plan', 'run']) {
    const r = await sync([command, swapped], { cwd: ws.dir });
    assert.equal(r.code, 4, command + r.stderr);
    assert.match(r.stderr, /STATE_MISFIT: entry 1 of content is done and others are not, but it has changed since: /);
  }
  assert.deepEqual(publishedLines(ws.path('out-a')), expected('a'));
});

test('an entry that is added to an open round does not make the finished ones run again', async () => {
  using ws = new Workspace();
  const setting = { jobId: 'j' };
  const before = jobOf(ws, [part('a'), part('b')], setting);
  rmSync(ws.path('b.csv'));
  assert.equal((await sync(['run', before], { cwd: ws.dir })).code, 1);
  const longer = jobOf(ws, [part('a'), part('b'), part('c')], setting);
  assert.equal((await sync(['run', longer], { cwd: ws.dir })).code, 0);
  for (const name of ['a', 'b', 'c']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
});

test('a --fresh that is refused, as the job runs, does not end the round of that start', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b')], { speed: { record: 10 } });
  ws.write('a.csv', 'a\n'.repeat(25));
  rmSync(ws.path('b.csv'));
  const running = startSync(['run', job, '--output', 'json'], { cwd: ws.dir });
  const status = async () => (await sync(['status', '--output', 'json'], { cwd: ws.dir })).stdout;
  await until('the job runs', async () => (await status()).includes('"running"'));
  const fresh = await sync(['run', job, '--fresh', '--output', 'json'], { cwd: ws.dir });
  assert.deepEqual([fresh.code, fresh.summary?.error?.code], [4, 'STATE_LOCKED']);
  assert.equal((await running.done).code, 1);
  ws.write('b.csv', 'b1\n');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.deepEqual(
    parts(again.summary).map((p) => p.outcome),
    ['done before', 'ran'],
  );
});

test('a kept time of a finished entry is no change of it', async () => {
  using ws = new Workspace();
  const timed = part('a');
  timed.writer.parameter.path = 'out-${now:HHmmssSSS}';
  const job = jobOf(ws, [timed, part('b')]);
  rmSync(ws.path('b.csv'));
  assert.equal((await sync(['run', job], { cwd: ws.dir })).code, 1);
  ws.write('b.csv', 'b1\n');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(
    parts(again.summary).map((p) => p.outcome),
    ['done before', 'ran'],
  );
});

test('contentParallelism runs entries side by side', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b'), part('c')], { contentParallelism: 3 });
  const r = await sync(['run', job], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stdout, /part 1 of 3: file → file\n/);
  for (const name of ['a', 'b', 'c']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
});

test('an unfinished run from before the job had a second entry is finished once', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a')]);
  assert.equal((await sync(['run', job], { cwd: ws.dir, failpoint: 'prepare.after' })).signal, 'SIGKILL');
  jobOf(ws, [part('a'), part('b')]);
  assert.equal((await sync(['run', job], { cwd: ws.dir, failpoint: 'prepare.after#2' })).signal, 'SIGKILL');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  for (const name of ['a', 'b']) assert.deepEqual(publishedLines(ws.path(`out-${name}`)), expected(name));
});

test('state reset by the file is for all entries, by an id for one', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [part('a'), part('b'), part('c')]);
  const run = () => sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  const left = async (): Promise<number> =>
    (JSON.parse((await sync(['state', 'list', '--output', 'json'], { cwd: ws.dir })).stdout) as readonly unknown[])
      .length;
  assert.equal((await run()).code, 0);
  assert.equal(await left(), 3);
  assert.equal((await sync(['state', 'reset', `${job}#2`], { cwd: ws.dir })).code, 0);
  assert.equal(await left(), 2);
  const all = await sync(['state', 'reset', job], { cwd: ws.dir });
  assert.equal(all.code, 0, all.stderr);
  assert.equal(await left(), 0);
});
