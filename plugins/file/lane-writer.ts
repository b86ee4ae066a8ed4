import {
  SyncError,
  type LaneWriter,
  type Prepared,
  type PrepareHint,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type Section,
  type Unfinished,
  type WriteResult,
} from 'syncx/plugin-api';
import {
  chooseColumns,
  type ColumnChoice,
  type KeptFile,
  type OutputFormat,
  type RecordEncoder,
  type StagedLane,
} from 'syncx/plugin-kit';
import { Bucketing, type BucketOptions } from './bucketing.js';
import { sameColumns } from './columns.js';
import { OpenParts, type PartOptions } from './open-parts.js';
import { regroup } from './regroup.js';

export interface WritingOptions extends PartOptions {
  readonly format: OutputFormat;
  /** Null: all that come. */
  readonly columns: readonly string[] | null;
  readonly header: boolean;
  readonly bucket: BucketOptions;
}

/** Both the encoder and the names it writes, for one schema. */
interface Bound {
  readonly encoder: RecordEncoder;
  readonly columns: ColumnChoice;
}

/** Writes the rows of a lane to staged part files, which may stay open over epochs. */
export class FileLaneWriter implements LaneWriter {
  readonly #options: WritingOptions;
  readonly #files: StagedLane;
  readonly #bound = new Map<number, Bound>();
  readonly #parts: OpenParts;
  readonly #bucketing: Bucketing;
  /** Files of the last committed epoch that must be taken over before anything is written. */
  #toAdopt: readonly KeptFile[] = [];
  #names: readonly string[] | null = null;

  constructor(options: WritingOptions, files: StagedLane, now: () => number = Date.now) {
    this.#options = options;
    this.#files = files;
    this.#parts = new OpenParts(options, files, now);
    this.#bucketing = new Bucketing(options.bucket, now);
  }

  /** Before the first row. @throws SyncError SINK_CONFLICT where a file is not there or too short. */
  async adopt(files: readonly KeptFile[]): Promise<void> {
    await this.#parts.adopt(files);
    this.#names ??= this.#parts.names;
  }

  async #adoptAgain(): Promise<void> {
    const files = this.#toAdopt;
    this.#toAdopt = [];
    if (files.length > 0) await this.adopt(files);
  }

  async write(batch: RowBatch): Promise<WriteResult> {
    if (batch.ops?.some((op) => op !== 0) === true) {
      throw new SyncError('JOB_INVALID', 'the file writer got an update or delete; it can only add rows', {
        hint: 'Write changes to a target that has keys, or read inserts only.',
      });
    }
    await this.#adoptAgain();
    await this.#parts.rollDue();
    const rejected: RejectedRow[] = [];
    const reject = (r: RejectedRow): void => void rejected.push(r);
    for (const section of batch.sections) {
      const bound = this.#bind(section.schema);
      const buckets = this.#bucketing.bucketsOf(batch, section, bound.columns, reject);
      if (buckets.one !== null) {
        await this.#writeRows(bound, buckets.one, batch, section, rejected);
        continue;
      }
      for (const g of regroup(batch, section, buckets.of, buckets.names.length)) {
        await this.#writeRows(bound, buckets.names[g.number] ?? '', g.batch, g.section, rejected);
      }
    }
    return { rejected: rejected.length > 0 ? rejected : null, bytes: this.#parts.takeBytes() };
  }

  async #writeRows(
    { encoder, columns }: Bound,
    bucket: string,
    batch: RowBatch,
    section: Section,
    rejected: RejectedRow[],
  ): Promise<void> {
    const reject = (r: RejectedRow): void => void rejected.push(r);
    for (let row = 0; row < section.rows;) {
      const part = await this.#parts.at(bucket, columns.names, encoder.header);
      const refused = rejected.length;
      const next = encoder.encode(batch, section, row, part.output.buffer, reject);
      await this.#parts.wrote(bucket, part, next - row - (rejected.length - refused));
      row = next;
    }
  }

  #bind(schema: RowSchema): Bound {
    const known = this.#bound.get(schema.id);
    if (known) return known;
    const columns = chooseColumns(schema, this.#options.columns);
    const { names } = columns;
    const { selfDescribing, encoder } = this.#options.format;
    this.#names ??= names;
    if (!selfDescribing && !this.#options.header && !sameColumns(this.#names, names)) {
      throw new SyncError(
        'COLUMN_MISMATCH',
        `rows with the columns ${names.join(', ')} follow rows with ${this.#names.join(', ')}`,
        {
          hint: 'Without a header line nobody could tell them apart: name the columns to write, or set isFirstLineHeader.',
        },
      );
    }
    const bound = { encoder: encoder(schema, columns), columns };
    this.#bound.set(schema.id, bound);
    return bound;
  }

  async prepare(epoch: number, hint?: PrepareHint): Promise<Prepared> {
    await this.#adoptAgain();
    const state = await this.#parts.settle(hint?.last ?? true);
    const committables = await this.#files.prepare(epoch);
    return { committables, state, rejected: null, bytes: this.#parts.takeBytes() };
  }

  unfinished(): Unfinished {
    return this.#toAdopt.length > 0 ? 'later' : this.#parts.unfinished();
  }

  commit(epoch: number): Promise<void> {
    return this.#files.commit(epoch);
  }

  async abort(epoch: number): Promise<void> {
    await this.#parts.forget(); // the buffers must be free before they are used again
    this.#toAdopt = await this.#files.abort(epoch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.forget();
    await this.#files.dispose();
  }
}
