/** Values of a schema: passed over, as cells, and as JSON. */
import { float32Text, float64Text, type BatchBuilder, type LogicalType } from 'syncx/plugin-api';
import { AvroFault, type AvroBytes } from './avro-bytes.js';
import { withoutNull, type AvroType, type Logical, type Primitive } from './avro-schema.js';
import { dateText, decimalText, timeText, timestampText, uuidText } from './avro-text.js';

/** Deeper values would be of no use, and might be meant to break the reader. */
const MOST_DEPTH = 500;
/** Items without a byte of their own are counted, as no length bounds them. */
const MOST_ITEMS = 1 << 24;

/** The type of the cells of a column; what has parts, and unions of several types, is JSON. */
export function columnType(type: AvroType): LogicalType {
  const t = withoutNull(type);
  switch (t.is) {
    case 'record':
    case 'array':
    case 'map':
    case 'union':
      return { is: 'json' };
    case 'enum':
      return { is: 'enum', labels: t.symbols };
    case 'fixed':
      return t.logical === null ? { is: 'binary' } : logicalType(t.logical);
    default:
      return t.logical === null ? PLAIN[t.is] : logicalType(t.logical);
  }
}

const PLAIN: Readonly<Record<Primitive, LogicalType>> = {
  null: { is: 'string' },
  boolean: { is: 'boolean' },
  int: { is: 'int32' },
  long: { is: 'int64' },
  float: { is: 'float32' },
  double: { is: 'float64' },
  bytes: { is: 'binary' },
  string: { is: 'string' },
};

function logicalType(l: Logical): LogicalType {
  switch (l.is) {
    case 'decimal':
      return { is: 'decimal', precision: l.precision, scale: l.scale };
    case 'uuid':
      return { is: 'string' };
    case 'date':
      return { is: 'date' };
    case 'time':
    case 'timestamp':
    case 'datetime':
      return { is: l.is, fraction: l.fraction };
  }
}

/** The branch of a union that the value is of; else the type. */
export function branchOf(type: AvroType, c: AvroBytes): AvroType {
  if (type.is !== 'union') return type;
  const n = c.long();
  const branch = typeof n === 'number' && n >= 0 ? type.branches[n] : undefined;
  if (branch === undefined) throw new AvroFault(`a union has no type ${String(n)}`);
  return branch;
}

/** Calls `item` at each one. */
function eachItem(c: AvroBytes, item: () => void): void {
  let items = 0;
  for (;;) {
    const n = c.long();
    if (n === 0) return;
    if (typeof n === 'bigint') throw new AvroFault(`a block has ${String(n)} items`);
    if (n < 0) c.long(); // its bytes
    items += Math.abs(n);
    if (items > MOST_ITEMS) throw new AvroFault(`a list has more than ${String(MOST_ITEMS)} items`);
    for (let i = Math.abs(n); i > 0; i--) item();
  }
}

export function skipValue(type: AvroType, c: AvroBytes, depth = 0): void {
  if (depth > MOST_DEPTH) throw new AvroFault(`values are nested more than ${String(MOST_DEPTH)} deep`);
  const t = branchOf(type, c);
  switch (t.is) {
    case 'null':
      return;
    case 'boolean':
      c.boolean();
      return;
    case 'int':
      c.int();
      return;
    case 'long':
      c.long();
      return;
    case 'float':
      c.skip(4);
      return;
    case 'double':
      c.skip(8);
      return;
    case 'bytes':
      c.skip(c.size());
      return;
    case 'string':
      c.skip(c.size());
      return;
    case 'fixed':
      c.skip(t.size);
      return;
    case 'enum':
      symbolOf(t.symbols, c);
      return;
    case 'array':
      eachItem(c, () => {
        skipValue(t.items, c, depth + 1);
      });
      return;
    case 'map':
      eachItem(c, () => {
        c.skip(c.size());
        skipValue(t.items, c, depth + 1);
      });
      return;
    case 'record':
      for (const f of t.fields) skipValue(f.type, c, depth + 1);
      return;
    case 'union':
      throw new AvroFault('a union within a union');
  }
}

function symbolOf(symbols: readonly string[], c: AvroBytes): string {
  const n = c.long();
  const symbol = typeof n === 'number' && n >= 0 ? symbols[n] : undefined;
  if (symbol === undefined) throw new AvroFault(`an enum has no symbol ${String(n)}`);
  return symbol;
}

/** Appends the value as the cell of a column of {@link columnType}. */
export function appendValue(type: AvroType, c: AvroBytes, builder: BatchBuilder): void {
  const t = branchOf(type, c);
  if (t.is === 'null') {
    builder.appendNull();
    return;
  }
  // Of a union of several types: JSON, whichever it is.
  if (type.is === 'union' && withoutNull(type).is === 'union') {
    builder.appendText(jsonOf(t, c, 0));
    return;
  }
  switch (t.is) {
    case 'string':
    case 'bytes': {
      if (t.logical?.is === 'decimal') break;
      c.append(c.size(), builder, t.is === 'string');
      return;
    }
    case 'fixed':
      if (t.logical !== null) break;
      c.append(t.size, builder, false);
      return;
    case 'record':
    case 'array':
    case 'map':
      builder.appendText(jsonOf(t, c, 0));
      return;
    default:
  }
  appendShort(builder, textOf(t, c));
}

/** Few characters of ASCII are written one by one: a call would cost more. */
function appendShort(builder: BatchBuilder, text: string): void {
  builder.reserve(text.length, 1);
  const { data } = builder;
  let o = builder.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 128) {
      builder.appendText(text);
      return;
    }
    data[o++] = c;
  }
  builder.length = o;
  builder.ends[builder.cells++] = o;
}

/** Of a value that has a cell form of its own, and is no plain bytes. */
function textOf(t: AvroType, c: AvroBytes): string {
  switch (t.is) {
    case 'boolean':
      return String(c.boolean());
    case 'int':
      return numberText(c.int(), t.logical, c);
    case 'long':
      return numberText(c.long(), t.logical, c);
    case 'float':
      return float32Text(c.float());
    case 'double':
      return float64Text(c.double());
    case 'enum':
      return symbolOf(t.symbols, c);
    case 'bytes':
    case 'fixed': {
      const n = t.is === 'fixed' ? t.size : c.size();
      c.skip(n);
      if (t.logical?.is === 'uuid') return uuidText(c.bytes, c.at - n);
      if (t.logical?.is === 'decimal') return decimalText(c.bytes, c.at - n, c.at, t.logical);
      return c.bytes.toString('base64', c.at - n, c.at);
    }
    case 'string': {
      const n = c.size();
      c.skipText(n);
      return c.bytes.toString('utf8', c.at - n, c.at);
    }
    default:
      throw new AvroFault(`a ${t.is} is no single value`);
  }
}

function numberText(n: number | bigint, logical: Logical | null, c: AvroBytes): string {
  switch (logical?.is) {
    case 'date':
      return dateText(Number(n));
    case 'time':
      return timeText(n, logical.fraction);
    case 'timestamp':
    case 'datetime':
      return timestampText(n, logical.fraction, c.minutes);
    default:
      return String(n);
  }
}

/** Numbers with all their digits; bytes are base64, NaN and the infinities texts, times as in cells. */
function jsonOf(type: AvroType, c: AvroBytes, depth: number): string {
  if (depth > MOST_DEPTH) throw new AvroFault(`values are nested more than ${String(MOST_DEPTH)} deep`);
  const t = branchOf(type, c);
  switch (t.is) {
    case 'null':
      return 'null';
    case 'record':
      return `{${t.fields.map((f) => `${JSON.stringify(f.name)}:${jsonOf(f.type, c, depth + 1)}`).join(',')}}`;
    case 'array': {
      const items: string[] = [];
      eachItem(c, () => void items.push(jsonOf(t.items, c, depth + 1)));
      return `[${items.join(',')}]`;
    }
    case 'map': {
      const entries: string[] = [];
      eachItem(c, () => {
        const key = JSON.stringify(textOf(KEY, c));
        entries.push(`${key}:${jsonOf(t.items, c, depth + 1)}`);
      });
      return `{${entries.join(',')}}`;
    }
    case 'int':
    case 'long':
      return t.logical === null ? textOf(t, c) : JSON.stringify(textOf(t, c));
    case 'boolean':
      return textOf(t, c);
    case 'float':
    case 'double': {
      const text = textOf(t, c);
      return /^-?\d/.test(text) ? text : JSON.stringify(text);
    }
    case 'bytes':
    case 'fixed':
      return t.logical?.is === 'decimal' ? textOf(t, c) : JSON.stringify(textOf(t, c));
    default:
      return JSON.stringify(textOf(t, c));
  }
}

const KEY: AvroType = { is: 'string', logical: null };
