import {
  SyncError,
  cellKind,
  formatType,
  internSchema,
  type BatchBuilder,
  type ColumnInit,
  type LogicalType,
  type RowSchema,
} from 'syncx/plugin-api';
import { cellFitter, fromRecord, isSpec, type ColumnSpec, type OtherCell, type WantedColumn } from 'syncx/plugin-kit';
import { AvroBytes, AvroFault } from './avro-bytes.js';
import { withoutNull, type AvroRecord, type AvroType } from './avro-schema.js';
import { appendValue, branchOf, columnType, skipValue } from './avro-values.js';

/** A field of a record in which something is wanted. */
interface Node {
  /** Columns that are the field as a whole. */
  readonly slots: number[];
  readonly children: Map<string, Node>;
}

const newNode = (): Node => ({ slots: [], children: new Map() });

interface AvroColumn {
  readonly name: string;
  /** Null: it is not in the value. */
  readonly type: AvroType | null;
  /** Brings cells of the schema's type to the type that the job gives; null: that is the same. */
  readonly fit: ((builder: BatchBuilder) => boolean) | null;
  readonly shown: string;
}

export interface AvroPickFault {
  readonly column: string | null;
  readonly reason: string;
}

/** Columns as the job wants them, and whether it gives their types. */
export interface AvroWanted {
  readonly columns: readonly WantedColumn[];
  readonly typed: (column: ColumnSpec) => boolean;
}

/**
 * Makes a row of one value of Avro's binary encoding at a time, a record by the schema that it was written with. Columns are
 * fields by name, `a.b` is one of a record within; `*` is all fields. Types are the schema's, unless the job gives them.
 */
export class AvroPicker {
  readonly schema: RowSchema;
  readonly wanted: readonly ColumnSpec[];
  readonly #record: AvroRecord;
  readonly #columns: readonly AvroColumn[];
  readonly #root = newNode();
  /** Where the value of each column begins; -1: it is within something that is null. */
  readonly #starts: Int32Array;
  readonly #cursor = new AvroBytes();

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(record: AvroRecord, { columns, typed }: AvroWanted) {
    this.#record = record;
    this.wanted = columns.flatMap((c) => (isSpec(c) ? [c] : record.fields.map((f) => fieldSpec(f.name, f.type))));
    const twice = this.wanted.find((c, i) => this.wanted.findIndex((o) => o.name === c.name) !== i);
    if (twice !== undefined) throw mismatch(`there are two columns \`${String(twice.name)}\``);
    this.#columns = this.wanted.map((c, i) => {
      const name = c.name ?? '';
      if (!fromRecord(c)) return { name, type: null, fit: null, shown: '' };
      const type = this.#find(name, i);
      const given = typed(c);
      return { name, type, fit: given ? fitOf(c, columnType(type)) : null, shown: formatType(c.type) };
    });
    this.schema = internSchema(
      this.wanted.map((c, i): ColumnInit => {
        const { name, type, fit } = this.#columns[i] ?? { name: '', type: null, fit: null };
        const own = type === null || fit !== null ? c.type : columnType(type);
        return { name, type: own, role: c.meta === null ? 'data' : 'meta' };
      }),
    );
    this.#starts = new Int32Array(this.wanted.length);
  }

  /** The field of that name, or of that path; what leads to it is noted for the walk. */
  #find(name: string, column: number): AvroType {
    let record: AvroRecord = this.#record;
    let node = this.#root;
    let rest = name;
    for (;;) {
      // Names of fields have no dots.
      const [first = '', ...more] = rest.split('.');
      const field = record.fields.find((f) => f.name === first);
      if (field === undefined) {
        const names = record.fields.map((f) => `\`${f.name}\``).join(', ');
        throw mismatch(`the record ${record.name} has no field \`${first}\``, `It has ${names}.`);
      }
      let child = node.children.get(first);
      if (child === undefined) node.children.set(first, (child = newNode()));
      if (more.length === 0) {
        child.slots.push(column);
        return field.type;
      }
      const inner = withoutNull(field.type);
      if (inner.is !== 'record') throw mismatch(`the field \`${first}\` of ${record.name} is no record`);
      [record, node, rest] = [inner, child, more.join('.')];
    }
  }

  /**
   * Appends the row of the value in `b[start .. end]`. `time`: its event time, ms since 1970.
   * @returns what is wrong with it, and nothing was appended; null: nothing.
   */
  pick(
    builder: BatchBuilder,
    b: Buffer,
    start: number,
    end: number,
    other: OtherCell,
    time: number,
  ): AvroPickFault | null {
    const c = this.#cursor;
    c.take(b, start, end);
    let column: string | null = null;
    try {
      this.#starts.fill(-1);
      this.#walk(this.#record, this.#root, 0);
      if (c.left > 0) return { column: null, reason: `${String(c.left)} bytes are left over behind the record` };
      for (let i = 0; i < this.#columns.length; i++) {
        const { name, type, fit, shown } = this.#columns[i] ?? NO_COLUMN;
        column = name;
        if (type === null) {
          other(builder, i);
          continue;
        }
        const at = this.#starts[i] ?? -1;
        if (at < 0) {
          builder.appendNull();
          continue;
        }
        c.at = at;
        appendValue(type, c, builder);
        if (fit !== null && !fit(builder)) throw new AvroFault(`the value is no ${shown}`);
      }
    } catch (e) {
      if (!(e instanceof AvroFault)) throw e;
      builder.dropRow();
      return { column, reason: e.message };
    }
    builder.endRow(undefined, time);
    return null;
  }

  #walk(record: AvroRecord, node: Node, depth: number): void {
    const c = this.#cursor;
    for (const { name, type } of record.fields) {
      const child = node.children.get(name);
      if (child === undefined) {
        skipValue(type, c, depth);
        continue;
      }
      for (const slot of child.slots) this.#starts[slot] = c.at;
      if (child.children.size === 0) {
        skipValue(type, c, depth);
        continue;
      }
      const inner = branchOf(type, c);
      if (inner.is === 'record') this.#walk(inner, child, depth + 1);
      else skipValue(inner, c, depth); // null
    }
  }
}

const NO_COLUMN: AvroColumn = { name: '', type: null, fit: null, shown: '' };

const fieldSpec = (name: string, type: AvroType): ColumnSpec => ({
  name,
  index: null,
  type: columnType(type),
  value: null,
  format: null,
  meta: null,
});

function fitOf(c: ColumnSpec, from: LogicalType): ((builder: BatchBuilder) => boolean) | null {
  if (c.format === null && formatType(c.type) === formatType(from)) return null;
  if ((cellKind(c.type) === 'bytes') !== (cellKind(from) === 'bytes'))
    throw mismatch(`the column \`${String(c.name)}\` is ${formatType(from)} by the schema, not ${formatType(c.type)}`);
  return cellFitter(c);
}

function mismatch(message: string, hint?: string): SyncError {
  return new SyncError('COLUMN_MISMATCH', message, {
    place: 'reader.parameter.column',
    blame: 'config',
    ...(hint === undefined ? {} : { hint }),
  });
}
