import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BatchBuilder } from 'syncx/plugin-api';
import {
  BorderScan,
  countLines,
  delimitedFormat,
  jsonLinesFormat,
  type CsvDialect,
  type FileFormat,
  type RecordPoint,
} from 'syncx/plugin-kit';

const TARGET = { bytes: 1 << 16, rows: 1000 };
const HEAD = { names: null, width: 2, body: { offset: 0, line: 1 } };

/** Bytes that end nothing: a decoder that knows no more may take what stands before them for the start of a delimiter. */
const PADDING = Buffer.alloc(20, 'z');

/** Where the decoder itself would end a record: having got the bytes up to there, nothing of them is left. */
function decoderBorders(format: FileFormat, bytes: Buffer): readonly RecordPoint[] {
  const out: RecordPoint[] = [];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    const decoder = format.decoder(HEAD, { place: 'x', from: null, target: TARGET, columns: null });
    decoder.push(Buffer.concat([bytes.subarray(0, at + 1), PADDING]), false);
    while (decoder.decode(new BatchBuilder(decoder.schema, TARGET)) === 'full');
    if (decoder.point.offset === at + 1) out.push({ ...decoder.point });
  }
  return out;
}

/** All borders that a scan finds, with the bytes in chunks of the given sizes, over and over. */
function scannedBorders(
  dialect: CsvDialect | null,
  bytes: Buffer,
  chunks: readonly number[],
  step: number,
): RecordPoint[] {
  const scan = new BorderScan(dialect, { offset: 0, line: 1 });
  const out: RecordPoint[] = [];
  let target = step;
  for (let at = 0, c = 0; at < bytes.length; c++) {
    const size = chunks[c % chunks.length] ?? 1;
    // A copy of its own: nothing around the chunk may be looked at.
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    at += size;
    for (let i = 0; i < chunk.length;) {
      i = scan.scan(chunk, i, target);
      if (i < 0) break;
      out.push(scan.point);
      target = scan.point.offset + step;
    }
  }
  return out;
}

/** The first border at or behind each target. */
function every(borders: readonly RecordPoint[], step: number): readonly RecordPoint[] {
  const out: RecordPoint[] = [];
  for (const b of borders) if (b.offset >= (out.at(-1)?.offset ?? 0) + step) out.push(b);
  return out;
}

const csv = (delimiter: string, escape: string | null): CsvDialect => ({
  delimiter: Buffer.from(delimiter),
  quote: 34,
  escape: escape === null ? null : escape.charCodeAt(0),
  nullText: null,
});

const DIALECTS: readonly (readonly [string, CsvDialect, readonly string[]])[] = [
  ['comma', csv(',', null), [',']],
  ['escape', csv(',', '\\'), [',', '\\']],
  ['two characters', csv('|;', null), ['|', ';', '|;']],
  ['two characters, escape', csv('|;', '\\'), ['|', ';', '|;', '\\']],
  ['overlaps itself', csv('||', null), ['|', '||', '|||']],
  ['overlaps itself in part', csv('abab', null), ['ab', 'abab', 'ba']],
  ['four characters', csv('<=>;', null), ['<=>;', '<=', '=>;', ';']],
  ['a long one', csv('0123456789', '\\'), ['0123456789', '01234', '56789', '\\']],
];

for (const [name, dialect, parts] of DIALECTS) {
  test(`the borders are those of the csv decoder: ${name}`, () => {
    const format = delimitedFormat({ dialect, header: false, columns: null });
    const piece = fc.constantFrom('a', '"', '""', '\n', '\r\n', '\r', 'é', 'some more text', ...parts);
    const text = fc.array(piece, { maxLength: 60 }).map((p) => Buffer.from(p.join('')));
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(text, sizes, fc.integer({ min: 1, max: 90 }), (bytes, chunks, step) => {
        assert.deepEqual(scannedBorders(dialect, bytes, chunks, step), every(decoderBorders(format, bytes), step));
      }),
      { numRuns: 1500 },
    );
  });
}

test('long runs within and without quotes', () => {
  const dialect = csv(',', null);
  const format = delimitedFormat({ dialect, header: false, columns: null });
  const run = fc
    .tuple(fc.constantFrom('x', 'x\n', ',x'), fc.integer({ min: 1, max: 700 }))
    .map(([t, n]) => t.repeat(n));
  const text = fc.array(fc.oneof(run, fc.constantFrom('"', '",', ',"', '"\n', '\n')), { maxLength: 12 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 900 }), fc.integer({ min: 300, max: 3000 }), (p, chunk, step) => {
      const bytes = Buffer.from(p.join('').replaceAll(/(\nx){30,}/g, '\nx\nx'));
      assert.deepEqual(scannedBorders(dialect, bytes, [chunk], step), every(decoderBorders(format, bytes), step));
    }),
    { numRuns: 150 },
  );
});

test('lines: every line feed is a border, with a quoteless dialect as with none', () => {
  const text = { ...csv('|', null), quote: null };
  const bytes = Buffer.from('\n"a\nb|"\r\n\nlast\nno end');
  const want = decoderBorders(jsonLinesFormat(null), bytes);
  assert.equal(want.length, 5);
  assert.deepEqual(decoderBorders(delimitedFormat({ dialect: text, header: false, columns: null }), bytes), want);
  for (const chunk of [1, 2, 3, 100]) {
    assert.deepEqual(scannedBorders(null, bytes, [chunk], 1), want);
    assert.deepEqual(scannedBorders(text, bytes, [chunk], 1), want);
  }
});

test('line feeds are counted at every alignment, also very many of them', () => {
  const bytes = Buffer.alloc(9000, 10);
  bytes.fill(11, 3000, 6000);
  bytes.fill(0x8a, 6000, 6100);
  const slow = (from: number, to: number): number => bytes.subarray(from, to).filter((b) => b === 10).length;
  for (let from = 0; from < 9; from++) {
    for (const to of [from, from + 1, from + 5, 2999, 6050, 8993 + (from % 8)]) {
      assert.equal(countLines(bytes, from, to), slow(from, to), `${String(from)} to ${String(to)}`);
    }
  }
});

test('a delimiter that is too long for the machine is told', () => {
  assert.equal(BorderScan.knows(csv('x'.repeat(250), null)), true);
  assert.equal(BorderScan.knows(csv('x'.repeat(251), null)), false);
});
