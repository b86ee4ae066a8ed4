import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sync, until } from '../../support/sync.js';
import { tree, Workspace } from '../../support/workspace.js';
import { checkpointed, entry, jobOf, newestEpoch, owner, start, stateDir, statusOf } from './jobs.js';

test('a running job is known by its lock, with pid, rows and the age of its checkpoint; then how it ended', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('out')]);
  assert.deepEqual(await statusOf(ws), []);
  const p = start(ws, job);
  await checkpointed(ws);
  await until('the owner file tells of rows', () => owner(ws)['live'] !== null);
  const [s] = await statusOf(ws, job);
  assert.deepEqual([s?.state, s?.phase, s?.pid, s?.jobId], ['running', 'running', p.child.pid, job]);
  assert.ok((s?.rows ?? 0) > 0 && (s?.epoch ?? 0) > 0, JSON.stringify(s));
  assert.ok((s?.checkpointAgeMs ?? 1e9) < 60_000 && (s?.toldMsAgo ?? 1e9) < 60_000, JSON.stringify(s));
  await until('the rate', async () => ((await statusOf(ws))[0]?.rowsPerSecond ?? 0) > 0);
  const text = await sync(['status'], { cwd: ws.dir });
  assert.match(
    text.stdout,
    /^STATE +PID +ROWS +ROWS\/S +LAG +DIRTY +EPOCH +CHECKPOINT +JOB\nrunning +\d+ +[\d,]+ +[\d,]+ +- +0 +\d+ +\d+ s ago +\S+job\.json\n$/,
  );

  p.child.kill('SIGKILL');
  await p.done;
  const [killed] = await statusOf(ws);
  assert.match(killed?.state ?? '', /^(died|in doubt)$/, 'in doubt: it was killed in mid-commit');
  const again = start(ws, job);
  await until('it runs', async () => (await statusOf(ws))[0]?.pid === again.child.pid);
  again.child.kill('SIGTERM');
  assert.equal((await again.done).code, 143);
  const [stopped] = await statusOf(ws);
  assert.deepEqual([stopped?.state, stopped?.pid, stopped?.phase], ['stopped', null, null]);
});

test('finished, failed with its code, and every job of the folder', async () => {
  using ws = new Workspace();
  const good = jobOf(ws, [entry('out', 5)], {}, 'good.json');
  ws.write('in.csv', '1,a\n2\n');
  const csv = {
    reader: { name: 'file', parameter: { path: 'in.csv', fileType: 'csv' } },
    writer: { name: 'file', parameter: { path: 'out2', fileType: 'csv' } },
  };
  const bad = jobOf(ws, [csv], {}, 'bad.json');
  assert.equal((await sync(['run', good], { cwd: ws.dir })).code, 0);
  assert.equal((await sync(['run', bad], { cwd: ws.dir })).code, 3);
  const all = await statusOf(ws);
  assert.deepEqual(
    all.map((s) => [s.jobId, s.state, s.error, s.rows]),
    [
      [bad, 'failed', 'DIRTY_LIMIT', 0],
      [good, 'finished', null, 5],
    ],
  );
  const unknown = await sync(['status', 'nothing'], { cwd: ws.dir });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /^sync: USAGE: there is no state of job nothing /);
});

test('the content entries of a job are asked for by its file', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('a', 1), entry('b', 2)]);
  assert.equal((await sync(['run', job], { cwd: ws.dir })).code, 0);
  assert.deepEqual(
    (await statusOf(ws, job)).map((s) => [s.jobId, s.rows]),
    [
      [job, 1],
      [`${job}#2`, 2],
    ],
  );
});

test('a damaged state is a line', async () => {
  using ws = new Workspace();
  for (const name of ['a', 'b', 'c', 'd']) {
    const job = jobOf(ws, [entry(`out-${name}`, 1)], { jobId: name }, `${name}.json`);
    assert.equal((await sync(['run', job], { cwd: ws.dir })).code, 0);
  }
  writeFileSync(ws.path('state/a/job'), '{"format":1,');
  const current = tree(ws.path('state/b')).find((n) => n.endsWith('/current-1')) ?? '';
  writeFileSync(ws.path('state/b', current), 'nobody');
  const checkpoint = tree(ws.path('state/c')).find((n) => n.endsWith('/1.ckpt')) ?? '';
  writeFileSync(ws.path('state/c', checkpoint), 'torn');
  writeFileSync(ws.path('state/d/owner'), '{"pid":');
  const all = await statusOf(ws);
  assert.deepEqual(
    all.map((s) => [s.jobId, s.state]),
    [
      ['a', 'damaged'],
      ['b', 'damaged'],
      ['c', 'damaged'],
      ['d', 'finished'],
    ],
  );
  const text = await sync(['status'], { cwd: ws.dir });
  assert.equal(text.code, 0);
  assert.match(text.stdout, /^damaged .*b: "nobody" is not the id of a run \(\S+current-1\)$/m);
});

test('an owner file that cannot be written, or is gone, is no matter to the job', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, [entry('out')]);
  const p = start(ws, job);
  await checkpointed(ws);
  const file = join(stateDir(ws), 'owner');
  rmSync(file);
  mkdirSync(file);
  const [s] = await statusOf(ws);
  assert.deepEqual([s?.state, s?.pid], ['running', null]);
  const [epoch, from] = [newestEpoch(ws), Date.now()];
  await until('it goes on longer than a note takes', () => newestEpoch(ws) > epoch && Date.now() > from + 2200);
  rmSync(file, { recursive: true });
  p.child.kill('SIGTERM');
  assert.equal((await p.done).code, 143);
  assert.ok(!tree(stateDir(ws)).includes('owner'), 'nobody made it anew');
});
