import { leaked } from './leak.js';
import { SyncError } from 'syncx/plugin-api';
import { fewTimes } from './durable.js';
import type { FaultStep, WriterOptions } from './options.js';
import type { Store } from './store.js';
import { makeTrouble } from './trouble.js';
import { fileExists } from './wait.js';

export interface CallPlace {
  readonly lane?: number | undefined;
  readonly epoch?: number | undefined;
}

interface Where {
  readonly lane: number;
  readonly epoch: number;
}

export function meant(w: Where, at: CallPlace): boolean {
  return (w.lane === -1 || w.lane === at.lane) && (w.epoch === 0 || w.epoch === at.epoch);
}

/** The trouble that the options ask for, around every call of the writer. */
export class Faults {
  readonly #options: WriterOptions;
  readonly #store: Store;
  readonly #hits = new Map<object, number>();

  constructor(options: WriterOptions, store: Store) {
    this.#options = options;
    this.#store = store;
  }

  /** Runs `effect` with the gates and errors that stand around this step. */
  async around<T>(step: FaultStep, at: CallPlace, signal: AbortSignal, effect: () => Promise<T>): Promise<T> {
    for (const gate of this.#options.gates) {
      if (this.#matches(gate, step, at)) await fileExists(gate.until, signal);
    }
    const fails = this.#options.failOn
      .map((fail, i) => ({ fail, i }))
      .filter(({ fail }) => this.#matches(fail, step, at));
    await this.#throwOne(fails, 'before', step, at);
    const result = await effect();
    await this.#throwOne(fails, 'after', step, at);
    return result;
  }

  #matches(w: Where & { readonly step: FaultStep; readonly hit: number }, step: FaultStep, at: CallPlace): boolean {
    if (w.step !== step || !meant(w, at)) return false;
    const hit = (this.#hits.get(w) ?? 0) + 1;
    this.#hits.set(w, hit);
    return w.hit === 0 || w.hit === hit;
  }

  async #throwOne(
    fails: readonly { readonly fail: WriterOptions['failOn'][number]; readonly i: number }[],
    when: 'before' | 'after',
    step: FaultStep,
    at: CallPlace,
  ): Promise<void> {
    for (const { fail, i } of fails) {
      if (fail.when !== when || !(await fewTimes(this.#store.once, `fail-${String(i)}`, fail.times))) continue;
      if (fail.how !== 'error') await makeTrouble(fail.how);
      const where = at.lane === undefined ? '' : ` in lane ${String(at.lane)}`;
      const epoch = at.epoch === undefined ? '' : ` of epoch ${String(at.epoch)}`;
      const what = `the script fails ${step}${epoch}${where}, ${when} its effect${leaked(this.#options)}`;
      throw new SyncError(fail.code, what, { blame: 'sink' });
    }
  }
}
