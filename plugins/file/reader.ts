import {
  defineReader,
  formatType,
  parseType,
  SyncError,
  type Finding,
  type JsonValue,
  type OptionsOf,
  type PluginContext,
  type Position,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import {
  BorderScan,
  META_TYPES,
  canonicalCell,
  columnSpecs,
  delimitedFormat,
  encodingName,
  fromRecord,
  isDatePattern,
  jsonLinesFormat,
  type FileFormat,
} from 'syncx/plugin-kit';
import { checkFormat, csvDialect, layoutText, textDialect } from './format-options.js';
import { FileLaneReader } from './lane-reader.js';
import { STDIN, listFiles, pathList } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { explainSplit } from './file-split.js';
import { READER_OPTIONS } from './options.js';
import { FilePlanner, StdinPlanner } from './planner.js';
import { decodePlan, type Cutting, type Plan } from './saved-plan.js';
import { SplitFeed } from './split-feed.js';
import { beginFile, pointOf, type BegunFile, type ReadingOptions } from './split-reading.js';

type Options = OptionsOf<typeof READER_OPTIONS>;

function formatOf(o: Options): FileFormat {
  const columns = columnSpecs(o.column);
  const encoding = decodedFrom(o);
  if (o.fileType === 'json') return jsonLinesFormat(columns, { encoding });
  const dialect = o.fileType === 'csv' ? csvDialect(o) : textDialect(o);
  return delimitedFormat({ dialect, header: o.isFirstLineHeader, columns, encoding });
}

/** Null: UTF-8. */
function decodedFrom(o: Options): string | null {
  const name = encodingName(o.encoding);
  return name === 'utf-8' ? null : name;
}

type ColumnObject = Exclude<Options['column'][number], string>;

/** A meta column is of one type, and takes nothing from the record. */
function metaFindings(c: ColumnObject, at: string): readonly Finding[] {
  const findings: Finding[] = [];
  const kind = c.meta;
  if (kind === undefined) return [];
  if (c.name === undefined) findings.push({ path: at, message: 'the meta column has no name', hint: 'Give it one.' });
  for (const other of ['index', 'value', 'format'] as const) {
    if (c[other] === undefined) continue;
    const message = `\`${other}\` has no place beside meta, which takes nothing from the record`;
    findings.push({ path: `${at}.${other}`, message, hint: 'Leave one of the two out.' });
  }
  const fixed = formatType(META_TYPES[kind]);
  const given = parseType(c.type ?? fixed);
  if (given === null || formatType(given) !== fixed) {
    const message = `the type of the meta column \`${kind}\` is ${fixed}, not \`${String(c.type)}\``;
    findings.push({ path: `${at}.type`, message, hint: 'Leave type out.' });
  }
  return findings;
}

function checkColumns(o: Options): readonly Finding[] {
  const findings: Finding[] = [];
  const names = new Set<string>();
  const say = (path: string, message: string, hint: string): void => void findings.push({ path, message, hint });
  o.column.forEach((c, i) => {
    const at = `column[${String(i)}]`;
    const name = typeof c === 'string' ? c : c.name;
    if (name === '*' && o.column.length > 1) say(at, '`*` stands beside other columns', 'Name all columns, or none.');
    if (name !== undefined && names.has(name))
      say(at, `the column \`${name}\` stands here twice`, 'Give each its own name.');
    if (name !== undefined) names.add(name);
    if (typeof c === 'string') return;
    if (c.meta !== undefined) {
      findings.push(...metaFindings(c, at));
      return;
    }
    const type = parseType(c.type ?? 'string');
    if (c.name === undefined && c.index === undefined)
      say(at, 'the column has neither name nor index', 'Give it a name.');
    if (type === null)
      say(`${at}.type`, `\`${String(c.type)}\` is no type`, 'Use string, bigint, decimal(p,s), date …');
    if (type !== null && c.value !== undefined && c.value !== null && canonicalCell(type, String(c.value)) === null) {
      say(`${at}.value`, `\`${String(c.value)}\` is not a valid ${String(c.type)}`, 'Write it in its plain form.');
    }
    if (c.format === undefined) return;
    const dated = type !== null && ['date', 'time', 'datetime', 'timestamp', 'year'].includes(type.is);
    if (!dated) say(`${at}.format`, 'a format is for date and time types', 'Give the column such a type.');
    else if (!isDatePattern(c.format)) {
      say(`${at}.format`, `\`${c.format}\` is no date pattern`, 'Use yyyy MM dd HH mm ss S and plain characters.');
    }
  });
  if (o.fileType === 'json') findings.push(...mixedColumns(o));
  return findings;
}

/** JSON lines are objects or arrays: where one column has only a name and another only an index, neither can be a row. */
function mixedColumns(o: Options): readonly Finding[] {
  const specs = (columnSpecs(o.column) ?? []).map((c, i) => ({ ...c, i })).filter(fromRecord);
  const named = specs.find((c) => c.index === null && c.name !== null);
  const indexed = specs.find((c) => c.name === null && c.index !== null);
  if (named === undefined || indexed === undefined) return [];
  const message = `the column has only an index, and column[${String(named.i)}] only a name: no JSON line can have both`;
  const hint = 'Give all columns a name (lines are objects), or all an index (lines are arrays).';
  return [{ path: `column[${String(indexed.i)}]`, message, hint }];
}

function check(o: Options): readonly Finding[] {
  const findings = [...checkFormat(o, 'all'), ...checkColumns(o)];
  const paths = pathList(o.path);
  if (paths.length === 0) findings.push({ path: 'path', message: 'no path is given' });
  if (paths.includes(STDIN) && paths.length > 1) {
    findings.push({ path: 'path', message: '- (standard input) cannot be read together with files' });
  }
  if (paths.includes(STDIN) && o.watch) {
    findings.push({ path: 'watch', message: 'standard input cannot be watched', hint: 'It is read until it ends.' });
  }
  return findings;
}

/** The columns that `*` means in all files: those of the first file that holds a record; and that file, begun. */
async function agreedColumns(
  reading: ReadingOptions,
  files: readonly FileSpec[],
): Promise<{ readonly columns: readonly string[]; readonly first: BegunFile } | null> {
  for (const spec of files) {
    if (spec.size === 0) continue;
    const first = await beginFile(reading, spec);
    const columns = first.head === null ? null : reading.format.starColumns(first.head.head);
    if (columns !== null) return { columns, first };
    await first.source.close();
  }
  return null;
}

function compare(a: Position, b: Position): -1 | 0 | 1 {
  const x = pointOf(a)?.offset ?? 0;
  const y = pointOf(b)?.offset ?? 0;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Whether records can be told apart in the bytes as they stand. Compressed files are left out one by one. */
function canCut(o: Options): boolean {
  return decodedFrom(o) === null && BorderScan.knows(o.fileType === 'csv' ? csvDialect(o) : null);
}

/** A run goes on as it began: what was read is known to a watching one alone. */
function checkWatch(plan: Plan, watch: boolean): void {
  if ((plan.watched !== null) === watch) return;
  throw new SyncError(
    'STATE_MISFIT',
    `the run was started with watch ${String(!watch)}, and the job says ${String(watch)}`,
    {
      hint: 'Set `watch` back to go on with the run, or start a new one with --fresh.',
    },
  );
}

function createReader(o: Options, context: PluginContext): Reader {
  const { log } = context;
  const reading: ReadingOptions = { format: formatOf(o), compress: o.compress, encoding: decodedFrom(o) };
  const star = columnSpecs(o.column) === null && o.fileType !== 'json';
  const paths = pathList(o.path);
  const live = paths.includes(STDIN);
  const filter = o.filterRegex === undefined ? null : new RegExp(`^(?:${o.filterRegex})$`, 'u');
  let columns: readonly string[] | null = null;
  let feed: SplitFeed | null = null;
  // A lane of this reader reads on where the planner has begun: each file is opened once.
  let begun: BegunFile | null = null;
  const takeBegun = (spec: FileSpec): BegunFile | null => {
    if (begun?.spec.path !== spec.path) return null;
    const taken = begun;
    begun = null;
    return taken;
  };
  const feedOf = (cutting: Cutting | null, files: readonly FileSpec[], from: Plan['from']): SplitFeed => {
    const dialect = o.fileType === 'csv' ? csvDialect(o) : null;
    const failpoint = (step: string): void => {
      context.failpoint(step);
    };
    return (feed = new SplitFeed({ reading, dialect, cutting, failpoint }, files, from));
  };
  const cuttingFor = (lanes: number): Cutting | null =>
    lanes > 1 && o.splitSize > 0 && canCut(o) ? { splitSize: o.splitSize, lanes } : null;
  const watchPlanner = async (plan: Plan | null, lanes: number): Promise<SplitPlanner> => {
    const cutting = plan === null ? cuttingFor(lanes) : plan.cutting;
    const { WatchPlanner } = await import('./watch-planner.js'); // few jobs watch: it costs the others no start
    const planner = new WatchPlanner({
      feed: feedOf(cutting, plan?.files ?? [], plan?.from ?? null),
      cutting,
      paths,
      filter,
      log,
      intervalMs: o.watchInterval,
      stableMs: o.watchStable,
      columns: plan?.columns ?? null,
      agree: async (files) => {
        const agreed = star ? await agreedColumns(reading, files) : null;
        await agreed?.first.source.close();
        return agreed?.columns ?? null;
      },
    });
    await planner.start(plan?.watched ?? null);
    return planner;
  };
  return {
    positions: {
      format: 1,
      compare,
      show: (p) => `byte ${String(pointOf(p)?.offset)}, line ${String(pointOf(p)?.line)}`,
    },
    replayable: !live,
    planner: async (saved, lanes = 1) => {
      if (live) return new StdinPlanner(saved);
      const plan = saved === null ? null : decodePlan(saved);
      if (plan !== null) checkWatch(plan, o.watch);
      if (o.watch) return watchPlanner(plan, lanes);
      if (plan !== null) {
        columns = plan.columns;
        return new FilePlanner(feedOf(plan.cutting, plan.files, plan.from), columns, plan.cutting);
      }
      const files = await listFiles(paths, filter, log);
      // One file alone speaks for itself, which saves opening it twice.
      const agreed = star && files.length > 1 ? await agreedColumns(reading, files) : null;
      columns = agreed?.columns ?? null;
      begun = agreed?.first ?? null;
      const wish = cuttingFor(lanes);
      const cutting = wish !== null && files.some((f) => f.size > wish.splitSize) ? wish : null;
      return new FilePlanner(feedOf(cutting, files, null), columns, cutting);
    },
    shared: () => ({ columns }),
    openLane: (lane, shared: JsonValue) =>
      Promise.resolve(
        new FileLaneReader(
          reading,
          lane,
          (shared as { readonly columns: readonly string[] | null }).columns,
          takeBegun,
        ),
      ),
    explain: async () => {
      const { explainSource } = await import('./explain-source.js'); // only for plans
      const layout = layoutText({ ...o, encoding: decodedFrom(o) ?? 'utf-8' }, o.compress);
      return explainSource({ reading, specs: columnSpecs(o.column), paths, filter, watch: o.watch, layout });
    },
    explainSplit,
    close: async () => {
      const left = begun;
      begun = null;
      await left?.source.close();
      await feed?.close();
    },
  };
}

export const reader = defineReader({
  name: 'file',
  aliases: ['filereader', 'txtfile', 'txtfilereader', 'localfilereader'],
  summary: 'Reads local files (csv, JSON lines, text; plain, gzip, zstd or bzip2) or standard input.',
  options: READER_OPTIONS,
  boundedness: (o) => (o.watch ? 'unbounded' : 'bounded'),
  check,
  columns: (o) => {
    const specs = columnSpecs(o.column);
    // Writers take meta columns only where they name them, so that counting columns would say nothing.
    if (specs === null || specs.some((c) => c.meta !== null)) return null;
    return specs.map((c, i) => c.name ?? `f${String(c.index ?? i)}`);
  },
  create: (o, context) => Promise.resolve(createReader(o, context)),
});
