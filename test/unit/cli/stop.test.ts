import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endsWithTest } from '../../support/children.js';
import { isStopped, sync, until, type SyncResult } from '../../support/sync.js';
import { publishedLines, Workspace } from '../../support/workspace.js';
import { checkpointed, entry, jobOf, newestEpoch, owner, start, stateDir, statusOf } from './jobs.js';

const stop = (ws: Workspace, job: string, ...more: readonly string[]): Promise<SyncResult> =>
  sync(['stop', job, ...more], { cwd: ws.dir });

/** Some other program, which must live on. */
function bystander(): ChildProcess {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  endsWithTest(child);
  return child;
}

const livesOn = (c: ChildProcess): boolean => c.exitCode === null && c.signalCode === null;

test('stops a running job at a checkpoint, waits for it, and says where the next start goes on', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('out')]);
  const p = start(ws, job);
  await checkpointed(ws);
  const r = await stop(ws, job, '--savepoint');
  assert.equal(r.code, 0, r.stderr);
  assert.match(
    r.stdout,
    /^job \S+job\.json stopped; final checkpoint at epoch \d+, the next start of run \w+ goes on there\n$/,
  );
  const done = await p.done;
  assert.equal(done.code, 143, done.stderr);
  const [s] = await statusOf(ws);
  assert.ok(r.stdout.includes(`epoch ${String(s?.epoch)},`));

  const epoch = newestEpoch(ws);
  const again = start(ws, job);
  await until('it goes on', () => newestEpoch(ws) > epoch + 1);
  const json = await stop(ws, job, '--output', 'json');
  assert.equal(json.code, 0);
  assert.deepEqual([json.summary?.['ok'], json.summary?.['exitCode']], [true, 0]);
  await again.done;
  const ids = publishedLines(ws.path('out')).map(Number);
  assert.deepEqual(
    ids.sort((a, b) => a - b),
    Array.from({ length: ids.length }, (_, i) => i + 1),
  );
});

test('a job that does not run: exit 4, and what is known of it', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('out', 3)], { jobId: 'nightly' });
  const unknown = await stop(ws, job);
  assert.equal(unknown.code, 4);
  assert.equal(
    unknown.stderr,
    `sync: job nightly is not running on this host; there is no state of it in ${ws.path('state')}\n`,
  );
  assert.equal((await sync(['run', job], { cwd: ws.dir })).code, 0);
  const r = await stop(ws, 'nightly', '--output', 'json');
  assert.equal(r.code, 4);
  assert.equal((r.summary?.['jobs'] as readonly { readonly state: string }[])[0]?.state, 'finished');
  const usage = await stop(ws, job, '--timeout', 'soon');
  assert.equal(usage.code, 2);
  assert.equal(usage.stderr, 'sync: USAGE: --timeout is "soon"; must be a time, as 60s or 2min\n');
});

test('one that does not stop in time is not killed; stopping it again only waits', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('out')]);
  const p = start(ws, job);
  await checkpointed(ws);
  p.child.kill('SIGSTOP');
  await until('it stands still', () => isStopped(p.child.pid ?? 0));
  assert.equal((await statusOf(ws))[0]?.state, 'running', 'a process that stands still holds its lock');
  const r = await stop(ws, job, '--timeout', '300ms');
  assert.equal(r.code, 1);
  assert.match(r.stderr, /^sync: job \S+ \(pid \d+\) did not stop within 300ms; it goes on to its checkpoint: /);
  const both = Promise.all([stop(ws, job), stop(ws, job)]);
  p.child.kill('SIGCONT');
  const [a, b] = await both;
  assert.deepEqual(
    [a.code, b.code].every((c) => c === 0 || c === 4),
    true,
    a.stderr + b.stderr,
  );
  const done = await p.done;
  assert.equal(done.code, 143, 'no second signal ended it at once');
});

test('a pid that another program has now never gets the signal', async () => {
  using ws = new Workspace();
  const other = bystander();
  const job = jobOf(ws, [entry('out')]);
  const p = start(ws, job);
  await checkpointed(ws);
  const file = join(stateDir(ws), 'owner');
  const real = owner(ws);

  // The lock is held, and the owner file names somebody else.
  writeFileSync(file, JSON.stringify({ ...real, pid: other.pid, token: 'not mine' }));
  const r = await stop(ws, job);
  assert.equal(r.code, 4);
  assert.match(
    r.stderr,
    /^sync: STATE_LOCKED: the job runs, but its owner file names pid \d+ on \S+, which is not what holds it/,
  );
  assert.ok(livesOn(other) && livesOn(p.child));

  writeFileSync(file, JSON.stringify(real));
  assert.equal((await stop(ws, job)).code, 0);
  await p.done;

  // Killed without a word, and its pid is another's: nothing holds the lock.
  writeFileSync(file, JSON.stringify({ ...real, pid: other.pid }));
  assert.equal((await stop(ws, job)).code, 4);
  assert.ok(livesOn(other));
});

test('a job of several entries is stopped in whichever runs', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('a', 3), entry('b'), entry('c', 3)]);
  const p = start(ws, job);
  await checkpointed(ws, '%232');
  const r = await stop(ws, job);
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stdout, /^job \S+job\.json#2 stopped; final checkpoint at epoch \d+/);
  assert.equal((await p.done).code, 143);
});

test('entries side by side in one process get one signal and all stop', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('a'), entry('b')], { contentParallelism: 2 });
  const p = start(ws, job);
  await checkpointed(ws, 'job.json');
  await checkpointed(ws, '%232');
  const r = await stop(ws, job);
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout.trimEnd().split('\n').length, 2);
  assert.equal((await p.done).code, 143);
});
