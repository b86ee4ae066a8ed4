import {
  SyncError,
  type LaneWriter,
  type Prepared,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type WriteResult,
} from 'syncx/plugin-api';
import {
  ByteBuffer,
  chooseColumns,
  type OpenStaged,
  type OutputFormat,
  type RecordEncoder,
  type StagedLane,
} from 'syncx/plugin-kit';
import { sameColumns } from './columns.js';
import { BUFFER_BYTES, GzipOutput, PlainOutput, type PartOutput } from './part-file.js';

export interface WritingOptions {
  readonly format: OutputFormat;
  readonly gzip: boolean;
  /** Null: all that come. */
  readonly columns: readonly string[] | null;
  readonly header: boolean;
  /** Bytes. */
  readonly maxFileSize: number;
}

/** Both the encoder and the names it writes, for one schema. */
interface Bound {
  readonly encoder: RecordEncoder;
  readonly names: readonly string[];
}

interface Part {
  readonly staged: OpenStaged;
  readonly output: PartOutput;
  readonly names: readonly string[];
  rows: number;
}

/** Writes the rows of a lane to staged part files, closed at each prepare or when they are large enough. */
export class FileLaneWriter implements LaneWriter {
  readonly #options: WritingOptions;
  readonly #files: StagedLane;
  readonly #bound = new Map<number, Bound>();
  readonly #buffers: readonly [ByteBuffer, ByteBuffer];
  #part: Part | null = null;
  #names: readonly string[] | null = null;
  /** Bytes of parts that are closed already, since the last `WriteResult`. */
  #bytes = 0;
  #counted = 0;

  constructor(options: WritingOptions, files: StagedLane) {
    this.#options = options;
    this.#files = files;
    // A part is looked at when a buffer is full: one that is larger than a part may become would be late.
    const target = Math.min(BUFFER_BYTES, options.maxFileSize);
    this.#buffers = [new ByteBuffer(target), new ByteBuffer(target)];
  }

  async write(batch: RowBatch): Promise<WriteResult> {
    if (batch.ops?.some((op) => op !== 0) === true) {
      throw new SyncError('JOB_INVALID', 'the file writer got an update or delete; it can only add rows', {
        hint: 'Write changes to a target that has keys, or read inserts only.',
      });
    }
    const rejected: RejectedRow[] = [];
    const reject = (r: RejectedRow): void => void rejected.push(r);
    for (const section of batch.sections) {
      const bound = this.#bind(section.schema);
      for (let row = 0; row < section.rows;) {
        const part = await this.#partFor(bound);
        const refused = rejected.length;
        const next = bound.encoder.encode(batch, section, row, part.output.buffer, reject);
        part.rows += next - row - (rejected.length - refused);
        row = next;
        if (part.output.buffer.full || part.output.size + part.output.buffer.length >= this.#options.maxFileSize) {
          await part.output.flush();
          if (part.output.size >= this.#options.maxFileSize) await this.#closePart();
        }
      }
    }
    return { rejected: rejected.length > 0 ? rejected : null, bytes: this.#takeBytes() };
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
    const bound = { encoder: encoder(schema, columns), names };
    this.#bound.set(schema.id, bound);
    return bound;
  }

  async #partFor(bound: Bound): Promise<Part> {
    const open = this.#part;
    // One header cannot speak for rows of other columns.
    if (open !== null && !this.#options.format.selfDescribing && !sameColumns(open.names, bound.names)) {
      await this.#closePart();
    }
    if (this.#part !== null) return this.#part;
    const staged = await this.#files.open();
    const output = this.#options.gzip
      ? new GzipOutput(staged.sink, this.#buffers)
      : new PlainOutput(staged.sink, this.#buffers);
    this.#part = { staged, output, names: bound.names, rows: 0 };
    if (bound.encoder.header) output.buffer.append(bound.encoder.header);
    return this.#part;
  }

  async #closePart(): Promise<void> {
    const part = this.#part;
    if (part === null) return;
    await part.output.end();
    this.#part = null;
    this.#bytes += part.output.size - this.#counted;
    this.#counted = 0;
    // All its rows may have been refused.
    if (part.rows === 0) await this.#files.drop(part.staged);
    else await this.#files.close(part.staged, part.output.size, part.rows);
  }

  #takeBytes(): number {
    const open = this.#part?.output.size ?? 0;
    const bytes = this.#bytes + open - this.#counted;
    this.#counted = open;
    this.#bytes = 0;
    return bytes;
  }

  async prepare(epoch: number): Promise<Prepared> {
    await this.#closePart();
    const committables = await this.#files.prepare(epoch);
    return { committables, state: null, rejected: null, bytes: this.#takeBytes() };
  }

  commit(epoch: number): Promise<void> {
    return this.#files.commit(epoch);
  }

  async abort(epoch: number): Promise<void> {
    await this.#forgetPart();
    await this.#files.abort(epoch);
  }

  async #forgetPart(): Promise<void> {
    const part = this.#part;
    this.#part = null;
    this.#counted = 0;
    await part?.output.end().catch(() => undefined); // the buffers must be free before they are used again
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forgetPart();
    await this.#files.dispose();
  }
}
