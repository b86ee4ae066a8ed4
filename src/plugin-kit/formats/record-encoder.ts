import type { RejectedRow, RowBatch, RowSchema, Section } from '../../plugin-api/index.js';
import type { ByteBuffer } from './byte-buffer.js';

/** Writes rows of one schema and one choice of columns as bytes of a format. */
export interface RecordEncoder {
  /** What every file begins with (a header line); null: nothing. */
  readonly header: Uint8Array | null;
  /**
   * Appends rows of the section from row `first` on, until `out` is full or the section ends; at least one, also where a
   * header has filled `out` already.
   * Rows that the format cannot hold are handed to `reject` and leave no byte.
   * @returns the row to go on with; `section.rows` at the end.
   */
  encode(batch: RowBatch, section: Section, first: number, out: ByteBuffer, reject: (row: RejectedRow) => void): number;
}

/** The columns to write, in order: each one's index in the schema of the rows, and its name in the output. */
export interface ColumnChoice {
  readonly projection: readonly number[];
  readonly names: readonly string[];
}

/** An output format with its options. */
export interface OutputFormat {
  /** True: each record names its columns, so that records of several schemas may share a file. */
  readonly selfDescribing: boolean;
  encoder(schema: RowSchema, columns: ColumnChoice): RecordEncoder;
}
