/** setting.restart while part files are open over checkpoints: the same process goes on with them, exactly. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reader, writer } from '../../plugins/file/index.js';
import { scriptedRow } from '../../plugins/scripted/rows.js';
import { loadJob } from '../../src/config/load-job.js';
import { runJob } from '../../src/core/job/run-job.js';
import type { JobSpec } from '../../src/job/job-spec.js';
import { assertExact, atOnce, fileJob, type CrashJob } from '../support/crash.js';
import { memoryLog, type LogLine } from '../support/engine.js';
import { startSync, until } from '../support/sync.js';
import { tapped } from '../support/taps.js';
import { tree, Workspace } from '../support/workspace.js';
import { Trouble, type Failing } from './failing-plugins.js';

const AT_ONCE = 5;
/** Rows a second: no limit. */
const FAST = 1_000_000;
const ATTEMPTS = 5;
const ROWS = 200;

/** The job's spec, with paths that do not go by this process's folder, and with restarts. */
async function specOf(ws: Workspace, job: CrashJob, channel: number): Promise<JobSpec> {
  const j = JSON.parse(readFileSync(job.job, 'utf8')) as {
    job: {
      content: [{ reader: { parameter: { path: string } }; writer: { parameter: { path: string } } }];
      setting: { speed: { channel: number }; restart?: object };
    };
  };
  j.job.content[0].reader.parameter.path = ws.path('in');
  j.job.content[0].writer.parameter.path = job.out;
  j.job.setting.speed.channel = channel;
  j.job.setting.restart = { strategy: 'fixed-delay', attempts: ATTEMPTS, delay: 1 };
  const result = await loadJob(
    { text: JSON.stringify(j), name: 'job.json', defaultJobId: 'restart' },
    {
      reader: () => Promise.resolve(reader),
      writer: () => Promise.resolve(writer),
      validator: () => Promise.resolve(null),
    },
  );
  if (!result.ok) throw result.error;
  return result.parts[0];
}

interface Shape {
  readonly name: string;
  readonly channel: number;
  readonly writer: Readonly<Record<string, unknown>>;
}

const ONE: Shape = { name: 'one lane', channel: 1, writer: {} };
const SHAPES: readonly Shape[] = [
  ONE,
  { name: 'three lanes', channel: 3, writer: {} },
  { name: 'some finished by size', channel: 1, writer: { maxFileSize: 1000 } },
  { name: 'buckets', channel: 2, writer: { bucket: 'column', bucketColumn: 'text', maxOpenBuckets: 3 } },
];

/** Fails as planned; each failure must have come while files were open over a committed epoch. */
async function restarted(shape: Shape, plan: readonly Failing[]): Promise<void> {
  using ws = new Workspace();
  const job = fileJob(ws, { rollOnCheckpoint: false, ...shape.writer }, FAST, { files: 5 });
  const spec = await specOf(ws, job, shape.channel);
  const trouble = new Trouble(plan);
  const tappedSpec: JobSpec = {
    ...spec,
    reader: { ...spec.reader, definition: trouble.reader(spec.reader.definition) },
    writer: { ...spec.writer, definition: trouble.writer(spec.writer.definition) },
  };
  const logs: LogLine[] = [];
  const r = await tapped(trouble, () =>
    runJob(tappedSpec, {
      log: memoryLog(logs),
      stateRoot: ws.path('state'),
      fresh: false,
      allowReplay: false,
      takeOver: false,
      stop: new AbortController().signal,
      loadWriter: () => Promise.resolve(null),
    }),
  );
  const told = JSON.stringify([r.error, trouble.made, logs.filter((l) => l.level === 'warn')]);
  assert.equal(r.state, 'finished', told);
  const wanted = plan.reduce((n, f) => n + (f.times ?? 1), 0);
  assert.equal(trouble.made.length, wanted, `failures: ${told}`);
  // Several lanes may fail in one attempt.
  assert.ok(shape.channel > 1 ? r.restarts >= 1 && r.restarts <= wanted : r.restarts === wanted, told);
  assert.ok(
    trouble.made.every((m) => m.open > 0),
    told,
  );
  assert.deepEqual([r.read, r.written, r.dirty, r.resumed], [ROWS, ROWS, 0, false]);
  assert.deepEqual([r.thisStart.read, r.thisStart.written], [ROWS, ROWS]);
  assertTarget(shape, job);
}

function assertTarget(shape: Shape, job: CrashJob): void {
  const names = tree(job.out);
  if (shape === ONE) assert.equal(names.length, 1, `one file went on over the restart: ${names.join(', ')}`);
  if (shape.writer['bucket'] === undefined) {
    assertExact(job);
    return;
  }
  // Not assertExact: it takes the folder __NULL__ for hidden.
  assert.deepEqual(
    names.filter((n) => n.startsWith('.')),
    [],
    'left over',
  );
  const files = names.filter((n) => !n.endsWith('/'));
  const lines = files.flatMap((n) => readFileSync(join(job.out, n), 'utf8').split('\n').slice(0, -1));
  assert.deepEqual(lines.sort(), job.expected);
}

const BOTH = ['before', 'after'] as const;
const around = (steps: readonly string[], more: Partial<Failing> = {}): readonly Failing[] =>
  steps.flatMap((step) => BOTH.map((when) => ({ step, when, ...more })));

/** Each fails in the first attempt and, on its way on from the open file, in the second. */
const TWICE: readonly Failing[] = [
  { step: 'read', when: 'before', times: 2 },
  ...around(['write', 'prepare', 'state.putCheckpoint', 'commit', 'state.putOutcome'], { times: 2 }),
];
/** What only a restart does. */
const IN_RESTART: readonly Failing[] = [
  ...around(['openLane', 'sweep', 'write', 'prepare', 'commit'], { afterRestart: true }),
  ...['file.adopt', 'file.keep', 'file.old'].map((step) => ({ step, when: 'before', afterRestart: true }) as const),
];
/** Only an epoch with files to publish is recovered: the second with open files has rows, the first but the end of a file. */
const RECOVER: readonly Failing[] = around(['recover'], { afterRestart: true });
const nameOf = (f: Failing): string => `${f.when} ${f.step}`;

for (const shape of SHAPES) {
  const publishes = shape.writer['maxFileSize'] !== undefined;
  test(`${shape.name}: failures with open files, and of the restart`, { concurrency: AT_ONCE }, async (t) => {
    const plans = [
      ...TWICE.map((f) => [f]),
      ...IN_RESTART.map((f) => [{ step: 'read', when: 'before' } as const, f]),
      ...(publishes ? RECOVER : []).map((f) => [{ step: 'commit', when: 'before', hit: 2 } as const, f]),
    ];
    await atOnce(AT_ONCE, plans, async (plan) => {
      await t.test(plan.map(nameOf).join(', then '), () => restarted(shape, plan));
    });
  });
}

/** Three lanes in workers; two wait with open files while the third fails, or its thread dies. */
test('lanes in workers: one of them fails while all have files open', { concurrency: AT_ONCE }, async (t) => {
  await atOnce(AT_ONCE, ['fail', 'exit'], async (how) => {
    await t.test(how, async () => {
      using ws = new Workspace();
      const ids = ['a', 'b', 'c'];
      const waits = ids.map((split) => ({ split, at: 11, do: 'pause', until: ws.path('go') }));
      const parameter = {
        splits: ids.map((id) => ({ id, rows: 30 })),
        folder: ws.path('reader'),
        events: [...waits, { split: 'b', at: 16, do: how }],
      };
      const setting = {
        speed: { channel: 3 },
        checkpoint: { interval: 10 },
        restart: { strategy: 'fixed-delay', attempts: 1, delay: 1 },
      };
      const content = [
        {
          reader: { name: 'scripted', parameter },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ];
      const out = ws.path('out');
      const started = startSync(['run', ws.job({ job: { content, setting } }), '--output', 'json'], { cwd: ws.dir });
      await until('three files are open', () => tree(out).filter((n) => n.endsWith('.open')).length === 3);
      ws.write('go', '');
      const r = await started.done;
      assert.equal(r.code, 0, r.stderr);
      assert.deepEqual([r.summary?.['restarts'], r.summary?.read, r.summary?.written], [1, 90, 90]);
      const rows = ids.flatMap((id) => Array.from({ length: 30 }, (_, i) => scriptedRow(id, i + 1)));
      const expected = rows.map((row) => JSON.stringify({ ...row, n: Number(row['n']) })).sort();
      assertExact({ job: '', out, expected });
    });
  });
});
