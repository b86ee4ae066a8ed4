import { internSchema, SyncError, type Column, type LogicalType, type RowSchema } from '../../plugin-api/index.js';
import type { Frame, Slot } from './frame.js';

/** A column at one stage of a transform. */
export interface LaidColumn {
  readonly column: Column;
  readonly slot: Slot;
  /** Input column whose values it holds, changed at most one to one; null: values of its own. */
  readonly origin: number | null;
}

/** What happens to a row. */
export interface Step {
  /** For rejected rows: the column it is about, and what it is called. */
  readonly column: string | null;
  readonly label: string;
  /** False: the row is filtered. @throws RowFault */
  run(f: Frame): boolean;
}

/** The columns as they stand after the specs so far, and the steps that rows go through. */
export class Layout {
  columns: LaidColumn[];
  readonly steps: Step[] = [];
  readonly #input: RowSchema;
  #registers = 0;

  constructor(input: RowSchema) {
    this.#input = input;
    this.columns = input.columns.map((column, index) => ({ column, slot: { is: 'input', index }, origin: index }));
  }

  get names(): readonly string[] {
    return this.columns.map((c) => c.column.name);
  }

  newRegister(): number {
    return this.#registers++;
  }

  indexOf(name: string, place: string): number {
    const i = this.columns.findIndex((c) => c.column.name === name);
    if (i >= 0) return i;
    throw misfit(place, `there is no column ${JSON.stringify(name)}`, `columns here: ${this.names.join(', ')}`);
  }

  at(index: number, place: string): LaidColumn {
    const c = this.columns[index];
    if (c) return c;
    const n = String(this.columns.length);
    throw misfit(place, `there is no column ${String(index)}: the rows have ${n}`, 'columns count from 0');
  }

  /** Sets the column of a name, in its place where there is one, else as the last. */
  put(laid: LaidColumn): void {
    const i = this.columns.findIndex((c) => c.column.name === laid.column.name);
    if (i < 0) this.columns.push(laid);
    else this.columns[i] = laid;
  }

  output(place: string): RowSchema {
    const twice = this.names.find((n, i) => this.names.indexOf(n) !== i);
    if (twice !== undefined) throw misfit(place, `two columns have the name ${JSON.stringify(twice)}`, null);
    const key = this.#input.key.map((k) => this.columns.findIndex((c) => c.origin === k));
    return internSchema(
      this.columns.map((c) => c.column),
      this.#input.table,
      key.includes(-1) ? [] : key,
    );
  }
}

/** Of another type: the source's own word for it says nothing any more. */
export function retyped(column: Column, type: LogicalType, nullable = column.nullable): Column {
  return { ...column, type, nullable, rawType: null };
}

/** The rows of this table do not fit the transform. */
export function misfit(place: string, message: string, hint: string | null): SyncError {
  return new SyncError('COLUMN_MISMATCH', message, { place, ...(hint === null ? {} : { hint }) });
}
