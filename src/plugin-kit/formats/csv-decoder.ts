import type { BatchBuilder, RowSchema } from '../../plugin-api/index.js';
import { showBytes } from '../../cells/cell-check.js';
import { CR, LF, type CsvDialect } from './csv-dialect.js';
import { CsvScan } from './csv-scan.js';
import type { FieldPlan } from './field-plan.js';
import { byteOf, MAX_RECORD_BYTES, neverClosed, recordTooLarge } from './record-faults.js';
import type { DecodeState, DecoderOptions, RecordDecoder, RecordPoint } from './record-decoder.js';
import type { RowFault } from './row-assembly.js';

/** The records of a file of CSV or delimited text, by the rules of {@link CsvScan}. */
export class CsvDecoder implements RecordDecoder {
  readonly schema: RowSchema;
  readonly #plan: FieldPlan;
  readonly #place: string;
  /** Null: UTF-8. */
  readonly #encoding: string | null;
  readonly #scan: CsvScan;
  #offset: number;

  constructor(dialect: CsvDialect, plan: FieldPlan, start: RecordPoint, options: DecoderOptions) {
    this.schema = plan.schema;
    this.#plan = plan;
    this.#place = options.place;
    this.#encoding = options.encoding ?? null;
    const { target } = options;
    this.#scan = new CsvScan(
      { dialect, plan, target, encoding: this.#encoding, line: start.line },
      {
        other: (builder, c) => {
          const constant = plan.cells[c]?.constant ?? 'null';
          if (constant === 'line') builder.appendText(String(this.#scan.rowLine));
          else if (constant === 'null') builder.appendNull();
          else builder.appendBytes(constant);
        },
        reject: (builder, from, to, line, fault) => {
          this.#reject(builder, from, to, line, fault);
        },
      },
    );
    this.#offset = start.offset;
  }

  get point(): RecordPoint {
    return { offset: this.#offset, line: this.#scan.line };
  }

  push(chunk: Uint8Array, last: boolean): void {
    const { pending } = this.#scan;
    pending.push(chunk, last);
    if (pending.ready) this.#scan.checkUtf8 = !pending.isValidUtf8();
  }

  decode(builder: BatchBuilder): DecodeState {
    const scan = this.#scan;
    const p = scan.pending;
    while (p.ready && p.size > 0) {
      if (builder.full) return 'full';
      const sink = scan.scratch ?? builder;
      // Cells never outgrow their source, so a window as long as the free room needs no check per byte.
      const room = scan.scratch === null ? builder.data.length - builder.length : p.size;
      let windowEnd = Math.min(p.end, p.start + room);
      if (scan.scratch !== null) scan.scratch.reserve(p.size, this.#plan.keptCount);
      let next = scan.scan(sink, builder, windowEnd, p.last && windowEnd === p.end);
      if (next === p.start && windowEnd < p.end && !scan.full) {
        if (!builder.empty) return 'full';
        builder.reserve(p.size, 0);
        windowEnd = p.end;
        next = scan.scan(sink, builder, windowEnd, p.last);
      }
      this.#offset += next - p.start;
      if (scan.full || windowEnd < p.end) p.start = next;
      else p.exhausted(next, scan.openQuote > 0);
    }
    if (builder.full) return 'full';
    if (p.last && p.size > 0) throw neverClosed(this.#place, scan.openQuote || scan.line);
    if (p.size > MAX_RECORD_BYTES) throw recordTooLarge(this.#place, scan.openQuote, scan.line);
    return p.last ? 'end' : 'hungry';
  }

  #reject(builder: BatchBuilder, from: number, to: number, line: number, fault: RowFault): void {
    const src = this.#scan.pending.buffer;
    let end = to;
    if (src[end - 1] === LF && end > from) end--;
    if (src[end - 1] === CR && end > from) end--;
    builder.reject({
      row: showBytes(src.subarray(from, end)),
      column: fault.column,
      code: 'ROW_INVALID',
      reason: `${fault.reason} (record at ${byteOf(this.#offset + from - this.#scan.pending.start, this.#encoding)})`,
      place: `${this.#place}:${String(line)}`,
    });
  }
}
