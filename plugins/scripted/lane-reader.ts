import { join } from 'node:path';
import {
  BatchBuilder,
  SyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type Split,
} from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import { fewTimes } from './durable.js';
import { leaked } from './leak.js';
import type { ReaderEvent, ReaderOptions } from './options.js';
import { appendRow, schemaWith, scriptedRow, TABLE } from './rows.js';
import { makeTrouble } from './trouble.js';
import { fileExists } from './wait.js';

interface NumberedEvent extends ReaderEvent {
  readonly index: number;
}

interface OpenSplit {
  readonly split: Split;
  readonly rows: number;
  readonly transaction: number;
  /** Events not passed yet, in order. */
  readonly events: NumberedEvent[];
  readonly added: string[];
  readonly builder: BatchBuilder;
  /** The last row that was read. */
  row: number;
  held: boolean;
  waiting: boolean;
}

export class ScriptedLaneReader implements LaneReader {
  readonly #options: ReaderOptions;
  readonly #lane: LaneContext;
  readonly #open = new Map<string, OpenSplit>();
  readonly #wake = new Wake();
  readonly #closing = new AbortController();
  readonly #waits = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(options: ReaderOptions, lane: LaneContext) {
    this.#options = options;
    this.#lane = lane;
  }

  assign(split: Split, from: Position | null): void {
    const spec = split.spec as { readonly rows: number; readonly transaction: number };
    const row = from === null ? 0 : (from as { readonly row: number }).row;
    if (!(row >= 0 && row <= spec.rows)) {
      throw new SyncError(
        'SOURCE_CHANGED',
        `split ${split.id} has ${String(spec.rows)} rows, the position is ${String(row)}`,
        {
          place: split.id,
          hint: 'Run with the options of the first start, or with --fresh.',
        },
      );
    }
    const events = this.#options.events
      .map((e, index): NumberedEvent => ({ ...e, index }))
      .filter((e) => e.split === split.id)
      // What happens before a row comes before the row itself.
      .sort((a, b) => a.at - b.at || Number(a.do === 'dirty') - Number(b.do === 'dirty'));
    const added = events.filter((e) => e.do === 'schema' && e.at <= row).map((e) => e.add);
    const { bytes, rows } = this.#lane.batch;
    const builder = new BatchBuilder(schemaWith(added), { bytes, rows: Math.min(rows, this.#options.batchRows) });
    this.#open.set(split.id, {
      split,
      rows: spec.rows,
      transaction: spec.transaction,
      events: events.filter((e) => e.at > row),
      added,
      builder,
      row,
      held: false,
      waiting: false,
    });
    this.#wake.ring();
  }

  hold(splitIds: readonly string[]): void {
    for (const s of this.#those(splitIds)) s.held = true;
  }

  release(splitIds: readonly string[]): void {
    for (const s of this.#those(splitIds)) s.held = false;
    this.#wake.ring();
  }

  async *read(signal: AbortSignal): AsyncGenerator<ReadItem> {
    signal.addEventListener('abort', this.#wake.ring);
    try {
      while (!signal.aborted && !this.#closing.signal.aborted) {
        if (this.#failure) throw this.#failure.error;
        const s = this.#runnable();
        if (!s) {
          await this.#wake.wait();
          continue;
        }
        const item = await this.#step(s);
        // Round robin: who had its turn goes to the end of the line.
        if (this.#open.delete(s.split.id) && item?.is !== 'splitEnd') this.#open.set(s.split.id, s);
        if (item) yield item;
      }
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#wake.ring();
    await Promise.all(this.#waits);
  }

  /** Ids that are not open any more are no mistake: their end may have crossed the call. */
  #those(ids: readonly string[]): readonly OpenSplit[] {
    return ids.map((id) => this.#open.get(id)).filter((s) => s !== undefined);
  }

  #runnable(): OpenSplit | undefined {
    for (const s of this.#open.values()) {
      const idle = !s.split.bounded && s.row === s.rows && s.events.length === 0;
      if (!s.held && !s.waiting && !idle) return s;
    }
    return undefined;
  }

  async #step(s: OpenSplit): Promise<ReadItem | null> {
    const event = s.events[0];
    if (event?.at === s.row + 1 && event.do !== 'dirty') {
      s.events.shift();
      return this.#happen(s, event);
    }
    if (s.row < s.rows) return this.#batch(s);
    const position = { row: s.row };
    return s.split.bounded ? { is: 'splitEnd', splitId: s.split.id, position, outcome: { rows: s.rows } } : null;
  }

  async #happen(s: OpenSplit, event: NumberedEvent): Promise<ReadItem | null> {
    const id = s.split.id;
    switch (event.do) {
      case 'pause':
        this.#pause(s, event.until);
        return null;
      case 'exit':
      case 'throw-async':
      case 'oom':
      case 'spin':
        return (await this.#again(event)) ? makeTrouble(event.do) : null;
      case 'fail': {
        if (!(await this.#again(event))) return null;
        throw new SyncError(
          event.code,
          `the script fails split ${id} before row ${String(event.at)}${leaked(this.#options)}`,
          {
            place: `${id}:${String(event.at)}`,
            blame: 'source',
          },
        );
      }
      case 'idle':
        return s.builder.finish(id, { row: s.row }, 0);
      case 'schema': {
        const before = schemaWith(s.added);
        s.added.push(event.add);
        const after = schemaWith(s.added);
        s.builder.startSection(after);
        const statement = `ALTER TABLE ${TABLE} ADD ${event.add} TEXT`;
        return { is: 'schema', splitId: id, table: TABLE, before, after, statement };
      }
      case 'dirty':
        return null;
    }
  }

  #again(event: NumberedEvent): Promise<boolean> {
    return fewTimes(join(this.#options.folder, 'once'), `reader-${String(event.index)}`, event.times);
  }

  #pause(s: OpenSplit, until: string): void {
    s.waiting = true;
    const wait = fileExists(until, this.#closing.signal)
      .then(() => {
        s.waiting = false;
      })
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#failure = { error };
      })
      .finally(() => {
        this.#waits.delete(wait);
        this.#wake.ring();
      });
    this.#waits.add(wait);
  }

  #batch(s: OpenSplit): ReadItem {
    const { builder, split, added } = s;
    const { padding } = this.#options;
    // A batch never spans two transactions, so that every transaction's end is a safe point.
    const end = Math.min(s.rows, s.row - (s.row % s.transaction) + s.transaction);
    const last = s.transaction === 1 ? s.rows : end;
    while (s.row < last && !builder.full) {
      const n = s.row + 1;
      const event = s.events[0];
      if (event?.at === n) {
        if (event.do !== 'dirty') break;
        s.events.shift();
        builder.reject({
          row: scriptedRow(split.id, n, { added, padding }),
          column: 'n',
          code: 'ROW_INVALID',
          reason: `the script makes row ${String(n)} dirty${leaked(this.#options)}`,
          place: `${split.id}:${String(n)}`,
        });
      } else {
        appendRow(builder, split.id, n, added, padding);
      }
      s.row = n;
    }
    const safe = s.row % s.transaction === 0 || s.row === s.rows;
    return builder.finish(split.id, safe ? { row: s.row } : null, builder.length);
  }
}
