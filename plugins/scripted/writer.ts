import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type EpochLimit,
  defineWriter,
  SyncError,
  type JsonValue,
  type LaneContext,
  type LaneWriter,
  type PluginContext,
  type RunIdentity,
  type Writer,
} from 'syncx/plugin-api';
import { ScriptedCommitter } from './committer.js';
import { listNames } from './durable.js';
import { Faults } from './faults.js';
import { ScriptedLaneWriter, type LaneState } from './lane-writer.js';
import { tellOptions } from './leak.js';
import { WRITER_OPTIONS, type WriterOptions } from './options.js';
import { Store } from './store.js';

class ScriptedWriter implements Writer {
  readonly delivery: WriterOptions['delivery'];
  readonly pipelined: boolean;
  readonly replacesTarget: boolean;
  readonly epochLimit?: EpochLimit;
  readonly committer?: ScriptedCommitter;
  readonly #options: WriterOptions;
  readonly #context: PluginContext;
  readonly #store: Store;
  readonly #faults: Faults;

  constructor(options: WriterOptions, context: PluginContext) {
    this.#options = options;
    this.#context = context;
    this.#store = new Store(options.path);
    this.#faults = new Faults(options, this.#store);
    this.delivery = options.delivery;
    this.pipelined = options.pipelined;
    this.replacesTarget = options.overwrite;
    if (options.epochBytes > 0) this.epochLimit = { bytes: options.epochBytes, hardBytes: options.hardEpochBytes };
    if (options.delivery === 'exactly-once') {
      this.committer = new ScriptedCommitter(options, this.#store, this.#faults, context);
    }
  }

  async begin(run: RunIdentity): Promise<void> {
    await this.#store.make();
    await this.#faults.around('begin', {}, this.#context.signal, async () => {
      if (this.#options.overwrite) await this.#dropOtherRuns(run.runId);
      await this.#store.note(run.runId, 'begun');
    });
  }

  async openLane(lane: LaneContext, restored: JsonValue | null): Promise<LaneWriter> {
    const { runId, attempt } = lane.run;
    return this.#faults.around('openLane', { lane: lane.lane }, lane.signal, async () => {
      if (!(await this.#store.noted(runId, 'begun')))
        throw new SyncError('INTERNAL', 'openLane was called before begin');
      const state = restored as LaneState | null;
      const format: number | undefined = state?.format;
      if (state && format !== 1) throw new SyncError('STATE_MISFIT', 'the lane state is of another version');
      await this.#store.fence(runId, lane.lane, attempt);
      return new ScriptedLaneWriter(this.#options, this.#store, this.#faults, lane, state);
    });
  }

  /** Every lane goes on with its own count. Counts of lanes that are gone wait in lane 0 until they come back. */
  recoverLanes(states: readonly (JsonValue | null)[], lanes: number): readonly (JsonValue | null)[] {
    const kept: Record<string, number> = {};
    const own = states as readonly (LaneState | null)[];
    own.forEach((s, i) => {
      Object.assign(kept, s?.kept ?? {});
      if (s && i >= lanes) kept[String(i)] = s.rows;
    });
    return Array.from({ length: lanes }, (_, i): JsonValue => {
      const rows = own[i]?.rows ?? kept[String(i)] ?? 0;
      const rest = Object.fromEntries(Object.entries(kept).filter(([lane]) => Number(lane) >= lanes));
      return { format: 1, rows, kept: i === 0 ? rest : {} };
    });
  }

  async complete(run: RunIdentity): Promise<void> {
    await this.#faults.around('complete', {}, this.#context.signal, () => this.#store.note(run.runId, 'complete'));
  }

  async #dropOtherRuns(runId: string): Promise<void> {
    for (const log of await this.#store.logs()) {
      if (log.runId !== runId) await rm(this.#store.logDir(log.runId, log.lane), { recursive: true });
    }
    for (const file of await listNames(this.#store.data)) {
      if (!file.startsWith(`${runId}.`)) await rm(join(this.#store.data, file));
    }
  }
}

export const writer = defineWriter({
  name: 'scripted',
  aliases: [],
  summary: 'A small exactly-once store of files, with trouble on demand, for tests.',
  options: WRITER_OPTIONS,
  delivery: ['exactly-once', 'at-least-once'],
  check: (o) =>
    o.delivery === 'at-least-once' && (o.lose.length > 0 || o.unknown.length > 0 || o.late.length > 0)
      ? [{ path: 'delivery', message: 'lose, unknown and late need exactly-once' }]
      : [],
  columns: (o) => (o.columns.length > 0 ? o.columns : null),
  create: (options, context) => {
    tellOptions(options, context);
    return Promise.resolve(new ScriptedWriter(options, context));
  },
});
