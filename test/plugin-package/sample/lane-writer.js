import { SyncError } from 'syncx/plugin-api';
import { showRow } from 'syncx/plugin-kit';

/**
 * @import { LaneWriter, RowBatch } from 'syncx/plugin-api'
 * @import { OpenStaged, StagedLane } from 'syncx/plugin-kit'
 */

/**
 * Writes the rows of one lane to a staged file that nobody sees, and publishes it when the epoch is committed.
 *
 * @implements {LaneWriter}
 */
export class LinesLaneWriter {
  /** @type {OpenStaged | null} */
  open = null;
  size = 0;
  rows = 0;

  /** @param {StagedLane} files */
  constructor(files) {
    this.files = files;
  }

  /** @param {RowBatch} batch */
  async write(batch) {
    if (batch.ops?.some((op) => op !== 0)) {
      throw new SyncError('JOB_INVALID', 'the counter writer got an update or delete; it can only add rows');
    }
    let text = '';
    for (const section of batch.sections) {
      for (let row = 0; row < section.rows; row++) text += `${JSON.stringify(showRow(batch, section, row))}\n`;
    }
    const bytes = Buffer.from(text);
    this.open ??= await this.files.open();
    await this.open.sink.write(bytes);
    this.size += bytes.length;
    this.rows += batch.rows;
    return { rejected: null, bytes: bytes.length };
  }

  /**
   * Phase 1: everything since the last prepare becomes durable, and stays invisible.
   *
   * @param {number} epoch
   */
  async prepare(epoch) {
    if (this.open) await this.files.close(this.open, this.size, this.rows);
    this.forget();
    return { committables: await this.files.prepare(epoch), state: null, rejected: null, bytes: 0 };
  }

  /**
   * Phase 2, once the checkpoint is durable: the files get their names. Twice is once.
   *
   * @param {number} epoch
   */
  async commit(epoch) {
    await this.files.commit(epoch);
  }

  /**
   * The epoch will not be committed: nothing of it stays.
   *
   * @param {number} epoch
   */
  async abort(epoch) {
    this.forget();
    await this.files.abort(epoch);
  }

  forget() {
    this.open = null;
    this.size = 0;
    this.rows = 0;
  }

  async [Symbol.asyncDispose]() {
    this.forget();
    await this.files.dispose();
  }
}
