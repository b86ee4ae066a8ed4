/** What happened in schedules: a model test that never gets to the trouble it is for would prove nothing. */
import type { EngineRun } from '../support/engine.js';
import type { ModelStart } from './start.js';

export const MUST_HAPPEN = [
  ...['starts', 'dropped', 'fenced', 'restarts', 'several lanes', 'other lanes', 'in doubt: committed'],
  ...['in doubt: lost', 'in doubt: one lane lost', 'COMMIT_UNKNOWN', 'withdrawn barriers', 'late: landed'],
  ...['late: fenced', 'alters beside another lane', 'dirty rows lost', 'full epochs', 'stopped'],
] as const;

export class Tally {
  readonly counts: Record<string, number> = {};
  /** Commits whose connection broke: each ends later by itself. */
  broken = 0;
  #lanes = 0;

  add(what: string, n = 1): void {
    if (n > 0) this.counts[what] = (this.counts[what] ?? 0) + n;
  }

  start({ watch, done }: ModelStart, r: EngineRun): void {
    const lines = r.logs.map((l) => l.message);
    const times = (text: string): number => lines.filter((l) => l === text).length;
    this.add('starts');
    this.add('restarts', r.restarts);
    if (done.some((x) => x.startsWith('drop '))) this.add('dropped');
    if (r.error?.code === 'FENCED') this.add('fenced');
    if (r.error?.code === 'COMMIT_UNKNOWN') this.add('COMMIT_UNKNOWN');
    if (r.state === 'stopped') this.add('stopped');
    this.add('withdrawn barriers', times('a checkpoint timed out and is tolerated; the epoch grows'));
    const lanes = Number(r.logs.findLast((l) => l.message === 'lanes')?.fields['lanes'] ?? 0);
    if (lanes > 1) this.add('several lanes');
    if (lanes > 0 && this.#lanes > 0 && lanes !== this.#lanes) this.add('other lanes');
    if (lanes > 0) this.#lanes = lanes;
    for (const [what, n] of Object.entries(watch.seen)) this.add(what, n);
    this.broken += watch.seen['broken commits'] ?? 0;
  }

  merge(counts: Readonly<Record<string, number>>): void {
    for (const [what, n] of Object.entries(counts)) this.add(what, n);
  }
}
