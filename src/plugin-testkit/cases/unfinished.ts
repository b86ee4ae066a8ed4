import assert from 'node:assert/strict';
import type { JsonValue, LaneWriter } from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import type { WriterEnv } from '../env.js';
import type { WriterTarget } from '../harness.js';
import { PLAIN } from '../sample-rows.js';
import { committedIds, prepare, recordOf, restart, start, writeIds, type Start } from '../two-phase.js';

const NEEDS = ['exactly-once', 'read-back'] as const;
const MORE = { last: false } as const;
const LAST = { last: true } as const;

/** Some of the rows may be visible, none else; where not all are, the lanes say so, or no last epoch would come for them. */
async function assertTold(
  lanes: readonly LaneWriter[],
  target: WriterTarget,
  committed: readonly number[],
): Promise<void> {
  const seen = await committedIds(target);
  assert.deepEqual(
    seen.filter((id, i) => !committed.includes(id) || seen.indexOf(id) !== i),
    [],
    'rows that are not committed, or there twice',
  );
  const told = lanes.some((l) => (l.unfinished?.() ?? 'none') !== 'none');
  assert.ok(told || seen.length === committed.length, 'committed rows are invisible, and unfinished says none');
}

/** The last epoch, and the end of the run: all is there, once. */
async function assertEnds(
  s: Start,
  lanes: readonly LaneWriter[],
  target: WriterTarget,
  epoch: number,
  committed: readonly number[],
): Promise<void> {
  for (const lane of lanes) await prepare(lane, epoch, LAST);
  for (const lane of lanes) {
    await lane.commit(epoch);
    assert.equal(lane.unfinished?.() ?? 'none', 'none', 'after the last epoch');
  }
  assert.deepEqual(await committedIds(target), committed, 'after the last epoch');
  for (const lane of lanes) await lane[Symbol.asyncDispose]();
  for (let i = 0; i < 2; i++) await s.writer.complete(s.run);
  assert.deepEqual(await committedIds(target), committed, 'after complete');
}

/** Writes, prepares with more to come, and commits. @returns the state, as a checkpoint gives it back. */
async function epochOf(lane: LaneWriter, epoch: number, ids: readonly number[]): Promise<JsonValue | null> {
  await writeIds(lane, ids);
  const { state } = await prepare(lane, epoch, MORE);
  await lane.commit(epoch);
  return state;
}

/**
 * Rows that are committed and that the writer keeps in a piece which is not finished. A writer that finishes everything with
 * each epoch passes as well: it has nothing to lose.
 */
export const unfinishedCases: readonly ContractCase<WriterEnv>[] = [
  {
    id: 'unfinished.told',
    title: 'rows that a commit leaves invisible are told by unfinished, and are there after the last epoch',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      const lane = await s.lane();
      await epochOf(lane, 1, [1, 2]);
      await assertTold([lane], target, [1, 2]);
      await epochOf(lane, 2, [3]);
      await lane.commit(2);
      await assertTold([lane], target, [1, 2, 3]);
      await assertEnds(s, [lane], target, 3, [1, 2, 3]);
      assert.deepEqual((await target.leftovers?.()) ?? [], []);
    },
  },
  {
    id: 'unfinished.restart',
    title: 'rows of committed epochs survive a crash in the state that prepare gave, and become visible once',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const crashed = await first.lane();
      const one = await epochOf(crashed, 1, [1, 2]);
      await writeIds(crashed, [3]);
      const two = await prepare(crashed, 2, MORE);

      const second = await restart(env, target, first);
      const answers = await second.committer.recover(second.run, two.committables);
      // With nothing to ask for, the checkpoint is all that an epoch needs.
      const rolled = answers.every((a) => a === 'committed');
      if (!rolled) assert.deepEqual([...new Set(answers)], ['lost']);
      await second.committer.sweep([recordOf(second.run)]);
      const lane = await second.lane(0, 1, rolled ? two.state : one);
      const before = rolled ? [1, 2, 3] : [1, 2];
      await assertTold([lane], target, before);
      const four = await epochOf(lane, 4, [4]);
      await assertTold([lane], target, [...before, 4]);

      const third = await restart(env, target, second);
      await third.committer.sweep([recordOf(third.run)]);
      const end = await third.lane(0, 1, four);
      await assertTold([end], target, [...before, 4]);
      await assertEnds(third, [end], target, 6, [...before, 4]);
    },
  },
  {
    id: 'unfinished.dispose',
    title: 'disposing a lane leaves the rows of committed epochs to the next start, and no others',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      const state = await epochOf(lane, 1, [1]);
      await writeIds(lane, [90]);
      for (let i = 0; i < 2; i++) await lane[Symbol.asyncDispose]();
      const second = await restart(env, target, first);
      await second.committer.sweep([recordOf(second.run)]);
      const next = await second.lane(0, 1, state);
      await assertTold([next], target, [1]);
      await assertEnds(second, [next], target, 3, [1]);
    },
  },
  {
    id: 'unfinished.abort',
    title: 'abort takes back the rows of its epoch, and leaves those of the committed ones',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      const lane = await s.lane();
      await epochOf(lane, 1, [1]);
      await writeIds(lane, [90]);
      await prepare(lane, 2, MORE);
      await lane.abort(2);
      await assertTold([lane], target, [1]);
      await epochOf(lane, 3, [2]);
      await writeIds(lane, [91]);
      await prepare(lane, 4, LAST);
      await lane.abort(4);
      await writeIds(lane, [92]);
      await lane.abort(5);
      await assertTold([lane], target, [1, 2]);
      await epochOf(lane, 6, [3]);
      await assertEnds(s, [lane], target, 7, [1, 2, 3]);
    },
  },
  {
    id: 'unfinished.zombie',
    title: 'what an older start still writes into its unfinished pieces is never seen',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const zombie = await first.lane();
      const state = await epochOf(zombie, 1, [1]);
      // No checkpoint comes to name this epoch, nor any later one of this start.
      await writeIds(zombie, [90]);
      await prepare(zombie, 2, MORE);
      const goOn = async (epoch: number, id: number): Promise<void> => {
        await writeIds(zombie, [id]);
        await zombie.prepare(epoch, MORE);
      };
      const second = await restart(env, target, first);
      await second.committer.sweep([recordOf(second.run)]);
      const lane = await second.lane(0, 1, state);
      await goOn(3, 91).catch(() => undefined); // it may also fail
      await epochOf(lane, 3, [2]);
      await goOn(4, 92).catch(() => undefined);
      await assertEnds(second, [lane], target, 5, [1, 2]);
    },
  },
  {
    id: 'unfinished.lanes',
    title: 'unfinished pieces are spread over another number of lanes, and each row becomes visible once',
    needs: [...NEEDS, 'recover-lanes'],
    async run(env) {
      const target = await env.target(PLAIN);
      let s = await start(env, target);
      let states: readonly (JsonValue | null)[] = [null, null, null];
      let lanes: LaneWriter[] = [];
      const ids: number[] = [];
      for (const [epoch, count] of [
        [1, 3],
        [2, 1],
        [3, 4],
        [4, 2],
      ] as const) {
        if (states.length !== count) states = s.writer.recoverLanes?.(states, count) ?? [];
        assert.equal(states.length, count);
        lanes = [];
        for (let n = 0; n < count; n++) lanes.push(await s.lane(n, count, states[n] ?? null));
        await assertTold(lanes, target, ids);
        const next: (JsonValue | null)[] = [];
        for (const lane of lanes) {
          ids.push(ids.length + 1);
          next.push(await epochOf(lane, epoch, ids.slice(-1)));
        }
        states = next;
        await assertTold(lanes, target, ids);
        if (epoch < 4) s = await restart(env, target, s);
      }
      await assertEnds(s, lanes, target, 5, ids);
    },
  },
  {
    id: 'unfinished.given-up',
    title: 'with a run that is given up its unfinished pieces go, and what was visible stays',
    needs: [...NEEDS, 'leftovers'],
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await epochOf(lane, 1, [1]);
      const visible = await committedIds(target);
      await writeIds(lane, [90]);
      await prepare(lane, 2, MORE);
      const second = await restart(env, target, first);
      await second.committer.sweep([{ ...recordOf(second.run), givenUp: true }]);
      assert.deepEqual(await target.leftovers?.(), []);
      assert.deepEqual(await committedIds(target), visible);
    },
  },
];
