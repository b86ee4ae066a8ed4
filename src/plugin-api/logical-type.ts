/**
 * Logical types of a column. The canonical cell form of each stands in docs/specs/cells.md.
 * `f` is the number of fraction digits, 0 to 9.
 */
export type LogicalType =
  | { readonly is: 'boolean' }
  | { readonly is: 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64' }
  | { readonly is: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly is: 'float32' | 'float64' }
  | { readonly is: 'string' | 'json' }
  | { readonly is: 'binary' }
  | { readonly is: 'date' | 'year' }
  | { readonly is: 'time' | 'datetime' | 'timestamp'; readonly fraction: number }
  | { readonly is: 'bit'; readonly length: number }
  | { readonly is: 'enum' | 'set'; readonly labels: readonly string[] | null }
  | { readonly is: 'geometry' };

export type LogicalName = LogicalType['is'];

/** How a cell of the type looks to a text protocol: as a number, a word, raw bytes … One switch instead of many. */
export type CellKind = 'integer' | 'decimal' | 'float' | 'boolean' | 'json' | 'text' | 'bytes';

export function cellKind(t: LogicalType): CellKind {
  switch (t.is) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'bit':
      return 'integer';
    case 'year':
    case 'string':
    case 'date':
    case 'time':
    case 'datetime':
    case 'timestamp':
    case 'enum':
    case 'set':
      return 'text';
    case 'decimal':
      return 'decimal';
    case 'float32':
    case 'float64':
      return 'float';
    case 'boolean':
      return 'boolean';
    case 'json':
      return 'json';
    case 'binary':
    case 'geometry':
      return 'bytes';
  }
}

export function formatType(t: LogicalType): string {
  switch (t.is) {
    case 'decimal':
      return `decimal(${String(t.precision)},${String(t.scale)})`;
    case 'time':
    case 'datetime':
    case 'timestamp':
      return `${t.is}(${String(t.fraction)})`;
    case 'bit':
      return `bit(${String(t.length)})`;
    default:
      return t.is;
  }
}

const SIMPLE: Readonly<Record<string, LogicalType>> = {
  boolean: { is: 'boolean' },
  bool: { is: 'boolean' },
  int8: { is: 'int8' },
  byte: { is: 'int8' },
  tinyint: { is: 'int8' },
  int16: { is: 'int16' },
  short: { is: 'int16' },
  smallint: { is: 'int16' },
  int32: { is: 'int32' },
  int: { is: 'int32' },
  integer: { is: 'int32' },
  mediumint: { is: 'int32' },
  int64: { is: 'int64' },
  long: { is: 'int64' },
  bigint: { is: 'int64' },
  uint8: { is: 'uint8' },
  uint16: { is: 'uint16' },
  uint32: { is: 'uint32' },
  uint64: { is: 'uint64' },
  float32: { is: 'float32' },
  float: { is: 'float32' },
  real: { is: 'float32' },
  float64: { is: 'float64' },
  double: { is: 'float64' },
  string: { is: 'string' },
  varchar: { is: 'string' },
  char: { is: 'string' },
  text: { is: 'string' },
  json: { is: 'json' },
  binary: { is: 'binary' },
  varbinary: { is: 'binary' },
  bytes: { is: 'binary' },
  blob: { is: 'binary' },
  date: { is: 'date' },
  year: { is: 'year' },
  enum: { is: 'enum', labels: null },
  set: { is: 'set', labels: null },
  geometry: { is: 'geometry' },
};

/** Names with their own alias and an optional argument; the second number is the default of the argument. */
const WITH_FRACTION = /^(time|datetime|timestamp)(?:\((\d)\))?$/;
const DECIMAL = /^(?:decimal|numeric|bigdecimal)(?:\((\d+)(?:,(\d+))?\))?$/;
const BIT = /^bit(?:\((\d+)\))?$/;
const SIZED = /^([a-z0-9]+)\(\d+\)$/;
/** Unsigned decimals, floats and doubles are the signed ones without half of their values. */
const UNSIGNED: Readonly<Record<string, LogicalType>> = {
  tinyint: { is: 'uint8' },
  smallint: { is: 'uint16' },
  mediumint: { is: 'uint32' },
  int: { is: 'uint32' },
  integer: { is: 'uint32' },
  bigint: { is: 'uint64' },
  float: { is: 'float32' },
  real: { is: 'float64' },
  double: { is: 'float64' },
};

function parseUnsigned(base: string): LogicalType | null {
  if (DECIMAL.test(base)) return parseType(base);
  const name = base.replace(/\(\d+(,\d+)?\)$/, '');
  return Object.hasOwn(UNSIGNED, name) ? (UNSIGNED[name] ?? null) : null;
}

/**
 * Reads a type name as job files of FlinkX, ChunJun and DataX write it: any case, with or without arguments
 * (`decimal(20,4)`, `varchar(255)`, `int unsigned`, `timestamp(3)`). A plain `decimal` holds any digits: (65,30).
 * @returns null where the name is not known.
 */
export function parseType(name: string): LogicalType | null {
  const n = name
    .trim()
    .toLowerCase()
    .replace(/\s*([(,])\s*/g, '$1')
    .replace(/\s*\)/g, ')')
    .replace(/\s+/g, ' ');
  const simple = Object.hasOwn(SIMPLE, n) ? SIMPLE[n] : undefined;
  if (simple) return simple;
  let m = WITH_FRACTION.exec(n);
  if (m) return { is: m[1] as 'time' | 'datetime' | 'timestamp', fraction: Number(m[2] ?? (m[1] === 'time' ? 0 : 6)) };
  m = DECIMAL.exec(n);
  if (m) return { is: 'decimal', precision: Number(m[1] ?? 65), scale: Number(m[2] ?? (m[1] === undefined ? 30 : 0)) };
  m = BIT.exec(n);
  if (m) return { is: 'bit', length: Number(m[1] ?? 1) };
  const unsigned = / unsigned( zerofill)?$/.exec(n);
  if (unsigned) return parseUnsigned(n.slice(0, unsigned.index));
  m = SIZED.exec(n);
  if (m?.[1] !== undefined && Object.hasOwn(SIMPLE, m[1])) return SIMPLE[m[1]] ?? null;
  return null;
}
