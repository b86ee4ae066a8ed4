import {
  RowView,
  SyncError,
  cellKind,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
} from 'syncx/plugin-api';
import { showRow, type ColumnChoice } from 'syncx/plugin-kit';
import { NULL_BUCKET, bucketName, grainOf, localParts, partsOfText, timeBuckets } from './bucket-names.js';

export interface BucketOptions {
  readonly by: 'none' | 'time' | 'eventTime' | 'column';
  readonly column: string | null;
  /** Null: the value as it is. */
  readonly format: string | null;
}

/** Where the rows of a section go: all into one bucket, or each into that of its number; -1: refused. */
export type Buckets =
  { readonly one: string } | { readonly one: null; readonly of: Int32Array; readonly names: readonly string[] };

/** Names that are known by their value; past this many it begins anew. */
const MOST_KNOWN = 4096;

/** Finds the bucket of each row. One for a lane; what it gives is good until the next call. */
export class Bucketing {
  readonly #options: BucketOptions;
  readonly #now: () => number;
  readonly #name: ((at: number) => string) | null;
  readonly #ofText: (text: string) => string | null;
  readonly #known = new Map<string, string | null>();
  #of = new Int32Array(0);

  constructor(options: BucketOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
    const { format } = options;
    const named = format === null ? null : timeBuckets(format);
    this.#name = named === null ? null : byGrain(grainOf(format ?? ''), (at) => named(localParts(at)));
    this.#ofText = (text) => {
      if (named === null) return bucketName(text);
      const parts = partsOfText(text);
      return parts && named(parts);
    };
  }

  bucketsOf(batch: RowBatch, section: Section, choice: ColumnChoice, reject: (r: RejectedRow) => void): Buckets {
    switch (this.#options.by) {
      case 'none':
        return { one: '' };
      case 'time':
        return { one: this.#name?.(this.#now()) ?? '' };
      case 'eventTime':
        return this.#byEventTime(batch, section);
      case 'column':
        return this.#byColumn(batch, section, choice, reject);
    }
  }

  #numbers(rows: number): Int32Array {
    if (this.#of.length < rows) this.#of = new Int32Array(rows);
    return this.#of.subarray(0, rows);
  }

  #byEventTime(batch: RowBatch, section: Section): Buckets {
    const times = batch.eventTimes;
    if (times === null) {
      throw new SyncError('JOB_INVALID', 'the reader gives its rows no event times, which `bucket` asks for', {
        place: 'writer.parameter.bucket',
        hint: 'Use bucket: column with the bucketColumn that holds the time.',
      });
    }
    const groups = new Groups(this.#numbers(section.rows));
    for (let row = 0; row < section.rows; row++) {
      const at = times[section.firstRow + row] ?? NaN;
      groups.put(row, Number.isFinite(at) ? (this.#name?.(at) ?? '') : NULL_BUCKET);
    }
    return groups.buckets();
  }

  #byColumn(batch: RowBatch, section: Section, choice: ColumnChoice, reject: (r: RejectedRow) => void): Buckets {
    const column = columnIn(section.schema, choice, this.#options.column ?? '');
    const type = section.schema.columns[column]?.type;
    const bytes = type !== undefined && cellKind(type) === 'bytes';
    const view = new RowView(batch, section);
    const groups = new Groups(this.#numbers(section.rows));
    // Equal values often stand together: bytes are compared before they are made text.
    let start = -1;
    let end = -1;
    for (let row = 0; row < section.rows; row++) {
      view.at(row);
      if (view.isNull(column) || view.isAbsent(column)) {
        groups.put(row, NULL_BUCKET);
        start = -1;
        continue;
      }
      const s = view.start(column);
      const e = view.end(column);
      if (start >= 0 && view.data.compare(view.data, start, end, s, e) === 0) {
        groups.again(row);
        continue;
      }
      start = s;
      end = e;
      const name = this.#nameOf(view.data.toString(bytes ? 'hex' : 'utf8', s, e));
      if (name !== null) groups.put(row, name);
      else {
        start = -1;
        groups.refuse(row);
        reject({
          row: showRow(batch, section, row),
          column: section.schema.columns[column]?.name ?? null,
          code: 'ROW_INVALID',
          reason: 'the cell is no date or time, which bucketFormat needs for the folder of the row',
          place: null,
        });
      }
    }
    return groups.buckets();
  }

  #nameOf(text: string): string | null {
    let name = this.#known.get(text);
    if (name === undefined) {
      name = this.#ofText(text);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(text, name);
    }
    return name;
  }
}

/** Numbers the names of a section. */
class Groups {
  readonly #of: Int32Array;
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  #last = -1;
  #refused = false;

  constructor(of: Int32Array) {
    this.#of = of;
  }

  put(row: number, name: string): void {
    let n = this.#last;
    if (n < 0 || this.#names[n] !== name) {
      n = this.#numbers.get(name) ?? this.#names.length;
      if (n === this.#names.length) {
        this.#names.push(name);
        this.#numbers.set(name, n);
      }
      this.#last = n;
    }
    this.#of[row] = n;
  }

  /** The bucket of the row before. */
  again(row: number): void {
    this.#of[row] = this.#last;
  }

  refuse(row: number): void {
    this.#of[row] = -1;
    this.#refused = true;
  }

  buckets(): Buckets {
    const [one = ''] = this.#names;
    if (this.#names.length === 1 && !this.#refused) return { one };
    return { one: null, of: this.#of, names: this.#names };
  }
}

function byGrain(grain: number, name: (at: number) => string): (at: number) => string {
  let last = NaN;
  let known = '';
  return (at) => {
    const g = Math.floor(at / grain);
    if (g !== last) {
      known = name(at);
      last = g;
    }
    return known;
  };
}

/** A column of the rows, or one by the name that it is written under. */
function columnIn(schema: RowSchema, { projection, names }: ColumnChoice, wanted: string): number {
  const at = schema.columns.findIndex((c) => c.name === wanted);
  const column = at >= 0 ? at : (projection[names.indexOf(wanted)] ?? -1);
  if (column >= 0) return column;
  throw new SyncError('COLUMN_MISMATCH', `the rows have no column \`${wanted}\` to find their folder by`, {
    place: 'writer.parameter.bucketColumn',
    hint: `There are ${schema.columns.map((c) => `\`${c.name}\``).join(', ')}.`,
  });
}
