/** Sends rows, and finds the bad ones among them without losing or doubling their neighbours. */
import { SyncError, type RejectedRow } from 'syncx/plugin-api';
import type { RunResult } from '../../connect/session.js';
import type { Statements } from '../statements.js';
import { complaintOfError, complaintOfWarnings, isDataError, isDuplicate, type Complaint } from './data-errors.js';
import { PendingStatement, type RowRef } from './pending-statement.js';
import { refusalOf, rejectedRow } from './refusal.js';
import type { RowForm } from './row-forms.js';

/** Of a statement, beside its bytes, below max_allowed_packet. */
const PACKET_SLACK = 64;

export interface DeliveryOptions {
  /** False: the table keeps what a broken statement wrote. Then each statement is of one row. */
  readonly transactional: boolean;
  /** Bytes of a statement, about. */
  readonly target: number;
  readonly place: string;
}

export class Delivery {
  readonly #to: Statements;
  readonly #o: DeliveryOptions;
  #rejected: RejectedRow[] = [];
  #bytes = 0;
  /** Rows that were there already, and stayed (`insert-ignore`). */
  ignored = 0;

  constructor(to: Statements, options: DeliveryOptions) {
    this.#to = to;
    this.#o = options;
  }

  /** Bytes that no statement may pass. */
  get limit(): number {
    return this.#to.session.server.maxAllowedPacket - PACKET_SLACK;
  }

  takeRejected(): readonly RejectedRow[] | null {
    const rows = this.#rejected;
    this.#rejected = [];
    return rows.length === 0 ? null : rows;
  }

  takeBytes(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  reject(form: RowForm, { piece, row }: RowRef): void {
    this.#rejected.push(rejectedRow(piece, row, refusalOf(form, piece, row)));
  }

  /** Sends it; where the server complains of a row, finds that row and sends the others. */
  async send(statement: PendingStatement): Promise<void> {
    if (statement.rows === 0) return;
    const [only] = statement.rows === 1 ? statement.refs() : [];
    if (only !== undefined && statement.bytes > this.limit) {
      this.#tooLarge(only, statement.bytes);
      return;
    }
    this.#bytes += statement.bytes;
    const complaint = await this.#attempt(statement, { at: false });
    if (complaint !== null) await this.#crawl(statement.form, statement.refs(), complaint);
  }

  /** Rows of a statement that did not come through as it was. */
  async sendRows(form: RowForm, refs: readonly RowRef[]): Promise<void> {
    const { target } = this.#o;
    let open: PendingStatement | null = null;
    for (let i = 0; i < refs.length;) {
      const ref = refs[i];
      if (ref === undefined) break;
      open ??= new PendingStatement(form, Math.min(target, this.limit), this.limit, false);
      const how = open.append(ref.piece, ref.row);
      if (how === 'refused') this.reject(form, ref);
      if (how === 'huge') this.rejectHuge(form, ref);
      if (how !== 'full') i++;
      if (how !== 'full' && !open.full) continue;
      await this.send(open);
      open = null;
    }
    if (open !== null) await this.send(open);
  }

  /**
   * Rows of one statement that the server complained of. Goes on in steps as long as the way was good so far: few bad rows cost
   * few statements, and where all are bad it is one a row.
   */
  async #crawl(form: RowForm, refs: readonly RowRef[], complaint: Complaint): Promise<void> {
    let words: Complaint | null = complaint;
    let step = refs.length;
    let good = 0;
    // A statement that failed has left nothing, so the savepoint before it is good for the next one too.
    const saved = { at: true };
    for (let i = 0; i < refs.length;) {
      const some = refs.slice(i, i + step);
      const [only] = some;
      words ??= await this.#attempt(this.#statementOf(form, some), saved);
      if (words === null) {
        i += some.length;
        good += some.length;
        step = Math.max(step * 2, good);
      } else if (some.length > 1) {
        step =
          words.atRow > 1 && words.atRow <= some.length ? words.atRow - 1 : words.atRow === 1 ? 1 : some.length >> 1;
      } else if (only !== undefined) {
        this.#rejected.push(rejectedRow(only.piece, only.row, words));
        i++;
        step = Math.max(1, good);
        good = 0;
      }
      words = null;
    }
  }

  #statementOf(form: RowForm, refs: readonly RowRef[]): PendingStatement {
    const statement = new PendingStatement(form, this.limit, this.limit, false);
    for (const { piece, row } of refs) {
      if (statement.append(piece, row) === 'taken') continue;
      throw new SyncError('INTERNAL', 'a row that was in a statement cannot be written into another', {
        place: this.#o.place,
      });
    }
    return statement;
  }

  /** What the statement that has just ended was warned of; null: nothing that matters. */
  async warned({ warnings }: RunResult): Promise<Complaint | null> {
    if (warnings === 0) return null;
    const words = await this.#to.session.query('show warnings', 'ask what the server warned of');
    return complaintOfWarnings(words, warnings);
  }

  /**
   * @param saved Whether nothing was stored since the last savepoint, which is ours.
   * @returns null: the rows are in the transaction; else nothing of the statement is.
   */
  async #attempt(statement: PendingStatement, saved: { at: boolean }): Promise<Complaint | null> {
    const { form, rows } = statement;
    const bytes = statement.finish();
    const { transactional } = this.#o;
    const keepsOld = form.keepsOld === true;
    if (transactional && !saved.at) await this.#to.savepoint();
    saved.at = true;
    let result: RunResult;
    try {
      result = await this.#to.run(bytes, form.doing);
    } catch (e) {
      if (!isDataError(e)) throw e;
      if (!(keepsOld && rows === 1 && isDuplicate(e))) return complaintOfError(e);
      this.ignored++;
      return null;
    }
    const complaint = await this.warned(result);
    if (complaint !== null) {
      if (!transactional) throw this.#stored(complaint);
      await this.#to.rollBack();
      return complaint;
    }
    saved.at = false;
    if (form.found && result.affected === 0) {
      return {
        column: null,
        atRow: 0,
        reason: `the target has no row with this key, and the change has not all of its columns`,
      };
    }
    // Both numbers count a row that stays once on some servers and twice on others; what is left are the new ones.
    if (keepsOld && rows > 1) this.ignored += rows - (result.affected - result.duplicates);
    return null;
  }

  /** A row whose cells alone are too many bytes. */
  rejectHuge(form: RowForm, ref: RowRef): void {
    this.#tooLarge(ref, form.cells(ref.piece, ref.row) + form.head.length);
  }

  #tooLarge({ piece, row }: RowRef, bytes: number): void {
    const size = `the row takes ${String(bytes)} bytes as a statement`;
    const most = String(this.#to.session.server.maxAllowedPacket);
    const reason = `${size}, and max_allowed_packet of the server is ${most}: raise it there`;
    this.#rejected.push(rejectedRow(piece, row, { column: null, reason }));
  }

  #stored(complaint: Complaint): SyncError {
    return new SyncError(
      'SINK_CONFLICT',
      `${this.#o.place} has stored a row otherwise than it is: ${complaint.reason}`,
      {
        place: this.#o.place,
        hint: 'The table keeps what was written, as its engine knows no transactions: mend the row there, and the column.',
      },
    );
  }
}
