import {
  defineWriter,
  RowView,
  SyncError,
  toSyncError,
  type LaneWriter,
  type Prepared,
  type RowBatch,
  type Writer,
  type WriterFacts,
  type WriteResult,
} from 'syncx/plugin-api';
import { orAborted, spelledOut } from 'syncx/plugin-kit';
import { WRITER_OPTIONS, type WriterOptions } from './options.js';
import { jsonRow, textRow, OP_WORDS } from './print.js';

const NOTHING: Prepared = { rejected: null, bytes: 0, committables: [], state: null };

/** Characters that are gathered before stdout gets them. */
const CHUNK = 1 << 16;

class StreamLaneWriter implements LaneWriter {
  readonly #options: WriterOptions;
  readonly #delimiter: string;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#delimiter = spelledOut(options.fieldDelimiter);
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    if (!this.#options.print) return { rejected: null, bytes: batch.data.length };
    let out = '';
    let bytes = 0;
    for (const section of batch.sections) {
      const view = new RowView(batch, section);
      for (let r = 0; r < section.rows; r++) {
        view.at(r);
        const op = batch.ops ? OP_WORDS[batch.ops[section.firstRow + r] ?? 0] : undefined;
        out += this.#options.format === 'json' ? jsonRow(view, op) : textRow(view, op, this.#delimiter);
        if (out.length >= CHUNK) {
          signal.throwIfAborted();
          bytes += await orAborted(print(out), signal);
          out = '';
        }
      }
    }
    if (out !== '') bytes += await orAborted(print(out), signal);
    return { rejected: null, bytes };
  }

  prepare(): Promise<Prepared> {
    return Promise.resolve(NOTHING);
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

function stdoutError(e: Error): SyncError {
  const { code, message } = toSyncError(e, 'SINK_IO');
  const said = { EPIPE: 'EPIPE: nobody reads stdout any more', EBADF: 'EBADF: stdout is closed' };
  const known = said[(e as NodeJS.ErrnoException).code as keyof typeof said] as string | undefined;
  // What was printed in part cannot be taken back, so nothing is tried again.
  return new SyncError(code, known ?? message, { cause: e, retry: 'never', place: 'stdout' });
}

/** @returns the bytes, once stdout has taken them. */
function print(text: string): Promise<number> {
  const data = Buffer.from(text);
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (e) => {
      if (e) reject(stdoutError(e));
      else resolve(data.length);
    });
  });
}

class StreamWriter implements Writer {
  // What is printed cannot be taken back: a restart prints the rows after the last checkpoint again.
  readonly delivery = 'at-least-once';
  readonly maxLanes: number;
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.maxLanes = options.print ? 1 : Infinity;
  }

  begin(): Promise<void> {
    return Promise.resolve();
  }

  explain(): Promise<WriterFacts> {
    const { print, format } = this.#options;
    const place = print ? 'standard output' : 'nowhere';
    return Promise.resolve({
      writes: [
        print
          ? `standard output, ${format === 'json' ? 'JSON lines' : 'text'}`
          : 'nothing: rows are counted and dropped',
      ],
      target: {
        place,
        state: 'unknown',
        holds: null,
        effect: print ? 'rows are printed as they come' : 'rows are dropped',
      },
      columns: null,
      losses: [],
      whyDelivery: print
        ? 'what is printed cannot be taken back: after a crash rows come again'
        : 'rows are counted only: after a crash some are counted again',
      problems: [],
    });
  }

  openLane(): Promise<LaneWriter> {
    return Promise.resolve(new StreamLaneWriter(this.#options));
  }

  complete(): Promise<void> {
    return Promise.resolve();
  }
}

export const writer = defineWriter({
  name: 'stream',
  aliases: [],
  summary: 'Prints rows to stdout, or drops them.',
  options: WRITER_OPTIONS,
  delivery: ['at-least-once'],
  columns: () => null,
  usesStdout: (o) => o.print,
  create: (o) => Promise.resolve(new StreamWriter(o)),
});
