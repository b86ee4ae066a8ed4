import {
  BatchBuilder,
  SyncError,
  type BatchTarget,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
} from 'syncx/plugin-api';
import { showBytes, type RecordDecoder } from 'syncx/plugin-kit';
import type { Coding } from './encoding.js';
import type { LineFormat } from './formats.js';
import { LineFramer, type LongLine } from './line-framer.js';

const LF = 10;
const CR = 13;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const LEAST_BATCH_BYTES = 4096;

/** Tells a rejected row by its line in the connection, in place of what the decoder of files says. */
class LineBuilder extends BatchBuilder {
  readonly #lineOf: (decoded: number) => number;
  readonly #place: string;

  constructor(schema: RowSchema, target: BatchTarget, place: string, lineOf: (decoded: number) => number) {
    super(schema, target);
    this.#place = place;
    this.#lineOf = lineOf;
  }

  override reject(row: RejectedRow): void {
    const [line = '1', column] = (row.place ?? '').slice(this.#place.length + 1).split(':');
    const place = `${this.#place} line ${String(this.#lineOf(Number(line)))}`;
    const reason = row.reason.replace(/ \((?:record|line) at byte \d+\)$/, '');
    super.reject({ ...row, reason, place: column === undefined ? place : `${place}:${column}` });
  }
}

/** The bytes of one connection become batches of rows. */
export class LineBatches {
  readonly #coding: Coding;
  readonly #stream: ((bytes: Uint8Array, last: boolean) => Buffer) | null;
  readonly #format: LineFormat;
  readonly #framer: LineFramer;
  readonly #decoder: RecordDecoder;
  readonly #name: string;
  readonly #target: BatchTarget;
  /** What the lines themselves had wrong, before any row was made of them. */
  #rejected: RejectedRow[] = [];
  /** Lines as the decoder counts them before which an empty one was taken out; of the blocks before. */
  #blanks: number[] = [];
  #blanksBefore = 0;
  #begun = false;

  /** `name`: the server, as places show it. */
  constructor(format: LineFormat, coding: Coding, maxLineBytes: number, name: string, target: BatchTarget) {
    this.#coding = coding;
    this.#stream = coding.wide ? coding.stream() : null;
    this.#format = format;
    this.#framer = new LineFramer(maxLineBytes, (l) => {
      this.#tooLong(l);
    });
    this.#decoder = format.decoder(name, target);
    this.#name = name;
    this.#target = target;
  }

  /** Lines that were whole so far. */
  get lines(): number {
    return this.#framer.lines;
  }

  /** Lines whose rows were handed over. */
  get consumed(): number {
    return this.#lineOf(this.#decoder.point.line) - 1;
  }

  /** The line that is not whole. */
  get open(): { readonly bytes: Buffer; readonly length: number } {
    return this.#framer.open;
  }

  /** All that one piece of the stream gives; `last`: the server has closed, so the last line is whole as it is. */
  *batches(splitId: string, piece: Buffer, last: boolean, position: () => RowBatch['position']): Generator<RowBatch> {
    const bytes = this.#stream === null ? piece : this.#decoded(this.#stream, piece, last);
    let block = this.#framer.push(bytes);
    if (last) block = Buffer.concat([block, this.#framer.end()]);
    const first = this.#framer.lines - countLines(block) + 1;
    if (!this.#coding.wide) block = this.#recoded(block, first);
    if (!this.#begun && block.length > 0) {
      this.#begun = true;
      if (block.subarray(0, 3).equals(BOM)) block = block.subarray(3);
    }
    if (this.#format.keepsBlank) block = this.#withoutBlanks(block, first);
    if (block.length > 0) this.#decoder.push(block, false);
    let sourceBytes = piece.length;
    for (let more = true; more;) {
      const builder = this.#builder(block.length);
      for (const r of this.#rejected) BatchBuilder.prototype.reject.call(builder, r);
      this.#rejected = [];
      more = this.#decoder.decode(builder) === 'full';
      if (builder.empty) continue;
      yield builder.finish(splitId, position(), sourceBytes);
      sourceBytes = 0;
    }
    this.#blanksBefore += this.#blanks.length;
    this.#blanks = [];
  }

  /** Of a size that fits: a batch of one row should not hold a buffer for a megabyte while it waits for the writer. */
  #builder(bytes: number): LineBuilder {
    const target = { ...this.#target, bytes: Math.min(this.#target.bytes, Math.max(LEAST_BATCH_BYTES, bytes * 2)) };
    return new LineBuilder(this.#decoder.schema, target, this.#name, (n) => this.#lineOf(n));
  }

  #lineOf(decoded: number): number {
    return decoded + this.#blanksBefore + this.#blanks.filter((at) => at <= decoded).length;
  }

  #decoded(stream: (bytes: Uint8Array, last: boolean) => Buffer, piece: Buffer, last: boolean): Buffer {
    try {
      return stream(piece, last);
    } catch (cause) {
      const place = `${this.#name} line ${String(this.#framer.lines + 1)}`;
      throw new SyncError('SOURCE_FORMAT', `what ${place} or a line soon after it holds is not of the encoding`, {
        place,
        cause,
        hint: 'Check encoding. Where lines end cannot be told any more.',
      });
    }
  }

  /** In UTF-8. Lines that are not of the encoding are rejected, and left empty. */
  #recoded(block: Buffer, first: number): Buffer {
    const whole = this.#coding.lines(block);
    if (whole !== null) return whole;
    const parts: Buffer[] = [];
    let line = first;
    for (let at = 0; at < block.length; line++) {
      const next = block.indexOf(LF, at) + 1;
      const good = this.#coding.lines(block.subarray(at, next));
      parts.push(good ?? Buffer.from([LF]));
      if (good === null) {
        this.#reject(showBytes(block.subarray(at, next - 1)), 'the line is not of the encoding', line);
      }
      at = next;
    }
    return Buffer.concat(parts);
  }

  #withoutBlanks(block: Buffer, first: number): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    let taken = 0;
    let line = first;
    for (let at = 0; at < block.length; line++) {
      const lf = block.indexOf(LF, at);
      if (lf === at || (lf === at + 1 && block[at] === CR)) {
        parts.push(block.subarray(from, at));
        from = lf + 1;
        this.#blanks.push(line - this.#blanksBefore - taken++);
      }
      at = lf + 1;
    }
    return from === 0 ? block : Buffer.concat([...parts, block.subarray(from)]);
  }

  #tooLong({ head, length, line }: LongLine): void {
    const kept = head.length < length ? `, of which the first ${String(head.length)} are kept` : '';
    this.#reject(showBytes(head), `the line has ${String(length)} bytes${kept}: maxLineBytes`, line, 'ROW_TOO_LARGE');
  }

  #reject(row: RejectedRow['row'], reason: string, line: number, code: RejectedRow['code'] = 'ROW_INVALID'): void {
    this.#rejected.push({ row, column: null, code, reason, place: `${this.#name} line ${String(line)}` });
  }
}

function countLines(block: Buffer): number {
  let n = 0;
  for (let at = block.indexOf(LF); at >= 0; at = block.indexOf(LF, at + 1)) n++;
  return n;
}
