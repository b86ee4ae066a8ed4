import { isUtf8 } from 'node:buffer';
import { BatchBuilder, NULL_FLAG, internSchema, type BatchTarget } from '../../plugin-api/index.js';
import {
  CR,
  IS_CR,
  IS_DELIMITER,
  IS_LF,
  LF,
  byteClasses,
  bytesAt,
  quotedClasses,
  type CsvDialect,
} from './csv-dialect.js';
import { scanPlain, type PlainRules, type ScanPoint } from './csv-plain-scan.js';
import type { FieldPlan } from './field-plan.js';
import type { OtherCell } from './meta-column.js';
import { PendingBytes } from './pending-bytes.js';
import { notInEncoding } from './record-faults.js';
import { RowAssembly, type RowFault } from './row-assembly.js';
import { wordsOf } from './words.js';

/** Why a record does not become a row; 0: it does. */
const AFTER_QUOTE = 1;
const CUT_ESCAPE = 2;

/** So many records in a row that are not plain, and the next ones are not tried as plain ones. */
const NOT_PLAIN = 8;
const PAUSE = 256;

/** Only where its layout is used: rows that are put together cell by cell are scanned into one of these first. */
const SCRATCH_SCHEMA = internSchema([{ name: 'field', type: { is: 'string' } }]);

/** A view that serves as long as the bytes are the same: some callers scan one record at a time. */
class Words {
  #bytes: Uint8Array = new Uint8Array(0);
  #view = wordsOf(this.#bytes);

  of(bytes: Uint8Array): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = wordsOf(bytes);
    }
    return this.#view;
  }
}

/** Who scans. */
export interface ScanCaller {
  readonly other: OtherCell;
  /** The record in `pending.buffer[from .. to]`, in line `line`, is no row. */
  reject(builder: BatchBuilder, from: number, to: number, line: number, fault: RowFault): void;
}

export interface ScanOptions {
  readonly dialect: CsvDialect;
  readonly plan: FieldPlan;
  readonly target: BatchTarget;
  /** Null: UTF-8. */
  readonly encoding: string | null;
  readonly line: number;
}

/**
 * CSV and delimited text: one loop over the bytes that copies cells to their place in the batch. No call and no object
 * per cell or row on the common road.
 *
 * Rules: RFC 4180, with delimiters of any length. A quote opens a field only as its first byte; elsewhere it is data. LF
 * and CR LF end a record; a CR alone is data. Empty lines are skipped, except where records have exactly one field.
 */
export class CsvScan {
  readonly pending = new PendingBytes();
  /** Rows are put together from what it holds; null: cells go to their place at once. */
  readonly scratch: BatchBuilder | null;
  line: number;
  /** Line where the quote opened that was still open at the end of the last scan; 0: none was. */
  openQuote = 0;
  /** False: these bytes are known to be valid UTF-8. */
  checkUtf8 = false;
  /** The last scan stopped because the batch was full. */
  full = false;
  /** Where the record begins that a row is made of. */
  rowLine = 0;
  readonly #caller: ScanCaller;
  readonly #dialect: CsvDialect;
  readonly #plan: FieldPlan;
  readonly #encoding: string | null;
  readonly #target: BatchTarget;
  readonly #classes: Uint8Array;
  readonly #quotedClasses: Uint8Array;
  readonly #assembly: RowAssembly;
  /** Null: this dialect or choice of columns has no plain records. */
  readonly #plain: PlainRules | null;
  readonly #source = new Words();
  readonly #drain = new Words();
  readonly #at: ScanPoint = { i: 0, o: 0, cells: 0, rows: 0 };

  constructor({ dialect, plan, target, encoding, line }: ScanOptions, caller: ScanCaller) {
    this.line = line;
    this.#caller = caller;
    this.#dialect = dialect;
    this.#plan = plan;
    this.#encoding = encoding;
    this.#target = target;
    this.#classes = byteClasses(dialect);
    this.#quotedClasses = quotedClasses(dialect);
    this.#assembly = new RowAssembly(plan);
    this.scratch = plan.direct ? null : new BatchBuilder(SCRATCH_SCHEMA, { bytes: 1 << 16, rows: 1 });
    const { delimiter, quote, escape, nullText } = dialect;
    const plain = plan.direct && !plan.checked && plan.keptCount === plan.width && plan.width > 1;
    this.#plain =
      plain && delimiter.length === 1 && escape === null && !delimiter.includes(LF) && !delimiter.includes(CR)
        ? { delimiter: delimiter[0] ?? 0, quote: quote ?? -1, nullText, width: plan.width }
        : null;
  }

  /** True: records without quotes are scanned by words. */
  get isPlain(): boolean {
    return this.#plain !== null;
  }

  /**
   * Decodes whole records between `pending.start` and `end`.
   * @returns the offset behind the last one.
   */
  scan(sink: BatchBuilder, builder: BatchBuilder, end: number, last: boolean): number {
    const src = this.pending.buffer;
    const classes = this.#classes;
    const quotedClasses = this.#quotedClasses;
    const { width, exact, keep, keptCount, direct, checked } = this.#plan;
    const delimiter = this.#dialect.delimiter;
    const delimiterLength = delimiter.length;
    const quote = this.#dialect.quote ?? -1;
    const nullText = this.#dialect.nullText;
    const nullLength = nullText === null ? -1 : nullText.length;
    const keepBlank = exact && width === 1;
    const simple = direct && !checked && !this.checkUtf8;
    const plain = simple ? this.#plain : null;
    const at = this.#at;
    const words = this.#source.of(src);
    let out = this.#drain.of(sink.data);
    let plainTries = NOT_PLAIN;
    const rowLimit = this.#target.rows;
    const byteLimit = this.#target.bytes;
    let data = sink.data;
    let ends = sink.ends;
    let o = sink.length;
    let cells = sink.cells;
    let rows = builder.rows;
    let line = this.line;
    let i = this.pending.start;
    let recordStart = i;
    let rowCells = cells;
    let rowOut = o;
    // A line feed as sentinel ends every inner loop, so that they need not compare with `end` for each byte.
    const saved = src[end] ?? 0;
    src[end] = LF;
    this.openQuote = 0;
    this.full = false;

    records: while (i < end) {
      if (rows >= rowLimit || o >= byteLimit || (!direct && builder.full)) {
        this.full = true;
        break;
      }
      if (plain !== null && plainTries > 0) {
        at.i = i;
        at.o = o;
        at.cells = cells;
        at.rows = rows;
        scanPlain(at, plain, src, words, end, data, out, ends, rowLimit, byteLimit);
        if (at.rows === rows) {
          if (--plainTries === 0) plainTries = -PAUSE;
        } else {
          plainTries = NOT_PLAIN;
          line += at.rows - rows;
          i = recordStart = at.i;
          o = rowOut = at.o;
          cells = rowCells = at.cells;
          rows = at.rows;
          continue;
        }
      } else if (plain !== null && ++plainTries === 0) plainTries = 1;
      recordStart = i;
      if (!keepBlank && (src[i] === LF || (src[i] === CR && src[i + 1] === LF && i + 1 < end))) {
        i += src[i] === LF ? 1 : 2;
        recordStart = i;
        line++;
        continue;
      }
      if (cells + keptCount > ends.length) {
        sink.cells = cells;
        sink.length = o;
        sink.reserve(0, keptCount * 256);
        ends = sink.ends;
        if (data !== sink.data) out = wordsOf(sink.data);
        data = sink.data;
      }
      let lines = 0;
      let f = 0;
      let bad = 0;
      for (;;) {
        const fieldOut = o;
        const fieldStart = i;
        let closed = -1;
        if (src[i] === quote) {
          const opened = line + lines;
          i++;
          for (;;) {
            const c = src[i] ?? 0;
            if (quotedClasses[c] === 0) {
              data[o++] = c;
              i++;
            } else if (c === LF) {
              if (i >= end) {
                this.openQuote = opened;
                break records;
              }
              lines++;
              data[o++] = c;
              i++;
            } else if (c === quote) {
              if (i + 1 >= end && !last) break records;
              if (src[i + 1] !== quote || i + 1 >= end) break;
              data[o++] = c;
              i += 2;
            } else {
              if (i + 1 >= end) {
                this.openQuote = opened;
                break records;
              }
              const escaped = src[i + 1] ?? 0;
              if (escaped === LF) lines++;
              data[o++] = escaped;
              i += 2;
            }
          }
          closed = ++i;
        }
        // The unquoted field, or what stands between a closing quote and the next delimiter (nothing, if all is well).
        let ending = 0;
        for (;;) {
          const c = src[i] ?? 0;
          const k = classes[c];
          if (k === 0) {
            data[o++] = c;
            i++;
            continue;
          }
          if (k === IS_DELIMITER) {
            if (delimiterLength === 1) break;
            if (i + delimiterLength > end && !last) break records;
            if (i + delimiterLength <= end && bytesAt(src, i, delimiter)) break;
            data[o++] = c;
            i++;
          } else if (k === IS_LF) {
            ending = 1;
            break;
          } else if (k === IS_CR) {
            if (i + 1 >= end && !last) break records;
            if (src[i + 1] === LF && i + 1 < end) {
              ending = 2;
              break;
            }
            data[o++] = c;
            i++;
          } else {
            if (i + 1 >= end) {
              if (!last) break records;
              bad = CUT_ESCAPE;
              i++;
              continue;
            }
            const escaped = src[i + 1] ?? 0;
            if (escaped === LF) lines++;
            data[o++] = escaped;
            i += 2;
          }
        }
        if (ending === 1 && i >= end && !last) break records;
        let flag = 0;
        if (closed >= 0) {
          if (closed !== i && bad === 0) bad = AFTER_QUOTE;
        } else if (
          i - fieldStart === nullLength &&
          (nullLength === 0 || (nullText !== null && bytesAt(src, fieldStart, nullText)))
        ) {
          flag = NULL_FLAG;
          o = fieldOut;
        }
        if (f < width && keep[f] === 1) ends[cells++] = o | flag;
        else o = fieldOut;
        f++;
        if (ending === 0) {
          i += delimiterLength;
          continue;
        }
        if (i < end) {
          i += ending;
          lines++;
        }
        break;
      }

      if (bad === 0 && f === width && simple) {
        rows++;
      } else {
        sink.length = o;
        sink.cells = cells;
        const fault = this.#judge(sink, builder, recordStart, i, f, bad, rowCells, rowOut, line);
        if (fault !== null) this.#caller.reject(builder, recordStart, i, line, fault);
        if (sink.length > o && fault === null) sink.reserve(end - i, 0); // a cell has outgrown its source
        if (data !== sink.data) out = wordsOf(sink.data);
        data = sink.data;
        o = sink.length;
        if (fault !== null || !direct) {
          o = rowOut;
          cells = rowCells;
        }
        if (direct && fault === null) rows++;
        else if (!direct) rows = builder.rows;
      }
      line += lines;
      recordStart = i;
      rowCells = cells;
      rowOut = o;
    }

    src[end] = saved;
    // What a record that is not whole has left behind is written again by the next scan.
    sink.length = rowOut;
    sink.cells = rowCells;
    builder.rows = rows;
    this.line = line;
    return recordStart;
  }

  /** Everything about a whole record that the common road need not ask. */
  #judge(
    sink: BatchBuilder,
    builder: BatchBuilder,
    from: number,
    to: number,
    fields: number,
    bad: number,
    firstCell: number,
    firstByte: number,
    line: number,
  ): RowFault | null {
    const plan = this.#plan;
    if (bad === AFTER_QUOTE) return { column: null, reason: 'a quoted field goes on behind its closing quote' };
    if (bad === CUT_ESCAPE) return { column: null, reason: 'the text ends behind an escape character' };
    if (plan.exact ? fields !== plan.width : fields < plan.width) {
      const want = `${plan.exact ? '' : 'at least '}${String(plan.width)}`;
      return { column: null, reason: `the record has ${String(fields)} fields, not ${want}` };
    }
    if (this.checkUtf8 && !isUtf8(this.pending.buffer.subarray(from, to))) {
      return { column: null, reason: `the record ${notInEncoding(this.#encoding)}` };
    }
    this.rowLine = line;
    if (!plan.direct) return this.#assembly.append(sink.data, sink.ends, builder, this.#caller.other);
    return plan.checked ? this.#assembly.settle(sink, firstCell, firstByte) : null;
  }
}
