import { OP_INSERT, type BatchBuilder, type RowSchema } from '../../plugin-api/index.js';
import type { ColumnSpec } from './column-spec.js';
import { CR, LF, type CsvDialect } from './csv-dialect.js';
import { CsvScan } from './csv-scan.js';
import { fieldPlan, type FieldPlan } from './field-plan.js';
import type { OtherCell } from './meta-column.js';
import type { FileHead } from './record-decoder.js';
import type { RowFault } from './row-assembly.js';

const NO_HEAD: FileHead = { names: null, width: 0, body: { offset: 0, line: 1 } };
const NOTHING: OtherCell = (builder) => {
  builder.appendNull();
};

/**
 * Makes a row of one CSV record at a time, by the rules of {@link CsvScan}; its line end may be there or not. Columns
 * without an index go by position, and then a record has as many fields as there are columns.
 */
export class CsvPicker {
  readonly schema: RowSchema;
  /** As the job wants them. */
  readonly wanted: readonly ColumnSpec[];
  readonly #plan: FieldPlan;
  readonly #scan: CsvScan;
  /** A record is one row, whatever its size. */
  readonly #target = { bytes: Number.MAX_SAFE_INTEGER, rows: 0 };
  #other = NOTHING;
  #fault: RowFault | null = null;

  constructor(dialect: CsvDialect, columns: readonly ColumnSpec[]) {
    this.wanted = columns;
    const plan = fieldPlan(columns, NO_HEAD, { place: 'record', from: null, target: this.#target, columns: null });
    this.schema = plan.schema;
    this.#plan = plan;
    this.#scan = new CsvScan(
      { dialect, plan, target: this.#target, encoding: null, line: 1 },
      {
        other: (builder, column) => {
          this.#other(builder, column);
        },
        reject: (_builder, _from, _to, _line, fault) => {
          this.#fault ??= fault;
        },
      },
    );
  }

  /**
   * Appends the row of the one record in `b[start .. end]`, valid UTF-8. `time`: the row's event time, ms since 1970.
   * @returns what is wrong with it, and nothing was appended; null: nothing.
   */
  pick(builder: BatchBuilder, b: Buffer, start: number, end: number, other: OtherCell, time?: number): RowFault | null {
    const scan = this.#scan;
    const { pending } = scan;
    const { rows, cells, length } = builder;
    this.#other = other;
    pending.hold(b, start, end, this.#feeds(b, start, end));
    this.#target.rows = rows + 1;
    const sink = scan.scratch ?? builder;
    sink.reserve(pending.size, this.#plan.keptCount);
    const next = scan.scan(sink, builder, pending.end, true);
    const made = builder.rows - rows;
    const more = made > 0 && this.#hasMore(next);
    const fault = this.#takeFault();
    if (made === 1 && !more && fault === null) {
      builder.rows--;
      builder.endRow(OP_INSERT, time);
      return null;
    }
    builder.rows = rows;
    builder.cells = cells;
    builder.length = length;
    return fault ?? { column: null, reason: this.#why(more) };
  }

  /**
   * Line feeds to put behind the record: with as many as a word has bytes it is scanned by words to its end. None where
   * they would change what it means. One where there is no byte: that is a line, too, of one empty field.
   */
  #feeds(b: Buffer, start: number, end: number): number {
    if (start === end) return 1;
    return this.#scan.isPlain && b[end - 1] !== CR ? 4 : 0;
  }

  /** Behind the first row. */
  #hasMore(next: number): boolean {
    const { buffer, end } = this.#scan.pending;
    let i = next;
    // What is behind the end is of a record before, so that a CR there is not one of a line end.
    if (this.#plan.width > 1)
      while (i < end && (buffer[i] === LF || (buffer[i] === CR && i + 1 < end && buffer[i + 1] === LF))) i++;
    return i < end;
  }

  #takeFault(): RowFault | null {
    const fault = this.#fault;
    this.#fault = null;
    return fault;
  }

  #why(more: boolean): string {
    if (this.#scan.openQuote > 0) return 'a quote that opens is never closed';
    return more ? 'it has more than one line outside of quotes' : 'it is empty';
  }
}
