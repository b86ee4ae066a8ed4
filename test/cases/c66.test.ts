/** C66: SIGTERM, repeated commit, disk full. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { assertExact, assertFinishes, assertKilled, fileJob, run } from '../support/crash.js';
import { startSync, sync, until } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

/** mulberry32: the moments are random and repeatable. */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

test('C66 (a) SIGTERM at 20 random moments of 10,000 rows, restarted until done', async (t) => {
  using ws = new Workspace();
  const expected: string[] = [];
  let csv = 'id\n';
  for (let i = 1; i <= 10_000; i++) {
    csv += `r${String(i)}\n`;
    expected.push(JSON.stringify({ id: `r${String(i)}` }));
  }
  ws.write('in/a.csv', csv);
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path: 'in', fileType: 'csv', isFirstLineHeader: true } },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ],
      setting: { speed: { record: 2000 }, checkpoint: { interval: 10 } },
    },
  });
  const seed = Number(process.env['C66_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`C66_SEED=${String(seed)}`);
  const next = random(seed);
  let stops = 0;
  let finished = false;
  while (!finished && stops < 20) {
    const p = startSync(['run', job, '--output', 'json', '--log-format', 'json'], { cwd: ws.dir });
    let stderr = '';
    p.child.stderr?.on('data', (s: string) => (stderr += s));
    await until('the job has started', () => /starting run|resuming run/.test(stderr) || p.child.exitCode !== null);
    await sleep(next() * 350);
    const at = performance.now();
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.ok(performance.now() - at < 10_000, 'each SIGTERM ends within 10 s');
    assert.ok(r.code === 143 || r.code === 0, `exit ${String(r.code)} ${String(r.signal)}\n${r.stderr}`);
    assert.equal(r.summary?.state, r.code === 0 ? 'finished' : 'stopped');
    finished = r.code === 0;
    stops++;
  }
  assert.ok(stops >= 10, `only ${String(stops)} stops before the end`);
  if (!finished) {
    const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.read, 10_000);
    assert.equal(r.summary.written, 10_000);
  }
  assert.deepEqual(publishedLines(ws.path('out')), expected.sort());
});

test('C66 (b) a commit that went through is repeated without an error or a change', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  assertKilled(await run(ws, job, 'outcome.before#2'), 'outcome.before#2');
  const before = publishedLines(job.out);
  assertKilled(await run(ws, job, 'sweep.after'), 'sweep.after');
  assert.deepEqual(publishedLines(job.out), before);
  await assertFinishes(ws, job, 'after the repeated commit');
  assertExact(job);
});

/** A file system of its own, of this many KiB; null where mounting is refused. */
function smallDisk(dir: string, kib: number): Disposable | null {
  mkdirSync(dir, { recursive: true });
  const r = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${String(kib)}k`, 'syncx-test', dir]);
  if (r.status !== 0) return null;
  return {
    [Symbol.dispose](): void {
      spawnSync('umount', [dir]);
    },
  };
}

function bigInput(ws: Workspace): { readonly job: string; readonly expected: readonly string[] } {
  const expected: string[] = [];
  for (const f of ['a', 'b', 'c', 'd']) {
    let csv = 'id,text\n';
    for (let i = 1; i <= 4000; i++) {
      const text = `${f}${String(i)}`.padEnd(100, '.');
      csv += `${String(i)},${text}\n`;
      expected.push(JSON.stringify({ id: String(i), text }));
    }
    ws.write(`in/${f}.csv`, csv);
  }
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path: 'in', fileType: 'csv', isFirstLineHeader: true } },
          writer: { name: 'filewriter', parameter: { path: 'disk/out', fileType: 'json', rollOnCheckpoint: true } },
        },
      ],
      setting: { speed: { record: 16_000 }, checkpoint: { interval: 10 } },
    },
  });
  return { job, expected: expected.sort() };
}

test('C66 (c) a full target disk is loud, leaves nothing half-written, and is made good by the next run', async (t) => {
  using ws = new Workspace();
  const { job, expected } = bigInput(ws);
  const disk = smallDisk(ws.path('disk'), 1024);
  try {
    // Where mounting is refused a limit on the size of a file fills up just as well.
    const wrap = disk ? [] : ['bash', '-c', 'ulimit -f 64; exec "$@"', 'bash'];
    if (!disk) t.diagnostic('mount is refused here: a file size limit stands for the full disk');
    const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir, wrap });
    assert.equal(r.code, 1, r.stderr);
    assert.match(r.stderr.trimEnd().split('\n').at(-1) ?? '', disk ? /ENOSPC/ : /EFBIG/);
    assert.equal(r.summary?.error?.code, 'SINK_FULL');
    const whole = new Set(expected);
    assert.ok(publishedLines(ws.path('disk/out')).every((l) => whole.has(l)));
    assert.equal(r.summary.written, publishedLines(ws.path('disk/out')).length, 'the summary says what was committed');
    if (disk) spawnSync('mount', ['-o', 'remount,size=16m', ws.path('disk')]);
    const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(publishedLines(ws.path('disk/out')), expected);
    assert.deepEqual(
      tree(ws.path('disk/out')).filter((n) => n.startsWith('.')),
      [],
    );
  } finally {
    disk?.[Symbol.dispose]();
  }
});

function fillUp(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (let size = 1 << 16; size >= 1;) {
      try {
        writeSync(fd, Buffer.alloc(size, 46));
      } catch {
        size >>= 1;
      }
    }
  } finally {
    closeSync(fd);
  }
}

test('C66 (d) a full state disk is loud; the last checkpoint holds and the job goes on from it', async (t) => {
  using ws = new Workspace();
  const { job, expected } = bigInput(ws);
  using disk = smallDisk(ws.path('small'), 1024);
  if (!disk) {
    t.skip('mounting a small file system is refused here');
    return;
  }
  const state = ws.path('small/state');
  const p = startSync(['run', job, '--output', 'json', '--state-dir', state], { cwd: ws.dir });
  await until('an epoch is committed', () => tree(state).some((n) => n.endsWith('.outcome')));
  const filler = ws.path('small/filler');
  fillUp(filler);
  const r = await p.done;
  assert.equal(r.code, 1, r.stderr);
  assert.match(r.stderr.trimEnd().split('\n').at(-1) ?? '', /ENOSPC/);
  const shown = await sync(['state', 'show', job, '--state-dir', state], { cwd: ws.dir });
  assert.equal(shown.code, 0, shown.stderr);
  rmSync(filler);
  const again = await sync(['run', job, '--output', 'json', '--state-dir', state], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(again.summary?.['resumed'], true);
  assert.deepEqual(publishedLines(join(ws.dir, 'disk/out')), expected);
});
