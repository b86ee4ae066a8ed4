/** kill -9 inside of a file that can only be read from its beginning: the next start goes on at the right row of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compress as zstd } from '@mongodb-js/zstd';
import iconv from 'iconv-lite';
import { unsealed, type Checkpoint } from '../../src/core/checkpoint/format.js';
import { assertFinishes, assertKilled, atOnce, run, setSpeed } from '../support/crash.js';
import { tree, Workspace } from '../support/workspace.js';
import { BZIP2_ROWS } from './bzip2-rows.js';

const ROWS = 600;
/** A quarter of it is a batch, and mostly an epoch: 24 of them in a file, so that a busy machine does not get to its end. */
const ROWS_A_SECOND = 100;
/** They wait for the rate limit for most of their time. */
const AT_ONCE = 4;
const TEXTS = ['plain', 'with, comma', 'say "hi"', 'two\nlines', ''] as const;

interface Source {
  /** The file's text; positions count its bytes in UTF-8, of a byte order mark too. */
  readonly text: string;
  /** Where each record begins, and the end. */
  readonly offsets: readonly number[];
  /** What is written for it, in order. */
  readonly lines: readonly string[];
}

/** Every text ends in `tail`, which makes the file larger than the chunks that it is read in. */
function sourceOf({ tail, mark = '' }: Case): Source {
  const records = [`${mark}line,text\n`];
  const offsets: number[] = [];
  const lines: string[] = [];
  let at = Buffer.byteLength(records[0] ?? '');
  let line = 2;
  for (let i = 1; i <= ROWS; i++) {
    const text = `${TEXTS[i % TEXTS.length] ?? ''}${tail}`;
    const record = `${String(i)},"${text.replaceAll('"', '""')}"\n`;
    records.push(record);
    offsets.push(at);
    lines.push(JSON.stringify({ n: i, text, line }));
    at += Buffer.byteLength(record);
    line += record.split('\n').length - 1;
  }
  return { text: records.join(''), offsets: [...offsets, at], lines };
}

/** Cuts at bytes that are borders of nothing: neither of records nor of characters. */
function inPieces(bytes: Buffer, pieces: number): readonly Buffer[] {
  const size = Math.floor(bytes.length / pieces) + 1;
  return Array.from({ length: pieces }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

interface Case {
  readonly name: string;
  readonly tail: string;
  /** What the text begins with. */
  readonly mark?: string;
  readonly encoding?: string;
  readonly bytes: (text: string) => Buffer | Promise<Buffer>;
}

/** Characters of 1, 2 and 3 bytes, or of 1 and 2 in gbk. Three epochs are more than a chunk of decompressed bytes. */
const TAIL = 'aé市'.repeat(600);
/** The same for what is not compressed: it is read in larger chunks. */
const LONG_TAIL = TAIL.repeat(4);

const CASES: readonly Case[] = [
  { name: 'one.csv.gz', tail: TAIL, bytes: (text) => gzipSync(text) },
  {
    name: 'members.csv.gz',
    tail: TAIL,
    bytes: (text) => {
      const members = inPieces(Buffer.from(text), 7).map((b) => gzipSync(b));
      return Buffer.concat([gzipSync(''), ...members, gzipSync('')]);
    },
  },
  {
    name: 'frames.csv.zst',
    tail: TAIL,
    bytes: async (text) => Buffer.concat(await Promise.all(inPieces(Buffer.from(text), 3).map((b) => zstd(b)))),
  },
  { name: 'streams.csv.bz2', tail: TAIL, bytes: () => BZIP2_ROWS },
  { name: 'gbk.csv', tail: LONG_TAIL, encoding: 'gbk', bytes: (text) => iconv.encode(text, 'gbk') },
  { name: 'gbk.csv.gz', tail: TAIL, encoding: 'gbk', bytes: (text) => gzipSync(iconv.encode(text, 'gbk')) },
  {
    name: 'utf-16.csv',
    tail: `${LONG_TAIL}😀`,
    encoding: 'utf-16',
    mark: '\ufeff',
    bytes: (text) => Buffer.from(text, 'utf16le').swap16(),
  },
];

/** What the first start and what the second one is killed at; each has made a checkpoint by then. */
const KILLS = [
  ['ckpt.after#3', 'commit.before#2'],
  ['write.after#4', 'outcome.after#2'],
  ['outcome.after#2', 'prepare.after#2'],
] as const;

function jobFile(ws: Workspace, c: Case): string {
  const column = [{ name: 'n', index: 0, type: 'bigint' }, { name: 'text' }, { name: 'line', meta: 'line' }];
  const encoding = c.encoding === undefined ? {} : { encoding: c.encoding };
  const reader = { name: 'filereader', parameter: { path: 'in', isFirstLineHeader: true, column, ...encoding } };
  // One file that stays open over all epochs and starts: its lines tell the order in which rows came.
  const writer = { name: 'filewriter', parameter: { path: 'out', fileType: 'json', column: ['n', 'text', 'line'] } };
  const setting = { speed: { channel: 1, record: ROWS_A_SECOND }, checkpoint: { interval: 10 } };
  return ws.job({ job: { content: [{ reader, writer }], setting } });
}

/** Tells the first difference: two lists of long lines one above the other would tell nothing. */
function assertSameLines(got: readonly string[], want: readonly string[]): void {
  const at = want.findIndex((line, i) => got[i] !== line);
  if (at >= 0) assert.equal(got[at], want[at], `line ${String(at + 1)}`);
  assert.equal(got.length, want.length, 'number of lines');
}

/** How many rows of the file the next start must leave out; it must be in the middle of it. */
function rowsSaved(ws: Workspace, source: Source): number {
  const names = tree(ws.path('state')).filter((n) => n.endsWith('.ckpt'));
  const epochOf = (name: string): number => Number(/(\d+)\.ckpt$/.exec(name)?.[1]);
  const newest = names.sort((a, b) => epochOf(a) - epochOf(b)).at(-1) ?? '';
  const path = join(ws.path('state'), newest);
  const { open } = unsealed<Checkpoint>(readFileSync(path, 'utf8'), path);
  assert.equal(open.length, 1, 'the file is open');
  const { offset } = open[0]?.position as { readonly offset: number };
  const rows = source.offsets.indexOf(offset);
  assert.ok(rows > 0 && rows < ROWS, `${newest}: position ${String(offset)} is behind row ${String(rows)}`);
  return rows;
}

test(
  'killed twice inside of a file, the third start makes the target exact, row by row',
  { concurrency: AT_ONCE },
  async (t) => {
    const all = CASES.flatMap((c) => KILLS.map((kills) => [c, ...kills] as const));
    await atOnce(AT_ONCE, all, async ([c, first, second]) => {
      await t.test(`${c.name}: ${first}, then ${second}`, async () => {
        using ws = new Workspace();
        const source = sourceOf(c);
        ws.write(`in/${c.name}`, await c.bytes(source.text));
        const job = { job: jobFile(ws, c), out: ws.path('out'), expected: source.lines };

        assertKilled(await run(ws, job, first), first);
        const once = rowsSaved(ws, source);
        assertKilled(await run(ws, job, second), second);
        const twice = rowsSaved(ws, source);
        assert.ok(twice > once, `the second start came from row ${String(once)} to ${String(twice)}`);

        setSpeed(job.job, { record: 1_000_000 });
        const r = await assertFinishes(ws, job, `${first}, ${second}`);
        assert.equal(r.summary?.['resumed'], true);
        const start = r.summary['thisStart'] as { readonly read: number; readonly written: number };
        assert.deepEqual(
          [start.read, start.written],
          [ROWS - twice, ROWS - twice],
          'the last start read the rest of the file only',
        );
        assert.deepEqual([r.summary.read, r.summary.written, r.summary.dirty], [ROWS, ROWS, 0]);
        const names = tree(job.out);
        assert.equal(names.length, 1, `one file and nothing left over: ${names.join(', ')}`);
        const written = readFileSync(join(job.out, names[0] ?? ''), 'utf8');
        assertSameLines(written.split('\n').slice(0, -1), source.lines);
      });
    });
  },
);
