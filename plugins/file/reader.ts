import {
  defineReader,
  SyncError,
  type Finding,
  type JsonValue,
  type PluginContext,
  type Position,
  type Reader,
  type SplitPlanner,
} from 'syncx/plugin-api';
import {
  BorderScan,
  checkColumns,
  columnSpecs,
  csvDialect,
  delimitedFormat,
  encodingName,
  jsonLinesFormat,
  hasStar,
  isSpec,
  unnamed,
  type ColumnRules,
  type FileFormat,
} from 'syncx/plugin-kit';
import { decodePlan } from './decode-plan.js';
import { checkFormat, layoutText, textDialect } from './format-options.js';
import { FileLaneReader } from './lane-reader.js';
import { STDIN, listFiles, pathList } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { explainSplit } from './file-split.js';
import { checkForeign, ownOptions, type ReaderOptions } from './foreign-options.js';
import { READER_OPTIONS } from './options.js';
import { FilePlanner, StdinPlanner } from './planner.js';
import type { Cutting, Plan } from './saved-plan.js';
import { SplitFeed } from './split-feed.js';
import { beginFile, pointOf, type BegunFile, type ReadingOptions } from './split-reading.js';

type Options = ReaderOptions;

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

/** What `*` means in JSON lines. */
const WHOLE_LINE = 'json';

function columnRules(o: Options): ColumnRules {
  const json = o.fileType === 'json';
  return { json, star: json ? WHOLE_LINE : null };
}

function check(given: Options): readonly Finding[] {
  const o = ownOptions(given);
  const findings = [...checkFormat(o, 'all'), ...checkForeign(given), ...checkColumns(o.column, columnRules(o))];
  const paths = pathList(o.path);
  if (paths.length === 0) findings.push({ path: 'path', message: 'no path is given' });
  if (paths.includes(STDIN) && paths.length > 1) {
    findings.push({ path: 'path', message: '- (standard input) cannot be read together with files' });
  }
  if (paths.includes(STDIN) && o.watch) {
    findings.push({ path: 'watch', message: 'standard input cannot be watched', hint: 'It is read until it ends.' });
  }
  try {
    filterOf(o);
  } catch (e) {
    const hint = 'It is one of JavaScript with the flag u; in the job file a backslash is written \\\\.';
    findings.push({ path: 'filterRegex', message: (e as Error).message, hint });
  }
  return findings;
}

/** @throws SyntaxError */
const filterOf = ({ filterRegex }: Options): RegExp | null =>
  filterRegex === undefined ? null : new RegExp(`^(?:${filterRegex})$`, 'u');

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

function createReader(given: Options, context: PluginContext): Reader {
  const { log } = context;
  const o = ownOptions(given);
  const reading: ReadingOptions = { format: formatOf(o), compress: o.compress, encoding: decodedFrom(o) };
  const star = hasStar(columnSpecs(o.column)) && o.fileType !== 'json';
  const paths = pathList(o.path);
  const live = paths.includes(STDIN);
  const filter = filterOf(o);
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
  replayable: 'by-options', // standard input is not
  check,
  columns: (o) => {
    const specs = columnSpecs(ownOptions(o).column);
    // Writers take meta columns only where they name them, so that counting columns would say nothing.
    if (specs === null || !specs.every(isSpec) || specs.some((c) => c.meta !== null)) return null;
    return specs.map((c, i) => c.name ?? unnamed(c.index ?? i));
  },
  create: (o, context) => Promise.resolve(createReader(o, context)),
});
