import assert from 'node:assert/strict';
import type { JsonValue } from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import type { WriterEnv } from '../env.js';
import { PLAIN } from '../sample-rows.js';
import { committedIds, expectedAnswer, prepare, recordOf, recoverOne, restart, start, writeIds } from '../two-phase.js';

const NEEDS = ['exactly-once', 'read-back'] as const;

/** Two-phase commit over crashes. A crash is a lane writer that is dropped: neither aborted nor disposed before recovery. */
export const recoverCases: readonly ContractCase<WriterEnv>[] = [
  {
    id: 'recover.prepared',
    title: 'an epoch that was prepared before the crash is rolled forward, or truly lost; asking again changes nothing',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await writeIds(lane, [1, 2]);
      const p = await prepare(lane, 1);
      const second = await restart(env, target, first);
      const answer = await recoverOne(second, p);
      assert.equal(answer, expectedAnswer(env));
      const rows = answer === 'committed' ? [1, 2] : [];
      assert.deepEqual(await committedIds(target), rows);
      const third = await restart(env, target, second);
      assert.equal(await recoverOne(third, p), answer, 'asked again');
      assert.deepEqual(await committedIds(target), rows, 'asked again');
    },
  },
  {
    id: 'recover.committed',
    title: 'an epoch that was committed before the crash is committed, once',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await writeIds(lane, [1, 2]);
      const p = await prepare(lane, 1);
      await lane.commit(1);
      const second = await restart(env, target, first);
      assert.equal(await recoverOne(second, p), 'committed');
      assert.deepEqual(await committedIds(target), [1, 2]);
    },
  },
  {
    id: 'recover.goes-on',
    title: 'after recovery a new start goes on from the restored state',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await writeIds(lane, [1, 2]);
      const p1 = await prepare(lane, 1);
      await lane.commit(1);
      await writeIds(lane, [3]);
      const p2 = await prepare(lane, 2);
      const second = await restart(env, target, first);
      const committed = (await recoverOne(second, p2)) === 'committed';
      await second.committer.sweep([recordOf(second.run)]);
      const next = await second.lane(0, 1, (committed ? p2 : p1).state);
      await writeIds(next, [4, 5]);
      await prepare(next, 4);
      await next.commit(4);
      assert.deepEqual(await committedIds(target), committed ? [1, 2, 3, 4, 5] : [1, 2, 4, 5]);
    },
  },
  {
    id: 'recover.zombie',
    title: 'a commit of the old start that lands after recovery and sweep changes nothing',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const zombie = await first.lane();
      await writeIds(zombie, [1, 2]);
      const p = await prepare(zombie, 1);
      const second = await restart(env, target, first);
      const rows = (await recoverOne(second, p)) === 'committed' ? [1, 2] : [];
      await second.committer.sweep([recordOf(second.run)]);
      await second.lane(0, 1, rows.length > 0 ? p.state : null);
      await zombie.commit(1).catch(() => undefined);
      assert.deepEqual(await committedIds(target), rows);
    },
  },
  {
    id: 'recover.zombie-swept',
    title: 'a commit whose prepared rows were swept by a newer start fails and shows nothing',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const zombie = await first.lane();
      await writeIds(zombie, [1, 2]);
      await prepare(zombie, 1);
      const second = await restart(env, target, first);
      await second.committer.sweep([recordOf(second.run)]);
      const lane = await second.lane();
      await assert.rejects(async () => zombie.commit(1), 'the commit claims to have worked');
      assert.deepEqual(await committedIds(target), []);
      await writeIds(lane, [1, 2]);
      await prepare(lane, 1);
      await lane.commit(1);
      assert.deepEqual(await committedIds(target), [1, 2]);
    },
  },
  {
    id: 'recover.sweep',
    title: 'sweep removes what the run left, never what is published; twice is once',
    needs: [...NEEDS, 'leftovers'],
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await writeIds(lane, [1]);
      await prepare(lane, 1);
      await lane.commit(1);
      await writeIds(lane, [2]);
      await prepare(lane, 2);
      const second = await restart(env, target, first);
      await second.committer.sweep([recordOf(second.run)]);
      assert.deepEqual(await target.leftovers?.(), []);
      assert.deepEqual(await committedIds(target), [1]);
      assert.equal((await second.committer.sweep([recordOf(second.run)])).removed, 0, 'a second sweep found something');
    },
  },
  {
    id: 'recover.two-runs',
    title: 'two runs on one target do not touch each other, neither by sweep nor by commit',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const [a, b] = [await start(env, target), await start(env, target)];
      const [laneA, laneB] = [await a.lane(), await b.lane()];
      await writeIds(laneA, [1]);
      await writeIds(laneB, [2]);
      await prepare(laneA, 1);
      const pb = await prepare(laneB, 1);
      const again = await restart(env, target, a);
      await again.committer.sweep([recordOf(again.run)]);
      assert.equal(await again.committer.highWater(b.run.runId), 0);
      if (env.harness.prepared === 'survive') {
        assert.equal(await recoverOne(await restart(env, target, b), pb), 'committed');
      } else await laneB.commit(1);
      assert.deepEqual(await committedIds(target), [2]);
    },
  },
  {
    id: 'recover.damaged',
    title: 'what was prepared and then destroyed by hand is unknown, lost or an error, never committed',
    needs: [...NEEDS, 'damage'],
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      await writeIds(lane, [1, 2]);
      const p = await prepare(lane, 1);
      await target.damage?.();
      const second = await restart(env, target, first);
      const answer = await recoverOne(second, p).catch(() => 'error');
      assert.notEqual(answer, 'committed');
      assert.deepEqual(await committedIds(target), []);
    },
  },
  {
    id: 'recover.lanes',
    title: 'states are redistributed over another number of lanes, and rows stay exact',
    needs: [...NEEDS, 'recover-lanes'],
    async run(env) {
      const target = await env.target(PLAIN);
      let s = await start(env, target);
      let states: readonly (JsonValue | null)[] = [null, null, null];
      let id = 0;
      for (const [epoch, lanes] of [
        [1, 3],
        [2, 1],
        [3, 2],
        [4, 4],
      ] as const) {
        if (states.length !== lanes) {
          states = s.writer.recoverLanes?.(states, lanes) ?? [];
          assert.equal(states.length, lanes);
        }
        const next: (JsonValue | null)[] = [];
        for (let n = 0; n < lanes; n++) {
          const lane = await s.lane(n, lanes, states[n] ?? null);
          await writeIds(lane, [++id]);
          next.push((await prepare(lane, epoch)).state);
          await lane.commit(epoch);
        }
        states = next;
        s = await restart(env, target, s);
      }
      assert.deepEqual(await committedIds(target), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    },
  },
];
