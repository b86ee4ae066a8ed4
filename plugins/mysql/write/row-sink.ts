import { SyncError, type RejectedRow, type RowBatch, type Section, type WriteResult } from 'syncx/plugin-api';
import type { RowWriter } from './rows/row-writer.js';

/** Rows as a lane gets rid of them; each call tells what came of them. */
export interface RowSink {
  /** True: a statement may be under way, so that nothing else may be asked of the transaction. */
  readonly busy: boolean;
  /** May keep rows (copies) for the next statement. */
  write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult>;
  /** What was sent is in the transaction when it resolves. */
  settled(): Promise<void>;
  /** All rows are in the transaction when it resolves. */
  flush(): Promise<WriteResult>;
  /** Forgets rows that were not sent, once what is under way has ended: their epoch is aborted. */
  clear(): Promise<void>;
}

/** One table. */
export class TableSink implements RowSink {
  /** To other tables, so that the order of writing matters. */
  readonly tied: boolean;
  readonly #rows: RowWriter;

  constructor(rows: RowWriter, tied: boolean) {
    this.#rows = rows;
    this.tied = tied;
  }

  get busy(): boolean {
    return this.#rows.busy;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    await this.#rows.write(batch, signal);
    return this.#taken();
  }

  settled(): Promise<void> {
    return this.#rows.settled();
  }

  async flush(): Promise<WriteResult> {
    await this.#rows.flush();
    return this.#taken();
  }

  clear(): Promise<void> {
    return this.#rows.clear();
  }

  #taken(): WriteResult {
    return { rejected: this.#rows.takeRejected(), bytes: this.#rows.takeBytes() };
  }
}

/**
 * Each row goes to the table that has the name of its own: those of a batch that are of one table at once, as rows of many
 * tables may take turns. Where one of the tables is tied to others statements come in the order of the rows.
 */
export class TablesSink implements RowSink {
  readonly #open: (table: string) => Promise<TableSink>;
  readonly #sinks = new Map<string, TableSink>();
  #last: TableSink | null = null;

  constructor(open: (table: string) => Promise<TableSink>) {
    this.#open = open;
  }

  get busy(): boolean {
    return this.#last?.busy === true;
  }

  async write(batch: RowBatch, signal: AbortSignal): Promise<WriteResult> {
    const results: WriteResult[] = [];
    for (const { sink, sections } of await this.#runsOf(batch)) {
      if (this.#last !== null && this.#last !== sink) results.push(await this.#last.flush());
      this.#last = sink;
      results.push(await sink.write({ ...batch, sections }, signal));
    }
    return summed(results);
  }

  async #runsOf(
    batch: RowBatch,
  ): Promise<readonly { readonly sink: TableSink; readonly sections: readonly Section[] }[]> {
    const runs: { readonly sink: TableSink; readonly sections: Section[] }[] = [];
    for (const section of batch.sections)
      runs.push({ sink: await this.#sinkOf(section.schema.table), sections: [section] });
    if ([...this.#sinks.values()].some((sink) => sink.tied)) return runs;
    const bySink = new Map<TableSink, Section[]>();
    // What that one has kept goes on in the same statement.
    if (this.#last !== null && runs.some((r) => r.sink === this.#last)) bySink.set(this.#last, []);
    for (const { sink, sections } of runs) {
      const known = bySink.get(sink);
      if (known === undefined) bySink.set(sink, sections);
      else known.push(...sections);
    }
    return [...bySink].map(([sink, sections]) => ({ sink, sections }));
  }

  async settled(): Promise<void> {
    await this.#last?.settled();
  }

  async flush(): Promise<WriteResult> {
    return summed(this.#last === null ? [] : [await this.#last.flush()]);
  }

  async clear(): Promise<void> {
    for (const sink of this.#sinks.values()) await sink.clear();
  }

  async #sinkOf(source: string | null): Promise<TableSink> {
    if (source === null) {
      throw new SyncError('COLUMN_MISMATCH', 'the rows are of no table, so `*` does not tell where they go', {
        place: 'writer.parameter.connection[0].table',
        hint: 'Name the table to write.',
      });
    }
    const known = this.#sinks.get(source);
    if (known !== undefined) return known;
    const opened = await this.#open(source.slice(source.indexOf('.') + 1));
    this.#sinks.set(source, opened);
    return opened;
  }
}

/** What several calls came to. */
export function summed(results: readonly WriteResult[]): WriteResult {
  const rejected = results.flatMap((r): readonly RejectedRow[] => r.rejected ?? []);
  return { rejected: rejected.length === 0 ? null : rejected, bytes: results.reduce((n, r) => n + r.bytes, 0) };
}
