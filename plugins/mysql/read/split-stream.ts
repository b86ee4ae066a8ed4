import { BatchBuilder, SyncError, type BatchTarget, type RowBatch } from 'syncx/plugin-api';
import type { Wake } from 'syncx/plugin-kit';
import type { ZeroDate } from '../catalog/columns.js';
import type { FieldPacket } from '../connect/raw-connection.js';
import type { RowPacket } from '../connect/row-text.js';
import type { Session } from '../connect/session.js';
import { checkFields } from './check-fields.js';
import type { Scan } from './pinned-scan.js';
import type { ReadShape } from './read-shape.js';
import { RowHash } from './row-hash.js';
import { RowPacker } from './row-packer.js';
import type { CountedPosition, SplitPosition } from './split-spec.js';

/** So many batches wait for the writer at most; then the server's socket is left alone. */
const MOST_WAITING = 2;

export interface StreamOptions {
  readonly splitId: string;
  readonly zeroDate: ZeroDate;
  readonly batch: BatchTarget;
  /** Position of shapes without an order key, from which the result is read again; null: its start, or there is a key. */
  readonly counted: CountedPosition | null;
  /** For positions of shapes without an order key. */
  readonly scan: Scan | undefined;
}

/** A batch, and where the split is behind it; the batch itself does not say it. */
export interface Reached {
  readonly batch: RowBatch;
  readonly position: SplitPosition;
}

/**
 * One result of the server as batches. Packets come whenever the socket has some; they are packed at once, and the
 * connection is paused while batches wait to be taken.
 */
export class SplitStream {
  readonly #shape: ReadShape;
  readonly #session: Session;
  readonly #options: StreamOptions;
  readonly #packer: RowPacker;
  readonly #builder: BatchBuilder;
  readonly #hash: RowHash | null;
  readonly #wake: Wake;
  readonly #waiting: Reached[] = [];
  #bytes = 0;
  #paused = false;
  #ended = false;
  #error: unknown = null;

  private constructor(shape: ReadShape, session: Session, options: StreamOptions, wake: Wake, hash: RowHash | null) {
    this.#shape = shape;
    this.#session = session;
    this.#options = options;
    this.#wake = wake;
    this.#hash = hash;
    this.#packer = new RowPacker(shape, options.zeroDate);
    this.#builder = new BatchBuilder(this.#packer.schema, options.batch);
  }

  /** Sends the SELECT. `wake` rings when there is something to take. */
  static async open(
    shape: ReadShape,
    session: Session,
    sql: string,
    options: StreamOptions,
    wake: Wake,
  ): Promise<SplitStream> {
    const stream = new SplitStream(shape, session, options, wake, shape.key.length === 0 ? await RowHash.open() : null);
    stream.#start(sql);
    return stream;
  }

  #start(sql: string): void {
    const receiver = {
      fields: (f: readonly FieldPacket[]) => checkFields(this.#shape, f),
      row: (p: RowPacket) => this.#take(p),
    };
    this.#session
      .stream(sql, receiver, `read ${this.#shape.name}`)
      .then(() => this.#end())
      .catch((e: unknown) => {
        this.#error = e;
      })
      .finally(() => {
        this.#ended = true;
        this.#wake.ring();
      });
  }

  #take(packet: RowPacket): void {
    const hash = this.#hash;
    if (hash !== null) {
      hash.add(packet);
      const { counted } = this.#options;
      if (counted !== null && hash.rows <= counted.rows) {
        if (hash.rows === counted.rows && hash.digest !== counted.hash) throw this.#changed();
        return;
      }
    }
    this.#bytes += packet.end - packet.offset;
    this.#packer.pack(packet, this.#builder);
    if (this.#builder.full) this.#finishBatch();
  }

  #end(): void {
    const hash = this.#hash;
    if (hash !== null && hash.rows < (this.#options.counted?.rows ?? 0)) throw this.#changed();
    if (!this.#builder.empty) this.#finishBatch();
  }

  #changed(): SyncError {
    const { name } = this.#shape;
    const rows = String(this.#options.counted?.rows ?? 0);
    return new SyncError('SOURCE_CHANGED', `the first ${rows} rows of ${name} are not those that were read before`, {
      place: name,
      hint: 'Its rows have no key to go on from, so they must be the same ones. Start anew with --fresh, or name a unique key as splitPk.',
    });
  }

  #finishBatch(): void {
    const { scan } = this.#options;
    const position: SplitPosition =
      this.#hash === null
        ? { key: this.#packer.lastKey(this.#builder) }
        : { rows: this.#hash.rows, hash: this.#hash.digest, ...(scan === undefined ? {} : { scan }) };
    this.#waiting.push({ batch: this.#builder.finish(this.#options.splitId, null, this.#bytes), position });
    this.#bytes = 0;
    if (this.#waiting.length >= MOST_WAITING && !this.#paused) {
      this.#paused = true;
      this.#session.pause();
    }
    this.#wake.ring();
  }

  /** The next batch; `end`: the server has sent all; null: nothing yet. @throws what broke the result off, once all before it is taken. */
  next(): Reached | 'end' | null {
    const reached = this.#waiting.shift();
    if (reached !== undefined) {
      if (this.#paused && this.#waiting.length < MOST_WAITING) {
        this.#paused = false;
        this.#session.resume();
      }
      return reached;
    }
    if (this.#error !== null) throw this.#error as Error;
    return this.#ended ? 'end' : null;
  }
}
