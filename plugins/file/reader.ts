import {
  defineReader,
  formatType,
  parseType,
  type Finding,
  type JsonValue,
  type Logger,
  type OptionsOf,
  type Position,
  type Reader,
} from 'syncx/plugin-api';
import {
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
import { checkFormat, csvDialect, textDialect } from './format-options.js';
import { FileLaneReader } from './lane-reader.js';
import { STDIN, listFiles, pathList } from './file-list.js';
import type { FileSpec } from './file-spec.js';
import { READER_OPTIONS } from './options.js';
import { FilePlanner, StdinPlanner, decodePlan } from './planner.js';
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

function createReader(o: Options, log: Logger): Reader {
  const reading: ReadingOptions = { format: formatOf(o), compress: o.compress, encoding: decodedFrom(o) };
  const star = columnSpecs(o.column) === null && o.fileType !== 'json';
  const paths = pathList(o.path);
  const live = paths.includes(STDIN);
  let columns: readonly string[] | null = null;
  // A lane of this reader reads on where the planner has begun: each file is opened once.
  let begun: BegunFile | null = null;
  const takeBegun = (spec: FileSpec): BegunFile | null => {
    if (begun?.spec.path !== spec.path) return null;
    const taken = begun;
    begun = null;
    return taken;
  };
  return {
    positions: {
      format: 1,
      compare,
      show: (p) => `byte ${String(pointOf(p)?.offset)}, line ${String(pointOf(p)?.line)}`,
    },
    replayable: !live,
    planner: async (saved) => {
      if (live) return new StdinPlanner(saved);
      if (saved !== null) {
        const plan = decodePlan(saved);
        columns = plan.columns;
        return new FilePlanner(plan.files, columns);
      }
      const filter = o.filterRegex === undefined ? null : new RegExp(`^(?:${o.filterRegex})$`, 'u');
      const files = await listFiles(paths, filter, log);
      // One file alone speaks for itself, which saves opening it twice.
      const agreed = star && files.length > 1 ? await agreedColumns(reading, files) : null;
      columns = agreed?.columns ?? null;
      begun = agreed?.first ?? null;
      return new FilePlanner(files, columns);
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
    close: async () => {
      const left = begun;
      begun = null;
      await left?.source.close();
    },
  };
}

export const reader = defineReader({
  name: 'file',
  aliases: ['filereader', 'txtfile', 'txtfilereader', 'localfilereader'],
  summary: 'Reads local files (csv, JSON lines, text; plain, gzip, zstd or bzip2) or standard input.',
  options: READER_OPTIONS,
  boundedness: () => 'bounded',
  check,
  columns: (o) => {
    const specs = columnSpecs(o.column);
    // Writers take meta columns only where they name them, so that counting columns would say nothing.
    if (specs === null || specs.some((c) => c.meta !== null)) return null;
    return specs.map((c, i) => c.name ?? `f${String(c.index ?? i)}`);
  },
  create: (o, context) => Promise.resolve(createReader(o, context.log)),
});
