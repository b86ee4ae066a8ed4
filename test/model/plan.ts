/** The trouble of one start of the model test. All from the schedule's seed. */
import type { JobSettings } from '../../src/job/job-spec.js';
import type { Dice } from './dice.js';

/** Something that happens at a call that the engine awaits. */
export interface Act {
  /** The call's step; null: any. */
  readonly step: string | null;
  readonly when: 'before' | 'after';
  /** At which call of that kind, from 1. */
  readonly hit: number;
  /**
   * throw: the call fails. drop: the start stands still, in all of its calls, as if its process had stopped; it goes on
   * later, as a zombie. stop: the user stops the job. late: late commits may land.
   */
  readonly do: 'throw' | 'drop' | 'stop' | 'late';
}

/** When a dropped start goes on: at that many calls of the next start, or, where null, once the job is done. */
export interface Waking {
  readonly at: number | null;
  /** The next start stands still meanwhile, at that call. */
  readonly through: boolean;
}

export interface StartPlan {
  readonly channel: number;
  readonly restart: JobSettings['restart'];
  /** Barriers are withdrawn after so many ms; null: they have time. */
  readonly barrierMs: number | null;
  readonly failpoint: string | null;
  readonly acts: readonly Act[];
  readonly waking: Waking;
}

/** Every step of the protocol where the engine may fail by itself. */
const POINTS = [
  ...['run.chosen', 'attempt.before', 'attempt.after', 'recover.before', 'recover.after', 'recover.outcome'],
  ...['takeover.before', 'takeover.written', 'takeover.after', 'sweep.before', 'sweep.after', 'planner.after'],
  ...['begin.before', 'begin.after', 'begun.after', 'lanes.opened', 'write.before', 'write.after', 'barrier.passed'],
  ...['prepare.before', 'prepare.after', 'ckpt.before', 'ckpt.written', 'ckpt.after', 'commit.before', 'commit.data'],
  ...['commit.after', 'outcome.before', 'outcome.after', 'alter.before', 'alter.after', 'committed.after'],
  ...['prune.after', 'complete.before', 'complete.after', 'finished.after', 'scripted.prepared'],
  ...['scripted.committed', 'scripted.recovered'],
] as const;

/** Those where an epoch is left in doubt, or just is not. */
const DOUBT = [
  ...['prepare.after', 'ckpt.written', 'ckpt.after', 'commit.before', 'commit.data', 'commit.after'],
  ...['scripted.committed', 'outcome.before', 'recover.after', 'recover.outcome', 'takeover.written'],
] as const;

/** Calls around which the order of two processes matters. */
const CALLS = [
  ...['state.setCurrent', 'state.createAttempt', 'state.newest', 'state.outcome', 'state.assertNewest'],
  ...['state.assertNewest', 'state.putCheckpoint', 'state.putCheckpoint', 'state.putCheckpoint', 'state.putOutcome'],
  ...['state.prune', 'state.put', 'committer.recover', 'committer.sweep', 'committer.highWater', 'reader.planner'],
  ...['writer.begin', 'writer.openLane', 'writer.complete', 'planner.next', 'item', 'lane.write', 'lane.prepare'],
  ...['lane.prepare', 'lane.commit', 'lane.commit', 'lane.commit', 'lane.abort', 'lane.schema', 'reader.checkpointed'],
] as const;

function actOf(d: Dice, what: Act['do']): Act {
  const any = d.chance(0.3);
  return {
    step: any ? null : d.of(CALLS),
    when: d.of(['before', 'after']),
    hit: any ? d.int(1, 150) : d.int(1, 5),
    do: what,
  };
}

function failpointOf(d: Dice): string {
  const step = d.chance(0.5) ? d.of(DOUBT) : d.of(POINTS);
  return `${step}${d.chance(0.2) ? `@${String(d.int(0, 2))}` : ''}#${String(d.int(1, 4))}=throw`;
}

export function planOf(d: Dice, calm: boolean): StartPlan {
  const channel = d.of([1, 2, 2, 3, 8]);
  if (calm) {
    const none = { restart: { strategy: 'none' }, barrierMs: null, failpoint: null, acts: [] } as const;
    return { channel, ...none, waking: { at: null, through: false } };
  }
  const acts: Act[] = [];
  if (d.chance(0.35)) acts.push(actOf(d, 'throw'));
  if (d.chance(0.3)) acts.push(actOf(d, 'drop'));
  if (d.chance(0.12)) acts.push(actOf(d, 'stop'));
  if (d.chance(0.2)) acts.push(actOf(d, 'late'));
  return {
    channel,
    restart: d.chance(0.3)
      ? { strategy: 'fixed-delay', attempts: d.int(1, 3), delayMs: d.int(0, 5) }
      : { strategy: 'none' },
    barrierMs: d.chance(0.1) ? d.int(3, 15) : null,
    failpoint: d.chance(0.5) ? failpointOf(d) : null,
    acts,
    waking: { at: d.chance(0.75) ? d.int(1, 80) : null, through: d.chance(0.5) },
  };
}
