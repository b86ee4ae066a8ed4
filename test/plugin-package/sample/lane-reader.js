import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchBuilder, internSchema } from 'syncx/plugin-api';

/** @import { LaneContext, LaneReader, Position, ReadItem, Split } from 'syncx/plugin-api' */

const SCHEMA = internSchema([
  { name: 'id', type: { is: 'int64' }, nullable: false },
  { name: 'text', type: { is: 'string' } },
]);

/**
 * Reads the splits that its lane gets, one after another.
 *
 * @implements {LaneReader}
 */
export class CounterLaneReader {
  /** @type {{ split: Split, from: Position | null }[]} */
  queue = [];
  /** @type {Set<string>} */
  held = new Set();
  ring = () => {};

  /**
   * @param {string} text
   * @param {LaneContext} lane
   */
  constructor(text, lane) {
    this.text = text;
    this.lane = lane;
  }

  /**
   * @param {Split} split
   * @param {Position | null} from
   */
  assign(split, from) {
    this.queue.push({ split, from });
    this.ring();
  }

  /** @param {readonly string[]} splitIds */
  hold(splitIds) {
    for (const id of splitIds) this.held.add(id);
  }

  /** @param {readonly string[]} splitIds */
  release(splitIds) {
    for (const id of splitIds) this.held.delete(id);
    this.ring();
  }

  /**
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<ReadItem>}
   */
  async *read(signal) {
    const onAbort = () => this.ring();
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        const next = this.queue.shift();
        if (next) yield* this.count(next.split, next.from, signal);
        else await this.rung();
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * @param {Split} split
   * @param {Position | null} from the number that comes next
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<ReadItem>}
   */
  async *count(split, from, signal) {
    const range = /** @type {{ from: number, to: number }} */ (split.spec);
    const builder = new BatchBuilder(SCHEMA, this.lane.batch);
    let n = from === null ? range.from : Number(from);
    while (n <= range.to) {
      for (; n <= range.to && !builder.full; n++) {
        builder.appendText(String(n));
        builder.appendText(`${this.text} ${n}`);
        builder.endRow();
      }
      await nextTurn(); // counting waits for nothing, so timers and signals would starve
      while (this.held.has(split.id) && !signal.aborted) await this.rung();
      if (signal.aborted) return;
      // The position is where reading goes on AFTER this batch.
      yield builder.finish(split.id, n, builder.length);
    }
    while (this.held.has(split.id) && !signal.aborted) await this.rung();
    if (!signal.aborted) yield { is: 'splitEnd', splitId: split.id, position: n, outcome: null };
  }

  /** @returns {Promise<void>} */
  rung() {
    return new Promise((resolve) => (this.ring = resolve));
  }

  async [Symbol.asyncDispose]() {
    this.ring(); // a reader with connections closes them here
  }
}
