import { internSchema, type RowSchema } from 'syncx/plugin-api';
import {
  JsonPicker,
  fromRecord,
  isSpec,
  skipSpace,
  skipString,
  skipValue,
  type ColumnSpec,
  type WantedColumn,
} from 'syncx/plugin-kit';
import type { Change, ChangeFormat } from './change.js';
import { sameBytes, textAt, type Span } from './object-fields.js';

/** Which tables of a topic are read: regular expressions for whole names; null: all. */
export interface Included {
  readonly database: string | null;
  readonly table: string | null;
}

/** How rows of one table, with one set of columns, are made. */
export interface RowShape {
  readonly picker: JsonPicker;
  readonly schema: RowSchema;
}

/** What is known of one table that the records of a topic come from. */
export class ChangeTable {
  readonly database: string | null;
  readonly table: string | null;
  /** A record without the name that it is told by is at fault. */
  readonly fault: string | null;
  readonly included: boolean;
  /** `database.table` (of databases with schemas `schema.table`), as rows say it; null: the records do not tell. */
  readonly name: string | null;
  readonly #format: ChangeFormat;
  readonly #columns: readonly WantedColumn[];
  readonly #keyNames: readonly string[];
  /** The source's words for types. */
  readonly #words: Readonly<Record<string, unknown>>;
  /** Null: columns are those that an object has. */
  readonly #fixed: RowShape | null;
  readonly #shapes = new Map<string, RowShape>();
  #last: { readonly keys: Buffer; readonly shape: RowShape } | null = null;

  constructor(b: Buffer, c: Change, format: ChangeFormat, columns: readonly WantedColumn[], included: Included) {
    this.#format = format;
    this.#columns = columns;
    this.database = textAt(b, c.database);
    this.table = textAt(b, c.table);
    const lacks = (name: 'database' | 'table'): boolean => included[name] !== null && this[name] === null;
    this.fault = lacks('database') || lacks('table') ? 'the record does not say of which table it is' : null;
    this.included = isIncluded(this.database, included.database) && isIncluded(this.table, included.table);
    const owner = textAt(b, c.schema) ?? this.database;
    this.name =
      this.table === null || this.table === '' ? null : owner === null ? this.table : `${owner}.${this.table}`;
    this.#keyNames = keyNames(b, c.keys);
    this.#words = wordsOf(b, c.types);
    this.#fixed = columns.every(isSpec) ? this.#shapeOf(columns) : null;
  }

  /** Of the object in `b[start .. end]`. @returns or what is wrong with it. */
  shape(b: Buffer, start: number, end: number): RowShape | string {
    if (this.#fixed !== null) return this.#fixed;
    const last = this.#last;
    if (last !== null && sameKeys(b, start, end, last.keys)) return last.shape;
    const names = namesOf(b, start, end);
    if (names.length === 0) return 'the row has no columns';
    const id = JSON.stringify(names);
    const known = this.#shapes.get(id);
    const shape = known ?? this.#open(names);
    if (typeof shape === 'string') return shape;
    if (known === undefined) this.#shapes.set(id, shape);
    this.#last = { keys: Buffer.from(names.map((n) => JSON.stringify(n)).join('')), shape };
    return shape;
  }

  #open(names: readonly string[]): RowShape | string {
    const own = names.map((name): ColumnSpec => {
      const word = this.#words[name];
      const type = typeof word === 'string' ? this.#format.typeOf?.(word) : undefined;
      return { name, index: null, type: type ?? { is: 'string' }, value: null, format: null, meta: null };
    });
    const specs = this.#columns.flatMap((c) => (isSpec(c) ? [c] : own));
    const all = specs.map((c) => c.name);
    const twice = all.find((n, i) => all.indexOf(n) !== i);
    if (twice === undefined) return this.#shapeOf(specs);
    const beside = specs.some((c) => c.name === twice && !fromRecord(c)) ? '; another one stands beside `*`' : '';
    return `the row has the column \`${String(twice)}\` twice${beside}`;
  }

  #shapeOf(specs: readonly ColumnSpec[]): RowShape {
    const picker = new JsonPicker(specs, 'row', this.#format.notation);
    const at = this.#keyNames.map((name) => specs.findIndex((c) => c.name === name && fromRecord(c)));
    const { columns } = picker.schema;
    return { picker, schema: internSchema(columns, this.name, at.includes(-1) ? [] : at) };
  }
}

/** What tells of a table, from what differs most. */
const PIECES: readonly ((c: Change) => Span)[] = [
  (c) => c.table,
  (c) => c.database,
  (c) => c.schema,
  (c) => c.keys,
  (c) => c.types,
];

const isPiece = (b: Buffer, s: Span | undefined, piece: Buffer | null): boolean =>
  s === undefined || s.start < 0 || piece === null
    ? (s?.start ?? -1) < 0 && piece === null
    : sameBytes(b, s.start, s.end, piece);

/** The last tables that came, found by the bytes that tell of them. */
export class ChangeTables {
  readonly #format: ChangeFormat;
  readonly #columns: readonly WantedColumn[];
  readonly #included: Included;
  readonly #known = new Map<string, ChangeTable>();
  /** Of the record before, mostly of the next one too. */
  #last: { readonly pieces: readonly (Buffer | null)[]; readonly table: ChangeTable } | null = null;

  constructor(format: ChangeFormat, columns: readonly WantedColumn[], included: Included) {
    this.#format = format;
    this.#columns = columns;
    this.#included = included;
  }

  of(b: Buffer, c: Change): ChangeTable {
    const last = this.#last;
    if (last?.pieces.every((p, i) => isPiece(b, PIECES[i]?.(c), p)) === true) return last.table;
    const table = this.#find(b, c);
    const bytes = (s: Span): Buffer | null => (s.start < 0 ? null : Buffer.from(b.subarray(s.start, s.end)));
    this.#last = { table, pieces: PIECES.map((of) => bytes(of(c))) };
    return table;
  }

  #find(b: Buffer, c: Change): ChangeTable {
    const piece = (s: Span): string => (s.start < 0 ? '' : b.toString('latin1', s.start, s.end));
    const id = PIECES.map((of) => piece(of(c))).join();
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const table = new ChangeTable(b, c, this.#format, this.#columns, this.#included);
    if (this.#known.size >= MOST_TABLES) this.#known.clear();
    this.#known.set(id, table);
    return table;
  }
}

/** A topic with more of them is slower, and takes no more memory. */
const MOST_TABLES = 1000;

const isIncluded = (name: string | null, pattern: string | null): boolean =>
  pattern === null || (name !== null && new RegExp(`^(?:${pattern})$`).test(name));

function keyNames(b: Buffer, keys: Span): readonly string[] {
  if (keys.start < 0 || b[keys.start] !== 91) return [];
  const list = JSON.parse(b.toString('utf8', keys.start, keys.end)) as readonly unknown[];
  return list.filter((k): k is string => typeof k === 'string');
}

function wordsOf(b: Buffer, types: Span): Readonly<Record<string, unknown>> {
  if (types.start < 0 || b[types.start] !== 123) return {};
  return JSON.parse(b.toString('utf8', types.start, types.end)) as Record<string, unknown>;
}

/** Of a JSON object, which was scanned before; in their order. */
function namesOf(b: Buffer, start: number, end: number): readonly string[] {
  const names: string[] = [];
  let i = skipSpace(b, start + 1, end);
  while (i < end && b[i] === 34) {
    const behind = skipString(b, i + 1, end);
    names.push(JSON.parse(b.toString('utf8', i, behind)) as string);
    i = skipSpace(b, skipValue(b, skipSpace(b, skipSpace(b, behind, end) + 1, end), end), end);
    if (b[i] !== 44) break;
    i = skipSpace(b, i + 1, end);
  }
  return names;
}

/** Whether the keys of an object are these, with their quotes and one behind the other; false where it has escapes of its own. */
function sameKeys(b: Buffer, start: number, end: number, keys: Buffer): boolean {
  let at = 0;
  let i = skipSpace(b, start + 1, end);
  while (i < end && b[i] === 34) {
    const behind = skipString(b, i + 1, end);
    const length = behind - i;
    if (at + length > keys.length) return false;
    for (let k = 0; k < length; k++) if (b[i + k] !== keys[at + k]) return false;
    at += length;
    i = skipSpace(b, skipValue(b, skipSpace(b, skipSpace(b, behind, end) + 1, end), end), end);
    if (b[i] !== 44) break;
    i = skipSpace(b, i + 1, end);
  }
  return at === keys.length;
}
