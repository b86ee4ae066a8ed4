/** A job with transforms, two worker lanes, killed at any step: rows, filtered and dirty rows are exact in the end. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  assertExact,
  assertFinishes,
  assertKilled,
  fileJob,
  inPairs,
  run,
  setSpeed,
  type CrashJob,
} from '../support/crash.js';
import { Workspace } from '../support/workspace.js';

const FILES = 6;
const ROWS = 40;
/** Not the row with n = 20, whose 100 / 0 makes it dirty. */
const STAYS = (n: number): boolean => n % 2 === 0 && n !== 20;

/** The job of other crash tests, with a filter, a step that fails for one row of each file, and a new column. */
function transformJob(ws: Workspace): CrashJob {
  const { job, out, expected } = fileJob(ws, {}, 300, { files: FILES, rows: ROWS, channel: 2 });
  const spec = JSON.parse(readFileSync(job, 'utf8')) as {
    job: { content: [{ transform?: unknown }]; setting: { errorLimit?: unknown } };
  };
  spec.job.content[0].transform = [
    { op: 'filter', where: 'n % 2 = 0' },
    { op: 'compute', column: 'part', expression: '100 / (n - 20)', type: 'decimal(20,6)' },
    { op: 'select', columns: ['n', { name: 'id', as: 'key' }, 'text'] },
  ];
  spec.job.setting.errorLimit = { record: FILES };
  writeFileSync(job, JSON.stringify(spec));
  const rows = expected.map((line) => JSON.parse(line) as { id: string; text: string | null; n: number });
  return {
    job,
    out,
    expected: rows.filter((r) => STAYS(r.n)).map((r) => JSON.stringify({ n: r.n, key: r.id, text: r.text })),
  };
}

test('killed at any step, the next run makes target and counts exact', async (t) => {
  const points = [
    'write.before#3',
    'write.after#4',
    'barrier.passed#3',
    'prepare.after@0#2',
    'prepare.after@1#2',
    'ckpt.after#2',
    'commit.data@0#2',
    'commit.after@1#2',
    'outcome.before#2',
    'committed.after#2',
    'complete.before',
  ];
  await inPairs(points, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const job = transformJob(ws);
      assertKilled(await run(ws, job, point), point);
      setSpeed(job.job, { record: 2000 });
      const { summary } = await assertFinishes(ws, job, point);
      assertExact(job);
      assert.deepEqual(
        {
          read: summary?.read,
          written: summary?.written,
          filtered: summary?.['filtered'],
          dirty: summary?.dirty,
        },
        { read: FILES * ROWS, written: (FILES * (ROWS - 2)) / 2, filtered: (FILES * ROWS) / 2, dirty: FILES },
      );
    });
  });
});

test('an unfinished run is not resumed with other steps', async () => {
  using ws = new Workspace();
  const job = transformJob(ws);
  assertKilled(await run(ws, job, 'ckpt.after#2'), 'ckpt.after#2');
  const text = readFileSync(job.job, 'utf8');
  writeFileSync(job.job, text.replace('n % 2 = 0', 'n % 3 = 0'));
  const r = await run(ws, job);
  assert.equal(r.code, 4);
  assert.equal(r.summary?.error?.code, 'STATE_MISFIT');
  assert.match(
    r.stderr,
    /transform\[0\] \(\{"op":"filter","where":"n % 2 = 0"\} → \{"op":"filter","where":"n % 3 = 0"\}\)/,
  );
  writeFileSync(job.job, text);
  await assertFinishes(ws, job, 'the steps of the run');
  assertExact(job);
});
