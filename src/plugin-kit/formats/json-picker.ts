import {
  NULL_FLAG,
  OP_INSERT,
  cellKind,
  formatType,
  internSchema,
  type BatchBuilder,
  type ColumnInit,
  type RowOp,
  type RowSchema,
} from '../../plugin-api/index.js';
import { notOfType } from '../../cells/cell-fault.js';
import { AS_IS, cellForm, mended, type CellForm } from '../../cells/cell-form.js';
import { failedAt, skipSpace, skipString, skipValue } from '../../cells/json-scan.js';
import { unnamed, type ColumnSpec, type WantedColumn } from './column-spec.js';
import { convertOf } from './field-plan.js';
import { wantedKeys, type KeyNode, type WantedKeys } from './json-keys.js';
import { arrayMisfit, objectMisfit, type Misfit } from './json-misfit.js';
import { fromRecord, type OtherCell } from './meta-column.js';

interface JsonColumn {
  readonly name: string;
  readonly type: string;
  readonly raw: boolean;
  /** Index, among the wanted keys of an object, of the one that its path begins with; -1: it is not in the record. */
  readonly root: number;
  /** Of the key that is its name as it stands, where that has a dot; else as `root`. */
  readonly literal: number;
  /** False: the cell is not in the record. */
  readonly picked: boolean;
  readonly form: CellForm | null;
}

const QUOTE = 34;
const BACKSLASH = 92;
const WHOLE: ColumnSpec = { name: 'json', index: null, type: { is: 'json' }, value: null, format: null, meta: null };

export interface JsonFault {
  readonly column: string | null;
  readonly reason: string;
  /** Offset of the byte to point at. */
  readonly at: number;
}

/** How a format writes what JSON has no form for; left out: as JSON lines do. */
export interface JsonNotation {
  /** Cells of type json are texts that hold JSON; else they are JSON as it stands. */
  readonly jsonInText?: boolean;
  /** Bytes are texts whose characters U+0000 to U+00FF are the bytes; else base64. */
  readonly latin1?: boolean;
  /** A text that stands for a value that the source did not send: the cell is ABSENT. Not of the rows that are inserted. */
  readonly absent?: string;
}

/** What a row is, beside its cells. */
export interface RowKind {
  readonly op: RowOp;
  /** Milliseconds since 1970. */
  readonly time: number;
}

const INSERTED: { readonly op: RowOp; readonly time: undefined } = { op: OP_INSERT, time: undefined };

/**
 * Makes a row of one JSON value at a time. The keys of an object are columns by name, the elements of an array are columns
 * by index; a value of the kind that some column cannot be picked from is at fault, like an array that is too short. Values
 * are cut out by a byte scanner, so numbers keep every digit of the source. Without columns the value as it stands is the
 * one cell `json`; beside it there may be columns that are not in it.
 *
 * A name with a dot (`a.b`) is the key of that name, where the object has it, else a path into nested objects. A key that is
 * missing, or null, gives NULL. A wanted key that stands twice in one object is a fault.
 */
export class JsonPicker {
  readonly schema: RowSchema;
  /** As the job wants them; `*` is one of type json. */
  readonly wanted: readonly ColumnSpec[];
  readonly #columns: readonly JsonColumn[];
  /** Which column is the value as it stands; -1: none. */
  readonly #whole: number;
  readonly #keys: WantedKeys;
  readonly #indexes: readonly number[];
  /** Elements that an array must have. */
  readonly #width: number;
  /** Why no object, or no array, can give the wanted columns; null: it can. */
  readonly #noObject: Misfit | null;
  readonly #noArray: Misfit | null;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** `line`, `record`: what a value is called in messages. */
  readonly #noun: string;
  readonly #absent: Buffer | null;
  /** 1: the last object had the wanted key of this index. */
  readonly #touched: Uint8Array;
  /** Cells of the row that another one is laid over. */
  readonly #baseStarts: Int32Array;
  readonly #baseEnds: Int32Array;
  #fault: JsonFault | null = null;

  constructor(columns: readonly WantedColumn[] | null, noun: string, notation: JsonNotation = {}) {
    const wanted = (columns ?? ['*' as const]).map((c) => (c === '*' ? WHOLE : c));
    this.wanted = wanted;
    this.#noun = noun;
    this.#whole = wanted.indexOf(WHOLE);
    const nameOf = (c: ColumnSpec, i: number): string => c.name ?? unnamed(c.index ?? i);
    this.#keys = wantedKeys(wanted.map((c) => (fromRecord(c) ? c.name : null)));
    const rootOf = (key: string): number => this.#keys.root.children.findIndex((k) => k.key.equals(Buffer.from(key)));
    const inText = notation.jsonInText === true;
    const latin1 = notation.latin1 === true;
    this.#columns = wanted.map((c, i): JsonColumn => ({
      name: nameOf(c, i),
      type: formatType(c.type),
      raw: cellKind(c.type) === 'json' && !inText,
      root: rootOf(c.name?.split('.')[0] ?? ''),
      literal: rootOf(c.name ?? ''),
      picked: fromRecord(c),
      form: formOf(c, { inText, latin1 }),
    }));
    this.schema = internSchema(
      wanted.map((c, i): ColumnInit => ({ name: nameOf(c, i), type: c.type, role: c.meta === null ? 'data' : 'meta' })),
    );
    this.#indexes = wanted.map((c) => (fromRecord(c) ? (c.index ?? -1) : -1));
    this.#width = Math.max(0, ...this.#indexes.map((i) => i + 1));
    this.#noObject = objectMisfit(wanted, noun);
    this.#noArray = arrayMisfit(wanted, noun);
    this.#starts = new Int32Array(this.#keys.columnOf.length);
    this.#ends = new Int32Array(this.#keys.columnOf.length);
    this.#absent = notation.absent === undefined ? null : Buffer.from(JSON.stringify(notation.absent));
    this.#touched = new Uint8Array(this.#keys.root.children.length);
    this.#baseStarts = new Int32Array(this.#columns.length);
    this.#baseEnds = new Int32Array(this.#columns.length);
  }

  /**
   * Appends the row of the one value in `b[start .. end]`, valid UTF-8, where `first` is its first byte behind blanks.
   * @returns what is wrong with it, and nothing was appended; null: nothing.
   */
  pick(
    builder: BatchBuilder,
    b: Buffer,
    first: number,
    end: number,
    other: OtherCell,
    kind: RowKind | typeof INSERTED = INSERTED,
  ): JsonFault | null {
    this.#fault = null;
    if (this.#scan(b, first, end)) this.#appendRow(builder, b, other, kind);
    return this.#fault;
  }

  /**
   * Appends the row of the object in `b[first .. end]` as it was before some of its keys got their values: those that
   * the object in `b[old .. oldEnd]` has, with what they were.
   */
  pickOld(
    builder: BatchBuilder,
    b: Buffer,
    [first, end, old, oldEnd]: readonly [number, number, number, number],
    other: OtherCell,
    kind: RowKind,
  ): JsonFault | null {
    this.#fault = null;
    if (!this.#scan(b, first, end)) return this.#fault;
    const columns = this.#columns;
    for (let c = 0; c < columns.length; c++) {
      this.#baseStarts[c] = this.#starts[c] ?? -1;
      this.#baseEnds[c] = this.#ends[c] ?? 0;
    }
    this.#touched.fill(0);
    if (!this.#scan(b, old, oldEnd)) return this.#fault;
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c];
      if (column === undefined || this.#touched[column.root] === 1 || this.#touched[column.literal] === 1) continue;
      this.#starts[c] = this.#baseStarts[c] ?? -1;
      this.#ends[c] = this.#baseEnds[c] ?? 0;
    }
    this.#appendRow(builder, b, other, kind);
    return this.#fault;
  }

  #fail(column: string | null, reason: string, at: number): false {
    this.#fault = { column, reason, at };
    return false;
  }

  #scan(b: Buffer, first: number, end: number): boolean {
    this.#starts.fill(-1);
    let i: number;
    if (this.#whole >= 0) {
      i = skipValue(b, first, end);
      this.#starts[this.#whole] = first;
      this.#ends[this.#whole] = i;
    } else if (b[first] === 123) {
      if (this.#noObject !== null) return this.#fail(this.#noObject.column, this.#noObject.reason, first);
      i = this.#scanObject(b, first, end, this.#keys.root);
      this.#preferLiteral();
    } else if (b[first] === 91) {
      if (this.#noArray !== null) return this.#fail(this.#noArray.column, this.#noArray.reason, first);
      i = this.#scanArray(b, first, end);
    } else return this.#fail(null, `the ${this.#noun} is no JSON object or array`, first);
    const rest = i < 0 ? end : skipSpace(b, i, end);
    if (rest !== end) return this.#fail(null, `the ${this.#noun} goes on behind its JSON value`, rest);
    if (i < 0 && this.#fault === null) return this.#fail(null, `the ${this.#noun} is not JSON`, failedAt());
    return i >= 0;
  }

  /** @returns the offset behind the object; -1: a fault, or not JSON at `failedAt()`. */
  #scanObject(b: Buffer, at: number, end: number, node: KeyNode): number {
    let i = skipSpace(b, at + 1, end);
    if (b[i] === 125 && i < end) return i + 1;
    for (let guess = 0; ; guess++) {
      // A wrong byte anywhere: let the plain scanner say where.
      if (i >= end || b[i] !== QUOTE) return skipValue(b, at, end);
      const keyEnd = skipString(b, i + 1, end);
      if (keyEnd < 0) return -1;
      const child = this.#findKey(b, i, keyEnd, node, guess);
      if (child >= 0) {
        guess = child;
        if (node === this.#keys.root) this.#touched[child] = 1;
      }
      i = skipSpace(b, keyEnd, end);
      if (i >= end || b[i] !== 58) return skipValue(b, at, end);
      i = skipSpace(b, i + 1, end);
      const wanted = node.children[child];
      i = wanted === undefined ? skipValue(b, i, end) : this.#scanWanted(b, i, end, wanted);
      if (i < 0) return -1;
      i = skipSpace(b, i, end);
      if (i < end && b[i] === 125) return i + 1;
      if (i >= end || b[i] !== 44) return skipValue(b, at, end);
      i = skipSpace(b, i + 1, end);
    }
  }

  #scanWanted(b: Buffer, at: number, end: number, node: KeyNode): number {
    // Inside of an object both the object and keys in it may be wanted.
    const inner = node.children.length > 0 && b[at] === 123;
    const next = inner ? this.#scanObject(b, at, end, node) : skipValue(b, at, end);
    if (next < 0) return -1;
    for (const slot of node.slots) {
      if ((this.#starts[slot] ?? 0) >= 0) {
        const column = this.#columns[this.#keys.columnOf[slot] ?? -1];
        this.#fail(column?.name ?? null, `the key \`${node.key.toString()}\` stands twice`, at);
        return -1;
      }
      this.#starts[slot] = at;
      this.#ends[slot] = next;
    }
    return next;
  }

  /** The key `a.b` itself, where the object has it, wins over the path of that name. */
  #preferLiteral(): void {
    const { columnOf } = this.#keys;
    for (let slot = this.#columns.length; slot < columnOf.length; slot++) {
      const start = this.#starts[slot] ?? -1;
      if (start < 0) continue;
      const column = columnOf[slot] ?? 0;
      this.#starts[column] = start;
      this.#ends[column] = this.#ends[slot] ?? 0;
    }
  }

  #findKey(b: Buffer, quote: number, end: number, node: KeyNode, guess: number): number {
    const found = node.find(b, quote + 1, end - 1, guess);
    if (found >= 0 || !b.subarray(quote, end).includes(BACKSLASH)) return found;
    const key = Buffer.from(JSON.parse(b.toString('utf8', quote, end)) as string);
    return node.find(key, 0, key.length, guess);
  }

  #scanArray(b: Buffer, at: number, end: number): number {
    let i = skipSpace(b, at + 1, end);
    let n = 0;
    if (i >= end || b[i] !== 93) {
      for (; ; n++) {
        const next = skipValue(b, i, end);
        if (next < 0) return -1;
        for (let c = 0; c < this.#indexes.length; c++) {
          if (this.#indexes[c] !== n) continue;
          this.#starts[c] = i;
          this.#ends[c] = next;
        }
        i = skipSpace(b, next, end);
        if (i < end && b[i] === 93) break;
        if (i >= end || b[i] !== 44) return skipValue(b, at, end);
        i = skipSpace(b, i + 1, end);
      }
      n++;
    }
    if (n >= this.#width) return i + 1;
    const short = `the array has ${String(n)} elements, not at least ${String(this.#width)}`;
    const missing = this.#columns[this.#indexes.indexOf(this.#width - 1)];
    this.#fail(missing?.name ?? null, short, at);
    return -1;
  }

  #appendRow(builder: BatchBuilder, b: Buffer, other: OtherCell, { op, time }: RowKind | typeof INSERTED): void {
    const absent = op === OP_INSERT ? null : this.#absent;
    for (let c = 0; c < this.#columns.length; c++) {
      const column = this.#columns[c];
      if (column === undefined) continue;
      if (!column.picked) {
        other(builder, c);
        continue;
      }
      const start = this.#starts[c] ?? -1;
      const end = this.#ends[c] ?? 0;
      if (start < 0 || (b[start] === 110 && end - start === 4)) builder.appendNull();
      else if (absent !== null && end - start === absent.length && absent.compare(b, start, end) === 0)
        builder.appendAbsent();
      else if (!this.#appendCell(builder, column, b, start, end)) {
        builder.dropRow();
        return;
      }
    }
    builder.endRow(op, time);
  }

  #appendCell(builder: BatchBuilder, column: JsonColumn, b: Buffer, start: number, end: number): boolean {
    builder.reserve(end - start, 1);
    const from = builder.length;
    if (column.raw || b[start] !== QUOTE) copyBytes(b, start, end, builder);
    else if (!copyText(b, start + 1, end - 1, builder)) {
      return this.#fail(column.name, 'the text holds half of a surrogate pair, which UTF-8 has no form for', start);
    }
    const { form } = column;
    const { data, length } = builder;
    const bytes = form === null || form.scan(data, from, length) ? AS_IS : form.mend(data, from, length);
    if (bytes === AS_IS) {
      builder.ends[builder.cells++] = length & ~NULL_FLAG;
      return true;
    }
    builder.length = from;
    if (bytes === null) return this.#fail(column.name, notOfType(column.type, b, start, end), start);
    builder.appendBytes(bytes);
    return true;
  }
}

function formOf(c: ColumnSpec, { inText, latin1 }: { inText: boolean; latin1: boolean }): CellForm | null {
  if (latin1 && cellKind(c.type) === 'bytes') return mended(latin1Bytes);
  // What the scanner has passed is JSON; it need not be checked again.
  return convertOf(c) ?? (c.type.is === 'json' && !inText ? null : cellForm(c.type));
}

/** Null: the text has a character that is no byte. */
function latin1Bytes(data: Buffer, start: number, end: number): Buffer | null {
  const text = data.toString('utf8', start, end);
  return /^[\0-\u00ff]*$/.test(text) ? Buffer.from(text, 'latin1') : null;
}

function copyBytes(b: Buffer, start: number, end: number, builder: BatchBuilder): void {
  const { data } = builder;
  let o = builder.length;
  for (let p = start; p < end; p++) data[o++] = b[p] ?? 0;
  builder.length = o;
}

/** The string between the quotes; escapes are rare enough to leave them to JSON.parse. False: no valid text. */
function copyText(b: Buffer, start: number, end: number, builder: BatchBuilder): boolean {
  const { data } = builder;
  let o = builder.length;
  for (let p = start; p < end; p++) {
    const c = b[p] ?? 0;
    if (c === BACKSLASH) {
      const text = JSON.parse(b.toString('utf8', start - 1, end + 1)) as string;
      if (/\p{Surrogate}/u.test(text)) return false;
      builder.length += data.write(text, builder.length, 'utf8'); // never longer than its escaped form
      return true;
    }
    data[o++] = c;
  }
  builder.length = o;
  return true;
}
