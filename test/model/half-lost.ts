/**
 * Gives epochs of a lane a second committable, with a fate of its own: a writer of many pieces, some of which are lost
 * while others are committed. The rows are all in the first one, so what is right for the lane stays known.
 */
import type {
  AnyWriterDefinition,
  Committable,
  Committer,
  JsonValue,
  LaneWriter,
  RecoverAnswer,
  Writer,
} from '../../src/plugin-api/index.js';

export interface Half {
  /** -1: any. */
  readonly lane: number;
  /** 0: any. */
  readonly epoch: number;
  /** What recover answers about it; `same`: what it answers about the first one. */
  readonly answer: RecoverAnswer | 'same';
}

interface Second {
  readonly second: RecoverAnswer | 'same';
}

/** Null: this is no second one. */
export function secondOf(c: Committable): Second | null {
  const data = c.data as { readonly second?: unknown } | null;
  return data !== null && typeof data.second === 'string' ? (data as unknown as Second) : null;
}

export function withHalves(definition: AnyWriterDefinition, halves: readonly Half[]): AnyWriterDefinition {
  if (halves.length === 0) return definition;
  return { ...definition, create: async (o, c) => halving(await definition.create(o, c), halves) };
}

function halving(w: Writer, halves: readonly Half[]): Writer {
  return {
    delivery: w.delivery,
    pipelined: w.pipelined ?? false,
    ...(w.epochLimit ? { epochLimit: w.epochLimit } : {}),
    begin: (run) => w.begin(run),
    openLane: async (lane, restored) => halvingLane(await w.openLane(lane, restored), lane.lane, halves),
    recoverLanes: (states, lanes) => w.recoverLanes?.(states, lanes) ?? states,
    ...(w.committer ? { committer: halvingCommitter(w.committer) } : {}),
    complete: (run) => w.complete(run),
  };
}

function halvingLane(w: LaneWriter, lane: number, halves: readonly Half[]): LaneWriter {
  return {
    write: (batch, signal) => w.write(batch, signal),
    schema: async (change) => w.schema?.(change),
    prepare: async (epoch) => {
      const prepared = await w.prepare(epoch);
      const half = halves.find((h) => (h.lane === -1 || h.lane === lane) && (h.epoch === 0 || h.epoch === epoch));
      if (!half || prepared.committables.length === 0) return prepared;
      const second: JsonValue = { second: half.answer };
      return { ...prepared, committables: [...prepared.committables, { data: second }] };
    },
    commit: (epoch) => w.commit(epoch),
    abort: (epoch) => w.abort(epoch),
    [Symbol.asyncDispose]: async () => w[Symbol.asyncDispose](),
  };
}

function halvingCommitter(c: Committer): Committer {
  return {
    recover: async (run, all) => {
      const first = all.filter((x) => secondOf(x) === null);
      const answers = await c.recover(run, first);
      return all.map((x): RecoverAnswer => {
        const answer = secondOf(x)?.second;
        if (answer === undefined) return answers[first.indexOf(x)] ?? 'unknown';
        return answer === 'same' ? (answers[0] ?? 'unknown') : answer;
      });
    },
    sweep: (runs) => c.sweep(runs),
    highWater: (runId) => c.highWater(runId),
  };
}
