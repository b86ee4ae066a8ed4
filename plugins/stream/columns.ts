import { parseType, type Finding, type LogicalType, type ColumnInit } from 'syncx/plugin-api';
import { canonicalCell } from 'syncx/plugin-kit';
import { UNUSED_COLUMN_KEYS, type ReaderOptions } from './options.js';

export interface MadeColumn {
  readonly name: string;
  readonly type: LogicalType;
  /** `id`: the counter. */
  readonly counter: boolean;
  /** Most characters of a text, from `char` or `varchar(n)`; null: no limit. */
  readonly length: number | null;
  /** In its canonical form; undefined: what is given is not of the type. */
  readonly constant: string | null | undefined;
}

const INT64: LogicalType = { is: 'int64' };

function nameOf(c: ReaderOptions['column'][number], i: number): string {
  return c.name === '' ? `column${String(i + 1)}` : c.name;
}

const DATETIME: LogicalType = { is: 'datetime', fraction: 6 };

/** DataX' `date` has a time: where the constant has one, the column is a `datetime`. */
function typeOf(c: ReaderOptions['column'][number]): LogicalType | null {
  const type = parseType(c.type);
  if (type?.is !== 'date' || c.value === null || canonicalCell(type, c.value) !== null) return type;
  return canonicalCell(DATETIME, c.value) === null ? type : DATETIME;
}

/** @returns null where a type is not known. */
function madeColumn(c: ReaderOptions['column'][number], i: number): MadeColumn | null {
  const counter = c.type.trim().toLowerCase() === 'id';
  const type = counter ? INT64 : typeOf(c);
  if (!type || type.is === 'geometry') return null;
  const sized = /^\s*(char|varchar)\s*(?:\(\s*(\d+)\s*\))?\s*$/i.exec(c.type);
  const length = sized?.[2] !== undefined ? Number(sized[2]) : sized?.[1]?.toLowerCase() === 'char' ? 1 : null;
  const constant = c.value === null ? null : (canonicalCell(type, c.value) ?? undefined);
  return { name: nameOf(c, i), type, counter, length, constant };
}

export function madeColumns(o: ReaderOptions): readonly MadeColumn[] {
  return o.column.map(madeColumn).filter((c) => c !== null);
}

export function columnNames(o: ReaderOptions): readonly string[] {
  return o.column.map(nameOf);
}

export function schemaColumns(columns: readonly MadeColumn[]): readonly ColumnInit[] {
  return columns.map((c) => ({ name: c.name, type: c.type, nullable: false }));
}

export function checkColumns(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const names = columnNames(o);
  o.column.forEach((c, i) => {
    const path = `column[${String(i)}]`;
    for (const key of UNUSED_COLUMN_KEYS) {
      if (c[key] !== null) findings.push({ path: `${path}.${key}`, level: 'warning', message: 'has no effect' });
    }
    if (names.indexOf(names[i] ?? '') !== i) {
      findings.push({ path: `${path}.name`, message: `a column before it has the name ${JSON.stringify(names[i])}` });
    }
    const made = madeColumn(c, i);
    if (!made) {
      const hint =
        'for instance id, int, bigint, boolean, string, double, decimal(10,2), date, time, timestamp, binary';
      findings.push({
        path: `${path}.type`,
        message: `${JSON.stringify(c.type)} is not a type that can be made up`,
        hint,
      });
    } else if (made.constant === undefined) {
      findings.push({
        path: `${path}.value`,
        message: `${JSON.stringify(c.value)} is not a value of type ${c.type}`,
      });
    }
  });
  return findings;
}
