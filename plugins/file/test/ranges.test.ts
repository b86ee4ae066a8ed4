import assert from 'node:assert/strict';
import { appendFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { isSyncError, type JsonValue, type Reader, type Split, type SplitPlanner } from 'syncx/plugin-api';
import { folder, openReader, readSplit, type ReaderOptions, type Rows } from './drive.js';

const signal = new AbortController().signal;

async function planOf(planner: SplitPlanner): Promise<readonly Split[]> {
  const out: Split[] = [];
  for (;;) {
    const split = await planner.next(signal);
    if (split === 'end') return out;
    out.push(split);
  }
}

interface Outcome {
  readonly rows: Rows;
  readonly rejected: readonly unknown[];
  readonly error: unknown;
  readonly splits: number;
}

/** Reads all splits; what is thrown is part of the outcome. */
async function outcome(o: Partial<ReaderOptions>, lanes: number): Promise<Outcome> {
  const r = await openReader(o);
  const rows: (readonly (string | null)[])[] = [];
  const rejected: unknown[] = [];
  let splits = 0;
  try {
    const planner = await r.planner(null, lanes);
    const most = planner.remaining?.() ?? 0;
    for (;;) {
      const split = await planner.next(signal);
      if (split === 'end') return { rows, rejected, error: null, splits };
      assert.ok(++splits <= most, 'more splits than were said to remain');
      const read = await readSplit(r, split, null, { bytes: 1 << 16, rows: 3 });
      rows.push(...read.rows);
      rejected.push(...read.rejected);
    }
  } catch (e) {
    if (!isSyncError(e)) throw e;
    // Rows before the error that share its batch are not delivered, in one piece as in several.
    return { rows: [], rejected: [], error: [e.code, e.message, e.place], splits };
  } finally {
    await r.close?.();
  }
}

const LAYOUTS: readonly Partial<ReaderOptions>[] = [
  {},
  { isFirstLineHeader: true },
  { fieldDelimiter: '|;', escapeChar: '\\' },
  { fieldDelimiter: '||' },
  { quoteChar: "'", column: [{ index: 0, type: 'int' }] },
  { column: ['only'] },
  { fileType: 'text', fieldDelimiter: ';' },
  { fileType: 'json' },
  { fileType: 'json', column: ['a'] },
];

for (const layout of LAYOUTS) {
  test(`a file in parts gives what it gives in one piece: ${JSON.stringify(layout)}`, async (t) => {
    const file = join(folder(t), 'a.csv');
    const piece = fc.constantFrom('a', '1', '"', '""', "'", ',', '|;', '||', ';', '\\', '\n', '\n', '\r\n', '{"a":1}');
    const bom = fc.constantFrom('', '\ufeff');
    const junk = fc.constantFrom(Buffer.from(''), Buffer.from('é'), Buffer.from([0xe9]));
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(
        bom,
        fc.array(piece, { minLength: 1, maxLength: 60 }),
        junk,
        fc.array(piece, { maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 2, max: 4 }),
        async (mark, before, odd, after, splitSize, lanes) => {
          const bytes = Buffer.concat([Buffer.from(mark + before.join('')), odd, Buffer.from(after.join(''))]);
          writeFileSync(file, bytes);
          const whole = await outcome({ path: file, ...layout }, 1);
          const parts = await outcome({ path: file, splitSize, ...layout }, lanes);
          if (parts.splits > 1) cut++;
          assert.deepEqual({ ...parts, splits: 0 }, { ...whole, splits: 0 });
        },
      ),
      { numRuns: 150 },
    );
    assert.ok(cut > 10, `only ${String(cut)} files were cut`);
  });
}

/** Larger than a chunk of the source. */
function bigCsv(rows: number): string {
  const line = (i: number): string => `${String(i)},"text, ""${'x'.repeat(i % 120)}""\nof ${String(i)}"\n`;
  return `id,text\n${Array.from({ length: rows }, (_, i) => line(i)).join('')}`;
}

const CSV = { isFirstLineHeader: true, splitSize: 300_000 } as const;

async function plan(r: Reader, saved: JsonValue | null, lanes = 2): Promise<SplitPlanner> {
  return r.planner(saved === null ? null : (JSON.parse(JSON.stringify(saved)) as JsonValue), lanes);
}

test('a big file among others: where it is cut, its lines, and the rest of the plan after each split', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.csv'), 'id,text\n1,a\n');
  writeFileSync(join(dir, 'b.csv'), bigCsv(40_000));
  writeFileSync(join(dir, 'c.csv.gz'), gzipSync(bigCsv(20_000)));
  writeFileSync(join(dir, 'd.csv'), '');
  const open = (): Promise<Reader> => openReader({ path: dir, ...CSV });
  const first = await open();
  const planner = await plan(first, null);
  const splits: Split[] = [];
  const saved: JsonValue[] = [planner.snapshot(1)];
  const most = planner.remaining?.() ?? 0;
  for (let split = await planner.next(signal); split !== 'end'; split = await planner.next(signal)) {
    splits.push(split);
    saved.push(planner.snapshot(1 + splits.length));
  }
  await first.close?.();
  const size = statSync(join(dir, 'b.csv')).size;
  const ranges = splits.filter((s) => s.id.startsWith('range:'));
  const parts = Math.ceil(size / CSV.splitSize / 2) * 2;
  assert.equal(ranges.length, parts);
  assert.equal(splits.length, parts + 3);
  assert.equal(most, splits.length);
  assert.deepEqual(
    splits.filter((s) => s.id.startsWith('file:')).map((s) => s.id),
    ['a.csv', 'c.csv.gz', 'd.csv'].map((n) => `file:${join(dir, n)}`),
  );
  assert.equal(
    ranges.reduce((n, s) => n + (s.weight ?? 0), 0),
    size - 'id,text\n'.length,
  );

  // However many lanes a later start has, what is left is the same.
  for (const [i, s] of saved.entries()) {
    const later = await open();
    const again = await plan(later, s, [1, 2, 5][i % 3]);
    assert.deepEqual(await planOf(again), splits.slice(i), `after ${String(i)} splits`);
    await later.close?.();
  }

  const r = await open();
  await plan(r, null);
  const rows: (readonly (string | null)[])[] = [];
  for (const split of ranges) {
    const read = await readSplit(r, split, null, { bytes: 1 << 16, rows: 100 });
    rows.push(...read.rows);
    assert.equal(read.sourceBytes, split.weight);
    const middle = read.positions[read.positions.length >> 1];
    assert.ok(middle !== undefined);
    const rest = await readSplit(r, split, middle.position);
    assert.deepEqual([...read.rows.slice(0, middle.rows), ...rest.rows], read.rows);
    assert.deepEqual(rest.end, read.end);
  }
  const last = await readSplit(r, ranges.at(-1) as Split);
  assert.deepEqual(last.end, { offset: size, line: 2 + 80_000 });
  await r.close?.();
  assert.deepEqual(
    rows.map((row) => row[0]),
    Array.from({ length: 40_000 }, (_, i) => String(i)),
  );
});

test('one lane, or splitSize 0: files are whole, and the plan has its old form', async (t) => {
  const file = join(folder(t), 'a.csv');
  writeFileSync(file, bigCsv(10_000));
  for (const [splitSize, lanes] of [
    [1000, 1],
    [0, 4],
    [1 << 26, 4],
  ] as const) {
    const r = await openReader({ path: file, isFirstLineHeader: true, splitSize });
    const planner = await r.planner(null, lanes);
    assert.equal((planner.snapshot(1) as { readonly format?: number }).format, 2);
    assert.deepEqual(
      (await planOf(planner)).map((s) => s.id),
      [`file:${file}`],
    );
    await r.close?.();
  }
});

test('while next waits for a border, its split is in the snapshot', async (t) => {
  const file = join(folder(t), 'a.csv');
  writeFileSync(file, bigCsv(60_000));
  const r = await openReader({ path: file, ...CSV, splitSize: 2_000_000 });
  const planner = await plan(r, null);
  let waited = 0;
  const got: Split[] = [];
  for (let done = false; !done;) {
    let answer: Split | 'end' | null = null;
    const asked = planner.next(signal).then((s) => (answer = s));
    let pending: JsonValue | null = null;
    for (await macrotask(); answer === null; await macrotask()) pending ??= planner.snapshot(1);
    const split = await asked;
    done = split === 'end';
    if (split !== 'end') got.push(split);
    if (pending === null || split === 'end') continue;
    waited++;
    const later = await openReader({ path: file, ...CSV, splitSize: 2_000_000 });
    const again = await plan(later, pending);
    assert.deepEqual(await again.next(signal), split);
    await later.close?.();
  }
  assert.ok(waited > 0, 'nothing was waited for');
  assert.ok(got.length > 2);
  await r.close?.();
});

test('a pending next rejects on abort, and closing ends the scan', async (t) => {
  const file = join(folder(t), 'a.csv');
  // A quote that is never closed: no border comes.
  writeFileSync(file, `"${'x\n'.repeat(8_000_000)}`);
  const r = await openReader({ path: file, splitSize: 1000 });
  const planner = await r.planner(null, 2);
  const stop = new AbortController();
  const asked = planner.next(stop.signal);
  await macrotask();
  stop.abort(new Error('stopped'));
  await assert.rejects(asked, { message: 'stopped' });
  await r.close?.();
});

test('a quote that is never closed in a big file is the error that it is in one piece', async (t) => {
  const file = join(folder(t), 'a.csv');
  writeFileSync(file, `1,a\n2,"${'x\n'.repeat(3_000_000)}`);
  const o = { path: file, splitSize: 1_000_000 };
  const parts = await outcome(o, 2);
  assert.deepEqual(parts.error, (await outcome(o, 1)).error);
  assert.deepEqual(parts.error, ['SOURCE_FORMAT', `the quote that opens in ${file}:2 is never closed`, `${file}:2`]);
});

test('each part finds out that the file was changed', async (t) => {
  const file = join(folder(t), 'a.csv');
  writeFileSync(file, bigCsv(20_000));
  const r = await openReader({ path: file, ...CSV });
  const splits = await planOf(await plan(r, null));
  assert.ok(splits.length >= 4);
  const [first, second] = splits as [Split, Split];
  await readSplit(r, first);
  const { atime, mtime } = statSync(file);
  utimesSync(file, atime, new Date(mtime.getTime() + 5000));
  await assert.rejects(readSplit(r, second), { code: 'SOURCE_CHANGED', place: file });
  appendFileSync(file, 'x');
  await assert.rejects(readSplit(r, first), { code: 'SOURCE_CHANGED', place: file });
  await r.close?.();
});
