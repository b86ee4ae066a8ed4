import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workspace } from '../../support/workspace.js';
import { chain, eachOf, Scripted } from './scripted-job.js';

interface Fault {
  readonly step: string;
  readonly epoch?: number;
  readonly hit?: number;
  readonly when: 'before' | 'after';
  /** A commit that fails is what makes the next start ask the committer. */
  readonly first?: string;
}

function faults(): readonly Fault[] {
  const out: Fault[] = [];
  for (const when of ['before', 'after'] as const) {
    for (const step of ['begin', 'openLane', 'abort', 'complete']) out.push({ step, when });
    for (const epoch of [1, 2, 3]) {
      out.push({ step: 'prepare', epoch, when }, { step: 'commit', epoch, when }, { step: 'write', hit: epoch, when });
    }
    for (const step of ['recover', 'sweep']) out.push({ step, when, first: 'commit' });
  }
  return out;
}

const SPLITS = chain(7, 4, 5);

for (const protocol of ['staged', 'marker'] as const) {
  for (const pipelined of [false, true]) {
    test(`a failure at any writer step ends exactly at a later start (${protocol}${pipelined ? ', pipelined' : ''})`, async () => {
      await eachOf(faults(), async (f) => {
        using ws = new Workspace();
        const { first, ...fault } = f;
        const failOn = [{ code: 'SINK_IO', ...fault, hit: fault.hit ?? 0 }];
        if (first !== undefined) failOn.push({ code: 'SINK_IO', step: first, epoch: 2, when: 'before', hit: 0 });
        const s = new Scripted(ws, {
          splits: SPLITS,
          writer: { protocol, pipelined, failOn },
          reader: { batchRows: 3 },
        });
        const label = JSON.stringify(f);
        const one = await s.run();
        assert.equal(one.state, 'failed', label);
        assert.equal(one.error?.code, 'SINK_IO', label);
        try {
          await s.assertExact(await s.finish());
        } catch (e) {
          throw new Error(label, { cause: e });
        }
      });
    });
  }
}

test('an error of the operating system that a plugin lets through is its source’s or target’s, never a defect', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(1) });
  ws.write('target', 'a file where the folder should be');
  const r = await s.run();
  assert.deepEqual([r.error?.code, r.exitCode], ['SINK_IO', 1], JSON.stringify(r.error));
});
