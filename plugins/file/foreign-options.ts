/** What FlinkX, ChunJun and DataX say in their own way, as the reader's own options say it. */
import type { Finding, OptionsOf } from 'syncx/plugin-api';
import { canonicalCell } from 'syncx/plugin-kit';
import type { READER_OPTIONS } from './options.js';

export type ReaderOptions = OptionsOf<typeof READER_OPTIONS>;
type Column = ReaderOptions['column'][number];

/** Time fields of a pattern, outside of its quoted parts. */
const HAS_TIME = /[HhkKmsS]/;

export function ownOptions(o: ReaderOptions): ReaderOptions {
  const csv = o.csvReaderConfig ?? {};
  const quote = csv['textQualifier'];
  return {
    ...o,
    ...(String(csv['useTextQualifier']) === 'false' && o.fileType === 'csv' ? { fileType: 'text' as const } : {}),
    ...(typeof quote === 'string' ? { quoteChar: quote } : {}),
    ...(String(csv['escapeMode']) === '2' ? { escapeChar: '\\' } : {}),
    column: named(o.column).map(ownColumn),
  };
}

/** DataX knows fields by index only, and may take one twice: the later ones get names of their own. */
function named(columns: readonly Column[]): readonly Column[] {
  const taken = new Map<number, number>();
  return columns.map((c) => {
    if (typeof c === 'string' || c.name !== undefined || c.index === undefined) return c;
    const times = (taken.get(c.index) ?? 0) + 1;
    taken.set(c.index, times);
    return times === 1 ? c : { ...c, name: `f${String(c.index)}_${String(times)}` };
  });
}

/**
 * A constant of DataX has no name: it gets one by its place. DataX' `date` has a time: where the pattern has one, the
 * column is a `datetime`, for nothing of a value may get lost.
 */
function ownColumn(c: Column, i: number): Column {
  if (typeof c === 'string') return c;
  const constant = (c.value ?? null) !== null && c.name === undefined && c.index === undefined;
  const format = c.parseFormat ?? c.format;
  const dated = format !== undefined && c.type?.trim().toLowerCase() === 'date';
  const timed = dated ? HAS_TIME.test(format.replace(/'[^']*'/g, '')) : isTimedDate(c);
  return {
    ...c,
    ...(constant ? { name: `column${String(i + 1)}` } : {}),
    ...(format === undefined ? {} : { format }),
    ...(timed ? { type: 'datetime' } : {}),
  };
}

/** A constant `date` with a time. */
function isTimedDate(c: Exclude<Column, string>): boolean {
  if (c.type?.trim().toLowerCase() !== 'date' || (c.value ?? null) === null) return false;
  return canonicalCell({ is: 'date' }, c.value ?? '') === null && canonicalCell(DATETIME, c.value ?? '') !== null;
}

const DATETIME = { is: 'datetime', fraction: 6 } as const;

/** What is said in two ways at once. */
export function checkForeign(o: ReaderOptions): readonly Finding[] {
  const columns = o.column.flatMap((c, i): readonly Finding[] => {
    if (typeof c === 'string' || c.parseFormat === undefined || c.format === undefined) return [];
    if (c.parseFormat === c.format) return [];
    const hint = 'dates and times go on in their plain form; a transform can write them otherwise';
    const path = `column[${String(i)}].format`;
    return [{ path, level: 'warning', message: 'has no effect beside parseFormat', hint }];
  });
  return [...columns, ...checkCsvConfig(o.csvReaderConfig ?? {})];
}

const USED: Readonly<Record<string, { readonly fits: RegExp; readonly wanted: string }>> = {
  textQualifier: { fits: /^.$/u, wanted: 'one character' },
  useTextQualifier: { fits: /^(?:true|false)$/, wanted: 'true or false' },
  escapeMode: { fits: /^[12]$/, wanted: '1 (a quote inside is doubled) or 2 (a backslash)' },
};

/** Why the parser's other settings do nothing. */
const UNUSED: Readonly<Record<string, string>> = {
  trimWhitespace: 'spaces belong to their field',
  skipEmptyRecords: 'empty lines are left out, but where they are rows of one column',
  safetySwitch: 'fields may be long',
  useComments: 'every line is a row',
  comment: 'every line is a row',
  delimiter: 'fieldDelimiter says it',
};

function checkCsvConfig(config: Readonly<Record<string, unknown>>): readonly Finding[] {
  return Object.entries(config).flatMap(([key, value]): readonly Finding[] => {
    const path = `csvReaderConfig.${key}`;
    const used = Object.hasOwn(USED, key) ? USED[key] : undefined;
    if (used === undefined) {
      const hint = Object.hasOwn(UNUSED, key) ? UNUSED[key] : undefined;
      return [{ path, level: 'warning', message: 'has no effect', ...(hint === undefined ? {} : { hint }) }];
    }
    return used.fits.test(String(value)) ? [] : [{ path, message: `must be ${used.wanted}` }];
  });
}
