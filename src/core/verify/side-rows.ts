import { type RejectedRow, type RowBatch, type RowSchema, type Split } from '../../plugin-api/index.js';
import type { RowTransform } from '../transform/row-transform.js';
import type { ReadSide } from './read-side.js';
import type { SideCount } from './verify-types.js';

/** The rows of a side behind the job's transforms, counted; the first batch can be looked at before the others are read. */
export class SideRows implements AsyncDisposable {
  rows = 0;
  bytes = 0;
  filtered = 0;
  #unreadable = 0;
  #why: string | null = null;
  readonly #side: ReadSide | null;
  readonly #transform: RowTransform | null;
  readonly #batches: AsyncGenerator<RowBatch>;
  #first: RowBatch | null = null;
  #looked = false;

  /** Null: there is nothing to read, and so no row. */
  constructor(side: ReadSide | null, transform: RowTransform | null, splits?: readonly Split[]) {
    this.#side = side;
    this.#transform = transform;
    this.#batches = side?.batches(splits) ?? noBatches();
  }

  get count(): SideCount {
    return { rows: this.rows, unreadable: this.#unreadable, why: this.#why };
  }

  /** Of the first row; null: there is none. */
  async schema(): Promise<RowSchema | null> {
    if (!this.#looked) {
      this.#looked = true;
      this.#first = await this.#next();
    }
    return this.#first?.sections[0]?.schema ?? null;
  }

  async *batches(): AsyncGenerator<RowBatch> {
    await this.schema();
    for (let batch = this.#first; batch !== null; batch = await this.#next()) {
      this.#first = null;
      yield batch;
    }
  }

  /** With rows in it. */
  async #next(): Promise<RowBatch | null> {
    for (;;) {
      const got = await this.#batches.next();
      if (got.done === true) return null;
      if (this.#transform === null) this.#refused(got.value.rejected);
      const done = this.#transform?.apply(got.value);
      const batch = done?.batch ?? got.value;
      if (done) this.#refused(batch.rejected);
      this.filtered += done?.filtered ?? 0;
      this.rows += batch.rows;
      this.bytes += batch.data.byteLength;
      if (batch.rows > 0) return batch;
    }
  }

  #refused(rows: readonly RejectedRow[] | null): void {
    if (rows === null) return;
    this.#unreadable += rows.length;
    const [first] = rows;
    if (first) this.#why ??= first.place === null ? first.reason : `${first.place}: ${first.reason}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#side?.stop();
    // What it throws now comes of the stop; whoever was reading has been told.
    await this.#batches.return(undefined).catch(() => undefined);
    await this.#side?.[Symbol.asyncDispose]();
  }
}

async function* noBatches(): AsyncGenerator<RowBatch> {
  yield* [];
}
