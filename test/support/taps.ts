/**
 * Puts a test between the engine and everything that it awaits: the state store and the plugins. So a test can fail,
 * hold or watch any of these calls, without a line for it in the engine.
 */
import { JobStore } from '../../src/core/checkpoint/job-store.js';
import { RunStore } from '../../src/core/checkpoint/run-store.js';
import type { JobSpec } from '../../src/job/job-spec.js';
import type { Committer, LaneReader, LaneWriter, Reader, SplitPlanner, Writer } from '../../src/plugin-api/index.js';

export interface Call {
  /** `state.<method>`, `reader.<method>`, `planner.next`, `item` (the reader gave one), `lane.<method>`, `writer.<method>`, `committer.<method>`. */
  readonly step: string;
  /** Null: the coordinator's. */
  readonly lane: number | null;
  readonly args: readonly unknown[];
  /** The store that is called; null: a plugin. */
  readonly store: JobStore | RunStore | null;
}

export interface Taps {
  /** Stands around every call: must run `effect`, or fail instead. */
  around<T>(call: Call, effect: () => Promise<T>): Promise<T>;
}

const JOB_STEPS = ['open', 'stateId', 'current', 'setCurrent', 'pruneRuns'] as const;
const RUN_STEPS = [
  ...['createRun', 'createAttempt', 'assertNewest', 'putCheckpoint', 'putOutcome', 'outcome', 'newest', 'put', 'has'],
  ...['prune', 'record', 'resolution', 'info'],
] as const;

const owners = new WeakMap<object, Taps>();
/** The start that is being made: its job store is opened in the same turn. */
let making: Taps | null = null;

function tapMethod(proto: object, name: string): void {
  const original = Reflect.get(proto, name) as (...args: unknown[]) => Promise<unknown>;
  Reflect.set(proto, name, function (this: JobStore | RunStore, ...args: unknown[]): Promise<unknown> {
    const taps = owners.get(this);
    const effect = (): Promise<unknown> => Reflect.apply(original, this, args);
    return taps ? taps.around({ step: `state.${name}`, lane: null, args, store: this }, effect) : effect();
  });
}

let installed = false;

function install(): void {
  if (installed) return;
  installed = true;
  for (const name of JOB_STEPS) tapMethod(JobStore.prototype, name);
  for (const name of RUN_STEPS) tapMethod(RunStore.prototype, name);
  const { open, run } = JobStore.prototype;
  Reflect.set(JobStore.prototype, 'open', function (this: JobStore): Promise<void> {
    if (making) owners.set(this, making);
    return Reflect.apply(open, this, []);
  });
  Reflect.set(JobStore.prototype, 'run', function (this: JobStore, runName: string, runId: string): RunStore {
    const made = Reflect.apply(run, this, [runName, runId]);
    const taps = owners.get(this);
    if (taps) owners.set(made, taps);
    return made;
  });
}

/** Runs a start of a job with taps in all of its calls. `start` must call `runJob` before it awaits anything. */
export function tapped<T>(taps: Taps, start: () => Promise<T>): Promise<T> {
  install();
  making = taps;
  try {
    return start();
  } finally {
    making = null;
  }
}

/** The job with taps in its plugins. */
export function tapPlugins(spec: JobSpec, taps: Taps): JobSpec {
  const { reader, writer } = spec;
  return {
    ...spec,
    reader: {
      ...reader,
      definition: {
        ...reader.definition,
        create: async (o, c) => tapReader(await reader.definition.create(o, c), taps),
      },
    },
    writer: {
      ...writer,
      definition: {
        ...writer.definition,
        create: async (o, c) => tapWriter(await writer.definition.create(o, c), taps),
      },
    },
  };
}

const call = (step: string, lane: number | null, ...args: readonly unknown[]): Call => ({
  step,
  lane,
  args,
  store: null,
});

function tapReader(r: Reader, taps: Taps): Reader {
  return {
    positions: r.positions,
    replayable: r.replayable,
    planner: async (saved) => tapPlanner(await taps.around(call('reader.planner', null), () => r.planner(saved)), taps),
    shared: () => r.shared?.() ?? null,
    openLane: async (lane, shared) => {
      const made = await taps.around(call('reader.openLane', lane.lane), () => r.openLane(lane, shared));
      return tapLaneReader(made, lane.lane, taps);
    },
    checkpointed: (at) => taps.around(call('reader.checkpointed', null), async () => r.checkpointed?.(at)),
  };
}

function tapPlanner(p: SplitPlanner, taps: Taps): SplitPlanner {
  return {
    next: (signal) => taps.around(call('planner.next', null), () => p.next(signal)),
    finished: (id, outcome) => {
      p.finished(id, outcome);
    },
    committed: (ids) => {
      p.committed(ids);
    },
    reopen: (split, from) => {
      p.reopen(split, from);
    },
    snapshot: (epoch) => p.snapshot(epoch),
    remaining: () => p.remaining?.() ?? null,
  };
}

function tapLaneReader(r: LaneReader, lane: number, taps: Taps): LaneReader {
  return {
    assign: (split, from) => {
      r.assign(split, from);
    },
    hold: (ids) => {
      r.hold(ids);
    },
    release: (ids) => {
      r.release(ids);
    },
    async *read(signal) {
      for await (const item of r.read(signal)) {
        yield await taps.around(call('item', lane, item), () => Promise.resolve(item));
      }
    },
    [Symbol.asyncDispose]: () => taps.around(call('lane.closeReader', lane), async () => r[Symbol.asyncDispose]()),
  };
}

function tapWriter(w: Writer, taps: Taps): Writer {
  return {
    delivery: w.delivery,
    pipelined: w.pipelined ?? false,
    replacesTarget: w.replacesTarget ?? false,
    ...(w.epochLimit ? { epochLimit: w.epochLimit } : {}),
    begin: (run) => taps.around(call('writer.begin', null, run), () => w.begin(run)),
    openLane: async (lane, restored) => {
      const made = await taps.around(call('writer.openLane', lane.lane), () => w.openLane(lane, restored));
      return tapLaneWriter(made, lane.lane, taps);
    },
    recoverLanes: (states, lanes) => w.recoverLanes?.(states, lanes) ?? states,
    ...(w.committer ? { committer: tapCommitter(w.committer, taps) } : {}),
    complete: (run) => taps.around(call('writer.complete', null, run), () => w.complete(run)),
  };
}

function tapLaneWriter(w: LaneWriter, lane: number, taps: Taps): LaneWriter {
  return {
    write: (batch, signal) => taps.around(call('lane.write', lane, batch), () => w.write(batch, signal)),
    schema: (change) => taps.around(call('lane.schema', lane, change), async () => w.schema?.(change)),
    prepare: (epoch, hint) => taps.around(call('lane.prepare', lane, epoch), () => w.prepare(epoch, hint)),
    unfinished: () => w.unfinished?.() ?? 'none',
    commit: (epoch) => taps.around(call('lane.commit', lane, epoch), () => w.commit(epoch)),
    abort: (epoch) => taps.around(call('lane.abort', lane, epoch), () => w.abort(epoch)),
    [Symbol.asyncDispose]: () => taps.around(call('lane.closeWriter', lane), async () => w[Symbol.asyncDispose]()),
  };
}

function tapCommitter(c: Committer, taps: Taps): Committer {
  return {
    recover: (run, all) => taps.around(call('committer.recover', null, run, all), () => c.recover(run, all)),
    sweep: (runs) => taps.around(call('committer.sweep', null, runs), () => c.sweep(runs)),
    highWater: (runId) => taps.around(call('committer.highWater', null, runId), () => c.highWater(runId)),
  };
}
