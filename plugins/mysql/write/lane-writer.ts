import { type Committable, type LaneWriter, type Prepared, type RowBatch, type WriteResult } from 'syncx/plugin-api';
import type { EpochTransaction } from './epoch-transaction.js';
import { PlainProtocol, type LaneProtocol } from './protocol.js';
import { summed, type RowSink } from './row-sink.js';

export interface LaneWriterParts {
  readonly tx: EpochTransaction;
  readonly protocol: LaneProtocol;
  /** Called at the first row of all: the table may have to be made first. Nothing is open then. */
  openRows(first: RowBatch, tx: EpochTransaction): Promise<RowSink>;
}

/** So long an abort waits for the statement under way. */
const ABORT_MS = 1000;

/** Writes the rows of one lane: makes the engine's calls into statements and ends of transactions. */
export class MysqlLaneWriter implements LaneWriter {
  readonly #p: LaneWriterParts;
  #rows: RowSink | null = null;
  /** Good rows of the epoch that is open. */
  #count = 0;
  #prepared: number | null = null;

  constructor(parts: LaneWriterParts) {
    this.#p = parts;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    const { tx, protocol } = this.#p;
    const stop = (): void => {
      tx.stop();
    };
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (this.#rows?.busy !== true) {
        await tx.ready();
        if (tx.empty) await protocol.begin?.();
      }
      this.#rows ??= await this.#p.openRows(batch, tx);
      const written = await this.#rows.write(batch, signal);
      this.#count += batch.rows - (written.rejected?.length ?? 0);
      if (!(protocol instanceof PlainProtocol)) return written;
      const flushed = await this.#flush();
      await protocol.end();
      return summed([written, flushed]);
    } catch (e) {
      signal.throwIfAborted();
      throw e;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** What was sent is in the transaction when it resolves: for those who look into it between two batches. */
  async settled(): Promise<void> {
    await this.#rows?.settled();
  }

  async prepare(epoch: number): Promise<Prepared> {
    const flushed = await this.#flush();
    let committable: Committable | null = null;
    if (this.#p.tx.empty) await this.#p.protocol.abort();
    else {
      committable = await this.#p.protocol.prepare(epoch, this.#count);
      this.#prepared = epoch;
    }
    this.#count = 0;
    return { ...flushed, committables: committable === null ? [] : [committable], state: null };
  }

  async commit(epoch: number): Promise<void> {
    if (this.#prepared !== epoch) return; // nothing was prepared, or it is committed already
    await this.#p.protocol.commit(epoch);
    this.#prepared = null;
  }

  async abort(): Promise<void> {
    this.#prepared = null;
    this.#count = 0;
    const { tx, protocol } = this.#p;
    // A statement may wait for another's lock for minutes; the server undoes it with its connection, too.
    const late = setTimeout(() => {
      tx.stop();
    }, ABORT_MS);
    await this.#rows?.clear();
    clearTimeout(late);
    await protocol.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#p.tx.close();
  }

  async #flush(): Promise<WriteResult> {
    if (this.#rows === null) return { rejected: null, bytes: 0 };
    const flushed = await this.#rows.flush();
    this.#count -= flushed.rejected?.length ?? 0;
    return flushed;
  }
}
