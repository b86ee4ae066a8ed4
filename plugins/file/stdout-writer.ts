import {
  SyncError,
  toSyncError,
  type LaneWriter,
  type Prepared,
  type RejectedRow,
  type RowBatch,
  type WriteResult,
} from 'syncx/plugin-api';
import { chooseColumns, ByteBuffer, orAborted } from 'syncx/plugin-kit';
import { sameColumns } from './columns.js';
import type { WritingOptions } from './lane-writer.js';
import { BUFFER_BYTES } from './part-file.js';

const NOTHING: WriteResult = { rejected: null, bytes: 0 };

function stdoutError(e: Error): SyncError {
  const { code, message } = toSyncError(e, 'SINK_IO');
  const closed = (e as NodeJS.ErrnoException).code === 'EBADF';
  return new SyncError(code, `cannot write to standard output: ${closed ? 'it is closed (EBADF)' : message}`, {
    cause: e,
    retry: 'never',
    ...(closed ? { hint: 'To drop the rows, send them to /dev/null.' } : {}),
  });
}

/** Writes to standard output as rows come. What was written cannot be taken back: at least once. */
export class StdoutLaneWriter implements LaneWriter {
  readonly #options: WritingOptions;
  readonly #buffer = new ByteBuffer(BUFFER_BYTES >> 3);
  #names: readonly string[] | null = null;

  constructor(options: WritingOptions) {
    this.#options = options;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    const rejected: RejectedRow[] = [];
    let bytes = 0;
    for (const section of batch.sections) {
      const columns = chooseColumns(section.schema, this.#options.columns);
      const { names } = columns;
      const encoder = this.#options.format.encoder(section.schema, columns);
      if (this.#names === null && encoder.header !== null) this.#buffer.append(encoder.header);
      this.#names ??= names;
      if (!this.#options.format.selfDescribing && !sameColumns(this.#names, names)) {
        throw new SyncError(
          'COLUMN_MISMATCH',
          `rows with the columns ${names.join(', ')} follow rows with ${this.#names.join(', ')}`,
        );
      }
      for (let row = 0; row < section.rows;) {
        row = encoder.encode(batch, section, row, this.#buffer, (r) => void rejected.push(r));
        bytes += this.#buffer.length;
        // A reader of the pipe that stands still must not keep an abort waiting.
        await orAborted(this.#flush(), signal);
      }
    }
    return { rejected: rejected.length > 0 ? rejected : null, bytes };
  }

  #flush(): Promise<void> {
    const bytes = Buffer.from(this.#buffer.data.subarray(0, this.#buffer.length));
    this.#buffer.clear();
    if (bytes.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      // The error event of stdout has a listener of its own in the process; the callback tells this writer.
      process.stdout.write(bytes, (e) => {
        if (e) reject(stdoutError(e));
        else resolve();
      });
    });
  }

  prepare(): Promise<Prepared> {
    return Promise.resolve({ ...NOTHING, committables: [], state: null });
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  abort(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
