/**
 * What a run of a job would do, found out by connecting to both sides and reading the state; nothing is written, made or
 * kept locked. Everything that is in the way is told at once, in the order in which a run would meet it.
 */
import { setMaxListeners } from 'node:events';
import type { JobSpec } from '../../job/job-spec.js';
import {
  reportError,
  SyncError,
  type CursorBounds,
  type Delivery,
  type Logger,
  type PlanColumn,
  type PlanProblem,
  type PlanTarget,
  type PluginContext,
  type Reader,
  type ReaderFacts,
  type Writer,
  type WriterFacts,
} from '../../plugin-api/index.js';
import { JobStore } from '../checkpoint/job-store.js';
import { parseFailpoints } from '../failpoints.js';
import { isBounded } from '../job/choose-run.js';
import { assertDelivery, pairDelivery, READ_ONCE } from '../job/delivery.js';
import { jobRound } from '../job/job-round.js';
import { keepTimes } from '../job/keep-times.js';
import { pluginCall } from '../job/plugin-call.js';
import type { RunDeps } from '../job/run-types.js';
import { laneCount } from '../lane/open-lanes.js';
import { MetricRegistry } from '../observe/metrics.js';
import { columnsAfter } from './columns-after.js';
import { listSplits, type PlannedSplits } from './list-splits.js';
import { mapColumns, type ColumnMapping } from './map-columns.js';
import { lookAtState, type Asked, type SavedState } from './saved-state.js';

export interface PartPlan {
  readonly jobId: string;
  readonly reader: string;
  readonly writer: string;
  /** True: an earlier start of this job's open round has done it; nothing else is known then. */
  readonly doneBefore: boolean;
  readonly bounded: boolean;
  readonly reads: readonly string[];
  readonly splits:
    | (PlannedSplits & {
        readonly lanes: number;
        /** Of all, as the reader estimates it; null: not known, or the run is under way. */
        readonly aboutRows: number | null;
      })
    | null;
  readonly mapping: ColumnMapping | null;
  readonly writes: readonly string[];
  readonly target: PlanTarget | null;
  readonly delivery: { readonly is: Delivery; readonly why: string | null } | null;
  readonly state: Omit<SavedState, 'restored'> | null;
  readonly warnings: readonly string[];
  readonly problems: readonly PlanProblem[];
}

export interface PlanDeps extends Asked, Pick<RunDeps, 'atClock'> {
  readonly stateRoot: string;
  /** Content entries run one after the other: what a later one reads may be what an earlier one writes. */
  readonly inOrder: boolean;
}

export async function planParts(parts: readonly [JobSpec, ...JobSpec[]], deps: PlanDeps): Promise<readonly PartPlan[]> {
  const done = await doneBefore(parts, deps);
  const plans: PartPlan[] = [];
  const refused = 'code' in done ? done : null;
  for (const [i, job] of parts.entries()) {
    if (!('code' in done) && done[i] === true) plans.push({ ...nothingOf(job), doneBefore: true });
    else {
      const plan = await planOne(job, deps);
      plans.push(i > 0 && deps.inOrder ? { ...plan, problems: plan.problems.map(maybeLater) } : plan);
    }
  }
  return refused ? plans.map((p, i) => (i === 0 ? withProblem(p, refused) : p)) : plans;
}

async function planOne(job: JobSpec, deps: PlanDeps): Promise<PartPlan> {
  let kept = job;
  try {
    kept = await keepTimes(storeOf(deps.stateRoot, job), job, deps);
  } catch {
    // What is wrong with the state is told below, where it is looked at.
  }
  return new PartPlanner(kept, deps).plan();
}

/** Which entries a start would not run again; or why it would be refused before it comes to any. */
async function doneBefore(
  parts: readonly [JobSpec, ...JobSpec[]],
  deps: PlanDeps,
): Promise<readonly boolean[] | PlanProblem> {
  if (parts.length === 1 || deps.fresh) return [];
  try {
    return await jobRound(parts, deps).look();
  } catch (e) {
    return problemOf(e);
  }
}

/** What the part does not tell of itself. */
function withProblem(plan: PartPlan, p: PlanProblem): PartPlan {
  return { ...plan, problems: distinct([p, ...plan.problems]) };
}

function problemOf(e: unknown): PlanProblem {
  const { code, message, place, hint } = reportError(e);
  const more = { ...(place === undefined ? {} : { place }), ...(hint === undefined ? {} : { hint }) };
  return { level: 'error', code, message, ...more };
}

function maybeLater(p: PlanProblem): PlanProblem {
  if (p.code !== 'SOURCE_MISSING') return p;
  return { ...p, level: 'warning', message: `${p.message}: unless an entry before this one writes it` };
}

function storeOf(stateRoot: string, job: JobSpec): JobStore {
  return new JobStore(stateRoot, job.jobId, parseFailpoints(undefined));
}

function nothingOf(job: JobSpec): PartPlan {
  return {
    jobId: job.jobId,
    reader: job.reader.definition.name,
    writer: job.writer.definition.name,
    doneBefore: false,
    bounded: isBounded(job),
    reads: [],
    splits: null,
    mapping: null,
    writes: [],
    target: null,
    delivery: null,
    state: null,
    warnings: [],
    problems: [],
  };
}

class PartPlanner {
  readonly #job: JobSpec;
  readonly #deps: PlanDeps;
  readonly #warnings: string[] = [];
  readonly #problems: PlanProblem[] = [];
  readonly #log: Logger;

  constructor(job: JobSpec, deps: PlanDeps) {
    this.#job = job;
    this.#deps = deps;
    const warn = (_: unknown, message: string): void => void this.#warnings.push(message);
    this.#log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  }

  async plan(): Promise<PartPlan> {
    const ended = new AbortController();
    const { signal } = ended;
    setMaxListeners(0, signal);
    const context: PluginContext = {
      log: this.#log,
      metrics: new MetricRegistry(),
      signal,
      failpoint: () => undefined,
      plansOnly: true,
    };
    const { reader: r, writer: w } = this.#job;
    const reader = await this.#try(() => pluginCall('SOURCE_IO', () => r.definition.create(r.options, context)));
    const writer = await this.#try(() => pluginCall('SINK_IO', () => w.definition.create(w.options, context)));
    try {
      return await this.#withBoth(reader, writer, signal);
    } finally {
      ended.abort();
      await this.#try(async () => reader?.close?.());
      await this.#try(async () => writer?.close?.());
    }
  }

  /** What fails is a problem of the plan; the rest is told all the same. */
  async #try<T>(f: () => Promise<T>): Promise<T | null> {
    try {
      return await f();
    } catch (e) {
      this.#problems.push(problemOf(e));
      return null;
    }
  }

  async #withBoth(reader: Reader | null, writer: Writer | null, signal: AbortSignal): Promise<PartPlan> {
    const job = this.#job;
    const deps = this.#deps;
    const jobs = storeOf(deps.stateRoot, job);
    if (reader && writer)
      await this.#try(() =>
        Promise.resolve().then(() => {
          assertDelivery(job, reader, writer);
        }),
      );
    const state = reader && writer && (await this.#try(() => lookAtState(jobs, job, reader, writer, deps, this.#log)));
    const splits = reader && (await this.#splits(reader, writer, state, jobs, signal));
    const source =
      (await this.#factsOf<ReaderFacts>('SOURCE_IO', reader?.explain && (() => reader.explain?.()))) ?? null;
    const read = source?.columns ?? named(job.reader.definition.columns?.(job.reader.options));
    const from = await this.#transformed(read);
    const sink =
      (await this.#factsOf<WriterFacts>(
        'SINK_IO',
        writer?.explain && (() => writer.explain?.(from, state?.runId ?? null)),
      )) ?? null;
    const mapping = mapColumns(from, {
      wanted: job.writer.definition.columns?.(job.writer.options) ?? null,
      target: sink?.columns ?? null,
      losses: sink?.losses ?? [],
    });
    this.#problems.push(...(source?.problems ?? []), ...mapping.problems, ...(sink?.problems ?? []));
    return {
      ...nothingOf(job),
      reads: source?.reads ?? [],
      splits: splits && {
        ...splits,
        aboutRows: state?.restored ? null : (source?.rows ?? null),
        bytes: splits.bytes ?? (state?.restored ? null : (source?.bytes ?? null)),
      },
      mapping,
      writes: sink?.writes ?? [],
      target: sink?.target ?? null,
      delivery: reader && writer && deliveryOf(reader, writer, sink),
      state: state && { is: state.is, text: state.text, runId: state.runId, epoch: state.epoch },
      warnings: [...new Set(this.#warnings)],
      problems: distinct(this.#problems),
    };
  }

  /** What the steps of the job make of the reader's columns; null: not known. */
  async #transformed(columns: readonly PlanColumn[] | null): Promise<readonly PlanColumn[] | null> {
    return columns && this.#try(() => columnsAfter(this.#job.transform, columns));
  }

  async #splits(
    reader: Reader,
    writer: Writer | null,
    state: SavedState | null,
    jobs: JobStore,
    signal: AbortSignal,
  ): Promise<PartPlan['splits']> {
    const { channel } = this.#job.settings;
    const restored = state?.restored ?? null;
    const open = (restored?.open ?? []).map((o) => o.split);
    return this.#try(() =>
      pluginCall('SOURCE_IO', async () => {
        const bounds = this.#job.cursor
          ? await boundsOf(reader, state?.runId ?? null, jobs, this.#job.runName)
          : undefined;
        const planner = await reader.planner(restored?.planner ?? null, channel, bounds);
        for (const o of restored?.replay.reopened ?? []) planner.reopen(o.split, o.position);
        if (restored && restored.replay.committed.length > 0) planner.committed(restored.replay.committed);
        const lanes = writer ? laneCount(channel, planner, open.length, writer) : channel;
        return { ...(await listSplits(reader, planner, open, signal)), lanes, aboutRows: null };
      }),
    );
  }

  /** A plan that cannot say everything says less: a failing `explain` is a problem, an absent one is not. */
  async #factsOf<T>(code: 'SOURCE_IO' | 'SINK_IO', ask: (() => Promise<T> | undefined) | undefined): Promise<T | null> {
    if (!ask) return null;
    return this.#try(() => pluginCall(code, async () => (await ask()) ?? null));
  }
}

/** Of the run that goes on, or of the one that would begin. */
async function boundsOf(
  reader: Reader,
  resumed: string | null,
  jobs: JobStore,
  runName: string,
): Promise<CursorBounds | undefined> {
  if (resumed !== null) return (await jobs.run(runName, resumed).info()).cursor;
  return reader.bounds?.(await jobs.cursor());
}

function named(columns: readonly string[] | null | undefined): readonly PlanColumn[] | null {
  return columns?.map((name) => ({ name, type: null })) ?? null;
}

function deliveryOf(reader: Reader, writer: Writer, sink: WriterFacts | null): PartPlan['delivery'] {
  const is = pairDelivery(reader, writer);
  if (!reader.replayable) return { is, why: READ_ONCE };
  if (is === 'exactly-once') return { is, why: null };
  return { is, why: sink?.whyDelivery ?? 'the writer promises no more' };
}

/** A side may meet the same trouble in its planner and in what it explains. */
function distinct(problems: readonly PlanProblem[]): readonly PlanProblem[] {
  const seen = new Set<string>();
  return problems.filter((p) => {
    const key = JSON.stringify([p.code, p.message, p.place]);
    return !seen.has(key) && seen.add(key);
  });
}

/** The error that a run would end with; null: it would begin. */
export function planError(plans: readonly PartPlan[]): SyncError | null {
  const first = plans.flatMap((p) => p.problems).find((p) => p.level === 'error');
  return first ? new SyncError(first.code, first.message, first) : null;
}
