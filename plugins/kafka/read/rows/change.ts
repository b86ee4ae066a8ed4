import type { LogicalType } from 'syncx/plugin-api';
import type { JsonNotation } from 'syncx/plugin-kit';
import type { Span } from './object-fields.js';

/** What a record of changes says, as places in its value; one is used again for all records. */
export interface Change {
  /**
   * - `insert`, `delete`: each object of `images` is a row.
   * - `update`: each object of `images` is a row as it is now; the one of `olds` beside it is the row as it was, or what
   *   was different in it (`partialOlds`).
   * - `none`: no rows, by its nature: `note` says what it is, where somebody should hear of it.
   */
  is: 'insert' | 'update' | 'delete' | 'none';
  /** Pairs of start and end. */
  readonly images: number[];
  readonly olds: number[];
  partialOlds: boolean;
  note: string | null;
  /** JSON strings. */
  readonly database: Span;
  readonly schema: Span;
  readonly table: Span;
  /** A JSON list of the names of the key's columns. */
  readonly keys: Span;
  /** A JSON object of the types of columns by name, as the source calls them. */
  readonly types: Span;
}

/** One of the formats that records of changes come in. */
export interface ChangeFormat {
  readonly notation: JsonNotation;
  /** Finds the parts of the envelope: database, table, keys and types of `to`. @returns what is wrong with it. */
  open(b: Buffer, start: number, end: number, to: Change): string | null;
  /** What the opened envelope says: the rest of `to`. @returns what is wrong with it. */
  read(b: Buffer, to: Change): string | null;
  /** The type of a column by the source's own word; without it all are texts. */
  typeOf?(word: string): LogicalType;
}

const span = (): Span => ({ start: -1, end: -1 });

export const newChange = (): Change => ({
  is: 'none',
  images: [],
  olds: [],
  partialOlds: false,
  note: null,
  database: span(),
  schema: span(),
  table: span(),
  keys: span(),
  types: span(),
});

export function clear(c: Change): void {
  c.is = 'none';
  c.images.length = 0;
  c.olds.length = 0;
  c.partialOlds = false;
  c.note = null;
  for (const s of [c.database, c.schema, c.table, c.keys, c.types]) s.start = -1;
}
