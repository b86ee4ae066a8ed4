import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BatchBuilder, internSchema, type JsonValue, type LaneWriter, type RowBatch } from 'syncx/plugin-api';
import { RUN, folder, laneOf, openWriter, type WriterOptions } from './drive.js';

const AB = internSchema(['a', 'b'].map((name) => ({ name, type: { is: 'string' } as const })));
const AC = internSchema(['a', 'c'].map((name) => ({ name, type: { is: 'string' } as const })));
const signal = new AbortController().signal;
const MORE = { last: false } as const;
const STAGING = '.syncx-run0run0run0';

function batchOf(rows: readonly (readonly [string, string])[], schema = AB): RowBatch {
  const b = new BatchBuilder(schema);
  for (const row of rows) {
    for (const cell of row) b.appendText(cell);
    b.endRow();
  }
  return b.finish('s', null, 0);
}

async function start(o: Partial<WriterOptions>, attempt = 1, restored: JsonValue | null = null): Promise<LaneWriter> {
  const w = await openWriter(o);
  const run = { ...RUN, attempt };
  if (attempt === 1) await w.begin(run);
  return w.openLane(laneOf(undefined, run), restored);
}

async function epoch(lane: LaneWriter, n: number, last: boolean): Promise<JsonValue | null> {
  const p = await lane.prepare(n, { last });
  await lane.commit(n);
  return p.state;
}

const published = (dir: string): readonly string[] => readdirSync(dir).filter((n) => !n.startsWith('.'));
const staged = (dir: string): readonly string[] => readdirSync(join(dir, STAGING));
const text = (dir: string): readonly string[] => published(dir).map((n) => readFileSync(join(dir, n), 'utf8'));

test('a file stays open over epochs and shows all its rows after the last', async (t) => {
  const dir = folder(t);
  const lane = await start({ path: dir, isFirstLineHeader: true });
  for (const n of [1, 2, 3]) {
    await lane.write(batchOf([[String(n), 'x']]), signal);
    const p = await lane.prepare(n, MORE);
    assert.deepEqual(p.committables, []);
    assert.equal(p.bytes, n === 1 ? 8 : 4);
    assert.deepEqual(
      (p.state as { open: { size: number; rows: number }[] }).open.map((f) => [f.size, f.rows]),
      [[4 + 4 * n, n]],
    );
    await lane.commit(n);
    assert.deepEqual(published(dir), []);
    assert.deepEqual(staged(dir), ['1-0-0.open']);
    assert.equal(lane.unfinished?.(), 'later');
  }
  const p = await lane.prepare(4, { last: true });
  assert.equal(p.state, null);
  assert.deepEqual(
    p.committables.map((c) => c.rows),
    [3],
  );
  await lane.commit(4);
  assert.equal(lane.unfinished?.(), 'none');
  assert.deepEqual(text(dir), ['a,b\n1,x\n2,x\n3,x\n']);
  assert.deepEqual(staged(dir), []);
});

test('compressed files, and all where asked, are finished at each epoch', async (t) => {
  for (const o of [{ compress: 'gzip' }, { rollOnCheckpoint: true }] as const) {
    const dir = folder(t);
    const lane = await start({ path: dir, ...o });
    for (const n of [1, 2]) {
      await lane.write(batchOf([[String(n), 'x']]), signal);
      assert.equal(await epoch(lane, n, false), null);
      assert.equal(published(dir).length, n);
    }
  }
});

test('a file whose time has come is finished, also where nothing more is written', async (t) => {
  for (const o of [
    { rollInterval: 1, inactivityInterval: 0 },
    { rollInterval: 0, inactivityInterval: 1 },
  ]) {
    const dir = folder(t);
    const lane = await start({ path: dir, ...o });
    await lane.write(batchOf([['1', 'x']]), signal);
    const state = await epoch(lane, 1, false);
    for (const from = Date.now(); Date.now() < from + 2;); // the clock must move on
    if (state !== null) {
      assert.equal(lane.unfinished?.(), 'now');
      assert.equal(await epoch(lane, 2, false), null);
    }
    assert.deepEqual(text(dir), ['1,x\n']);
  }
});

test('zero means never', async (t) => {
  const dir = folder(t);
  const lane = await start({ path: dir, rollInterval: 0, inactivityInterval: 0 });
  await lane.write(batchOf([['1', 'x']]), signal);
  await epoch(lane, 1, false);
  for (const from = Date.now(); Date.now() < from + 2;);
  assert.equal(lane.unfinished?.(), 'later');
});

test('a restart goes on in a copy: what a zombie adds to the old file is never seen', async (t) => {
  const dir = folder(t);
  const o = { path: dir, isFirstLineHeader: true };
  const zombie = await start(o);
  await zombie.write(batchOf([['1', 'x']]), signal);
  const state = await epoch(zombie, 1, false);
  const old = join(dir, STAGING, '1-0-0.open');
  await zombie.write(batchOf([['lost', 'x']]), signal);
  await zombie.prepare(2, MORE); // never durable
  const lane = await start(o, 2, state);
  assert.equal(lane.unfinished?.(), 'later');
  appendFileSync(old, 'zombie\n');
  await lane.write(batchOf([['2', 'x']]), signal);
  const next = await epoch(lane, 3, false);
  assert.deepEqual(staged(dir), ['1-0-0.open', '2-0-0.open'], 'a checkpoint may still come to name the old one');
  await epoch(lane, 4, false);
  assert.deepEqual(staged(dir), ['2-0-0.open']);
  assert.notEqual(next, state);
  await epoch(lane, 5, true);
  assert.deepEqual(text(dir), ['a,b\n1,x\n2,x\n']);
});

test('a restart with another layout, or with files that are closed at checkpoints, finishes what was open', async (t) => {
  for (const change of [{ fieldDelimiter: ';' }, { rollOnCheckpoint: true }, { compress: 'gzip' }] as const) {
    const dir = folder(t);
    const first = await start({ path: dir });
    await first.write(batchOf([['1', 'x']]), signal);
    const state = await epoch(first, 1, false);
    const lane = await start({ path: dir, ...change }, 2, state);
    assert.equal(lane.unfinished?.(), 'now');
    assert.equal(await epoch(lane, 3, false), null);
    assert.deepEqual(text(dir), ['1,x\n']);
    assert.match(published(dir)[0] ?? '', /\.csv$/);
  }
});

test('rows of other columns end an open file that has a header, and are an error without one', async (t) => {
  for (const header of [true, false]) {
    const dir = folder(t);
    const o = { path: dir, isFirstLineHeader: header };
    const first = await start(o);
    await first.write(batchOf([['1', 'x']]), signal);
    const lane = await start(o, 2, await epoch(first, 1, false));
    const write = lane.write(batchOf([['2', 'y']], AC), signal);
    if (!header) {
      await assert.rejects(write, { code: 'COLUMN_MISMATCH' });
      continue;
    }
    await write;
    await epoch(lane, 3, true);
    assert.deepEqual(text(dir), ['a,b\n1,x\n', 'a,c\n2,y\n']);
  }
});

test('abort takes an open file back to its last committed row, and the lane can go on', async (t) => {
  const dir = folder(t);
  const lane = await start({ path: dir });
  await lane.write(batchOf([['1', 'x']]), signal);
  await epoch(lane, 1, false);
  await lane.write(batchOf([['2', 'undone']]), signal);
  await lane.prepare(2, MORE);
  await lane.abort(2);
  assert.deepEqual(staged(dir), ['1-0-0.open']);
  await lane.write(batchOf([['3', 'undone, and closed']]), signal);
  await lane.prepare(2, { last: true });
  await lane.abort(2);
  assert.deepEqual(staged(dir), ['1-0-0.open']);
  assert.equal(lane.unfinished?.(), 'later');
  await lane.write(batchOf([['4', 'y']]), signal);
  await epoch(lane, 2, false);
  await epoch(lane, 3, true);
  assert.deepEqual(text(dir), ['1,x\n4,y\n']);
  assert.deepEqual(staged(dir), []);
});

test('disposing keeps what a checkpoint may name, and nothing else', async (t) => {
  const dir = folder(t);
  const lane = await start({ path: dir });
  await lane.write(batchOf([['1', 'x']]), signal);
  await lane.prepare(1, MORE);
  await lane[Symbol.asyncDispose]();
  assert.deepEqual(staged(dir), ['1-0-0.open']);
  const other = await start({ path: dir }, 2);
  await other.write(batchOf([['1', 'x']]), signal);
  await other[Symbol.asyncDispose]();
  assert.deepEqual(staged(dir), ['1-0-0.open']);
});

test('a sweep leaves open files to their run, and removes them with a run that is given up', async (t) => {
  const dir = folder(t);
  const w = await openWriter({ path: dir });
  const lane = await start({ path: dir });
  await lane.write(batchOf([['1', 'x']]), signal);
  await epoch(lane, 1, false);
  writeFileSync(join(dir, STAGING, '1-0-7.part'), 'x');
  const run = { runId: RUN.runId, attempts: [1], lanes: 1 };
  assert.deepEqual(await w.committer?.sweep([{ ...run, givenUp: false }]), { removed: 1 });
  assert.deepEqual(staged(dir), ['1-0-0.open']);
  assert.deepEqual(await w.committer?.sweep([{ ...run, givenUp: true }]), { removed: 1 });
  assert.deepEqual(readdirSync(dir), []);
});

test('complete leaves nothing in the staging folder', async (t) => {
  const dir = folder(t);
  const w = await openWriter({ path: dir });
  const lane = await start({ path: dir });
  await lane.write(batchOf([['1', 'x']]), signal);
  await lane.prepare(1, MORE);
  await lane[Symbol.asyncDispose]();
  await w.complete(RUN);
  assert.deepEqual(readdirSync(dir), []);
});

test('open files are spread over more and fewer lanes; the sum stays', async (t) => {
  const dir = folder(t);
  const w = await openWriter({ path: dir, fileType: 'json' });
  await w.begin(RUN);
  const states: (JsonValue | null)[] = [];
  for (const n of [0, 1, 2]) {
    const lane = await w.openLane({ ...laneOf(), lane: n, lanes: 3 }, null);
    await lane.write(batchOf([[String(n), 'x']]), signal);
    states.push(await epoch(lane, 1, false));
  }
  const eight = w.recoverLanes?.([...states, null], 8) ?? [];
  assert.deepEqual(
    eight.map((s) => (s === null ? 0 : (s as { open: [] }).open.length)),
    [1, 1, 1, 0, 0, 0, 0, 0],
  );
  const [one = null] = w.recoverLanes?.(eight, 1) ?? [];
  const lane = await start({ path: dir, fileType: 'json' }, 2, one);
  assert.equal(lane.unfinished?.(), 'now');
  await epoch(lane, 3, false);
  assert.equal(published(dir).length, 2, 'the lane goes on with one');
  await epoch(lane, 4, true);
  assert.deepEqual(text(dir).toSorted(), ['{"a":"0","b":"x"}\n', '{"a":"1","b":"x"}\n', '{"a":"2","b":"x"}\n']);
});

test('an open file that is gone or too short stops the start', async (t) => {
  const dir = folder(t);
  const first = await start({ path: dir });
  await first.write(batchOf([['1', 'x']]), signal);
  const state = await epoch(first, 1, false);
  writeFileSync(join(dir, STAGING, '1-0-0.open'), '1');
  const place = join(dir, STAGING, '1-0-0.open');
  await assert.rejects(start({ path: dir }, 2, state), {
    code: 'SINK_CONFLICT',
    place,
    message: /has only 1 bytes: 1 committed rows \(4 bytes\)/,
  });
  await assert.rejects(start({ path: dir }, 2, { format: 2 }), { code: 'STATE_CORRUPT' });
});
