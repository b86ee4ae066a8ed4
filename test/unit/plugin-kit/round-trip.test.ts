/** Whatever is written reads back equal: any fields, dialects, line ends and encodings, cut into any chunks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import {
  columnSpecs,
  jsonLinesFormat,
  jsonLinesOutput,
  openTranscoder,
  textOutput,
  type FileFormat,
  type OutputFormat,
} from 'syncx/plugin-kit';
import { csvFormat, csvWriter, decodeAll, dialectOf, encodeAll, strings, type Cell } from './format-harness.js';

const ENCODINGS = ['utf-8', 'gbk', 'gb18030', 'big5', 'shift_jis', 'euc-kr', 'windows-1252', 'utf-16le', 'utf-16be'];
const DELIMITERS = [',', '|', '\t', '\u0001', '||', '|,|', '~|', '；', '、|', '·'];
/** Characters that formats mean something by, and some whose second byte looks like one of them. */
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
  '東',
  '誠',
  '市',
  '、',
  '；',
  'é',
  '😀',
  'N',
  '~',
];

const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: fc.constantFrom(...SPECIAL, 'a', '1'), maxLength: 8 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '\\N', 'null', '\ufeff', 'x'.repeat(300)) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const table = fc
  .integer({ min: 1, max: 4 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }));

const how = fc.record({
  encoding: fc.constantFrom(...ENCODINGS),
  cuts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
  chunk: fc.integer({ min: 1, max: 50 }),
  crlf: fc.boolean(),
});
type How = typeof how extends fc.Arbitrary<infer T> ? T : never;

/** UTF-8 → the encoding → UTF-8 again, in chunks; null where the encoding cannot hold the text. */
async function through({ encoding, cuts }: How, text: string): Promise<Buffer | null> {
  if (encoding === 'utf-8') return Buffer.from(text);
  const bytes = iconv.encode(text, encoding);
  if (iconv.decode(bytes, encoding, { stripBOM: false }) !== text) return null;
  const transcoder = await openTranscoder(encoding, 'x.csv');
  const parts: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = cuts[i % cuts.length] ?? 1;
    parts.push(Buffer.from(transcoder.push(bytes.subarray(at, at + size), at + size >= bytes.length)));
    at += size;
  }
  return Buffer.concat(parts);
}

/** Writes the rows that the format takes and the encoding holds, and reads them back. */
async function check(
  rows: readonly (readonly Cell[])[],
  h: How,
  output: OutputFormat,
  input: FileFormat,
): Promise<void> {
  const columns = strings(rows[0]?.length ?? 0);
  const kept: (readonly Cell[])[] = [];
  for (const row of rows) {
    const { bytes, rejected } = encodeAll(output, columns, [row]);
    const text = bytes.toString();
    if (rejected.length === 0 && !(kept.length === 0 && /^\ufeff/.test(text)) && (await through(h, text)) !== null) {
      kept.push(row);
    }
  }
  let text = encodeAll(output, columns, kept).bytes.toString();
  if (h.crlf && !kept.some((r) => r.some((c) => c !== null && /[\r\n]/.test(c)))) text = text.replaceAll('\n', '\r\n');
  const bytes = await through(h, text);
  assert.ok(bytes !== null);
  if (bytes.length === 0) return;
  const got = decodeAll(input, bytes, { chunk: h.chunk });
  assert.deepEqual(got.rejected, []);
  assert.deepEqual(got.rows, kept);
}

test('csv written in any dialect and encoding reads back equal', async () => {
  const dialects = fc.record({
    delimiter: fc.constantFrom(...DELIMITERS),
    quote: fc.constantFrom('"', "'"),
    escape: fc.constantFrom(null, '\\'),
    nullText: fc.constantFrom('\\N', '', 'null'),
  });
  await fc.assert(
    fc.asyncProperty(table, dialects, how, (rows, d, h) =>
      check(rows, h, csvWriter(d), csvFormat(d, false, ['*'], h.encoding)),
    ),
    { numRuns: 1500 },
  );
});

test('text written with any delimiter and encoding reads back equal, where it is written', async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom(...DELIMITERS), how, (rows, delimiter, h) => {
      const d = { delimiter, quote: null };
      return check(
        rows,
        h,
        textOutput({ dialect: dialectOf(d), header: false }),
        csvFormat(d, false, ['*'], h.encoding),
      );
    }),
    { numRuns: 800 },
  );
});

test('JSON lines written in any encoding read back equal', async () => {
  await fc.assert(
    fc.asyncProperty(table, how, (rows, h) => {
      const names = strings(rows[0]?.length ?? 0).map((c) => c.name);
      return check(rows, h, jsonLinesOutput(), jsonLinesFormat(columnSpecs(names), { encoding: h.encoding }));
    }),
    { numRuns: 800 },
  );
});
