import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import {
  reportError,
  toSyncError,
  type Logger,
  type PlanColumn,
  type PlanProblem,
  type ReaderFacts,
} from 'syncx/plugin-api';
import { isSpec, unnamed, type WantedColumn } from 'syncx/plugin-kit';
import { STDIN, listFiles } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { beginFile, codecOf, type ReadingOptions } from './split-reading.js';

export interface SourceToExplain {
  readonly reading: ReadingOptions;
  /** Null: all that the files have. */
  readonly specs: readonly WantedColumn[] | null;
  readonly paths: readonly string[];
  readonly filter: RegExp | null;
  readonly watch: boolean;
  /** `csv with a header line`. */
  readonly layout: string;
}

/** The planner has told the same of them. */
const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const TARGET = { bytes: 1, rows: 1 };
const AT_ONCE = 64;
const LF = 10;

export async function explainSource(s: SourceToExplain): Promise<ReaderFacts> {
  if (s.paths.includes(STDIN)) {
    // Looking into it would take from it.
    return {
      reads: [`standard input; ${s.layout}`],
      columns: columnsOf(s.specs),
      rows: null,
      bytes: null,
      problems: [],
    };
  }
  const files = await listFiles(s.paths, s.filter, SILENT, s.watch);
  const problems: PlanProblem[] = [...(await unreadable(files))];
  let first: FirstFile | null = null;
  try {
    first = await lookInto(s.reading, files);
  } catch (e) {
    if (problems.length === 0) {
      const { code, message, place, hint } = reportError(toSyncError(e, 'SOURCE_IO'));
      const more = { ...(place === undefined ? {} : { place }), ...(hint === undefined ? {} : { hint }) };
      problems.push({ level: 'error', code, message, ...more });
    }
  }
  const bytes = files.reduce((n, f) => n + f.size, 0);
  const codecs = [...new Set(files.map((f) => codecOf(s.reading, f.path)))].filter((c) => c !== 'none').sort();
  const count = `${String(files.length)} ${files.length === 1 ? 'file' : 'files'}${s.watch ? ' now, and those that come' : ''}`;
  return {
    reads: [
      `${s.paths.join(', ')}: ${count}; ${[s.layout, ...codecs.filter((c) => !s.layout.endsWith(`, ${c}`))].join(', ')}`,
    ],
    columns: first?.columns ?? columnsOf(s.specs),
    rows: codecs.length === 0 && first ? rowsOf(first, bytes, files.length) : null,
    bytes: codecs.length === 0 ? bytes : null,
    problems,
  };
}

/** Null: a file must tell. */
function columnsOf(specs: readonly WantedColumn[] | null): readonly PlanColumn[] | null {
  if (specs !== null && !specs.every(isSpec)) return null;
  return (
    specs?.map((c, i) => ({
      name: c.name ?? unnamed(c.index ?? i),
      type: c.type,
      role: c.meta === null ? 'data' : 'meta',
    })) ?? null
  );
}

interface FirstFile {
  readonly columns: readonly PlanColumn[];
  /** By the lines of its beginning; null: it has none. */
  readonly bytesOfRow: number | null;
  /** Of the header line, which every file has. */
  readonly headBytes: number;
}

function rowsOf({ bytesOfRow, headBytes }: FirstFile, bytes: number, files: number): number | null {
  return bytesOfRow === null ? null : Math.max(0, Math.round((bytes - headBytes * files) / bytesOfRow));
}

/** The first file that holds a record, as its decoder has it. @throws SyncError COLUMN_MISMATCH, SOURCE_FORMAT */
async function lookInto(reading: ReadingOptions, files: readonly FileSpec[]): Promise<FirstFile | null> {
  for (const spec of files) {
    if (spec.size === 0) continue;
    const { head, source } = await beginFile(reading, spec);
    try {
      if (head === null) continue;
      const body = head.head.body.offset;
      const options = { place: spec.path, from: null, target: TARGET, columns: null };
      const { schema } = reading.format.decoder(head.head, options);
      const columns = schema.columns.map(({ name, type, role }) => ({ name, type, role }));
      const rows = head.bytes.subarray(body).reduce((n, b) => n + (b === LF ? 1 : 0), 0);
      return {
        columns,
        headBytes: body,
        bytesOfRow: rows === 0 ? null : (head.bytes.lastIndexOf(LF) + 1 - body) / rows,
      };
    } finally {
      await source.close();
    }
  }
  return null;
}

async function unreadable(files: readonly FileSpec[]): Promise<readonly PlanProblem[]> {
  const bad: string[] = [];
  let why = '';
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const tried = await Promise.allSettled(some.map((f) => access(f.path, constants.R_OK)));
    tried.forEach((t, i) => {
      if (t.status === 'fulfilled') return;
      bad.push(some[i]?.path ?? '');
      why ||= (t.reason as NodeJS.ErrnoException).code ?? String(t.reason);
    });
  }
  const [first] = bad;
  if (first === undefined) return [];
  const more = bad.length > 1 ? ` and ${String(bad.length - 1)} more` : '';
  const message = `${first}${more} cannot be read: ${why}`;
  const hint = 'Give the user that runs the job the right to read it.';
  return [{ level: 'error', code: 'SOURCE_IO', message, place: first, hint }];
}
