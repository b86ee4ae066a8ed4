/** The job that crash tests kill: eight CSV files (or more) to JSON lines, slow enough for several epochs. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { tree, publishedLines, type Workspace } from './workspace.js';
import { isStopped, startSync, sync, until, type SyncResult } from './sync.js';

const FILES = 'abcdefghijklmnop';

const TEXTS = ['plain', 'with, comma', 'say "hi"', 'two\nlines', '😀 é', '', 'x'.repeat(50)] as const;

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The steps of a first start outside its epochs. */
export const ONCE = [
  'run.chosen',
  'attempt.before',
  'attempt.after',
  'recover.before',
  'planner.after',
  'begin.before',
  'begin.after',
  'begun.after',
  'lanes.opened',
  'complete.before',
  'complete.after',
];

export interface CrashJob {
  readonly job: string;
  readonly out: string;
  /** The lines that a run publishes, sorted. */
  readonly expected: readonly string[];
}

export interface FileJobSize {
  readonly files: number;
  readonly rows: number;
  readonly channel: number;
}

/** `limit` rows a second: 1,000 give one lane a file every 40 ms, and with it an epoch. */
export function fileJob(
  ws: Workspace,
  writer: Readonly<Record<string, unknown>> = {},
  limit = 1000,
  { files = 8, rows = 40, channel = 1 }: Partial<FileJobSize> = {},
): CrashJob {
  const expected: string[] = [];
  for (const f of FILES.slice(0, files)) {
    let csv = 'id,text,n\n';
    for (let i = 1; i <= rows; i++) {
      const text = TEXTS[i % TEXTS.length] ?? '';
      const isNull = i % 11 === 0;
      csv += `${f}${String(i)},${isNull ? '\\N' : quoted(text)},${String(i)}\n`;
      expected.push(JSON.stringify({ id: `${f}${String(i)}`, text: isNull ? null : text, n: i }));
    }
    ws.write(`in/${f}.csv`, csv);
  }
  const job = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'filereader',
            parameter: {
              path: 'in',
              fileType: 'csv',
              isFirstLineHeader: true,
              nullFormat: '\\N',
              column: [{ name: 'id' }, { name: 'text' }, { name: 'n', type: 'bigint' }],
            },
          },
          writer: {
            name: 'filewriter',
            parameter: { path: 'out', fileType: 'json', rollOnCheckpoint: true, ...writer },
          },
        },
      ],
      setting: { speed: { channel, record: limit }, checkpoint: { interval: 10 } },
    },
  });
  return { job, out: ws.path('out'), expected: expected.sort() };
}

/** From the next start on the job has another number of lanes, or another limit of rows a second. */
export function setSpeed(job: string, speed: { readonly channel?: number; readonly record?: number }): void {
  const j = JSON.parse(readFileSync(job, 'utf8')) as { job: { setting: { speed: object } } };
  Object.assign(j.job.setting.speed, speed);
  writeFileSync(job, JSON.stringify(j));
}

export function run(
  ws: Workspace,
  job: Pick<CrashJob, 'job'>,
  failpoint?: string,
  args: readonly string[] = [],
): Promise<SyncResult> {
  return sync(['run', job.job, '--output', 'json', ...args], {
    cwd: ws.dir,
    ...(failpoint === undefined ? {} : { failpoint }),
  });
}

export function assertKilled(r: SyncResult, failpoint: string): void {
  assert.equal(r.signal, 'SIGKILL', `${failpoint} was not reached: exit ${String(r.code)}\n${r.stderr}`);
}

/** The target holds the rows `times` times, byte for byte, and nothing else. */
export function assertExact(job: CrashJob, times = 1): void {
  const want = Array.from({ length: times }, () => job.expected).flat();
  assert.deepEqual(publishedLines(job.out), want.sort());
  assert.deepEqual(
    tree(job.out).filter((n) => n.startsWith('.')),
    [],
    'left over',
  );
}

export async function assertFinishes(ws: Workspace, job: CrashJob, context: string): Promise<SyncResult> {
  const r = await run(ws, job);
  assert.equal(r.code, 0, `${context}: exit ${String(r.code)}\n${r.stderr}`);
  assert.equal(r.summary?.state, 'finished');
  return r;
}

/**
 * A start stops at a point with its lock given back, `meanwhile` runs beside it, and then it wakes: the run is no longer its
 * own, which it must say.
 */
export async function zombieAt(
  ws: Workspace,
  job: Pick<CrashJob, 'job'>,
  point: string,
  meanwhile: () => Promise<void>,
): Promise<SyncResult> {
  const failpoint = `lock:release,${point}=stop`;
  const zombie = startSync(['run', job.job, '--output', 'json'], { cwd: ws.dir, failpoint });
  const pid = zombie.child.pid ?? 0;
  try {
    await until(`the process stops at ${point}`, () => isStopped(pid) || zombie.child.exitCode !== null);
    assert.equal(zombie.child.exitCode, null, `${point} was not reached`);
    await meanwhile();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const r = await zombie.done;
  assert.equal(r.code, 4, `the zombie ended with ${String(r.code)}\n${r.stderr}`);
  return r;
}

/** Runs tasks, two at a time: the machine of CI has two cores. */
export function inPairs<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  return atOnce(2, items, task);
}

/** Runs tasks, `n` at a time; more than there are cores where they mostly wait. */
export async function atOnce<T>(n: number, items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: n }, worker));
}
