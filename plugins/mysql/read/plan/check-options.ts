/** Rules of the reader's options that a schema cannot say. Pure: no server is asked. */
import type { Finding } from 'syncx/plugin-api';
import { checkConnections } from '../../connect/connection-options.js';
import type { ReaderOptions } from '../../reader-options.js';
import { parseLookback } from '../cursor/lookback.js';
import { checkColumns, namesOf, wantedColumns } from './wanted-columns.js';

/** Blank text is what forms and templates leave where nothing is meant. */
export const given = (text: string | undefined): string | null =>
  text === undefined || text.trim() === '' ? null : text;

/** A condition of the job as it goes into a WHERE: without the semicolon that people copy along. */
export const condition = (text: string | undefined): string | null => given(text?.replace(/;\s*$/, ''));

export function checkReaderOptions(o: ReaderOptions): readonly Finding[] {
  return [
    ...checkConnections(o, o.connection),
    ...checkColumns(o),
    ...checkSources(o),
    ...checkSplitting(o),
    ...checkCursor(o),
  ];
}

function checkSources(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const custom = given(o.customSql) !== null;
  o.connection.forEach((c, i) => {
    const at = `connection[${String(i)}]`;
    const named = (['table', 'tablePattern', 'querySql'] as const).filter((k) => c[k] !== undefined);
    if (custom) {
      for (const k of named) {
        const message = 'has no effect beside customSql, which is read in its place';
        findings.push({ path: `${at}.${k}`, level: 'warning', message });
      }
      return;
    }
    if (named.length === 0) {
      const hint = 'Give table, tablePattern, querySql or customSql.';
      findings.push({ path: at, message: 'says nothing to read', hint });
    }
    if (named.includes('querySql') && named.length > 1) {
      const message = 'has no effect beside querySql, which is read in its place';
      for (const k of named.filter((n) => n !== 'querySql'))
        findings.push({ path: `${at}.${k}`, level: 'warning', message });
    }
    if (c.tablePattern !== undefined) {
      try {
        new RegExp(c.tablePattern, 'u');
      } catch (e) {
        const hint = 'It is one of JavaScript with the flag u; in the job file a backslash is written \\\\.';
        findings.push({ path: `${at}.tablePattern`, message: (e as Error).message, hint });
      }
    }
  });
  return findings;
}

const readsQueries = (o: ReaderOptions): boolean =>
  given(o.customSql) !== null || o.connection.some((c) => c.querySql !== undefined);

function checkSplitting(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  if (readsQueries(o) && given(o.splitPk) !== null) {
    const message = 'has no effect on a query, which one lane reads as a whole';
    findings.push({ path: 'splitPk', level: 'warning', message, hint: 'Read tables, or several queries.' });
  }
  if (o.consistent && o.polling) {
    findings.push({ path: 'consistent', message: 'a polling job has no one moment to read' });
  }
  return findings;
}

function checkCursor(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const { increColumn } = o;
  const none = increColumn === undefined || increColumn === '';
  const without = (path: string, level: 'error' | 'warning'): void => {
    findings.push({ path, level, message: 'needs increColumn', hint: 'Name the column whose values rise.' });
  };
  if (none) {
    if (o.polling) without('polling', 'error');
    if (given(o.startLocation) !== null) without('startLocation', 'warning');
    if (given(o.endLocation) !== null) without('endLocation', 'error');
    if (o.increLookback !== undefined) without('increLookback', 'warning');
    return findings;
  }
  if (typeof increColumn === 'number' && namesOf(wantedColumns(o))?.[increColumn] === undefined) {
    const message = `there is no column ${String(increColumn)} in \`column\``;
    findings.push({ path: 'increColumn', message, hint: 'Columns are counted from 0; or give the name.' });
  }
  const lookback = o.increLookback === undefined ? undefined : parseLookback(o.increLookback);
  if (lookback === null) {
    findings.push({ path: 'increLookback', message: 'is neither a number nor a time as `5m`' });
  }
  if (lookback !== undefined && o.polling) {
    findings.push({ path: 'increLookback', level: 'warning', message: 'has no effect on polling' });
  }
  if (o.polling && given(o.endLocation) !== null) {
    findings.push({ path: 'endLocation', message: 'a polling job has no end' });
  }
  if (o.pollingFromMax && !o.polling) {
    findings.push({ path: 'pollingFromMax', level: 'warning', message: 'has no effect without polling' });
  }
  if (o.pollingFromMax && given(o.startLocation) !== null) {
    findings.push({ path: 'pollingFromMax', level: 'warning', message: 'has no effect beside startLocation' });
  }
  return findings;
}

/** The name of increColumn; null: the job has none. @throws never after {@link checkReaderOptions} passed. */
export function cursorColumn(o: ReaderOptions): string | null {
  const { increColumn } = o;
  if (typeof increColumn === 'number') return namesOf(wantedColumns(o))?.[increColumn] ?? null;
  return given(increColumn);
}

/** Jobs that keep a cursor between runs. A polling job is one run without an end: its place is in its checkpoints. */
export const hasCursor = (o: ReaderOptions): boolean => !o.polling && cursorColumn(o) !== null;
