import {
  isSyncError,
  SyncError,
  type LaneContext,
  type LaneReader,
  type Position,
  type ReadItem,
  type RowBatch,
  type Split,
} from 'syncx/plugin-api';
import { Wake } from 'syncx/plugin-kit';
import type { Address } from './address.js';
import { Connection, wasReset, type Ending } from './connection.js';
import type { Coding } from './encoding.js';
import type { LineFormat } from './formats.js';
import { LineBatches } from './line-batches.js';
import type { ReaderOptions } from './options.js';

/** Lines that were read, by connection, from 1. It says how far the job came; nothing can be read again from it. */
export interface SocketPosition {
  readonly connection: number;
  readonly line: number;
}

export interface SocketReading {
  readonly address: Address;
  /** `host:port`, for messages. */
  readonly name: string;
  readonly format: LineFormat;
  readonly coding: Coding;
  readonly options: ReaderOptions;
}

/** Of a line that was cut off so much is logged. */
const SHOWN = 200;

/** A call, as the compiler takes a property that was false before an `await` for false after it. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;

export class SocketLaneReader implements LaneReader {
  readonly #r: SocketReading;
  readonly #lane: LaneContext;
  readonly #wake = new Wake();
  #assigned: { readonly split: Split; readonly from: Position | null } | null = null;
  #held = false;
  #open: Connection | null = null;
  readonly #abort = new AbortController();

  constructor(reading: SocketReading, lane: LaneContext) {
    this.#r = reading;
    this.#lane = lane;
  }

  assign(split: Split, from: Position | null): void {
    this.#assigned = { split, from };
    this.#wake.ring();
  }

  hold(splitIds: readonly string[]): void {
    if (this.#assigned !== null && splitIds.includes(this.#assigned.split.id)) this.#held = true;
  }

  release(splitIds: readonly string[]): void {
    if (this.#assigned !== null && splitIds.includes(this.#assigned.split.id)) this.#held = false;
    this.#wake.ring();
  }

  async *read(outer: AbortSignal): AsyncGenerator<ReadItem> {
    const signal = AbortSignal.any([outer, this.#abort.signal]);
    signal.addEventListener('abort', this.#wake.ring);
    try {
      while (!signal.aborted && this.#assigned === null) await this.#wake.wait();
      const assigned = this.#assigned;
      if (assigned !== null) yield* this.#follow(assigned.split.id, assigned.from as SocketPosition | null, signal);
      while (!stopped(signal)) await this.#wake.wait();
    } finally {
      signal.removeEventListener('abort', this.#wake.ring);
      await this.#close();
    }
  }

  /** One connection after another, until the policy says that it is enough. */
  async *#follow(splitId: string, from: SocketPosition | null, signal: AbortSignal): AsyncGenerator<ReadItem> {
    const { name, options } = this.#r;
    const { log } = this.#lane;
    let position = from ?? { connection: 0, line: 0 };
    /** Connections in a row that failed or brought nothing. */
    let vain = 0;
    for (let first = true; !signal.aborted; first = false) {
      const before = position;
      let ending: Ending;
      try {
        this.#open = await Connection.open(this.#r.address, name, options.connectTimeout, this.#wake.ring, signal);
        position = { connection: before.connection + 1, line: 0 };
        log.info({ address: name, connection: position.connection }, `connected to ${name}`);
        const lines = new LineBatches(this.#r.format, this.#r.coding, options.maxLineBytes, name, this.#lane.batch);
        const at = position.connection;
        const seen = { bytes: 0 };
        ending = yield* this.#readConnection(splitId, this.#open, lines, at, seen, signal);
        position = { connection: at, line: lines.lines };
        if (seen.bytes > 0) vain = 0;
        else vain++;
        if (stopped(signal)) return;
        this.#tellEnd(ending, lines, at);
        if (!options.reconnect && ending.is === 'closed' && seen.bytes > 0) {
          yield* this.#end(splitId, position, signal);
          return;
        }
        if (!options.reconnect && seen.bytes === 0 && ending.is === 'closed') {
          ending = { is: 'broken', why: 'the server closed it without sending anything' };
        }
      } catch (e) {
        if (stopped(signal)) return;
        // Reconnecting is for what was connected once: an address that is wrong from the start must not look like a quiet server.
        if (!isSyncError(e) || e.code !== 'SOURCE_IO' || (first && !wasReset(e))) throw e;
        vain++;
        ending = { is: 'broken', why: e.message };
        // Of a server that stays away every doubling is told: 1, 2, 4, 8 …
        if ((vain & (vain - 1)) === 0) log.warn({ address: name, attempt: vain }, e.message);
      } finally {
        await this.#close();
      }
      if (!options.reconnect) throw this.#broken(ending, 'Reconnecting is off: set reconnect to go on after this.');
      if (options.maxReconnects >= 0 && vain > options.maxReconnects) {
        throw this.#broken(ending, `After ${String(vain)} connections in vain: see maxReconnects.`);
      }
      await this.#pause(options.reconnectDelay, signal);
    }
  }

  /** @returns how it ended, once all that came is handed over. */
  async *#readConnection(
    splitId: string,
    connection: Connection,
    lines: LineBatches,
    number: number,
    seen: { bytes: number },
    signal: AbortSignal,
  ): AsyncGenerator<ReadItem, Ending> {
    const { idleTimeout } = this.#r.options;
    const position = (): Position => ({ connection: number, line: lines.consumed });
    const aborted: Ending = { is: 'broken', why: 'the job was stopped' };
    for (;;) {
      const chunks = connection.take();
      const { ending } = connection;
      if (chunks.length === 0 && ending === null) {
        const since = performance.now();
        await this.#wake.wait(idleTimeout > 0 ? idleTimeout : undefined);
        if (stopped(signal)) return aborted;
        const silent = connection.silent && performance.now() - since >= idleTimeout;
        if (idleTimeout > 0 && silent) return { is: 'broken', why: `nothing came for ${String(idleTimeout)} ms` };
        continue;
      }
      const piece = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      seen.bytes += piece.length;
      const last = piece.length === 0 && ending?.is === 'closed';
      for (const batch of lines.batches(splitId, piece, last, position)) yield* this.#hand(batch, signal);
      if (stopped(signal)) return aborted;
      if (piece.length === 0 && ending !== null) return ending;
    }
  }

  /** A held split gives nothing. */
  async *#hand(batch: RowBatch, signal: AbortSignal): AsyncGenerator<ReadItem> {
    while (this.#held && !signal.aborted) await this.#wake.wait();
    if (!signal.aborted) yield batch;
  }

  async *#end(splitId: string, position: SocketPosition, signal: AbortSignal): AsyncGenerator<ReadItem> {
    const message = `${this.#r.name} closed the connection; reconnect is off, so this is the end of the stream`;
    this.#lane.log.warn({ address: this.#r.name, lines: position.line }, message);
    while (this.#held && !signal.aborted) await this.#wake.wait();
    if (!signal.aborted) yield { is: 'splitEnd', splitId, position: { ...position }, outcome: null };
  }

  #tellEnd(ending: Ending, lines: LineBatches, connection: number): void {
    const { name } = this.#r;
    const { log } = this.#lane;
    const facts = { address: name, connection, lines: lines.lines };
    if (ending.is === 'closed') {
      log.info(facts, `${name} closed the connection after ${String(lines.lines)} lines`);
      return;
    }
    const { bytes, length } = lines.open;
    log.warn({ ...facts, error: ending.why }, `the connection to ${name} broke: ${ending.why}`);
    if (length === 0) return;
    const text = bytes.toString('utf8', 0, SHOWN);
    log.warn(
      { ...facts, bytes: length, text },
      `line ${String(lines.lines + 1)} of ${name} was cut off after ${String(length)} bytes and is no row`,
    );
  }

  #broken(ending: Ending, hint: string): SyncError {
    const { name } = this.#r;
    const why = ending.is === 'closed' ? 'the server closed it' : ending.why;
    return new SyncError('SOURCE_IO', `the connection to ${name} is gone: ${why}`, { place: name, hint });
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + ms;
    for (let left = ms; left > 0 && !signal.aborted; left = end - performance.now()) {
      await this.#wake.wait(Math.ceil(left));
    }
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#close();
  }
}
