import { mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { JsonObject, SimpleValue } from 'syncx/plugin-api';
import { contractTests, readerHarness, writerHarness, type SeedKind } from 'syncx/plugin-testkit';
import { reader, writer } from '../../plugins/file/index.js';

const temp = (): Promise<string> => mkdtemp(join(tmpdir(), 'syncx-file-'));
const HEADER = 'id,name,note\n';
const COLUMN = [{ name: 'id', type: 'bigint' }, { name: 'name' }, { name: 'note' }];

function line(n: number): string {
  const note = n % 5 === 0 ? '\\N' : n % 3 === 0 ? '"two\nlines, ""quoted"""' : 'é🙂';
  return `${String(n)},name ${String(n)},${note}\n`;
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, i) => line(from + i)).join('');
}

/** The files of a source: name → content. */
function files(kind: SeedKind, rows: number): Readonly<Record<string, string | Uint8Array>> {
  const half = Math.ceil(rows / 2);
  switch (kind) {
    case 'large': {
      const text = Array.from({ length: 64 * 1024 }, (_, i) => `${String(i)},name,${'x'.repeat(1024)}\n`).join('');
      return { 'large.csv': HEADER + text };
    }
    case 'bad-row':
      return { 'bad.csv': `${HEADER}${lines(1, half)}not a number,x,y\n${lines(half + 1, rows)}` };
    case 'broken': {
      const whole = gzipSync(HEADER + lines(1, 5000));
      return { 'cut.csv.gz': whole.subarray(0, whole.length - 200) };
    }
    case 'missing':
      return {};
    default:
      return {
        'a.csv': HEADER + lines(1, half),
        'b.csv': HEADER,
        'c.csv.gz': gzipSync(HEADER + lines(half + 1, rows)),
        'd.csv': '',
      };
  }
}

contractTests(
  readerHarness({
    plugin: reader,
    seeds: ['large', 'bad-row', 'broken', 'missing'],
    async seed(kind, rows) {
      const folder = await temp();
      const content = Object.entries(files(kind, rows));
      for (const [name, data] of content) await writeFile(join(folder, name), data);
      const path = kind === 'missing' ? join(folder, 'nowhere.csv') : folder;
      return {
        options: { path, isFirstLineHeader: true, column: COLUMN },
        rows: kind === 'broken' ? 4999 : rows,
        dispose: () => rm(folder, { recursive: true }),
      };
    },
    waive: {
      'descriptor.defaults': 'filterRegex has no default: without it all files are read',
      'transaction.safe-points': 'a file has no transactions',
      'flow.abort-idle': 'files are bounded; standard input belongs to the test runner',
    },
  }),
);

async function stagedFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((n) => n.startsWith('.') && n.includes('/')).map((n) => join(folder, n));
}

/** By header; an unquoted `\N` is NULL. csv-parse, not our own decoder: a mistake made twice would cancel out. */
async function readCsv(folder: string): Promise<Record<string, SimpleValue>[]> {
  const rows: Record<string, SimpleValue>[] = [];
  for (const name of (await readdir(folder)).filter((n) => !n.startsWith('.'))) {
    const records: (string | null)[][] = parse(await readFile(join(folder, name)), {
      cast: (value, at) => (!at.quoting && value === '\\N' ? null : value),
    });
    const [header = [], ...rest] = records;
    for (const r of rest) rows.push(Object.fromEntries(header.map((h, i) => [String(h), r[i]])));
  }
  return rows;
}

function csvWriter(options: JsonObject): void {
  contractTests(
    writerHarness({
      plugin: writer,
      prepared: 'survive',
      async target() {
        const path = await temp();
        return {
          options: { path, isFirstLineHeader: true, ...options },
          readBack: () => readCsv(path),
          leftovers: () => stagedFiles(path),
          async damage() {
            for (const file of await stagedFiles(path)) await unlink(file);
          },
          dispose: () => rm(path, { recursive: true }),
        };
      },
      // CSV has no bytes; the writer says base64.
      asRead: (_column, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value),
      waive: {
        'values.bad-row': 'csv has a form for every text, so no row is refused',
        'descriptor.defaults': 'fileName and fileNameSuffix have no default: without them the name follows from others',
      },
    }),
  );
}

csvWriter({});
