/** Files that stay open over checkpoints: killed, fenced, redistributed, lost. The target is exact in the end. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertExact, assertFinishes, assertKilled, fileJob, inPairs, run, type CrashJob } from '../support/crash.js';
import { isStopped, startSync, until } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

const OPEN = { rollOnCheckpoint: false };
/** Slow enough for one epoch a source file, also on a busy machine. */
const slowJob = (ws: Workspace, writer: Readonly<Record<string, unknown>> = {}): CrashJob =>
  fileJob(ws, { ...OPEN, ...writer }, 250);
/** Of the texts that the job's rows have, and of NULL. */
const TEXT_FOLDERS = [
  'plain',
  'with, comma',
  'say "hi"',
  'two%0Alines',
  '😀 é',
  '__EMPTY__',
  '__NULL__',
  'x'.repeat(50),
]
  .map((n) => `${n}/`)
  .sort();
const openFiles = (job: CrashJob): readonly string[] => tree(job.out).filter((n) => n.endsWith('.open'));

function setChannel(job: CrashJob, channel: number): void {
  const spec = JSON.parse(readFileSync(job.job, 'utf8')) as { job: { setting: { speed: { channel?: number } } } };
  spec.job.setting.speed.channel = channel;
  writeFileSync(job.job, JSON.stringify(spec));
}

const STEPS = [
  'file.keep',
  'write.after#7',
  'barrier.passed#4',
  'prepare.before#4',
  'prepare.after',
  'prepare.after#4',
  'ckpt.before#4',
  'ckpt.written#4',
  'ckpt.after',
  'ckpt.after#4',
  'commit.before#4',
  'commit.data#4',
  'commit.after#4',
  'outcome.before#4',
  'outcome.after#4',
  'prune.after#4',
  'file.commit.between',
  'complete.before',
  'complete.after',
];

test('killed at any step while a file is open over checkpoints', async (t) => {
  await inPairs(STEPS, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = slowJob(ws);
      assertKilled(await run(ws, job, point), point);
      const r = await assertFinishes(ws, job, point);
      assert.equal(r.summary?.written, job.expected.length, 'the summary counts the run, not the start');
      assertExact(job);
    });
  });
});

test('killed where some files are finished by their size and one is open', async (t) => {
  const points = ['prepare.after#3', 'file.commit.next', 'file.commit.between#2', 'commit.data#3', 'outcome.after#3'];
  await inPairs(points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = slowJob(ws, { maxFileSize: 300 });
      assertKilled(await run(ws, job, point), point);
      await assertFinishes(ws, job, point);
      assertExact(job);
    });
  });
});

test('killed with files open in several buckets, more than may be open at once', async (t) => {
  const points = ['prepare.after#3', 'ckpt.after#3', 'file.commit.next', 'commit.data#3', 'outcome.after#3'];
  await inPairs(points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = slowJob(ws, { bucket: 'column', bucketColumn: 'text', maxOpenBuckets: 3 });
      assertKilled(await run(ws, job, point), point);
      assertKilled(await run(ws, job, 'ckpt.after'), 'ckpt.after');
      await assertFinishes(ws, job, point);
      const names = tree(job.out);
      assert.deepEqual(
        names.filter((n) => n.endsWith('/')),
        TEXT_FOLDERS,
      );
      // Not publishedLines: it takes __NULL__ for hidden.
      const lines = names
        .filter((n) => !n.endsWith('/'))
        .flatMap((n) => readFileSync(join(job.out, n), 'utf8').split('\n').slice(0, -1));
      assert.deepEqual(lines.sort(), job.expected);
    });
  });
});

const FIRST = ['ckpt.before#3', 'ckpt.after#3', 'outcome.after#3'];
const AGAIN = [
  'sweep.after',
  'file.adopt',
  'lanes.opened',
  'write.after',
  'prepare.after',
  'ckpt.after',
  'outcome.after',
  'file.old',
  'prepare.after#2',
  'outcome.after#2',
];

test('killed with an open file, and again after the restart', async (t) => {
  const pairs = FIRST.flatMap((first) => AGAIN.map((second) => [first, second] as const));
  await inPairs(pairs, async ([first, second]) => {
    await t.test(`${first} then ${second}`, async () => {
      using ws = new Workspace();
      const job = slowJob(ws);
      assertKilled(await run(ws, job, first), first);
      assertKilled(await run(ws, job, second), second);
      await assertFinishes(ws, job, `${first}, ${second}`);
      assertExact(job);
    });
  });
});

test('open files that no state names any more are gone after the second epoch of a restart', async () => {
  using ws = new Workspace();
  const job = slowJob(ws);
  assertKilled(await run(ws, job, 'prepare.after'), 'prepare.after'); // named, but by no checkpoint
  assert.deepEqual(openFiles(job).length, 1);
  assertKilled(await run(ws, job, 'outcome.after#2'), 'outcome.after#2');
  assert.deepEqual(
    openFiles(job).map((n) => n.split('/')[1]?.split('-')[0]),
    ['2'],
  );
  await assertFinishes(ws, job, 'third');
  assertExact(job);
});

test('a zombie that appends to its open file while the next start runs, or after it', async (t) => {
  const points = ['write.after#6', 'prepare.after#3', 'ckpt.before#3', 'ckpt.after#3', 'outcome.after#3'];
  const cases = points.flatMap((p) => [[p, 'during'] as const, [p, 'after'] as const]);
  await inPairs(cases, async ([point, when]) => {
    await t.test(`${point}, ${when}`, async () => {
      using ws = new Workspace();
      const job = slowJob(ws);
      const zombie = startSync(['run', job.job, '--output', 'json'], {
        cwd: ws.dir,
        failpoint: `lock:release,${point}=stop`,
      });
      const pid = zombie.child.pid ?? 0;
      await until(`it stops at ${point}`, () => isStopped(pid) || zombie.child.exitCode !== null);
      const next = startSync(['run', job.job, '--output', 'json'], {
        cwd: ws.dir,
        ...(when === 'during' ? { failpoint: 'lock:release,write.after=stop' } : {}),
      });
      if (when === 'after') assert.equal((await next.done).code, 0);
      else await until('the next start writes', () => isStopped(next.child.pid ?? 0) || next.child.exitCode !== null);
      process.kill(pid, 'SIGCONT');
      const r = await zombie.done;
      assert.equal(r.code, 4, `the zombie ended with ${String(r.code)}\n${r.stderr}`);
      if (when === 'during') {
        process.kill(next.child.pid ?? 0, 'SIGCONT');
        const n = await next.done;
        assert.equal(n.code, 0, n.stderr);
      }
      assertExact(job);
    });
  });
});

test('lanes 2 → 8 → 1, each start killed with open files', async (t) => {
  const ends = ['lanes.opened', 'prepare.after#3', 'outcome.after'];
  await inPairs(ends, async (second) => {
    await t.test(second, async () => {
      using ws = new Workspace();
      const job = slowJob(ws);
      setChannel(job, 2);
      assertKilled(await run(ws, job, 'outcome.after#3'), 'outcome.after#3');
      assert.ok(openFiles(job).length > 0);
      setChannel(job, 8);
      assertKilled(await run(ws, job, second), second);
      setChannel(job, 1);
      await assertFinishes(ws, job, second);
      assertExact(job);
    });
  });
});

test('overwrite: killed anywhere, the old files go at the end, and only they', async (t) => {
  const points = [
    'file.list',
    'begin.after',
    'begun.after',
    'prepare.after',
    'outcome.after#2',
    'complete.before',
    'file.replace',
    'file.replace#2',
    'file.success',
    'complete.after',
  ];
  await inPairs(points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = slowJob(ws, { writeMode: 'overwrite', successFile: true, rollOnCheckpoint: true });
      for (const n of ['a', 'b', 'c']) ws.write(`out/old-${n}.csv`, 'old\n');
      for (const n of ['.hidden', '_SUCCESS', '_marker', 'theirs/x.csv']) ws.write(`out/${n}`, 'kept\n');
      assertKilled(await run(ws, job, point), point);
      const begun = point !== 'file.list' && point !== 'begin.after';
      if (begun) ws.write('out/late.csv', '');
      await assertFinishes(ws, job, point);
      const names = tree(job.out);
      assert.deepEqual(
        names.filter((n) => !n.startsWith('part-')),
        ['.hidden', '_SUCCESS', '_marker', ...(begun ? ['late.csv'] : []), 'theirs/', 'theirs/x.csv'],
      );
      const lines = names
        .filter((n) => n.startsWith('part-'))
        .flatMap((n) => readFileSync(join(job.out, n), 'utf8').split('\n').slice(0, -1));
      assert.deepEqual(lines.sort(), job.expected);
      assert.equal(readFileSync(join(job.out, '_SUCCESS'), 'utf8'), '');
    });
  });
});

test('overwrite again and again: each run leaves its own rows only; --fresh replaces those of the run it gives up', async () => {
  using ws = new Workspace();
  const job = slowJob(ws, { writeMode: 'overwrite', rollOnCheckpoint: true });
  await assertFinishes(ws, job, 'first');
  await assertFinishes(ws, job, 'second');
  assertExact(job);
  assertKilled(await run(ws, job, 'outcome.after#3'), 'outcome.after#3');
  assert.ok(publishedLines(job.out).length > job.expected.length, 'old and new stand side by side');
  const r = await run(ws, job, undefined, ['--fresh']);
  assert.equal(r.code, 0, r.stderr);
  assertExact(job);
});

test('an open file that is gone or cut is told with its rows, and nothing is written', async () => {
  for (const damage of ['gone', 'cut'] as const) {
    using ws = new Workspace();
    const job = slowJob(ws);
    assertKilled(await run(ws, job, 'outcome.after#2'), 'outcome.after#2');
    const [name = ''] = openFiles(job);
    if (damage === 'gone') rmSync(join(job.out, name));
    else truncateSync(join(job.out, name), 10);
    for (let i = 0; i < 2; i++) {
      const r = await run(ws, job);
      assert.notEqual(r.code, 0);
      assert.equal(r.summary?.error?.code, 'SINK_CONFLICT', r.stderr);
      assert.match(r.summary.error.message, /\.open (is gone|has only 10 bytes): \d+ committed rows/);
    }
    assert.deepEqual(publishedLines(job.out), []);
    const fresh = await run(ws, job, undefined, ['--fresh']);
    assert.equal(fresh.code, 0, fresh.stderr);
    assertExact(job);
  }
});

test('--fresh drops the rows of open files with the run, and reads them again', async () => {
  using ws = new Workspace();
  const job = slowJob(ws);
  assertKilled(await run(ws, job, 'outcome.after#4'), 'outcome.after#4');
  assert.equal(openFiles(job).length, 1);
  const r = await run(ws, job, undefined, ['--fresh']);
  assert.equal(r.code, 0, r.stderr);
  assertExact(job);
});

test('a stop finishes open files; the next start goes on with new ones', async () => {
  using ws = new Workspace();
  const job = slowJob(ws);
  const first = startSync(['run', job.job, '--output', 'json'], { cwd: ws.dir });
  await until('a file is open over a checkpoint', () => openFiles(job).length > 0);
  first.child.kill('SIGINT');
  const r = await first.done;
  assert.equal(r.summary?.state, 'stopped', r.stderr);
  assert.equal(publishedLines(job.out).length, r.summary.written);
  assert.ok(r.summary.written > 0 && r.summary.written < job.expected.length);
  assert.deepEqual(openFiles(job), []);
  await assertFinishes(ws, job, 'after the stop');
  assertExact(job);
});
