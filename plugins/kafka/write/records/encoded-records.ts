import type { RejectedRow, RowBatch, RowSchema, Section } from 'syncx/plugin-api';
import { chooseColumns, type OutputFormat } from 'syncx/plugin-kit';
import { KeyedRecords } from './keyed-records.js';
import { oneRow } from './row-key.js';
import type { RecordOptions, RecordToWrite } from './row-records.js';

/** The value is the row as one line of a format, without its line end. */
export class EncodedRecords extends KeyedRecords {
  readonly #one: ReturnType<typeof oneRow>;

  constructor(schema: RowSchema, o: RecordOptions, format: OutputFormat) {
    super(schema, o.keyColumns);
    this.#one = oneRow(format.encoder(schema, chooseColumns(schema, o.columns)));
  }

  protected value(
    batch: RowBatch,
    section: Section,
    row: number,
    to: RecordToWrite,
    reject: (r: RejectedRow) => void,
  ): boolean {
    const { out, encode } = this.#one;
    if (!encode(batch, section, row, to, reject)) return false;
    to.value = out.data;
    to.valueStart = 0;
    to.valueEnd = out.length - 1; // without the line end
    return true;
  }
}
