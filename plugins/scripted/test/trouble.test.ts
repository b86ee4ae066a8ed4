import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import type { JsonObject, LaneWriter, Writer } from 'syncx/plugin-api';
import { eventually, fillOptions, plainBatch, readWhole, testContext, testLane, testRun } from 'syncx/plugin-testkit';
import { reader, writer } from '../index.js';
import { readTarget, strayFiles } from '../target.js';

const never = new AbortController().signal;
const folders: string[] = [];

async function temp(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'syncx-trouble-'));
  folders.push(path);
  return path;
}

afterEach(async () => {
  for (const path of folders.splice(0)) await rm(path, { recursive: true });
});

function open(options: JsonObject): Promise<Writer> {
  return writer.create(fillOptions(writer, options), testContext());
}

const run1 = testRun('abcdefghijkl', 1);
const run2 = { ...run1, attempt: 2 };

async function laneOf(w: Writer): Promise<LaneWriter> {
  await w.begin(run1);
  return w.openLane(testLane(run1), null);
}

const ids = async (path: string): Promise<readonly unknown[]> => (await readTarget(path)).map((r) => r.values['id']);

describe('scripted writer', () => {
  test('a lost epoch is lost for every start, and its rows are gone', async () => {
    const path = await temp();
    const w = await open({ path, lose: [{ lane: 0, epoch: 1 }] });
    const lane = await laneOf(w);
    await lane.write(plainBatch([1]), never);
    const { committables } = await lane.prepare(1);
    for (let i = 0; i < 2; i++) assert.deepEqual(await w.committer?.recover(run2, committables), ['lost']);
    assert.deepEqual([await ids(path), await strayFiles(path)], [[], []]);
    await assert.rejects(lane.commit(1), { code: 'FENCED' });
  });

  test('a committed epoch cannot be lost', async () => {
    const path = await temp();
    const w = await open({ path, lose: [{ epoch: 1 }] });
    const lane = await laneOf(w);
    await lane.write(plainBatch([1]), never);
    const { committables } = await lane.prepare(1);
    await lane.commit(1);
    assert.deepEqual(await w.committer?.recover(run2, committables), ['committed']);
    assert.deepEqual(await ids(path), ['1']);
  });

  test('unknown is answered where it is asked for', async () => {
    const path = await temp();
    const w = await open({ path, unknown: [{ epoch: 2 }] });
    const lane = await laneOf(w);
    const all = [];
    for (const epoch of [1, 2]) {
      await lane.write(plainBatch([epoch]), never);
      all.push(...(await lane.prepare(epoch)).committables);
      if (epoch === 1) await lane.commit(1);
    }
    assert.deepEqual(await w.committer?.recover(run2, all), ['committed', 'unknown']);
  });

  async function lateCommit(recoverFirst: boolean): Promise<{ outcome: string; rows: readonly unknown[] }> {
    const path = await temp();
    const until = join(path, 'go');
    const w = await open({ path, protocol: 'marker', late: [{ epoch: 1, until }] });
    const lane = await laneOf(w);
    await lane.write(plainBatch([1]), never);
    const { committables } = await lane.prepare(1);
    await assert.rejects(lane.commit(1), { code: 'SINK_IO' });
    if (recoverFirst) assert.deepEqual(await w.committer?.recover(run2, committables), ['lost']);
    await writeFile(until, '');
    const late = join(path, 'late');
    assert.ok(
      await eventually(5000, async () => (await readdir(late).catch(() => [])).some((n) => !n.startsWith('.'))),
    );
    const [name = ''] = (await readdir(late)).filter((n) => !n.startsWith('.'));
    return { outcome: await readFile(join(late, name), 'utf8'), rows: await ids(path) };
  }

  test('a late commit lands where nobody asked in the meantime', async () => {
    assert.deepEqual(await lateCommit(false), { outcome: 'landed', rows: ['1'] });
  });

  test('a late commit that lands after recover was asked is fenced', async () => {
    const { outcome, rows } = await lateCommit(true);
    assert.match(outcome, /has taken over lane 0/);
    assert.deepEqual(rows, []);
  });

  test('an error on demand comes as often as asked for, counted over restarts, before or after the effect', async () => {
    for (const [when, visible] of [
      ['before', []],
      ['after', ['1']],
    ] as const) {
      const path = await temp();
      const options = { path, failOn: [{ step: 'commit', epoch: 1, when, code: 'SINK_CONFLICT' }] };
      const lane = await laneOf(await open(options));
      await lane.write(plainBatch([1]), never);
      const { committables } = await lane.prepare(1);
      await assert.rejects(lane.commit(1), { code: 'SINK_CONFLICT' });
      assert.deepEqual(await ids(path), visible);
      const again = await open(options);
      assert.deepEqual(await again.committer?.recover(run2, committables), ['committed']);
      const next = await again.openLane(testLane(run2), { format: 1, rows: 1, kept: {} });
      await next.write(plainBatch([2]), never);
      await next.prepare(3);
      await next.commit(3);
      assert.deepEqual(await ids(path), ['1', '2']);
    }
  });

  test('a call that waits at a gate ends with the abort', async () => {
    const path = await temp();
    const lane = await laneOf(await open({ path, gates: [{ step: 'write', until: join(path, 'never') }] }));
    const abort = new AbortController();
    const writing = lane.write(plainBatch([1]), abort.signal);
    abort.abort();
    await assert.rejects(writing, { name: 'AbortError' });
  });

  test('readTarget tells a wrong restored state', async () => {
    const path = await temp();
    const w = await open({ path });
    const lane = await laneOf(w);
    await lane.write(plainBatch([1, 2]), never);
    await lane.prepare(1);
    await lane.commit(1);
    const next = await w.openLane(testLane(run2), null);
    await next.write(plainBatch([3]), never);
    await next.prepare(2);
    await next.commit(2);
    await assert.rejects(readTarget(path), /epoch 2: begins at row 0 of the lane, 2 rows are committed/);
  });
});

describe('scripted reader', () => {
  const make = async (options: JsonObject) => reader.create(fillOptions(reader, options), testContext());

  test('an error comes once over restarts, and the second start reads all', async () => {
    const folder = await temp();
    const options = { folder, splits: [{ id: 'a', rows: 9 }], events: [{ split: 'a', at: 5, do: 'fail' }] };
    await assert.rejects(readWhole(await make(options), null), { code: 'SOURCE_IO', place: 'a:5' });
    const { logs } = await readWhole(await make(options), null);
    assert.equal(logs.get('a')?.rows.length, 9);
  });

  test('a dependent split waits until the others are committed', async () => {
    const splits = [
      { id: 'a', rows: 1 },
      { id: 'b', rows: 1, after: ['a'] },
    ];
    const planner = await (await make({ splits })).planner(null);
    const a = await planner.next(never);
    const pending = planner.next(never);
    assert.ok(a !== 'end');
    planner.finished('a', null);
    const early = await Promise.race([pending, new Promise((resolve) => setImmediate(resolve, 'still waiting'))]);
    assert.equal(early, 'still waiting');
    planner.committed(['a']);
    const b = await pending;
    assert.equal(b === 'end' ? b : b.id, 'b');
    assert.equal(await planner.next(never), 'end');
  });

  test('a pause holds one split and not the others, until its file is there', async () => {
    const folder = await temp();
    const until = join(folder, 'go');
    const r = await make({
      batchRows: 1,
      splits: [
        { id: 'a', rows: 3, bounded: false },
        { id: 'b', rows: 3, bounded: false },
      ],
      events: [{ split: 'a', at: 2, do: 'pause', until }],
    });
    const order: string[] = [];
    await readWhole(r, null, {
      rows: 6,
      async onItem(item) {
        order.push(item.splitId);
        if (order.length === 4) await writeFile(until, '');
      },
    });
    assert.deepEqual([order.slice(0, 4).filter((s) => s === 'a').length, order.slice(4)], [1, ['a', 'a']]);
  });

  test('a schema change comes at its row, and rows after it have the new column', async () => {
    const splits = [{ id: 'a', rows: 4 }];
    const { logs } = await readWhole(
      await make({ splits, events: [{ split: 'a', at: 3, do: 'schema', add: 'x' }] }),
      null,
    );
    const log = logs.get('a');
    assert.deepEqual(
      log?.changes.map((c) => c.after?.columns.length),
      [5],
    );
    assert.deepEqual(
      log?.batches.map((b) => b.batch.sections[0]?.schema.columns.length),
      [4, 5],
    );
  });

  test('options that do not fit together are told', () => {
    const of = (o: JsonObject) => reader.check?.(fillOptions(reader, o)).map((f) => f.path);
    const splits = [{ id: 'a', rows: 4, transaction: 2 }];
    assert.deepEqual(of({ splits: [...splits, { id: 'a', rows: 1 }] }), ['splits[1].id']);
    assert.deepEqual(of({ splits: [{ id: 'a', rows: 1, after: ['x'] }] }), ['splits[0].after']);
    assert.deepEqual(of({ splits, events: [{ split: 'a', at: 2, do: 'schema' }] }), ['events[0].at']);
    assert.deepEqual(of({ splits, events: [{ split: 'a', at: 1, do: 'fail' }] }), ['folder']);
    assert.deepEqual(of({ splits, events: [{ split: 'a', at: 9, do: 'idle' }] }), ['events[0].at']);
  });
});
