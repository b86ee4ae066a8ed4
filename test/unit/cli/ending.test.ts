/** How the process ends, whatever its signals, its stdin and its stdout do. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithTest } from '../../support/children.js';
import { ROOT, startSync, until } from '../../support/sync.js';
import { tree, Workspace } from '../../support/workspace.js';

const BIN = join(ROOT, 'bin/sync');

function job(ws: Workspace, reader: object, writer: object, setting: object = {}): void {
  const content = [
    {
      reader: { name: 'path' in reader ? 'filereader' : 'streamreader', parameter: reader },
      writer: { name: 'path' in writer ? 'filewriter' : 'streamwriter', parameter: writer },
    },
  ];
  writeFileSync(ws.path('job.json'), JSON.stringify({ job: { content, setting } }));
}

const ENDLESS = { column: [{ name: 'id', type: 'id' }], permitsPerSecond: 1000 };

test('a signal after the run has finished does not change how the process ends', async () => {
  for (const delay of [0, 3, 6, 9]) {
    using ws = new Workspace();
    mkdirSync(ws.path('in'));
    for (let i = 0; i < 4; i++) writeFileSync(ws.path('in', `${String(i)}.csv`), 'a\nb\n'.repeat(1000));
    job(ws, { path: 'in', column: ['x'] }, { path: 'out' }, { speed: { channel: 4 } });
    const p = startSync(['run', 'job.json', '--output', 'json'], { cwd: ws.dir });
    await until('the note', () => tree(ws.path('state')).some((n) => n.endsWith('/finished')));
    await sleep(delay);
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.deepEqual([r.code, r.signal, r.summary?.state], [0, null, 'finished'], r.stderr);
  }
});

test('a second signal ends the job at once and says so; one that comes with the first is the same wish', async () => {
  using ws = new Workspace();
  job(ws, ENDLESS, { print: false }, { checkpoint: { interval: 20 } });
  const twice = startSync(['run', 'job.json', '--output', 'json'], { cwd: ws.dir });
  await until('a checkpoint', () => tree(ws.path('state')).some((n) => n.endsWith('/1.outcome')));
  twice.child.kill('SIGTERM');
  await sleep(20);
  twice.child.kill('SIGTERM');
  assert.equal((await twice.done).code, 143);

  using blocked = new Workspace();
  job(blocked, { ...ENDLESS, permitsPerSecond: 0 }, { print: true });
  const p = spawn(BIN, ['run', 'job.json'], {
    cwd: blocked.dir,
    env: { ...process.env, SYNC_STATE_DIR: blocked.path('state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endsWithTest(p);
  let stderr = '';
  p.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  const ended = new Promise<number | null>((resolve) => p.once('exit', resolve));
  // Nobody reads stdout: the pipe fills, and the writer stands still.
  await until('the pipe is full', async () => {
    const before = p.stdout.readableLength;
    await sleep(300);
    return before > 0 && p.stdout.readableLength === before;
  });
  p.kill('SIGTERM');
  await sleep(700);
  p.kill('SIGTERM');
  assert.equal(await ended, 1);
  assert.match(stderr, /sync: STOPPED: a second SIGTERM ended the job at once; The last checkpoint is kept/);
});

test('a stdout that nobody reads holds no stopped job: it ends with STOP_TIMEOUT', async () => {
  using ws = new Workspace();
  writeFileSync(ws.path('in.csv'), 'x'.repeat(100).concat('\n').repeat(50_000));
  job(ws, { path: 'in.csv', column: ['x'] }, { path: '-' });
  const p = spawn(BIN, ['run', 'job.json'], {
    cwd: ws.dir,
    env: { ...process.env, SYNC_STATE_DIR: ws.path('state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endsWithTest(p);
  let stderr = '';
  p.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  const ended = new Promise<number | null>((resolve) => p.once('exit', resolve));
  await until('rows are printed', () => p.stdout.readableLength > 0);
  const began = performance.now();
  p.kill('SIGTERM');
  assert.equal(await ended, 1);
  assert.match(stderr, /sync: STOP_TIMEOUT: /);
  const seconds = (performance.now() - began) / 1000;
  assert.ok(seconds < 16, `${String(seconds)} s`);
});

for (const said of ['', 'id,na', 'id,name\n', 'id,name\n1,a\n']) {
  test(`a stop while stdin has said ${JSON.stringify(said)} is clean and quick`, async () => {
    using ws = new Workspace();
    job(ws, { path: '-', isFirstLineHeader: true }, { path: 'out', fileType: 'json' });
    const p = spawn(BIN, ['run', 'job.json'], {
      cwd: ws.dir,
      env: { ...process.env, SYNC_STATE_DIR: ws.path('state') },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    endsWithTest(p);
    let stderr = '';
    p.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
    const ended = new Promise<number | null>((resolve) => p.once('exit', resolve));
    p.stdin.write(said);
    await until('the run is begun', () => tree(ws.path('state')).some((n) => n.endsWith('/begun')));
    await sleep(200);
    const stopped = performance.now();
    p.kill('SIGTERM');
    assert.equal(await ended, 143, stderr);
    assert.ok(performance.now() - stopped < 5000);
    p.stdin.destroy();
  });
}
