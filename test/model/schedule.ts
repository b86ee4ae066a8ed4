/** One random schedule: starts of one job with trouble, until its rows are committed, and what must hold of them. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { specOf, type EngineRun } from '../support/engine.js';
import { until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { Scripted } from '../unit/core/scripted-job.js';
import { listNames } from '../../plugins/scripted/durable.js';
import { Dice } from './dice.js';
import { withHalves } from './half-lost.js';
import * as oracle from './oracle.js';
import { planOf } from './plan.js';
import { scriptOf } from './script.js';
import { ModelStart } from './start.js';
import { Tally } from './tally.js';

/** Starts with trouble; those after them have none. */
const TROUBLED = 6;
const MOST = 30;

export async function schedule(seed: number, root: string, watchful: boolean): Promise<Tally> {
  using ws = new Workspace(root);
  const d = new Dice(seed);
  const late = ws.path('late-commits-land');
  const { script, halves } = scriptOf(d, late);
  const dirtyDir = ws.path('dirty');
  const job = new Scripted(ws, { ...script, more: { ...script.more, dirtyDir } });
  const total = script.splits.reduce((n, s) => n + s.rows, 0);
  const bounded = script.splits.every((s) => s.bounded !== false);
  const m: oracle.Model = { job, dirtyDir, total, bounded };
  // Only a full epoch makes a lane of such a job ask for its end.
  const limited = Number(script.writer?.['epochBytes']) > 0 && !(script.events ?? []).some((e) => e.do === 'schema');
  const plain = specOf(job.job());
  const spec = { ...plain, writer: { ...plain.writer, definition: withHalves(plain.writer.definition, halves) } };

  const tally = new Tally();
  const starts: ModelStart[] = [];
  let zombies: ModelStart[] = [];
  let complete: EngineRun | null = null;

  const judge = async (start: ModelStart, r: EngineRun): Promise<void> => {
    tally.start(start, r);
    if (limited) tally.add('full epochs', r.logs.filter((l) => l.fields['trigger'] === 'lane').length);
    if (watchful) console.log(start.plan, start.done, r.state, r.error?.code, r.error?.message);
    assert.deepEqual(start.watch.broken, []);
    await oracle.assertKnown(m, start, r);
    await oracle.assertClean(m, start);
    if (bounded ? r.state === 'finished' : r.state === 'stopped' && r.read === total) {
      await oracle.assertComplete(m, r);
      complete ??= r;
    }
  };
  const buried = async (z: ModelStart): Promise<void> => {
    z.wake();
    await judge(z, await z.over);
    zombies = zombies.filter((x) => x !== z);
  };

  for (let i = 1; complete === null; i++) {
    const due = zombies.filter((z) => z.plan.waking.at !== null);
    const start = new ModelStart({
      spec,
      stateRoot: job.state,
      plan: planOf(d, i > TROUBLED),
      stopAt: bounded ? null : total,
      late,
      zombies: due,
      handedOut: (split) => oracle.missingBefore(m, split.id),
    });
    starts.push(start);
    const end = await Promise.race([start.over, start.dropped]);
    if (end === 'dropped') zombies.push(start);
    else {
      await judge(start, end);
      for (const z of due) await buried(z);
      if (end.error?.code === 'COMMIT_UNKNOWN') await oracle.resolve(m);
    }
    if (watchful) await oracle.assertRows(m);
    assert.ok(i < MOST, `not done after ${String(i)} starts: ${JSON.stringify(end)}`);
  }
  // Whatever still comes to life may not change anything.
  writeFileSync(late, '');
  while (zombies[0]) await buried(zombies[0]);
  const lateEnds = join(job.target, 'late');
  await until('late commits have ended', async () => (await listNames(lateEnds)).length === tally.broken);
  for (const name of await listNames(lateEnds)) {
    tally.add(readFileSync(join(lateEnds, name), 'utf8') === 'landed' ? 'late: landed' : 'late: fenced');
  }
  await oracle.assertRows(m);
  await oracle.assertComplete(m, complete);
  await oracle.assertNothingLeft(m, starts);
  return tally;
}
