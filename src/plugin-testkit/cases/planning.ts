import assert from 'node:assert/strict';
import { setImmediate as macrotask } from 'node:timers/promises';
import type { JsonValue, Reader, Split, SplitPlanner } from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import { readWhole, within } from '../drive.js';
import type { ReaderEnv } from '../env.js';

const never = new AbortController().signal;
const json = (v: unknown): unknown => JSON.parse(JSON.stringify(v));

/** Hands out everything. Outcomes come from a real read, so that splits which depend on others appear. */
async function planAll(planner: SplitPlanner, outcomes: ReadonlyMap<string, JsonValue>): Promise<Split[]> {
  const splits: Split[] = [];
  for (;;) {
    const split = await planner.next(never);
    if (split === 'end') return splits;
    splits.push(split);
    if (!split.bounded) continue;
    planner.finished(split.id, outcomes.get(split.id) ?? null);
    planner.committed([split.id]);
  }
}

async function outcomesOf(reader: Reader, rows: number): Promise<ReadonlyMap<string, JsonValue>> {
  const { logs } = await readWhole(reader, null, { rows });
  return new Map([...logs].map(([id, log]) => [id, log.end?.outcome ?? null]));
}

function fullSnapshot(planner: SplitPlanner, epoch: number): JsonValue {
  const s = planner.snapshot(epoch);
  const same = typeof s === 'object' && s !== null && 'unchangedSince' in s;
  assert.ok(!same, 'the first snapshot of a planner cannot be unchanged since an earlier one');
  return s;
}

export const planningCases: readonly ContractCase<ReaderEnv>[] = [
  {
    id: 'planning.same',
    title: 'the same input gives the same splits, with ids of their own',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 40);
      const outcomes = await outcomesOf(await env.reader(source), source.rows);
      const first = await planAll(await (await env.reader(source)).planner(null), outcomes);
      const second = await planAll(await (await env.reader(source)).planner(null), outcomes);
      assert.deepEqual(second, first);
      assert.deepEqual(json(first), first, 'a split does not survive JSON');
      assert.equal(new Set(first.map((s) => s.id)).size, first.length, 'two splits have the same id');
      assert.ok(first.length > 0, 'no split at all');
    },
  },
  {
    id: 'planning.snapshot',
    title: 'a snapshot at any point is JSON, and a planner made of it hands out exactly the rest',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 40);
      const outcomes = await outcomesOf(await env.reader(source), source.rows);
      const all = await planAll(await (await env.reader(source)).planner(null), outcomes);
      for (let taken = 0; taken <= all.length; taken++) {
        const planner = await (await env.reader(source)).planner(null);
        const got: Split[] = [];
        while (got.length < taken) {
          const split = await planner.next(never);
          assert.notEqual(
            split,
            'end',
            `the planner ended after ${String(got.length)} of ${String(all.length)} splits`,
          );
          if (split === 'end') break;
          got.push(split);
          if (!split.bounded) continue;
          planner.finished(split.id, outcomes.get(split.id) ?? null);
          planner.committed([split.id]);
        }
        const saved = fullSnapshot(planner, 1);
        assert.deepEqual(json(saved), saved, 'a snapshot does not survive JSON');
        const later = await (await env.reader(source)).planner(json(saved) as JsonValue);
        const rest = await planAll(later, outcomes);
        assert.deepEqual(
          [...got, ...rest].map((s) => s.id),
          all.map((s) => s.id),
          `resumed after ${String(taken)} splits`,
        );
      }
    },
  },
  {
    id: 'planning.pending',
    title: 'a split that next has not answered yet is still in the snapshot',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 40);
      const planner = await (await env.reader(source)).planner(null);
      let pending: JsonValue = null;
      let answer: Split | 'end' | null = null;
      const asked = planner.next(never).then((s) => (answer = s));
      // The engine takes snapshots at the start of a macrotask, when answers that are ready have arrived.
      for (await macrotask(); answer === null; await macrotask()) pending ??= fullSnapshot(planner, 1);
      const split = await asked;
      if (pending === null || split === 'end') return;
      const first = await (await env.reader(source)).planner(json(pending) as JsonValue);
      assert.deepEqual(await first.next(never), split, 'the split was in neither place');
    },
  },
  {
    id: 'planning.remaining',
    title: 'no more splits are handed out than were said to remain',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 40);
      const { planner, outcomes } = {
        planner: await (await env.reader(source)).planner(null),
        outcomes: await outcomesOf(await env.reader(source), source.rows),
      };
      const said = planner.remaining?.() ?? null;
      if (said === null) return;
      const all = await planAll(planner, outcomes);
      assert.ok(all.length <= said, `${String(all.length)} splits, ${String(said)} were said to remain`);
    },
  },
  {
    id: 'planning.once',
    title: 'the splits together hold every row once, and the reader counts the source right',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 40);
      const { logs } = await readWhole(await env.reader(source), null, { rows: source.rows });
      const total = [...logs.values()].reduce((n, l) => n + l.rows.length, 0);
      assert.equal(total, source.rows);
      const rejected = [...logs.values()].flatMap((l) => l.rejected);
      assert.deepEqual(rejected, []);
    },
  },
  {
    id: 'planning.idempotent',
    title: 'committed may be repeated, and next answers end again after it',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 40);
      const outcomes = await outcomesOf(await env.reader(source), source.rows);
      const planner = await (await env.reader(source)).planner(null);
      const all = await planAll(planner, outcomes);
      const bounded = all.filter((s) => s.bounded).map((s) => s.id);
      planner.committed(bounded);
      planner.committed(bounded);
      assert.equal(await planner.next(never), 'end');
    },
  },
  {
    id: 'planning.abort',
    title: 'a pending next rejects when its signal aborts',
    needs: [],
    async run(env) {
      const planner = await (await env.reader(await env.seed('plain', 4))).planner(null);
      const abort = new AbortController();
      abort.abort();
      // Either there is an answer at once, or the wait ends with the abort; it must not hang.
      await within(env.limitMs, 'next() with an aborted signal', planner.next(abort.signal)).catch((e: unknown) => {
        assert.ok(e instanceof Error, 'rejects with an Error');
        assert.doesNotMatch(e.message, /took longer/);
      });
    },
  },
];
