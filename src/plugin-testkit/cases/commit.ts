import assert from 'node:assert/strict';
import type { ContractCase } from '../case.js';
import type { WriterEnv } from '../env.js';
import { PLAIN } from '../sample-rows.js';
import { committedIds, expectedAnswer, prepare, recordOf, recoverOne, restart, start, writeIds } from '../two-phase.js';
import { testRun } from '../context.js';

const NEEDS = ['exactly-once', 'read-back'] as const;

/** Two-phase commit of a healthy writer. */
export const commitCases: readonly ContractCase<WriterEnv>[] = [
  {
    id: 'commit.invisible',
    title: 'rows are invisible until commit has resolved, and all there afterwards',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1, 2]);
      assert.deepEqual(await committedIds(target), [], 'after write');
      await writeIds(lane, [3]);
      await prepare(lane, 1);
      assert.deepEqual(await committedIds(target), [], 'after prepare');
      await lane.commit(1);
      assert.deepEqual(await committedIds(target), [1, 2, 3]);
    },
  },
  {
    id: 'commit.twice',
    title: 'committing an epoch twice is committing it once',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1, 2]);
      await prepare(lane, 1);
      await lane.commit(1);
      await lane.commit(1);
      assert.deepEqual(await committedIds(target), [1, 2]);
    },
  },
  {
    id: 'commit.epochs',
    title: 'epochs add up, also where numbers are left out',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      for (const [epoch, ids] of [
        [1, [1]],
        [2, [2, 3]],
        [5, [4]],
      ] as const) {
        await writeIds(lane, ids);
        await prepare(lane, epoch);
        await lane.commit(epoch);
      }
      assert.deepEqual(await committedIds(target), [1, 2, 3, 4]);
    },
  },
  {
    id: 'commit.empty-epoch',
    title: 'an epoch without rows commits, and recover does not stumble over it',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const first = await start(env, target);
      const lane = await first.lane();
      const empty = await prepare(lane, 1);
      await lane.commit(1);
      await writeIds(lane, [1]);
      await prepare(lane, 2);
      await lane.commit(2);
      const last = await prepare(lane, 3);
      const second = await restart(env, target, first);
      for (const p of [empty, last]) {
        const answers = await second.committer.recover(second.run, p.committables);
        assert.equal(answers.length, p.committables.length);
        assert.ok(!answers.includes('unknown'), `an empty epoch is unknown`);
      }
      assert.deepEqual(await committedIds(target), [1]);
    },
  },
  {
    id: 'commit.abort-open',
    title: 'abort before prepare leaves nothing, and the lane goes on',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1, 2]);
      await lane.abort(1);
      await writeIds(lane, [3]);
      await prepare(lane, 2);
      await lane.commit(2);
      assert.deepEqual(await committedIds(target), [3]);
    },
  },
  {
    id: 'commit.abort-prepared',
    title: 'abort after prepare leaves nothing, and the lane goes on',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1, 2]);
      await prepare(lane, 1);
      await lane.abort(1);
      assert.deepEqual(await committedIds(target), []);
      await writeIds(lane, [3]);
      await prepare(lane, 2);
      await lane.commit(2);
      assert.deepEqual(await committedIds(target), [3]);
    },
  },
  {
    id: 'commit.abort-clean',
    title: 'an aborted or disposed epoch leaves nothing behind that a sweep would not remove',
    needs: [...NEEDS, 'leftovers'],
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      const lane = await s.lane();
      await writeIds(lane, [1]);
      await lane.abort(1);
      assert.deepEqual(await target.leftovers?.(), [], 'after abort of an open epoch');
      await writeIds(lane, [2]);
      await prepare(lane, 2);
      await lane.abort(2);
      assert.deepEqual(await target.leftovers?.(), [], 'after abort of a prepared epoch');
      await writeIds(lane, [3]);
      await lane[Symbol.asyncDispose]();
      await lane[Symbol.asyncDispose]();
      await s.committer.sweep([recordOf(s.run)]);
      assert.deepEqual(await target.leftovers?.(), [], 'after dispose and sweep');
      assert.deepEqual(await committedIds(target), []);
    },
  },
  {
    id: 'commit.dispose',
    title: 'disposing without a commit shows nothing; disposing twice is fine',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1]);
      await lane[Symbol.asyncDispose]();
      await lane[Symbol.asyncDispose]();
      assert.deepEqual(await committedIds(target), []);
    },
  },
  {
    id: 'commit.lanes',
    title: 'lanes prepare and commit by themselves',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      const [a, b] = [await s.lane(0, 2), await s.lane(1, 2)];
      await writeIds(a, [1]);
      await writeIds(b, [2]);
      await prepare(a, 1);
      const held = await prepare(b, 1);
      await a.commit(1);
      assert.deepEqual(await committedIds(target), [1]);
      const second = await restart(env, target, s);
      const answer = await recoverOne(second, held);
      assert.equal(answer, expectedAnswer(env));
      assert.deepEqual(await committedIds(target), answer === 'committed' ? [1, 2] : [1]);
    },
  },
  {
    id: 'commit.pipelined',
    title: 'rows of the next epoch may come between prepare and commit and stay apart from it',
    needs: [...NEEDS, 'pipelined'],
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      await writeIds(lane, [1]);
      await prepare(lane, 1);
      await writeIds(lane, [2]);
      await lane.commit(1);
      assert.deepEqual(await committedIds(target), [1]);
      await prepare(lane, 2);
      await lane.commit(2);
      assert.deepEqual(await committedIds(target), [1, 2]);
    },
  },
  {
    id: 'commit.begin-complete',
    title: 'begin and complete may run again without harm',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      await s.writer.begin(s.run);
      const lane = await s.lane();
      await writeIds(lane, [1]);
      await prepare(lane, 1);
      await lane.commit(1);
      await s.writer.complete(s.run);
      await s.writer.complete(s.run);
      const second = await restart(env, target, s);
      await second.writer.complete(second.run);
      assert.deepEqual(await committedIds(target), [1]);
    },
  },
  {
    id: 'commit.high-water',
    title: 'highWater is the highest committed epoch of the run, or 0 where it cannot be told',
    needs: NEEDS,
    async run(env) {
      const target = await env.target(PLAIN);
      const s = await start(env, target);
      assert.equal(await s.committer.highWater(s.run.runId), 0);
      const lane = await s.lane();
      await writeIds(lane, [1]);
      await prepare(lane, 3);
      assert.equal(await s.committer.highWater(s.run.runId), 0, 'prepared is not committed');
      await lane.commit(3);
      const high = await s.committer.highWater(s.run.runId);
      assert.ok(high === 3 || high === 0, `highWater is ${String(high)} after epoch 3`);
      assert.equal(await s.committer.highWater(testRun().runId), 0, 'of a run that never was');
    },
  },
];
