/** A reader and a writer that work, until a call fails on purpose; they know which part files are open then. */
import { keptFilesOf } from '../../src/plugin-kit/index.js';
import {
  SyncError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
  type Committer,
  type ErrorCode,
  type JsonValue,
  type LaneReader,
  type LaneWriter,
  type PluginContext,
  type Writer,
} from '../../src/plugin-api/index.js';
import type { Taps } from '../support/taps.js';

/** The call that fails, before or after it has had its effect; `state.*` are calls of the state store. */
export interface Failing {
  readonly step: string;
  readonly when: 'before' | 'after';
  /** Number of the call that fails first, of those where files are open over a committed epoch. */
  readonly hit?: number;
  readonly times?: number;
  /** True: the call of a restart fails; what it needs to come to a restart is another failure. */
  readonly afterRestart?: boolean;
}

/** Makes the planned failures, once files are open over a committed epoch; stands around the plugins and the state store. */
export class Trouble implements Taps {
  readonly #plan: readonly Failing[];
  readonly #hits = new Map<Failing, number>();
  /** Of each lane: open files of prepared and of committed epochs. */
  readonly #prepared = new Map<number, number>();
  readonly #committed = new Map<number, number>();
  #commits = 0;
  readonly #waiting: (() => void)[] = [];
  #restarts = -1;
  /** For each failure that was made: how many files were open over a committed epoch. */
  readonly made: { readonly step: string; readonly open: number }[] = [];

  constructor(plan: readonly Failing[]) {
    this.#plan = plan;
  }

  get #open(): number {
    return [...this.#committed.values()].reduce((sum, n) => sum + n, 0);
  }

  started(): void {
    this.#restarts++;
  }

  prepared(lane: number, state: JsonValue | null): void {
    this.#prepared.set(lane, keptFilesOf(state).length);
  }

  committed(lane: number): void {
    this.#committed.set(lane, this.#prepared.get(lane) ?? 0);
    this.#commits++;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when more than so many epochs of lanes are committed, or on abort. */
  async #committedSince(commits: number, signal: AbortSignal): Promise<void> {
    while (this.#commits === commits && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
    }
  }

  /** @throws SyncError a failure that a restart may mend, where the plan says so. */
  at(step: string, when: Failing['when']): void {
    for (const f of this.#plan) {
      if (f.step !== step || f.when !== when || this.#open === 0) continue;
      if (f.afterRestart === true && this.#restarts === 0) continue;
      const n = (this.#hits.get(f) ?? 0) + 1;
      this.#hits.set(f, n);
      const first = f.hit ?? 1;
      if (n < first || n >= first + (f.times ?? 1)) continue;
      this.made.push({ step, open: this.#open });
      const code: ErrorCode = step.startsWith('state.') ? 'STATE_IO' : step === 'read' ? 'SOURCE_IO' : 'SINK_IO';
      throw new SyncError(code, `${step} fails on purpose, ${when} its effect`);
    }
  }

  async #call<T>(step: string, effect: () => Promise<T>): Promise<T> {
    this.at(step, 'before');
    const result = await effect();
    this.at(step, 'after');
    return result;
  }

  around: Taps['around'] = ({ step }, effect) => this.#call(step, effect);

  #context(c: PluginContext): PluginContext {
    const failpoint = (step: string): void => {
      this.at(step, 'before');
      c.failpoint(step);
    };
    return { ...c, failpoint };
  }

  reader(d: AnyReaderDefinition): AnyReaderDefinition {
    const create: AnyReaderDefinition['create'] = async (options, context) => {
      const r = await d.create(options, context);
      this.started();
      return over(r, { openLane: async (lane, shared) => this.#laneReader(await r.openLane(lane, shared)) });
    };
    return { ...d, create };
  }

  /** One item an epoch, so that a job of a few files has epochs enough for all failures, however fast it is. */
  #laneReader(l: LaneReader): LaneReader {
    const next = async (commits: number, signal: AbortSignal): Promise<number> => {
      await this.#committedSince(commits, signal);
      this.at('read', 'before');
      return this.#commits;
    };
    return over(l, {
      async *read(signal) {
        let commits = -1;
        for await (const item of l.read(signal)) {
          commits = await next(commits, signal);
          if (signal.aborted) return;
          yield item;
        }
      },
    });
  }

  writer(d: AnyWriterDefinition): AnyWriterDefinition {
    const create: AnyWriterDefinition['create'] = async (options, context) => {
      const w = await d.create(options, this.#context(context));
      const committer = w.committer;
      return over<Writer>(w, {
        openLane: (lane, restored) =>
          this.#call('openLane', async () => this.#laneWriter(await w.openLane(lane, restored), lane.lane)),
        ...(committer ? { committer: this.#committer(committer) } : {}),
      });
    };
    return { ...d, create };
  }

  #laneWriter(l: LaneWriter, lane: number): LaneWriter {
    return over(l, {
      write: (batch, signal) => this.#call('write', () => l.write(batch, signal)),
      prepare: (epoch, hint) =>
        this.#call('prepare', async () => {
          const p = await l.prepare(epoch, hint);
          this.prepared(lane, p.state);
          return p;
        }),
      commit: (epoch) =>
        this.#call('commit', async () => {
          await l.commit(epoch);
          this.committed(lane);
        }),
    });
  }

  #committer(c: Committer): Committer {
    return over(c, {
      recover: (run, all) => this.#call('recover', () => c.recover(run, all)),
      sweep: (runs) => this.#call('sweep', () => c.sweep(runs)),
    });
  }
}

/** `base` with the methods of `own`; those of `base` keep their `this`. */
function over<T extends object>(base: T, own: Partial<T>): T {
  return new Proxy(base, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
