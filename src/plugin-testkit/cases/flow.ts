import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  DEFAULT_BATCH_TARGET,
  isSyncError,
  type LaneReader,
  type Reader,
  type ReadItem,
  type Split,
} from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import { testLane, testRun } from '../context.js';
import { batchKeys, eventually, readSplits, readWhole, within } from '../drive.js';
import type { ReaderEnv } from '../env.js';
import type { ReaderSource } from '../harness.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const MEMORY_LIMIT = 40 << 20;
const never = new AbortController().signal;

async function firstSplit(reader: Reader): Promise<Split> {
  const split = await (await reader.planner(null)).next(never);
  if (split === 'end') throw new Error('the source has no split');
  return split;
}

async function laneOf(env: ReaderEnv, reader: Reader): Promise<LaneReader> {
  const lane = await reader.openLane(testLane(testRun()), reader.shared?.() ?? null);
  env.defer(async () => lane[Symbol.asyncDispose]());
  return lane;
}

/** Handles and requests that keep the process alive, by kind. */
function resources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((r) => r !== 'Timeout' && r !== 'Immediate');
}

/** What is there now and was not before: what the seed has left may still be closing. */
function added(before: readonly string[]): readonly string[] {
  const rest = [...before];
  return resources().filter((r) => {
    const i = rest.indexOf(r);
    if (i >= 0) rest.splice(i, 1);
    return i < 0;
  });
}

/** What is in use: garbage of earlier cases, collected in mid-case, would hide what a reader takes. */
async function memory(): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** Buffers are freed beside the program: what is left once that is over. */
async function memoryAtRest(): Promise<number> {
  let lowest = await memory();
  const less = async (): Promise<boolean> => (await memory()) < lowest;
  while (await eventually(100, less, 20)) lowest = Math.min(lowest, await memory());
  return lowest;
}

/** @returns when no memory has been taken for a second, or more than the limit: a loaded machine reads slowly. */
async function untilAtRest(before: number): Promise<number> {
  let highest = before;
  const more = async (): Promise<boolean> => (await memory()) > highest + (1 << 20);
  while (highest - before <= MEMORY_LIMIT && (await eventually(1000, more, 100))) highest = await memory();
  return highest - before;
}

/** Ends a read in the middle of the source, and looks at what is left. */
async function stopAfter(env: ReaderEnv, source: ReaderSource, items: number): Promise<void> {
  const before = resources();
  const reader = await env.reader(source);
  const split = await firstSplit(reader);
  const lane = await laneOf(env, reader);
  const abort = new AbortController();
  lane.assign(split, null);
  const it = lane.read(abort.signal)[Symbol.asyncIterator]();
  for (let i = 0; i < items; i++) {
    const item = await it.next();
    if (item.done === true || item.value.is === 'splitEnd') break;
  }
  const pending = it.next();
  pending.catch(() => undefined);
  abort.abort();
  // An item that was under way may still come; then the iteration is over.
  const rest = async (): Promise<void> => {
    for (let r = await pending; r.done !== true; r = await it.next());
  };
  await within(env.limitMs, 'ending read() after abort', rest());
  await within(env.limitMs, 'disposing the lane', Promise.resolve(lane[Symbol.asyncDispose]()));
  await within(env.limitMs, 'disposing the lane twice', Promise.resolve(lane[Symbol.asyncDispose]()));
  await reader.close?.();
  const clean = await eventually(env.limitMs, () => added(before).length === 0);
  assert.ok(clean, `handles stay open: ${added(before).join(' ')}`);
}

export const flowCases: readonly ContractCase<ReaderEnv>[] = [
  {
    id: 'flow.abort',
    title:
      'abort in the middle of a split ends reading in less than 2 s and leaves no open handle; closing twice is fine',
    needs: [],
    run: async (env) => stopAfter(env, await env.seed('plain', 60), 1),
  },
  {
    id: 'flow.abort-idle',
    title: 'abort ends a read that waits for new rows',
    needs: ['seed-endless'],
    async run(env) {
      const source = await env.seed('endless', 3);
      const reader = await env.reader(source);
      const split = await firstSplit(reader);
      assert.equal(split.bounded, false, 'an endless source has an unbounded split');
      const lane = await laneOf(env, reader);
      lane.assign(split, null);
      const abort = new AbortController();
      let rows = 0;
      const done = (async () => {
        for await (const item of lane.read(abort.signal)) {
          if (item.is === 'batch') rows += item.rows;
          assert.notEqual(item.is, 'splitEnd', 'an unbounded split has ended');
        }
      })();
      done.catch(() => undefined);
      assert.ok(
        await eventually(env.limitMs * 5, () => rows >= source.rows),
        `${String(rows)} of ${String(source.rows)} rows came`,
      );
      abort.abort();
      await within(env.limitMs, 'ending an idle read() after abort', done);
    },
  },
  {
    id: 'flow.waits',
    title: 'with nothing assigned read waits, and goes on when a split is assigned',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 4);
      const reader = await env.reader(source);
      const split = await firstSplit(reader);
      const lane = await laneOf(env, reader);
      const abort = new AbortController();
      const it = lane.read(abort.signal)[Symbol.asyncIterator]();
      let settled = false;
      const pending = it.next().finally(() => (settled = true));
      pending.catch(() => undefined);
      assert.equal(await eventually(50, () => settled), false, 'read() gave or ended with nothing assigned');
      lane.assign(split, null);
      const item = await within(env.limitMs * 5, 'the first item', pending);
      assert.equal(item.done ?? false, false);
      abort.abort();
      for (let r = await it.next(); r.done !== true; r = await it.next());
    },
  },
  {
    id: 'flow.hold',
    title: 'a held split gives at most the batch under way; released, it goes on without loss',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 60);
      const reader = await env.reader(source);
      const split = await firstSplit(reader);
      const whole =
        (await readSplits(reader, [{ split, from: null }], { rows: source.rows })).get(split.id)?.rows ?? [];
      const lane = await laneOf(env, reader);
      lane.assign(split, null);
      const abort = new AbortController();
      const items: ReadItem[] = [];
      const rows: string[] = [];
      let ended = false;
      const reading = (async () => {
        for await (const item of lane.read(abort.signal)) {
          items.push(item);
          if (item.is === 'batch') rows.push(...batchKeys(item));
          if (item.is === 'splitEnd' || (!split.bounded && rows.length >= whole.length)) ended = true;
          if (items.length === 1) lane.hold([split.id]);
        }
      })();
      reading.catch(() => undefined);
      assert.ok(await eventually(env.limitMs * 5, () => items.length >= 1), 'no item came');
      const more = await eventually(60, () => items.length > 2);
      const held = items.length;
      lane.release([split.id]);
      assert.ok(await eventually(env.limitMs * 5, () => ended), 'a released split does not go on');
      abort.abort();
      await within(env.limitMs, 'ending read()', reading);
      assert.equal(more, false, `${String(held)} items came, most of them from a held split`);
      assert.deepEqual(rows, whole);
    },
  },
  {
    id: 'batch.size',
    title: 'batches keep near the size that the lane asks for; only a single row may pass it by far',
    needs: ['seed-large'],
    async run(env) {
      const reader = await env.reader(await env.seed('large', 1));
      const split = await firstSplit(reader);
      const lane = await laneOf(env, reader);
      lane.assign(split, null);
      const abort = new AbortController();
      const limit = DEFAULT_BATCH_TARGET.bytes * 4;
      let total = 0;
      for await (const item of lane.read(abort.signal)) {
        if (item.is === 'splitEnd') break;
        if (item.is !== 'batch') continue;
        const what = `a batch of ${String(item.rows)} rows has ${String(item.data.length)} bytes`;
        assert.ok(item.data.length <= limit || item.rows === 1, what);
        total += item.data.length;
        if (total > limit * 2) break;
      }
      abort.abort();
      assert.ok(total > limit, `the large source gave ${String(total)} bytes only: the case saw nothing`);
    },
  },
  {
    id: 'flow.slow-consumer',
    title: 'a slow consumer keeps memory bounded',
    needs: ['seed-large'],
    async run(env) {
      const source = await env.seed('large', 1);
      const reader = await env.reader(source);
      const split = await firstSplit(reader);
      const lane = await laneOf(env, reader);
      lane.assign(split, null);
      const abort = new AbortController();
      const before = await memoryAtRest();
      let ahead = 0;
      let total = 0;
      for await (const item of lane.read(abort.signal)) {
        if (item.is === 'splitEnd') break;
        if (item.is !== 'batch') continue;
        if (total === 0) {
          ahead = await untilAtRest(before);
        }
        total += item.data.length;
        if (total > MEMORY_LIMIT) break;
      }
      abort.abort();
      assert.ok(total >= MEMORY_LIMIT, `the large source gave ${String(total)} bytes only: the case saw nothing`);
      assert.ok(ahead <= MEMORY_LIMIT, `${String(ahead)} bytes were read ahead of a consumer that had taken one batch`);
    },
  },
];

export const troubleCases: readonly ContractCase<ReaderEnv>[] = [
  {
    id: 'trouble.bad-row',
    title: 'a bad row is one rejected row with reason and content; the rows around it arrive',
    needs: ['seed-bad-row'],
    async run(env) {
      const source = await env.seed('bad-row', 20);
      const { logs } = await readWhole(await env.reader(source), null, { rows: source.rows });
      const rejected = [...logs.values()].flatMap((l) => l.rejected);
      const rows = [...logs.values()].flatMap((l) => l.rows);
      assert.equal(rows.length, source.rows, 'good rows');
      assert.equal(rejected.length, 1, 'rejected rows');
      assert.notEqual(rejected[0]?.reason.trim(), '');
      assert.notEqual(rejected[0]?.row ?? null, null, 'the rejected row has no content');
    },
  },
  {
    id: 'trouble.bad-alone',
    title: 'a bad row that is all there is arrives as a rejected row',
    needs: ['seed-bad-row'],
    async run(env) {
      const reader = await env.reader(await env.seed('bad-row', 0));
      const reading = readWhole(reader, null, { rows: 0, rejected: 1 });
      const { logs } = await within(env.limitMs * 5, 'the rejected rows of an unbounded split', reading);
      const rejected = [...logs.values()].flatMap((l) => l.rejected);
      assert.equal(rejected.length, 1, 'rejected rows');
    },
  },
  {
    id: 'trouble.error',
    title: 'an error of the source is thrown as a SyncError, never shown as an end',
    needs: ['seed-broken'],
    async run(env) {
      const source = await env.seed('broken', 20);
      const reader = await env.reader(source);
      let thrown: unknown = null;
      try {
        await readWhole(reader, null, { rows: source.rows + 1 });
      } catch (e) {
        thrown = e;
      }
      assert.ok(thrown !== null, 'a broken source was read to an end without an error');
      assert.ok(isSyncError(thrown), `not a SyncError: ${String(thrown)}`);
      assert.ok(
        thrown.code !== 'INTERNAL' && thrown.code !== 'PLUGIN_BROKEN',
        `code ${thrown.code}: ${thrown.message}`,
      );
    },
  },
  {
    id: 'trouble.missing',
    title: 'a source that is not there is an error with a code, never an empty source',
    needs: ['seed-missing'],
    async run(env) {
      const source = await env.seed('missing', 0);
      let thrown: unknown = null;
      try {
        await readWhole(await env.reader(source), null, { rows: 0 });
      } catch (e) {
        thrown = e;
      }
      assert.ok(thrown !== null, 'a missing source was read as an empty one');
      assert.ok(isSyncError(thrown), `not a SyncError: ${String(thrown)}`);
      assert.ok(
        thrown.code !== 'INTERNAL' && thrown.code !== 'PLUGIN_BROKEN',
        `code ${thrown.code}: ${thrown.message}`,
      );
    },
  },
];
