/** LOAD DATA LOCAL: quicker than INSERT, but it makes warnings of errors and skips duplicates, in strict mode too. */
import { isSyncError, type Logger } from 'syncx/plugin-api';
import { isConnectionLost, isLockTrouble } from '../../connect/mysql-errors.js';
import type { Statements } from '../statements.js';
import { complaintOfError, isDataError, isLoadForbidden } from './data-errors.js';
import type { Delivery } from './deliver.js';
import type { PendingStatement } from './pending-statement.js';
import type { RowForm } from './row-forms.js';

/** After so many files in a row that had to be sent again by INSERT, it is no gain. */
const VAIN_TRIES = 4;
/** A packet, less than the 16 MiB at which the protocol would cut it. */
export const LOAD_PACKET = (1 << 24) - 64;

export class Loader {
  readonly #to: Statements;
  readonly #delivery: Delivery;
  readonly #log: Logger;
  readonly #place: string;
  #off = false;
  #inVain = 0;

  constructor(to: Statements, delivery: Delivery, place: string, log: Logger) {
    this.#to = to;
    this.#delivery = delivery;
    this.#place = place;
    this.#log = log;
  }

  get on(): boolean {
    return !this.#off;
  }

  get limit(): number {
    return Math.min(LOAD_PACKET, this.#delivery.limit);
  }

  /** @param insert The same rows as an INSERT. */
  async send(statement: PendingStatement, insert: RowForm): Promise<void> {
    if (this.#off || statement.bytes > this.limit) return this.#delivery.sendRows(insert, statement.refs());
    this.#delivery.count(statement.bytes);
    if (await this.#loaded(statement)) {
      this.#inVain = 0;
      return undefined;
    }
    if (++this.#inVain >= VAIN_TRIES) this.#turnOff('so many of its rows are refused that it is no gain');
    return this.#delivery.sendRows(insert, statement.refs());
  }

  /** False: nothing of it is in the transaction. */
  async #loaded(statement: PendingStatement): Promise<boolean> {
    const { form, rows } = statement;
    const bytes = statement.finish();
    await this.#to.savepoint();
    try {
      const result = await this.#to.load(form.head.toString(), [bytes], form.doing);
      if (result.affected === rows && (await this.#delivery.warned(result)) === null) return true;
    } catch (e) {
      if (!isSyncError(e) || isConnectionLost(e) || isLockTrouble(e)) throw e;
      if (isLoadForbidden(e)) this.#turnOff(complaintOfError(e).reason);
      else if (!isDataError(e)) throw e;
    }
    await this.#to.rollBack();
    return false;
  }

  #turnOff(why: string): void {
    if (this.#off) return;
    this.#off = true;
    this.#log.info({ table: this.#place, why }, 'LOAD DATA LOCAL is not used; rows go by INSERT');
  }
}
