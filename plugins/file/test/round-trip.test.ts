/** What the writer makes of any rows, the reader with the same options reads back equal; the rest is told, never altered. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compress as zstd } from '@mongodb-js/zstd';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { BatchBuilder, internSchema, type Reader, type RejectedRow } from 'syncx/plugin-api';
import { columnSpecs, csvDialect, delimitedFormat, encodingName, jsonLinesFormat } from 'syncx/plugin-kit';
import { textDialect } from '../format-options.js';
import { FileLaneReader } from '../lane-reader.js';
import {
  RUN,
  folder,
  laneOf,
  openReader,
  openWriter,
  readSplit,
  readerOptions,
  type ReaderOptions,
  type Rows,
  type WriterOptions,
} from './drive.js';

const signal = new AbortController().signal;
const BOM = '\ufeff';

/** `utf-8 bom`: the writer makes none, but what others wrote may have one. */
const ENCODINGS = ['utf-8', 'utf-8 bom', 'gbk', 'gb18030', 'latin1', 'utf-16', 'utf-16le', 'utf-16be'] as const;
type Encoding = (typeof ENCODINGS)[number];

const reads = (encoding: string, c: string): boolean => iconv.decode(iconv.encode(c, encoding), encoding) === c;
/** Whether the encoding has the character; those that are not listed have all. */
const HOLDS: Partial<Record<Encoding, (c: string) => boolean>> = {
  latin1: (c) => (c.codePointAt(0) ?? 0) < 256,
  gbk: (c) => reads('gbk', c),
  // The one code point that it has no code for.
  gb18030: (c) => c !== '\ue5e5',
};
const holds = (encoding: Encoding, text: string): boolean => [...text].every(HOLDS[encoding] ?? (() => true));

/** Delimiters that are one or more characters, and more bytes in some encodings than in others. */
const DELIMITERS = [',', '|', '\\t', '\\u0001', '||', '|,|', '~|', '；', '、|', '·', '§', '\u{1F600}'];
/** Characters that formats mean something by, and some that have a byte of these as their second one. */
const SPECIAL = [
  ',',
  '|',
  '"',
  "'",
  '\\',
  '\n',
  '\r',
  '\t',
  '\u0001',
  ' ',
  '?',
  '東',
  '誠',
  '；',
  '、',
  'é',
  '·',
  '§',
  'ÿ',
  '€',
  '😀',
  '한',
  '\ufffd',
  BOM,
];

const cell = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: fc.constantFrom(...SPECIAL, 'a', '1'), maxLength: 8 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\\N', 'null', BOM, `${BOM}a`, 'x'.repeat(300), '東'.repeat(99)) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const table = fc
  .integer({ min: 1, max: 4 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));

const layout = fc.record({
  fileType: fc.constantFrom('csv', 'csv', 'json', 'text'),
  fieldDelimiter: fc.constantFrom(...DELIMITERS),
  quoteChar: fc.constantFrom('"', "'"),
  escapeChar: fc.constantFrom('', '\\'),
  nullFormat: fc.constantFrom('\\N', '', 'null'),
  isFirstLineHeader: fc.boolean(),
  encoding: fc.constantFrom(...ENCODINGS),
  compress: fc.constantFrom('none', 'gzip', 'zstd'),
});
type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never;

const optionsOf = (l: Layout): Partial<WriterOptions> & Partial<ReaderOptions> => ({
  ...l,
  isFirstLineHeader: l.isFirstLineHeader && l.fileType !== 'json',
  encoding: l.encoding === 'utf-8 bom' ? 'utf-8' : l.encoding,
});

async function write(path: string, l: Layout, names: readonly string[], rows: Rows): Promise<readonly RejectedRow[]> {
  const w = await openWriter({ ...optionsOf(l), path });
  await w.begin(RUN);
  await using lane = await w.openLane(laneOf(), null);
  const b = new BatchBuilder(internSchema(names.map((name) => ({ name, type: { is: 'string' } as const }))));
  for (const row of rows) {
    for (const c of row) {
      if (c === null) b.appendNull();
      else b.appendText(c);
    }
    b.endRow();
  }
  const { rejected } = await lane.write(b.finish('s', null, 0), signal);
  await lane.prepare(1);
  await lane.commit(1);
  await w.complete(RUN);
  return rejected ?? [];
}

/** A byte order mark in a stream of its own before that of the file: both are one file. */
async function putMark(file: string, compress: Layout['compress']): Promise<void> {
  const mark = Buffer.from(BOM);
  const bytes = compress === 'gzip' ? gzipSync(mark) : compress === 'zstd' ? await zstd(mark) : mark;
  writeFileSync(file, Buffer.concat([bytes, readFileSync(file)]));
}

/** The reader of the plugin, whose lanes get their bytes in pieces of so many. */
async function chunked(o: Partial<ReaderOptions>, chunkBytes: number): Promise<Reader> {
  const all = readerOptions(o);
  const columns = columnSpecs(all.column);
  const encoding = encodingName(all.encoding);
  const label = { encoding: encoding === 'utf-8' ? null : encoding };
  const dialect = all.fileType === 'csv' ? csvDialect(all) : textDialect(all);
  const format =
    all.fileType === 'json'
      ? jsonLinesFormat(columns, label)
      : delimitedFormat({ dialect, header: all.isFirstLineHeader, columns, ...label });
  const reading = { format, compress: all.compress, chunkBytes, ...label };
  const openLane: Reader['openLane'] = (lane) => Promise.resolve(new FileLaneReader(reading, lane, null, () => null));
  return { ...(await openReader(o)), openLane };
}

async function readBack(r: Reader): Promise<Rows> {
  const planner = await r.planner(null);
  const split = await planner.next(signal);
  assert.ok(split !== 'end');
  const read = await readSplit(r, split, null, { bytes: 1 << 16, rows: 5 });
  assert.equal(await planner.next(signal), 'end');
  await r.close?.();
  assert.deepEqual(read.rejected, []);
  return read.rows;
}

test('any rows in any layout, encoding and compression come back equal, or are told one by one', async (t) => {
  const dir = folder(t);
  const seen = { files: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(table, layout, fc.integer({ min: 1, max: 60 }), async (rows, l, chunk) => {
      const delimiter = l.fieldDelimiter.replace('\\t', '\t').replace('\\u0001', '\u0001');
      fc.pre(holds(l.encoding, delimiter));
      rmSync(dir, { recursive: true, force: true });
      const names = (rows[0] ?? []).map((_, i) => `c${String(i)}`);
      const rejected = await write(dir, l, names, rows);

      // Each row that is refused is told, with why; where the format can hold anything, no other row is.
      const key = (row: readonly (string | null)[]): string => JSON.stringify(row);
      const refused = new Set(
        rejected.map((r) => key(names.map((n) => (r.row as Record<string, string | null>)[n] ?? null))),
      );
      const kept = rows.filter((row) => !refused.has(key(row)));
      assert.equal(rejected.length + kept.length, rows.length);
      const lacking = (row: readonly (string | null)[]): boolean =>
        row.some((c) => c !== null && !holds(l.encoding, c));
      for (const row of kept) assert.equal(lacking(row), false, key(row));
      if (l.fileType !== 'text') {
        assert.deepEqual(
          kept,
          rows.filter((row) => !lacking(row)),
        );
        for (const r of rejected) {
          assert.equal(r.code, 'ROW_INVALID');
          assert.match(r.reason, /^the encoding \S+ has no character `.+` \(U\+[0-9A-F]{4,6}\)$/su);
        }
      }
      seen.refused += rejected.length;

      const files = readdirSync(dir);
      if (files.length === 0) return assert.deepEqual(kept, []);
      const [path = ''] = files.map((n) => join(dir, n));
      if (l.encoding === 'utf-8 bom') await putMark(path, l.compress);
      seen.files++;
      const { column: _, ...options } = optionsOf(l);
      const o = { ...options, path, ...(l.fileType === 'json' ? { column: names } : {}) };
      assert.deepEqual(await readBack(await openReader(o)), kept);
      assert.deepEqual(await readBack(await chunked(o, chunk)), kept);
    }),
    { numRuns: 400 },
  );
  assert.ok(seen.files > 100 && seen.refused > 20, JSON.stringify(seen));
});
