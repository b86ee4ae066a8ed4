/**
 * Decides what became of the newest checkpoint, then seals the slot after it. docs/specs/checkpoint-protocol.md, "Restart".
 */
import {
  SyncError,
  toSyncError,
  type Committable,
  type JsonValue,
  type Logger,
  type RecoverAnswer,
  type RunIdentity,
  type Writer,
} from '../../plugin-api/index.js';
import { dropDirty, publishDirty } from '../dirty/dirty-rows.js';
import type { Failpoints } from '../failpoints.js';
import { pluginCall, readingSaved } from '../job/plugin-call.js';
import type { Counters } from '../job/run-types.js';
import { commitUnknown, type LaneInDoubt } from './doubt.js';
import {
  addCounters,
  NO_COUNTERS,
  STATE_FORMAT,
  type Checkpoint,
  type DirtyFile,
  type LaneRecord,
  type OpenSplit,
  type Outcome,
  type PlannerReplay,
} from './format.js';
import type { RunStore } from './run-store.js';

/** Where a start goes on from. */
export interface Restored {
  /** The newest epoch number that is taken. */
  readonly epoch: number;
  /** When its last checkpoint was made (ms since 1970); null: there was none. */
  readonly at: number | null;
  readonly planner: JsonValue;
  readonly replay: PlannerReplay;
  readonly open: readonly OpenSplit[];
  readonly base: Counters;
  /** Committed epochs with data. */
  readonly epochs: number;
  /** By lane of the earlier attempt. */
  readonly writerStates: readonly (JsonValue | null)[];
  /** Nothing is left to read. */
  readonly end: boolean;
}

const NOTHING: Restored = {
  epoch: 0,
  at: null,
  planner: null,
  replay: { committed: [], reopened: [] },
  open: [],
  base: NO_COUNTERS,
  epochs: 0,
  writerStates: [],
  end: false,
};

export interface RecoverParts {
  readonly store: RunStore;
  readonly run: RunIdentity;
  readonly writer: Writer;
  readonly fingerprint: string;
  /** Format number of the reader's positions. */
  readonly positions: number;
  readonly allowReplay: boolean;
  readonly points: Failpoints;
  readonly log: Logger;
}

/**
 * @throws SyncError COMMIT_UNKNOWN naming the lanes, STATE_BEHIND, STATE_CORRUPT, FENCED.
 */
export async function recoverRun(p: RecoverParts): Promise<Restored> {
  const { store, run, points } = p;
  for (;;) {
    const c = await store.newest();
    if (c) assertPositions(c, p);
    points.hit('recover.before');
    const highWater =
      run.attempt === 1
        ? 0
        : await pluginCall('SINK_IO', async () => (await p.writer.committer?.highWater(run.runId)) ?? 0);
    if (highWater > (c?.epoch ?? 0) && !p.allowReplay) {
      // A newer start may have moved on since this one looked: then its state is not behind, it is another's.
      await store.assertNewest(run.attempt);
      throw stateBehind(store, highWater, c?.epoch ?? 0);
    }
    const outcome = c?.kind === 'epoch' ? ((await store.outcome(c.epoch)) ?? (await decide(p, c))) : null;
    const restored = c ? settle(c, outcome) : NOTHING;
    // No earlier attempt, no zombie: nothing to seal.
    if (run.attempt === 1) return restored;
    const epoch = Math.max(restored.epoch, highWater) + 1;
    points.hit('takeover.before');
    await store.assertNewest(run.attempt);
    if (await store.putCheckpoint(takeover(p, restored, epoch))) {
      points.hit('takeover.after');
      return { ...restored, epoch };
    }
    // A zombie made its epoch durable first. It is part of the run now: decide it like any other.
    p.log.warn({ epoch }, 'an earlier start finished a checkpoint in the meantime; reading it');
  }
}

export function stateBehind(store: RunStore, highWater: number, known: number): SyncError {
  return new SyncError(
    'STATE_BEHIND',
    `the target holds epoch ${String(highWater)} of run ${store.runId}; the state folder knows up to ${String(known)}`,
    {
      place: store.dir,
      hint: 'The state folder is an older copy. Restore the newest one, or accept doubled rows with --allow-replay.',
    },
  );
}

/**
 * Positions are the reader's own, and a form that it misreads is worse than one that it does not know. Those of an older
 * format are no matter yet: whoever raises a reader's number brings the way to upgrade them, here, before a takeover
 * hands them on.
 */
export function assertPositions(c: Checkpoint, p: Pick<RecoverParts, 'positions' | 'store'>): void {
  const { positions = 1 } = c;
  if (positions === p.positions) return;
  const [mine, theirs] = [String(p.positions), String(positions)];
  throw new SyncError('STATE_CORRUPT', `the reader's saved positions have format ${theirs}; this version has ${mine}`, {
    place: p.store.checkpointPath(c.epoch),
    hint: `Run the job with the ${positions > p.positions ? 'newer' : 'older'} version that wrote it.`,
  });
}

async function decide(p: RecoverParts, c: Checkpoint): Promise<Outcome> {
  const { store, run, writer, points, log } = p;
  const lanes: Record<string, 'committed' | 'lost'> = {};
  const open: LaneInDoubt[] = [];
  let by: Outcome['by'] = 'recover';
  for (const rec of c.lanes) {
    const answers = await readingSaved(store.checkpointPath(c.epoch), () => ask(writer, run, rec.committables));
    const found = verdictOf(answers);
    const verdict = found ?? (await store.resolution(c.epoch, rec.lane));
    if (verdict && !found) by = 'resolve';
    if (verdict) lanes[rec.lane] = verdict;
    else open.push({ lane: rec.lane, committables: rec.committables, answers });
  }
  points.hit('recover.after');
  if (open.length > 0) throw commitUnknown(c.epoch, run.runId, store.dir, open);
  for (const rec of c.lanes) {
    if (rec.dirty) await settleDirty(rec.dirty, lanes[rec.lane] === 'committed', log);
  }
  const outcome: Outcome = { format: STATE_FORMAT, epoch: c.epoch, attempt: run.attempt, lanes, by };
  await store.putOutcome(outcome);
  points.hit('recover.outcome');
  log.info({ epoch: c.epoch, lanes }, `epoch ${String(c.epoch)} was in doubt and is settled`);
  return outcome;
}

/** Dirty rows explain the counters; without the file those still hold, so a file that somebody took stops nothing. */
async function settleDirty(f: DirtyFile, committed: boolean, log: Logger): Promise<void> {
  if (!committed) return dropDirty(f);
  try {
    await publishDirty(f);
  } catch (e) {
    if (toSyncError(e).code !== 'SINK_CONFLICT') throw e;
    log.warn({ file: f.target, rows: f.rows }, `${toSyncError(e).message}: ${f.target}`);
  }
}

async function ask(
  writer: Writer,
  run: RunIdentity,
  committables: readonly Committable[],
): Promise<readonly RecoverAnswer[]> {
  if (committables.length === 0) return [];
  if (!writer.committer) throw new SyncError('PLUGIN_BROKEN', 'the writer prepares committables and has no committer');
  const { committer } = writer;
  const answers = await pluginCall('SINK_IO', () => committer.recover(run, committables));
  if (answers.length !== committables.length) {
    throw new SyncError(
      'PLUGIN_BROKEN',
      `the committer gave ${String(answers.length)} answers to ${String(committables.length)} questions`,
    );
  }
  return answers;
}

/** Null: not for the engine to say. A lane's epoch is one transaction to the user: half of it lost is nobody's guess. */
function verdictOf(answers: readonly RecoverAnswer[]): 'committed' | 'lost' | null {
  if (answers.every((a) => a === 'committed')) return 'committed';
  return answers.every((a) => a === 'lost') ? 'lost' : null;
}

/** The state after a decided checkpoint: a lost lane's splits, writer state and counters go back to `from`. */
export function settle(c: Checkpoint, outcome: Outcome | null): Restored {
  const open = new Map(c.open.map((o) => [o.split.id, o]));
  const committed: string[] = [...(c.kind === 'takeover' ? c.replay.committed : [])];
  const reopened: OpenSplit[] = [...(c.kind === 'takeover' ? c.replay.reopened : [])];
  const states: (JsonValue | null)[] = [];
  const counters: Counters[] = [c.base];
  let anyCommitted = false;
  for (const rec of c.lanes) {
    const lost = outcome?.lanes[rec.lane] === 'lost';
    states[rec.lane] = lost ? rec.writer.from : rec.writer.to;
    counters.push(lost ? rec.counters.from : rec.counters.to);
    if (!lost) anyCommitted = true;
    for (const s of rec.splits) {
      if (lost) {
        const again = { split: s.split, position: s.from };
        open.set(s.split.id, again);
        reopened.push(again);
      } else if (s.ended) committed.push(s.split.id);
    }
  }
  return {
    epoch: c.epoch,
    at: c.at,
    planner: c.planner,
    replay: { committed, reopened },
    open: [...open.values()],
    base: addCounters(...counters),
    epochs: c.epochs + (c.kind === 'epoch' && anyCommitted ? 1 : 0),
    writerStates: states,
    end: c.end && reopened.length === 0,
  };
}

function takeover(p: RecoverParts, r: Restored, epoch: number): Checkpoint {
  const lanes = r.writerStates.map((state, lane): LaneRecord => ({
    lane,
    splits: [],
    writer: { from: state, to: state },
    counters: { from: NO_COUNTERS, to: NO_COUNTERS },
    committables: [],
    dirty: null,
  }));
  return {
    format: STATE_FORMAT,
    kind: 'takeover',
    runId: p.run.runId,
    attempt: p.run.attempt,
    epoch,
    // Not now: it is the age of what was done last that resumeMaxAge looks at.
    at: r.at ?? Date.now(),
    fingerprint: p.fingerprint,
    positions: p.positions,
    planner: r.planner,
    replay: r.replay,
    open: r.open,
    base: r.base,
    epochs: r.epochs,
    lanes,
    end: r.end,
  };
}
