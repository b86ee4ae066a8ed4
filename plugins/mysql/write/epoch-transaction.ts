import { SyncError, isSyncError, toSyncError, type Logger } from 'syncx/plugin-api';
import { errnoOf } from '../connect/mysql-errors.js';
import type { RunResult, Session } from '../connect/session.js';
import { statementBuffer } from '../connect/raw-connection.js';
import type { Brackets } from './brackets.js';
import { killMarked, markOf, type ConnectionMark } from './connection-mark.js';
import { backOff, TRIES, triedInVain, troubleOf, type Trouble } from './retry.js';
import type { Statements } from './statements.js';

export interface TransactionParts {
  open(): Promise<Session>;
  /** On each new connection, before anything else: notes it where a later start finds it. @throws SyncError FENCED */
  adopt(session: Session, mark: ConnectionMark): Promise<void>;
  readonly brackets: Brackets;
  /** False: the table keeps what a broken statement wrote, so nothing may be sent again. */
  readonly transactional: boolean;
  /** The table, for messages. */
  readonly place: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** More than this is not kept for sending it again; then the job goes back to its last checkpoint. */
const MOST_KEPT_BYTES = 64 << 20;

interface Sent {
  readonly bytes: number;
  send(session: Session): Promise<RunResult>;
  /** Of a statement whose first result was the caller's to judge: the same must come of it again. */
  readonly same: ((again: RunResult) => boolean) | null;
}

/**
 * The transaction of one epoch after the other, on a connection that is replaced where it breaks. Keeps what was sent, so
 * that it can be sent again after a deadlock, a lock wait, or a lost connection.
 */
export class EpochTransaction implements Statements {
  readonly #p: TransactionParts;
  #session: Session | null = null;
  /** The newest there was: for facts of the server. */
  #facts: Session | null = null;
  #mark: ConnectionMark | null = null;
  /** Begun on the session that is there. */
  #begun = false;
  /** Null: too much to be kept. */
  #sent: Sent[] | null = [];
  #keptBytes = 0;
  /** How many statements stood before the savepoint; null: there is none. */
  #savedAt: number | null = null;
  #stopped = false;

  constructor(parts: TransactionParts) {
    this.#p = parts;
  }

  get session(): Session {
    const session = this.#session ?? this.#facts;
    if (session === null) throw new SyncError('INTERNAL', 'no session is open');
    return session;
  }

  /** Whether nothing was sent since the last end. */
  get empty(): boolean {
    return this.#sent?.length === 0;
  }

  get mark(): ConnectionMark | null {
    return this.#mark;
  }

  /** A connection is there; a transaction need not be. */
  async ready(): Promise<Session> {
    if (this.#session?.broken === false) return this.#session;
    return this.#trying(false, (session) => Promise.resolve(session));
  }

  run(statement: Buffer, doing: string): Promise<RunResult> {
    return this.#take({ bytes: statement.length, send: (s) => s.run(statement, doing), same: null });
  }

  /** A statement that must match a row, now and whenever it is sent again. */
  runMatching(sql: string, doing: string): Promise<RunResult> {
    const statement = statementBuffer(sql);
    return this.#take({ bytes: statement.length, send: (s) => s.run(statement, doing), same: (r) => r.affected > 0 });
  }

  load(sql: string, packets: readonly Buffer[], doing: string): Promise<RunResult> {
    const bytes = packets.reduce((n, p) => n + p.length, sql.length);
    let first: RunResult | null = null;
    return this.#take({
      bytes,
      send: async (s) => {
        const r = await s.load(sql, packets, doing);
        first ??= r;
        return r;
      },
      same: (r) => first === null || (r.affected === first.affected && r.warnings === first.warnings),
    });
  }

  async savepoint(): Promise<void> {
    await this.#trying(true, (s) => s.run('savepoint syncx', 'set a savepoint'));
    this.#savedAt = this.#sent?.length ?? 0;
  }

  async rollBack(): Promise<void> {
    const at = this.#savedAt;
    if (at === null) throw new SyncError('INTERNAL', 'there is no savepoint to go back to');
    // First: where the connection breaks now, what is sent again must end at the savepoint.
    for (const s of this.#sent?.splice(at) ?? []) this.#keptBytes -= s.bytes;
    await this.#trying(true, (s) => s.run('rollback to savepoint syncx', 'go back to a savepoint'));
  }

  /**
   * Ends the transaction by `end`. Where the connection breaks over it, `landed` tells on a new one whether it took
   * effect; if not, all is sent again and ended again.
   */
  async commit(
    end: (session: Session) => Promise<void>,
    landed: (session: Session) => Promise<boolean>,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const before = this.#session;
        const usable = this.#begun && before !== null && !before.broken;
        const session = usable ? before : await this.#reopenAsking(landed);
        if (session !== null) await end(session);
        this.#forget();
        return;
      } catch (e) {
        await this.#mend(e, tries);
      }
    }
  }

  /** Something that may be tried again as it is, with no transaction open. */
  outside<T>(f: (session: Session) => Promise<T>): Promise<T> {
    return this.#trying(false, f);
  }

  /** Undoes all since the last end. Never fails: a connection that is gone has undone it too. */
  async abort(): Promise<void> {
    const session = this.#session;
    this.#forget();
    if (session === null) return;
    try {
      if (!session.broken) await this.#p.brackets.rollBack(session);
    } catch {
      session.destroy();
    }
    if (session.broken) this.#session = null;
  }

  /** Breaks off what is under way. Nothing can be sent afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#session?.destroy();
  }

  async close(): Promise<void> {
    this.#stopped = true;
    const session = this.#session;
    this.#session = null;
    if (session === null) return;
    if (this.#begun) session.destroy();
    else await session[Symbol.asyncDispose]();
  }

  #forget(): void {
    this.#begun = false;
    this.#sent = [];
    this.#keptBytes = 0;
    this.#savedAt = null;
  }

  async #take(sent: Sent): Promise<RunResult> {
    const result = await this.#trying(true, (session) => sent.send(session));
    if (sent.same !== null && !sent.same(result)) return result; // the caller's to judge; nothing to keep
    this.#keptBytes += sent.bytes;
    if (this.#keptBytes > MOST_KEPT_BYTES) this.#sent = null;
    this.#sent?.push(sent);
    return result;
  }

  async #trying<T>(inTransaction: boolean, f: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        const session = await this.#ensure(inTransaction);
        return await f(session);
      } catch (e) {
        await this.#mend(e, tries);
      }
    }
  }

  async #ensure(inTransaction: boolean): Promise<Session> {
    if (this.#stopped) throw new SyncError('SINK_IO', 'the lane is closed', { place: this.#p.place });
    let session = this.#session;
    if (session === null || session.broken) session = await this.#reopen();
    if (inTransaction && !this.#begun) {
      await this.#p.brackets.begin(session);
      await this.#replay(session);
      this.#begun = true;
    }
    return session;
  }

  async #reopen(): Promise<Session> {
    if (this.#session !== null) this.#tellBroken();
    this.#begun = false;
    this.#session?.destroy();
    this.#session = null;
    const session = await this.#p.open();
    try {
      const mark = await markOf(session);
      // Its transaction would keep its locks for as long as the server believes in it.
      if (this.#mark !== null) await killMarked(session, this.#mark);
      await this.#p.adopt(session, mark);
      this.#mark = mark;
    } catch (e) {
      session.destroy();
      throw e;
    }
    this.#session = session;
    this.#facts = session;
    return session;
  }

  /** @returns null: the end took effect before the connection broke; else the session, with all sent again. */
  async #reopenAsking(landed: (session: Session) => Promise<boolean>): Promise<Session | null> {
    const session = await this.#ensure(false);
    if (await landed(session)) return null;
    return this.#ensure(true);
  }

  async #replay(session: Session): Promise<void> {
    if (this.#sent === null) {
      throw new SyncError(
        'SINK_IO',
        `a transaction of ${this.#p.place} was undone, and is too large to be sent again`,
        {
          place: this.#p.place,
          retry: 'reconnect',
          hint: 'The job goes on from its last checkpoint where it may restart; lower epochBytes.',
        },
      );
    }
    for (const [i, s] of this.#sent.entries()) {
      if (i === this.#savedAt) await session.run('savepoint syncx', 'set a savepoint');
      let result: RunResult;
      try {
        result = await s.send(session);
      } catch (e) {
        if (troubleOf(e) !== null) throw e;
        throw this.#notAgain(toSyncError(e).message);
      }
      if (s.same !== null && !s.same(result)) throw this.#notAgain('the same statement gave another result');
    }
    if (this.#savedAt === this.#sent.length) await session.run('savepoint syncx', 'set a savepoint');
  }

  /** Without a cause, as the statement that is being run is not the one that failed. */
  #notAgain(why: string): SyncError {
    return new SyncError('SINK_IO', `a transaction of ${this.#p.place} was undone, and cannot be sent again: ${why}`, {
      place: this.#p.place,
      retry: 'reconnect',
      hint: 'Somebody else writes to the table; the job goes on from its last checkpoint where it may restart.',
    });
  }

  /** Makes ready for another try. @throws the error where none can help. */
  async #mend(e: unknown, tries: number): Promise<void> {
    const trouble = this.#stopped ? null : troubleOf(e);
    if (trouble === null) throw e;
    const safe = trouble === 'waited' || this.#p.transactional || !this.#begun;
    if (!safe) throw e;
    if (tries >= TRIES) throw triedInVain(e);
    this.#tell(e, trouble, tries);
    await backOff(tries, this.#p.signal);
    if (trouble === 'lost') {
      this.#session?.destroy();
      this.#session = null; // it is told
      return;
    }
    const session = this.#session;
    if (session === null || !this.#begun) return;
    if (trouble === 'waited' && !(await wholeUndone(session))) return;
    this.#begun = false;
    await this.#p.brackets.rollBack(session).catch(() => {
      session.destroy();
    });
  }

  /** It broke between two statements, so that none of them failed. */
  #tellBroken(): void {
    const fields = { table: this.#p.place, statements: this.#sent?.length ?? 0 };
    if (this.#begun)
      this.#p.log.warn(fields, 'the connection was lost in a transaction, which is sent again on a new one');
    else this.#p.log.info(fields, 'the connection was closed while idle; a new one is opened');
  }

  #tell(e: unknown, trouble: Trouble, tries: number): void {
    const fields = { table: this.#p.place, try: tries, of: TRIES, number: errnoOf(e) };
    const words = isSyncError(e) ? e.message : String(e);
    // A server closes idle connections as it likes; nothing was under way.
    const idle = trouble === 'lost' && !this.#begun && this.#sent?.length === 0;
    if (idle && tries === 1) this.#p.log.info(fields, `the connection was closed while idle: ${words}`);
    else this.#p.log.warn(fields, `${words}; trying again`);
  }
}

/** `innodb_rollback_on_timeout`: by default a lock wait undoes its statement only. */
async function wholeUndone(session: Session): Promise<boolean> {
  try {
    const [row] = await session.query('select @@global.innodb_rollback_on_timeout', 'ask how lock waits end');
    return row?.[0] === '1';
  } catch {
    return true;
  }
}
