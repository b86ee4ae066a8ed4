import assert from 'node:assert/strict';
import type {
  Committer,
  JsonValue,
  LaneWriter,
  Prepared,
  PrepareHint,
  RecoverAnswer,
  RunIdentity,
  RunRecord,
  Writer,
} from '../plugin-api/index.js';
import { testLane, testRun } from './context.js';
import type { WriterEnv } from './env.js';
import type { WriterTarget } from './harness.js';
import { plainBatch } from './sample-rows.js';

const never = new AbortController().signal;

/** One start of a run against a target, as the engine would make it. */
export interface Start {
  readonly run: RunIdentity;
  readonly writer: Writer;
  readonly committer: Committer;
  lane(n?: number, lanes?: number, restored?: JsonValue | null): Promise<LaneWriter>;
}

export async function start(env: WriterEnv, target: WriterTarget, run: RunIdentity = testRun()): Promise<Start> {
  const writer = await env.writer(target);
  if (run.attempt === 1) await writer.begin(run);
  return {
    run,
    writer,
    get committer() {
      assert.ok(writer.committer, 'a writer that claims exactly-once needs a committer');
      return writer.committer;
    },
    async lane(n = 0, lanes = 1, restored = null) {
      const lane = await writer.openLane(testLane(run, n, lanes), restored);
      env.defer(async () => lane[Symbol.asyncDispose]());
      return lane;
    },
  };
}

/** The next start of the same run, as another process. */
export function restart(env: WriterEnv, target: WriterTarget, before: Start): Promise<Start> {
  return start(env, target, { ...before.run, attempt: before.run.attempt + 1 });
}

/** Writes rows with these ids; refused rows are an error. */
export async function writeIds(lane: LaneWriter, ids: readonly number[]): Promise<void> {
  const { rejected } = await lane.write(plainBatch(ids), never);
  assert.deepEqual(rejected ?? [], [], 'good rows were rejected');
}

/** Prepares, and takes what comes back through JSON as a checkpoint does. */
export async function prepare(lane: LaneWriter, epoch: number, hint?: PrepareHint): Promise<Prepared> {
  const p = await (hint === undefined ? lane.prepare(epoch) : lane.prepare(epoch, hint));
  assert.deepEqual(p.rejected ?? [], [], 'good rows were rejected');
  const plain: unknown = JSON.parse(JSON.stringify({ committables: p.committables, state: p.state }));
  assert.deepEqual(plain, { committables: p.committables, state: p.state }, 'what prepare gives is not plain JSON');
  return { ...p, ...plain };
}

/** Ids of the committed rows, sorted. */
export async function committedIds(target: WriterTarget): Promise<readonly number[]> {
  assert.ok(target.readBack, 'the harness needs readBack');
  const rows = await target.readBack();
  return rows.map((r) => Number(r['id'])).sort((a, b) => a - b);
}

export async function recoverOne(s: Start, p: Prepared): Promise<RecoverAnswer> {
  const answers = await s.committer.recover(s.run, p.committables);
  assert.equal(answers.length, p.committables.length, 'one answer a committable');
  assert.ok(answers.length > 0, 'prepare gave no committable for rows that were written');
  assert.equal(new Set(answers).size, 1, `the pieces of one epoch have different fates: ${answers.join(', ')}`);
  return answers[0] ?? 'unknown';
}

/** What recovery must answer for an epoch that was prepared and not committed. */
export function expectedAnswer(env: WriterEnv): RecoverAnswer {
  return env.harness.prepared === 'survive' ? 'committed' : 'lost';
}

export function recordOf(run: RunIdentity, lanes = 1): RunRecord {
  return { runId: run.runId, attempts: Array.from({ length: run.attempt }, (_, i) => i + 1), lanes, givenUp: false };
}
