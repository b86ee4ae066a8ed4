import { isUtf8 } from 'node:buffer';
import {
  END_MASK,
  NULL_FLAG,
  SyncError,
  cellKind,
  float32Text,
  float64Text,
  internSchema,
  type BatchBuilder,
  type JsonObject,
  type LogicalType,
  type RowSchema,
} from 'syncx/plugin-api';
import type { ZeroDate } from '../catalog/columns.js';
import type { RowPacket } from '../connect/row-text.js';
import type { KeyValue } from '../sql/literals.js';
import { sameName, type ReadColumn, type ReadShape } from './read-shape.js';

const NULL_CELL = 0xfb;
/** Copied by ourselves up to this length: a call into native code costs more than that. */
const SHORT = 64;
const HIGH_BITS = 0x80808080 | 0;
const EMPTY = Buffer.alloc(0);

const viewOf = (b: Buffer): DataView => new DataView(b.buffer, b.byteOffset, b.byteLength);

const enum Fix {
  /** ASCII by its type. */
  Plain,
  Text,
  Bytes,
  Float32,
  Float64,
  /** A date or datetime whose zeros are not kept. */
  Dated,
}

interface PackColumn {
  readonly fix: Fix;
  /** Null: it is in the packet. */
  readonly constant: Buffer | null;
  /** Whether it is of the order key. */
  readonly keyed: boolean;
}

function fixOf(c: ReadColumn, zeroDate: ZeroDate): Fix {
  if (c.fix === 'float32') return Fix.Float32;
  if (c.fix === 'float64') return Fix.Float64;
  const kind = cellKind(c.type);
  if (kind === 'bytes') return Fix.Bytes;
  const dated = c.type.is === 'date' || c.type.is === 'datetime' || c.type.is === 'timestamp';
  if (dated) return zeroDate === 'keep' ? Fix.Plain : Fix.Dated;
  if (c.type.is === 'time' || c.type.is === 'year') return Fix.Plain;
  return kind === 'text' || kind === 'json' ? Fix.Text : Fix.Plain;
}

/** The row is not delivered, for this reason. */
class Refusal extends Error {
  readonly column: string;
  constructor(column: string, message: string) {
    super(message);
    this.column = column;
  }
}

/**
 * Turns row packets of one SELECT into rows of a batch: cells are copied from the packet, most of them as they are. The
 * SELECT has the columns of the shape that are not constant, then the hidden ones of the order key.
 */
export class RowPacker {
  readonly schema: RowSchema;
  readonly #shape: ReadShape;
  readonly #columns: readonly PackColumn[];
  readonly #zeroDate: ZeroDate;
  #source: Buffer | null = null;
  #words = viewOf(EMPTY);
  #target: Buffer | null = null;
  #room = viewOf(EMPTY);
  /** Copies of the hidden cells of the last row. */
  readonly #hidden: (string | null)[];
  readonly #hiddenTypes: readonly LogicalType[];
  /** Zero dates of the last row that became NULL, by column: the server orders rows by what they were. */
  readonly #zeros: (string | null)[];
  #zeroed = false;
  /** The key of a row that was refused, while it is the last. */
  #refusedKey: readonly KeyValue[] | null = null;

  constructor(shape: ReadShape, zeroDate: ZeroDate) {
    this.#shape = shape;
    this.#zeroDate = zeroDate;
    this.schema = schemaOf(shape, zeroDate);
    const keyed = new Set(shape.key.filter((k) => !k.hidden).map((k) => k.at));
    this.#columns = shape.columns.map((c, i) => ({
      fix: fixOf(c, zeroDate),
      constant: c.constant === null ? null : Buffer.from(c.constant),
      keyed: keyed.has(i),
    }));
    this.#hiddenTypes = shape.hidden.map((c) => c.type);
    this.#hidden = shape.hidden.map(() => null);
    this.#zeros = shape.columns.map(() => null);
  }

  /** Appends the packet's row, or rejects it into the builder. */
  pack(packet: RowPacket, builder: BatchBuilder): void {
    try {
      this.#pack(packet, builder);
      builder.endRow();
      this.#refusedKey = null;
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      builder.dropRow();
      const row = this.#rowJson(packet);
      this.#refusedKey = this.#keyOf(packet);
      const place = this.#shape.name;
      builder.reject({ row, column: e.column, code: 'ROW_INVALID', reason: e.message, place });
    }
  }

  #pack(packet: RowPacket, builder: BatchBuilder): void {
    const { buffer, end } = packet;
    let at = packet.offset;
    const columns = this.#columns;
    builder.reserve(end - at + this.#shape.constantBytes + columns.length * 24, columns.length);
    const { data, ends } = builder;
    const words = this.#wordsOf(buffer);
    const room = this.#roomOf(data);
    let { length, cells } = builder;
    if (this.#zeroed) {
      this.#zeros.fill(null);
      this.#zeroed = false;
    }
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i];
      if (column === undefined) break;
      if (column.constant !== null) {
        data.set(column.constant, length);
        length += column.constant.length;
        ends[cells++] = length;
        continue;
      }
      let size = buffer[at++] ?? 0;
      if (size >= NULL_CELL) {
        if (size === NULL_CELL) {
          ends[cells++] = (length | NULL_FLAG) >>> 0;
          continue;
        }
        const wide = size;
        size = longSize(buffer, at, wide);
        at += wide === 0xfc ? 2 : wide === 0xfd ? 3 : 8;
      }
      const stop = at + size;
      const { fix } = column;
      if (fix === Fix.Plain || fix === Fix.Text || fix === Fix.Bytes) {
        if (size <= SHORT) {
          let bits = 0;
          let k = at;
          // Four bytes at once: cells are many and short.
          for (; k + 4 <= stop; k += 4) {
            const word = words.getInt32(k, true);
            bits |= word;
            room.setInt32(length, word, true);
            length += 4;
          }
          for (; k < stop; k++) {
            const byte = buffer[k] ?? 0;
            bits |= byte;
            data[length++] = byte;
          }
          if (fix === Fix.Text && (bits & HIGH_BITS) !== 0) this.#checkText(buffer, at, stop, i);
        } else {
          if (fix === Fix.Text) this.#checkText(buffer, at, stop, i);
          buffer.copy(data, length, at, stop);
          length += size;
        }
        ends[cells++] = length;
      } else if (fix === Fix.Dated && isZeroDate(buffer, at)) {
        if (this.#zeroDate === 'error') throw this.#refuse(i, 'holds a zero date');
        if (column.keyed) {
          this.#zeros[i] = buffer.toString('latin1', at, stop);
          this.#zeroed = true;
        }
        ends[cells++] = (length | NULL_FLAG) >>> 0;
      } else {
        const text = buffer.toString('latin1', at, stop);
        const fixed =
          fix === Fix.Float32 ? float32Text(Number(text)) : fix === Fix.Float64 ? float64Text(Number(text)) : text;
        length += data.write(fixed, length, 'latin1');
        ends[cells++] = length;
      }
      at = stop;
    }
    for (let h = 0; h < this.#hidden.length; h++) {
      const cell = cellAt(buffer, at);
      const type = this.#hiddenTypes[h];
      this.#hidden[h] = cell.start < 0 || type === undefined ? null : keyText(type, buffer, cell.start, cell.end);
      at = cell.end;
    }
    builder.length = length;
    builder.cells = cells;
  }

  /** The driver's buffers hold many packets each. */
  #wordsOf(buffer: Buffer): DataView {
    if (this.#source !== buffer) {
      this.#source = buffer;
      this.#words = viewOf(buffer);
    }
    return this.#words;
  }

  #roomOf(data: Buffer): DataView {
    if (this.#target !== data) {
      this.#target = data;
      this.#room = viewOf(data);
    }
    return this.#room;
  }

  #refuse(i: number, what: string): Refusal {
    const name = this.#shape.columns[i]?.name ?? '';
    return new Refusal(name, `column \`${name}\` of ${this.#shape.name} ${what}`);
  }

  #checkText(buffer: Buffer, start: number, end: number, i: number): void {
    if (!(end - start <= SHORT ? isShortUtf8(buffer, start, end) : isUtf8(buffer.subarray(start, end))))
      throw this.#refuse(i, 'holds bytes that are no characters of its character set');
  }

  /** The order key of the row that was packed last into the builder, before its batch is finished. */
  lastKey(builder: BatchBuilder): readonly KeyValue[] {
    if (this.#refusedKey !== null) return this.#refusedKey;
    const first = builder.cells - this.#columns.length;
    return this.#shape.key.map((k) => {
      if (k.hidden) return this.#hidden[k.at] ?? null;
      const entry = builder.ends[first + k.at] ?? 0;
      if ((entry & NULL_FLAG) !== 0) return this.#zeros[k.at] ?? null;
      const start = first + k.at === 0 ? 0 : (builder.ends[first + k.at - 1] ?? 0) & END_MASK;
      return keyText(k.type, builder.data, start, entry & END_MASK);
    });
  }

  #keyOf(packet: RowPacket): readonly KeyValue[] {
    const cells = this.#cellsOf(packet);
    const inPacket = this.#shape.columns.map((c, i) => (c.constant === null ? i : -1)).filter((i) => i >= 0);
    return this.#shape.key.map((k) => {
      const cell = cells[k.hidden ? inPacket.length + k.at : inPacket.indexOf(k.at)];
      return cell === undefined || cell.start < 0 ? null : keyText(k.type, packet.buffer, cell.start, cell.end);
    });
  }

  #cellsOf(packet: RowPacket): readonly { readonly start: number; readonly end: number }[] {
    const cells: { readonly start: number; readonly end: number }[] = [];
    for (let at = packet.offset; at < packet.end;) {
      const cell = cellAt(packet.buffer, at);
      cells.push(cell);
      at = cell.end;
    }
    return cells;
  }

  /** For the dirty file: bytes as base64, invalid text with its bytes as hex. */
  #rowJson(packet: RowPacket): JsonObject {
    const cells = this.#cellsOf(packet);
    let next = 0;
    return Object.fromEntries(
      this.#shape.columns.map((c, i): [string, string | null] => {
        if (c.constant !== null) return [c.name, c.constant];
        const cell = cells[next++];
        if (cell === undefined || cell.start < 0) return [c.name, null];
        const bytes = packet.buffer.subarray(cell.start, cell.end);
        if (this.#columns[i]?.fix === Fix.Bytes) return [c.name, bytes.toString('base64')];
        return [c.name, isUtf8(bytes) ? bytes.toString('utf8') : `0x${bytes.toString('hex')}`];
      }),
    );
  }
}

/** What isUtf8 says, without a call into native code and an object for it. */
function isShortUtf8(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end;) {
    const byte = buffer[at++] ?? 0;
    if (byte < 0x80) continue;
    const more = byte < 0xc2 ? -1 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : byte < 0xf5 ? 3 : -1;
    if (more < 0 || at + more > end) return false;
    const second = buffer[at] ?? 0;
    // Overlong forms, surrogates, and what is beyond U+10FFFF, show in the second byte.
    const least = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    const most = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) return false;
    for (let k = 1; k < more; k++) if (((buffer[at + k] ?? 0) & 0xc0) !== 0x80) return false;
    at += more;
  }
  return true;
}

function schemaOf(shape: ReadShape, zeroDate: ZeroDate): RowSchema {
  const key = shape.primaryKey.map((k) => shape.columns.findIndex((c) => c.constant === null && sameName(c.name, k)));
  return internSchema(
    shape.columns.map(({ name, type, nullable, rawType }) => {
      const dated = zeroDate === 'null' && (type.is === 'date' || type.is === 'datetime' || type.is === 'timestamp');
      return { name, type, nullable: nullable || dated, rawType };
    }),
    shape.table,
    key.includes(-1) ? [] : key,
  );
}

function longSize(buffer: Buffer, at: number, wide: number): number {
  if (wide === 0xfc) return buffer.readUInt16LE(at);
  if (wide === 0xfd) return buffer.readUIntLE(at, 3);
  const size = buffer.readBigUInt64LE(at);
  if (size > BigInt(END_MASK))
    throw new SyncError('ROW_TOO_LARGE', `a cell has ${String(size)} bytes; the limit is 1 GiB`);
  return Number(size);
}

/** `end` of a NULL: where the next cell begins. */
function cellAt(buffer: Buffer, from: number): { readonly start: number; readonly end: number } {
  const first = buffer[from] ?? 0;
  if (first === NULL_CELL) return { start: -1, end: from + 1 };
  if (first < NULL_CELL) return { start: from + 1, end: from + 1 + first };
  const start = from + 1 + (first === 0xfc ? 2 : first === 0xfd ? 3 : 8);
  return { start, end: start + longSize(buffer, from + 1, first) };
}

const ZERO = 0x30;

/** `0000-00-00…` */
function isZeroDate(buffer: Buffer, at: number): boolean {
  for (const k of [0, 1, 2, 3, 5, 6, 8, 9]) if (buffer[at + k] !== ZERO) return false;
  return true;
}

/**
 * A key value as positions keep it: text, or hex for bytes.
 * @throws SyncError SOURCE_FORMAT where its bytes are no text: a resume behind it would lose rows, or read them twice.
 */
function keyText(type: LogicalType, data: Buffer, start: number, end: number): string {
  if (cellKind(type) === 'bytes') return data.toString('hex', start, end);
  const text = data.toString('utf8', start, end);
  if (!text.includes('\ufffd') || isUtf8(data.subarray(start, end))) return text;
  const bytes = data.toString('hex', start, end);
  throw new SyncError(
    'SOURCE_FORMAT',
    `the key of a row holds bytes that are no characters of its character set: 0x${bytes}`,
    {
      hint: 'A run cannot go on behind such a row. Mend it, or leave it out by `where`.',
    },
  );
}
