/** One start of a job in the model test: runs the engine with the trouble that its plan asks for. */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runJob } from '../../src/core/job/run-job.js';
import type { Progress } from '../../src/core/job/run-types.js';
import type { JobSpec } from '../../src/job/job-spec.js';
import { SyncError, type Split } from '../../src/plugin-api/index.js';
import { memoryLog, type EngineRun, type LogLine } from '../support/engine.js';
import { tapped, tapPlugins, type Call, type Taps } from '../support/taps.js';
import type { Act, StartPlan } from './plan.js';
import { Watch } from './watch.js';

export interface StartParts {
  readonly spec: JobSpec;
  readonly stateRoot: string;
  readonly plan: StartPlan;
  /** An unbounded job is stopped when it has read this many rows; null: it ends by itself. */
  readonly stopAt: number | null;
  /** Makes late commits land. */
  readonly late: string;
  /** Stopped starts that go on at some call of this one. */
  readonly zombies: readonly ModelStart[];
  readonly handedOut: (split: Split) => string | null;
}

export class ModelStart implements Taps {
  readonly plan: StartPlan;
  readonly watch: Watch;
  /** Resolves once it stands still. */
  readonly dropped: Promise<'dropped'>;
  /** What it was made to do. */
  readonly done: string[] = [];
  readonly #p: StartParts;
  readonly #stop = new AbortController();
  readonly #hits = new Map<Act, number>();
  #calls = 0;
  #drop: () => void = () => undefined;
  #held: { readonly gone: Promise<void>; readonly go: () => void } | null = null;
  #run: Promise<EngineRun> | null = null;

  constructor(parts: StartParts) {
    this.#p = parts;
    this.plan = parts.plan;
    this.watch = new Watch(parts.handedOut);
    this.dropped = new Promise((resolve) => {
      this.#drop = () => {
        resolve('dropped');
      };
    });
  }

  get over(): Promise<EngineRun> {
    return (this.#run ??= this.#start());
  }

  async #start(): Promise<EngineRun> {
    const { plan, spec } = this.#p;
    const { settings } = spec;
    const { barrierMs } = plan;
    const tolerant = barrierMs === null ? {} : { timeoutMs: barrierMs, tolerableFailed: 1000 };
    const job: JobSpec = {
      ...tapPlugins(spec, this),
      settings: {
        ...settings,
        channel: plan.channel,
        restart: plan.restart,
        checkpoint: { ...settings.checkpoint, ...tolerant },
      },
    };
    const points = [plan.failpoint, plan.acts.some((a) => a.do === 'drop') ? 'lock:release' : null];
    const logs: LogLine[] = [];
    let progress: (() => Progress) | null = null;
    const running = tapped(this, () =>
      runJob(job, {
        log: memoryLog(logs),
        stateRoot: this.#p.stateRoot,
        fresh: false,
        allowReplay: false,
        takeOver: false,
        stop: this.#stop.signal,
        loadWriter: () => Promise.resolve(null),
        failpoint: points.filter((x) => x !== null).join(','),
        onStart: (p) => (progress = p),
      }),
    );
    let over = false;
    const ended = running.finally(() => (over = true));
    const { stopAt } = this.#p;
    if (stopAt !== null) {
      const read = (): number => {
        const p = progress?.();
        return p?.phase === 'running' ? p.counters.read : -1;
      };
      while (!over && !this.#stop.signal.aborted && read() !== stopAt) await sleep(3);
      this.#stop.abort('SIGTERM');
    }
    return { ...(await ended), logs };
  }

  /** Lets a start that stands still go on. */
  wake(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    if (this.#p.stopAt !== null) this.#stop.abort('SIGTERM');
    held.go();
  }

  async around<T>(call: Call, effect: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      const before = this.#at(call.step, 'before');
      if (before) await before;
      this.watch.before(call);
      result = await effect();
    } catch (e) {
      this.watch.failed(call, e);
      throw e;
    }
    this.watch.after(call, result);
    const after = this.#at(call.step, 'after');
    if (after) await after;
    return result;
  }

  #at(step: string, when: 'before' | 'after'): Promise<unknown> | null {
    // An answer that the planner has given must be with the engine at once: on its way it would be in no checkpoint.
    if (step === 'planner.next' && when === 'after') return null;
    if (this.#held) return this.#held.gone;
    if (when === 'before') this.#calls++;
    for (const act of this.plan.acts) {
      if (act.when !== when || (act.step ?? step) !== step) continue;
      const hit = (this.#hits.get(act) ?? 0) + 1;
      this.#hits.set(act, hit);
      if (hit === act.hit) return this.#act(act, `${act.do} ${when} ${step} #${String(hit)}`);
    }
    return when === 'before' ? this.#wakeDue() : null;
  }

  #act(act: Act, what: string): Promise<unknown> | null {
    this.done.push(what);
    switch (act.do) {
      case 'throw':
        throw new SyncError('SINK_IO', `the model fails: ${what}`);
      case 'stop':
        this.#stop.abort('SIGTERM');
        return null;
      case 'late':
        writeFileSync(this.#p.late, '');
        return null;
      case 'drop': {
        let go: () => void = () => undefined;
        const gone = new Promise<void>((resolve) => (go = resolve));
        this.#held = { gone, go };
        this.#drop();
        return gone;
      }
    }
  }

  #wakeDue(): Promise<unknown> | null {
    const due = this.#p.zombies.filter((z) => z.plan.waking.at === this.#calls);
    for (const z of due) {
      this.done.push(`wake at call ${String(this.#calls)}`);
      z.wake();
    }
    const through = due.filter((z) => z.plan.waking.through).map((z) => z.over);
    return through.length > 0 ? Promise.all(through) : null;
  }
}
