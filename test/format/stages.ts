/**
 * The stages that a job is stopped at to look at its state folder. Each is reached through the real command line, by
 * kills at numbered steps and never by time: a rate of a byte a second makes each start read one batch and no more.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sync, type SyncResult } from '../support/sync.js';
import type { Workspace } from '../support/workspace.js';
import { documentOf, JOB_ID, putFixture, runFolder } from './stored.js';

/** Name, content, and the second it was changed in: a split says it, so that it must be the same again. */
export const SOURCES = [
  ['a.csv', 'id,n\na1,one\na2,2\na3,three\na4,4\na5,5\n', 1_700_000_001],
  ['b.csv', 'id,n\nb1,1\nb2,\\N\n', 1_700_000_002],
] as const;

/** What a run publishes of them, sorted. */
export const ROWS = [
  '{"id":"a2","n":2}',
  '{"id":"a4","n":4}',
  '{"id":"a5","n":5}',
  '{"id":"b1","n":1}',
  '{"id":"b2","n":null}',
] as const;
/** The rejected rows, sorted. */
export const DIRTY = ['a1,one', 'a3,three'] as const;

/** ms since 1970: what a stored stream job goes on from. */
export const BASE_TIME = 1_700_000_000_000;
const BASE_TEXT = '2023-11-14 22:13:20.000000';
export const STREAM_ROWS = [
  `{"id":1,"s":"lit","t":"${BASE_TEXT}"}`,
  '{"id":2,"s":"lit","t":"2023-11-14 22:13:20.001000"}',
  '{"id":3,"s":"lit","t":"2023-11-14 22:13:20.002000"}',
  `{"id":4,"s":"lit","t":"${BASE_TEXT}"}`,
  '{"id":5,"s":"lit","t":"2023-11-14 22:13:20.001000"}',
] as const;

interface Pace {
  /** One batch a start: all after it wait far longer than a test lasts. */
  readonly slow: boolean;
  readonly channel: number;
  readonly errorLimit: number;
}
const QUICK: Pace = { slow: false, channel: 1, errorLimit: 5 };
const SLOW: Pace = { ...QUICK, slow: true };

const WRITER = { name: 'filewriter', parameter: { path: 'out', fileType: 'json', rollOnCheckpoint: true } };

/** Its files stay open over checkpoints. */
const KEEPING = { ...WRITER, parameter: { path: 'out', fileType: 'json', rollInterval: 0, inactivityInterval: 0 } };

function setting(p: Pace): object {
  return {
    jobId: JOB_ID,
    errorLimit: { record: p.errorLimit },
    speed: { channel: p.channel, ...(p.slow ? { bytes: 1 } : {}) },
    checkpoint: { interval: p.slow ? 20 : 3_600_000 },
  };
}

function fileJob(p: Pace): object {
  const column = [{ name: 'id' }, { name: 'n', type: 'bigint' }];
  const parameter = { path: 'in', fileType: 'csv', isFirstLineHeader: true, column };
  return { job: { content: [{ reader: { name: 'filereader', parameter }, writer: WRITER }], setting: setting(p) } };
}

/** `a.csv` is cut into parts, as far as there are channels at the start. */
function rangesJob(p: Pace): object {
  const column = [{ name: 'id' }, { name: 'n', type: 'bigint' }];
  const parameter = { path: 'in', fileType: 'csv', isFirstLineHeader: true, splitSize: 16, column };
  return { job: { content: [{ reader: { name: 'filereader', parameter }, writer: KEEPING }], setting: setting(p) } };
}

function streamJob(p: Pace): object {
  const column = [
    { name: 'id', type: 'id' },
    { name: 's', type: 'string', value: 'lit' },
    { name: 't', type: 'datetime' },
  ];
  const reader = { name: 'streamreader', parameter: { column, sliceRecordCount: [3, 2] } };
  return { job: { content: [{ reader, writer: WRITER }], setting: setting(p) } };
}

/** Makes the source files, as they were when the fixtures were written. */
export function putSources(ws: Workspace): void {
  for (const [name, text, mtime] of SOURCES) utimesSync(ws.write(`in/${name}`, text), mtime, mtime);
}

export function start(ws: Workspace, job: object, failpoint?: string, args: readonly string[] = []) {
  const at = { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) };
  return sync(['run', ws.job(job), '--output', 'json', ...args], at);
}

async function killed(ws: Workspace, job: object, failpoint: string, ...args: readonly string[]): Promise<void> {
  const r = await start(ws, job, failpoint, args);
  assert.equal(r.signal, 'SIGKILL', `${failpoint} was not reached: exit ${String(r.code)}\n${r.stderr}`);
}

async function failed(ws: Workspace, job: object, code: string): Promise<void> {
  const r = await start(ws, job);
  assert.equal(r.summary?.error?.code, code, r.stderr);
}

export function state(ws: Workspace, ...args: readonly string[]): Promise<SyncResult> {
  return sync(['state', ...args, '--output', 'json'], { cwd: ws.dir });
}

/** The first epoch is committed, with a published dirty row; the second start died between checkpoint and commit. */
async function undecided(ws: Workspace): Promise<void> {
  putSources(ws);
  await killed(ws, fileJob(SLOW), 'prune.after');
  await killed(ws, fileJob(SLOW), 'ckpt.after');
}

async function resolved(ws: Workspace): Promise<void> {
  await undecided(ws);
  removeStaged(ws);
  await failed(ws, fileJob(SLOW), 'COMMIT_UNKNOWN');
  const r = await state(ws, 'resolve', JOB_ID, '--lane', '0', '--as', 'lost');
  assert.equal(r.code, 0, r.stderr);
}

/** Somebody takes away what was prepared: nobody can tell any more what became of it. */
export function removeStaged(ws: Workspace): void {
  const staging = readdirSync(ws.path('out')).filter((n) => n.startsWith('.syncx-'));
  assert.equal(staging.length, 1);
  const dir = ws.path('out', staging[0] ?? '');
  assert.equal(readdirSync(dir).length, 1);
  for (const n of readdirSync(dir)) rmSync(join(dir, n));
}

/** Which lane asks first for a split is nobody's to say: whether it was the one of the fixture. */
function lanesInOrder(ws: Workspace): boolean {
  const { lanes } = documentOf<{
    readonly lanes: readonly { readonly splits: readonly { readonly split: { readonly id: string } }[] }[];
  }>(join(runFolder(ws, 1), '1.ckpt'));
  return lanes.every((l, i) => l.splits.length === 1 && l.splits[0]?.split.id.endsWith(SOURCES[i]?.[0] ?? '') === true);
}

interface FirstEpoch {
  readonly planner: { readonly from: { readonly offset: number } | null };
  readonly lanes: readonly { readonly splits: readonly { readonly split: { readonly id: string } }[] }[];
}

/** Lane 0 has read the first part, and each lane got one more. Who comes first is nobody's to say. */
function partsInOrder(ws: Workspace): boolean {
  const { planner, lanes } = documentOf<FirstEpoch>(join(runFolder(ws, 1), '1.ckpt'));
  const read = lanes.map((l) => l.splits.map((s) => /^range:(\d+):/.exec(s.split.id)?.[1]).join());
  return planner.from?.offset === 31 && read.join(';') === '5;';
}

/** The last epoch has the end of its part, which may also come a moment after the last row, in the next one. */
function partEnded(ws: Workspace): boolean {
  const path = join(runFolder(ws, 1), '5.ckpt');
  if (!existsSync(path)) return false;
  const { lanes } = documentOf<{
    readonly lanes: readonly { readonly splits: readonly { readonly ended: unknown }[] }[];
  }>(path);
  return lanes.every((l) => l.splits.every((s) => s.ended !== null));
}

export interface Stage {
  /** Brings an empty workspace there. */
  readonly reach: (ws: Workspace) => Promise<void>;
  /** False: luck brought it to a like place that is not this one. */
  readonly isReached?: (ws: Workspace) => boolean;
  /** The job that goes on from there, at full speed. */
  readonly job: object;
  readonly state: 'in doubt' | 'unfinished' | 'finished';
  /** What the target holds at the end, sorted. */
  readonly rows: readonly string[];
  /** Rejected rows that are published at the end, sorted. */
  readonly dirty: readonly string[];
  readonly resumed: boolean;
}

const FILE = { job: fileJob(QUICK), rows: ROWS, dirty: DIRTY, resumed: true };

export const UNDECIDED: Stage = { ...FILE, reach: undecided, state: 'in doubt' };
/** What its epoch in doubt holds. */
export const PREPARED = '{"id":"a4","n":4}';

export const STAGES: Readonly<Record<string, Stage>> = {
  undecided: UNDECIDED,
  'taken-over': {
    ...FILE,
    state: 'unfinished',
    reach: async (ws) => {
      await undecided(ws);
      await killed(ws, fileJob(SLOW), 'takeover.after');
    },
  },
  resolved: { ...FILE, reach: resolved, state: 'in doubt' },
  lost: {
    ...FILE,
    state: 'unfinished',
    reach: async (ws) => {
      await resolved(ws);
      await killed(ws, fileJob(SLOW), 'takeover.after');
    },
  },
  // What its first epoch published stays; what it left unpublished is gone.
  'given-up': {
    ...FILE,
    state: 'unfinished',
    rows: [ROWS[0], ...ROWS],
    dirty: [DIRTY[0], ...DIRTY],
    reach: async (ws) => {
      await undecided(ws);
      await killed(ws, fileJob(SLOW), 'prune.after', '--fresh');
    },
  },
  finished: {
    ...FILE,
    state: 'finished',
    resumed: false,
    rows: [...ROWS, ...ROWS].sort(),
    dirty: [...DIRTY, ...DIRTY].sort(),
    reach: async (ws) => {
      await undecided(ws);
      const r = await start(ws, fileJob(QUICK));
      assert.equal(r.code, 0, r.stderr);
    },
  },
  'dirty-limit': {
    ...FILE,
    state: 'unfinished',
    reach: async (ws) => {
      putSources(ws);
      await failed(ws, fileJob({ ...QUICK, errorLimit: 0 }), 'DIRTY_LIMIT');
    },
  },
  'two-lanes': {
    ...FILE,
    state: 'in doubt',
    reach: async (ws) => {
      putSources(ws);
      await killed(ws, fileJob({ ...QUICK, channel: 2 }), 'ckpt.after');
    },
    isReached: lanesInOrder,
  },
  // A rejected row, a row in an open file, and in doubt: a rejected row, with that file taken over.
  'open-files': {
    ...FILE,
    job: rangesJob(QUICK),
    state: 'in doubt',
    reach: async (ws) => {
      putSources(ws);
      await killed(ws, rangesJob({ ...SLOW, channel: 2 }), 'prune.after');
      if (!partsInOrder(ws)) return;
      await killed(ws, rangesJob(SLOW), 'prune.after');
      await killed(ws, rangesJob(SLOW), 'ckpt.after');
    },
    isReached: (ws) => partsInOrder(ws) && partEnded(ws),
  },
  stream: {
    job: streamJob(QUICK),
    state: 'in doubt',
    rows: STREAM_ROWS,
    dirty: [],
    resumed: true,
    reach: async (ws) => {
      await killed(ws, streamJob(SLOW), 'ckpt.after');
    },
  },
};

/** Puts the stored state of a stage into an empty workspace. */
export function putStage(ws: Workspace, name: string): void {
  const mtimes = Object.fromEntries(SOURCES.map(([n, , mtime]) => [n, mtime]));
  putFixture(ws, name, { BASE_TIME: String(BASE_TIME), TIME: BASE_TEXT }, mtimes);
}
