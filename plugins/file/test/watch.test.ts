import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { JsonValue, Reader, Split, SplitPlanner } from 'syncx/plugin-api';
import { reader } from '../index.js';
import { folder, openReader, readSplit, readerOptions, type ReaderOptions } from './drive.js';

const never = new AbortController().signal;

/** Looks follow at once; a file is taken on the second look that finds it as it was. */
const QUICK = { watch: true, watchInterval: 1, watchStable: 1 } as const;
const OLD = new Date('2020-01-01T00:00:00Z');

/** A file that nobody has written to of late. */
function put(path: string, text: string): void {
  writeFileSync(path, text);
  utimesSync(path, OLD, OLD);
}

async function opened(t: TestContext, o: Partial<ReaderOptions>, warnings: string[] = []): Promise<Reader> {
  const r = await openReader({ ...QUICK, ...o }, warnings);
  t.after(() => r.close?.());
  return r;
}

async function next(planner: SplitPlanner): Promise<Split> {
  const split = await planner.next(never);
  assert.ok(split !== 'end');
  return split;
}

/** Whether the planner has nothing to hand out after several looks. */
async function waits(planner: SplitPlanner): Promise<boolean> {
  const stop = new AbortController();
  const asked = planner.next(stop.signal).then(
    () => false,
    () => true,
  );
  setTimeout(() => {
    stop.abort();
  }, 60);
  return asked;
}

const pathOf = (s: Split): unknown => (s.spec as { readonly path?: unknown }).path;
const saved = (p: SplitPlanner): JsonValue => JSON.parse(JSON.stringify(p.snapshot(1))) as JsonValue;

test('a watching job is unbounded; standard input cannot be watched', () => {
  assert.equal(reader.boundedness(readerOptions({ path: 'x' })), 'bounded');
  assert.equal(reader.boundedness(readerOptions({ path: 'x', watch: true })), 'unbounded');
  assert.deepEqual(
    reader.check?.(readerOptions({ path: '-', watch: true })).map((f) => f.path),
    ['watch'],
  );
});

test('files at the start, then those that appear, each once; a folder may be empty', async (t) => {
  const dir = folder(t);
  const r = await opened(t, { path: dir });
  const planner = await r.planner(null);
  assert.equal(planner.remaining?.(), null);
  assert.ok(await waits(planner));
  put(join(dir, 'b.csv'), '2,b\n');
  const b = await next(planner);
  put(join(dir, 'a.csv'), '1,a\n');
  writeFileSync(join(dir, '.hidden'), 'x');
  const a = await next(planner);
  assert.deepEqual([pathOf(b), pathOf(a)], [join(dir, 'b.csv'), join(dir, 'a.csv')]);
  assert.equal(b.bounded, true);
  assert.deepEqual((await readSplit(r, b)).rows, [['2', 'b']]);
  assert.deepEqual((await readSplit(r, a)).rows, [['1', 'a']]);
  assert.ok(await waits(planner));
});

test('at the start only files that nobody writes to any more are taken at once', async (t) => {
  const dir = folder(t);
  put(join(dir, 'old.csv'), '1,a\n');
  writeFileSync(join(dir, 'new.csv'), '2,b\n');
  const r = await opened(t, { path: dir, watchStable: 3_600_000 });
  const planner = await r.planner(null);
  assert.equal(pathOf(await next(planner)), join(dir, 'old.csv'));
  assert.ok(await waits(planner));
});

test('a file that grows from look to look is not taken; with watchStable 0 it is, on sight', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  const r = await opened(t, { path: dir, watchStable: 200 });
  const planner = await r.planner(null);
  writeFileSync(file, '');
  const writing = setInterval(() => {
    appendFileSync(file, '1,a\n');
  }, 5);
  const stop = new AbortController();
  const asked = planner.next(stop.signal);
  const first = await Promise.race([asked, new Promise<null>((resolve) => setTimeout(resolve, 600, null))]);
  clearInterval(writing);
  assert.equal(first, null, 'taken while it was written');
  assert.equal(pathOf((await asked) as Split), file);

  const eager = await (await opened(t, { path: dir, watchStable: 0 })).planner(null);
  assert.equal(pathOf(await next(eager)), file);
});

test('from any snapshot on, the files that were not handed out follow, and none twice', async (t) => {
  const dir = folder(t);
  const names = ['a', 'b', 'c'].map((n) => join(dir, `${n}.csv`));
  for (const n of names) put(n, '1,x\n');
  const r = await opened(t, { path: dir });
  const planner = await r.planner(null);
  for (let taken = 0; ; taken++) {
    const again = await (await opened(t, { path: dir })).planner(saved(planner));
    for (const want of names.slice(taken)) assert.equal(pathOf(await next(again)), want);
    assert.ok(await waits(again), `resumed after ${String(taken)} files`);
    if (taken === names.length) break;
    await next(planner);
  }
  const before = saved(planner);
  put(join(dir, 'later.csv'), '1,x\n');
  const again = await (await opened(t, { path: dir })).planner(before);
  assert.equal(pathOf(await next(again)), join(dir, 'later.csv'));
  assert.ok(await waits(again));
});

test('a large plan is unchanged since the last snapshot, until something is handed out', async (t) => {
  const dir = folder(t);
  for (let i = 0; i <= 1000; i++) put(join(dir, `${String(i)}.csv`), '1,x\n');
  const planner = await (await opened(t, { path: dir })).planner(null);
  assert.ok(!('unchangedSince' in (planner.snapshot(4) as object)));
  assert.deepEqual(planner.snapshot(5), { unchangedSince: 4 });
  await next(planner);
  assert.ok(!('unchangedSince' in (planner.snapshot(6) as object)));
});

test('a file that grows after it was taken is loud, in this process and in the next', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  put(file, '1,x\n');
  const planner = await (await opened(t, { path: dir })).planner(null);
  await next(planner);
  const before = saved(planner);
  appendFileSync(file, '2,y\n');
  const changed = { code: 'SOURCE_CHANGED', place: file };
  await assert.rejects(planner.next(never), changed);
  await assert.rejects((await opened(t, { path: dir })).planner(before), changed);
});

test('a new time alone is a warning, told once, and no new file', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  put(file, '1,x\n');
  const warnings: string[] = [];
  const planner = await (await opened(t, { path: dir }, warnings)).planner(null);
  await next(planner);
  utimesSync(file, OLD, new Date('2021-01-01T00:00:00Z'));
  assert.ok(await waits(planner));
  assert.deepEqual(warnings, [`${file} was written to after it was taken, and kept its size: it is not read again`]);
});

test('another file under a known name is a new one, with an id of its own', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  put(file, '1,x\n');
  const r = await opened(t, { path: dir });
  const planner = await r.planner(null);
  const first = await next(planner);
  put(join(dir, '.a'), '2,y\n');
  renameSync(join(dir, '.a'), file);
  const second = await next(planner);
  assert.equal(pathOf(second), file);
  assert.notEqual(second.id, first.id);
  assert.deepEqual((await readSplit(r, second)).rows, [['2', 'y']]);
  assert.ok(await waits(planner));
});

test('files that vanished are forgotten', async (t) => {
  const dir = folder(t);
  for (const n of ['a', 'b']) put(join(dir, `${n}.csv`), '1,x\n');
  const planner = await (await opened(t, { path: dir })).planner(null);
  await next(planner);
  await next(planner);
  const known = (): string => JSON.stringify((saved(planner) as { readonly watched?: unknown }).watched);
  assert.match(known(), /a\.csv.*b\.csv/);
  rmSync(join(dir, 'a.csv'));
  assert.ok(await waits(planner));
  assert.doesNotMatch(known(), /a\.csv/);
  assert.match(known(), /b\.csv/);
});

test('a folder that is missing, or another one than before, is loud: its files must not be forgotten', async (t) => {
  const dir = folder(t);
  const inner = join(dir, 'in');
  await assert.rejects((await opened(t, { path: inner })).planner(null), { code: 'SOURCE_MISSING', place: inner });
  mkdirSync(inner);
  put(join(inner, 'a.csv'), '1,x\n');
  const planner = await (await opened(t, { path: `${inner}/*.csv` })).planner(null);
  await next(planner);
  const before = saved(planner);
  renameSync(inner, join(dir, 'aside'));
  const gone = { code: 'SOURCE_CHANGED', place: inner };
  await assert.rejects(planner.next(never), gone);
  mkdirSync(inner);
  await assert.rejects((await opened(t, { path: `${inner}/*.csv` })).planner(before), gone);
});

test('* means the columns of the first file, for all files and later starts', async (t) => {
  const dir = folder(t);
  const o = { path: dir, isFirstLineHeader: true };
  const r = await opened(t, o);
  const planner = await r.planner(null);
  put(join(dir, 'a.csv'), 'id,name\n1,x\n');
  const a = await next(planner);
  // The lanes were opened before any file was there.
  assert.deepEqual(r.shared?.(), { columns: null });
  assert.deepEqual((await readSplit(r, a)).rows, [['1', 'x']]);
  const later = await opened(t, o);
  const again = await later.planner(saved(planner));
  put(join(dir, 'b.csv'), 'name,id\ny,2\n');
  assert.deepEqual((await readSplit(later, await next(again))).rows, [['2', 'y']]);
  put(join(dir, 'c.csv'), 'id,name,more\n3,z,!\n');
  await assert.rejects(readSplit(later, await next(again)), { code: 'COLUMN_MISMATCH' });
});

test('big files that appear are cut, too', async (t) => {
  const dir = folder(t);
  const r = await opened(t, { path: dir, splitSize: 1000 });
  const planner = await r.planner(null, 2);
  put(join(dir, 'a.csv'), '1,"x\ny"\n'.repeat(500));
  const splits = [await next(planner), await next(planner), await next(planner), await next(planner)];
  assert.ok(await waits(planner));
  const again = await (await opened(t, { path: dir })).planner(saved(planner), 1);
  assert.ok(await waits(again));
  assert.equal(new Set(splits.map((s) => s.id)).size, 4);
  let rows = 0;
  for (const s of splits) rows += (await readSplit(r, s)).rows.length;
  assert.equal(rows, 500);
});

test('links and pipes are told once, not with each look', async (t) => {
  const dir = folder(t);
  put(join(dir, 'a.csv'), '1,x\n');
  symlinkSync(join(dir, 'a.csv'), join(dir, 'link.csv'));
  const warnings: string[] = [];
  const planner = await (await opened(t, { path: dir }, warnings)).planner(null);
  await next(planner);
  assert.ok(await waits(planner));
  assert.equal(warnings.length, 1);
});

test('a run that was started without watch does not go on with it, nor the other way round', async (t) => {
  const dir = folder(t);
  put(join(dir, 'a.csv'), '1,x\n');
  for (const watch of [false, true]) {
    const planner = await (await opened(t, { path: dir, watch })).planner(null);
    const other = await opened(t, { path: dir, watch: !watch });
    await assert.rejects(other.planner(saved(planner)), { code: 'STATE_MISFIT' });
  }
});
