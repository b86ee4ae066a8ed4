/** The short lock under which all lanes of a `consistent` job begin their transactions. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError, type Logger } from 'syncx/plugin-api';
import { errnoOf, isLockTrouble } from '../../connect/mysql-errors.js';
import type { Session } from '../../connect/session.js';
import { quoteText } from '../../sql/names.js';
import type { Shape } from '../split-spec.js';
import { binlogPosition } from './binlog-position.js';
import { fromOf } from './plan-shapes.js';
import type { LockedAt } from './saved-plan.js';
import { snapshotLock } from './shared-plan.js';
import type { SourceSessions } from './source-sessions.js';

/** The lock itself waits for statements under way, and holds up all that come behind it. */
const LOCK_WAIT_S = 60;
const LANES_WAIT_MS = 60_000;
const ASK_MS = 20;
const DENIED: ReadonlySet<number> = new Set([1227, 1044, 1045]);

interface Held {
  readonly connection: number;
  readonly session: Session;
}

/**
 * The tables of the job alone where that may be: the global lock would stop the job's own writer too, where it writes to the
 * same server. Queries may read any table.
 */
async function lockTables(session: Session, shapes: readonly Shape[]): Promise<'tables' | 'server'> {
  await session.run(`set session lock_wait_timeout = ${String(LOCK_WAIT_S)}`, 'set up the session');
  const tables = shapes.filter((s) => s.query === null);
  const few = `lock tables ${tables.map((s) => `${fromOf(s)} read`).join(', ')}`;
  const all = 'flush tables with read lock';
  const ways = tables.length < shapes.length ? [all] : [few, all];
  for (const [i, sql] of ways.entries()) {
    try {
      await session.run(sql, 'lock the tables for a consistent read');
      return sql === all ? 'server' : 'tables';
    } catch (e) {
      if (isLockTrouble(e)) throw tooBusy(e);
      if (!DENIED.has(errnoOf(e))) throw e;
      if (i === ways.length - 1) throw notAllowed(e, ways.length === 1);
    }
  }
  throw new SyncError('INTERNAL', 'no way to lock the tables');
}

const notAllowed = (cause: unknown, queries: boolean): SyncError =>
  new SyncError('SOURCE_IO', `the user has no right to lock ${queries ? 'what the queries read' : 'the tables'}`, {
    cause,
    retry: 'never',
    blame: 'config',
    hint: `Grant ${queries ? 'RELOAD' : 'LOCK TABLES'}, or leave out \`consistent\`.`,
  });

const tooBusy = (cause: unknown): SyncError =>
  new SyncError('SOURCE_IO', `the tables could not be locked within ${String(LOCK_WAIT_S)} s`, {
    cause,
    hint: 'A statement runs for long on them: try at another time, or leave out `consistent`.',
  });

/** The job's own writer may be who waits: it begins before the lanes do. */
const heldTooLong = (ms: number): SyncError =>
  new SyncError(
    'SOURCE_IO',
    `no lane began to read within ${String(ms / 1000)} s, for which all writing on the server was locked`,
    {
      retry: 'never',
      blame: 'config',
      hint: 'Queries (and tables, without the right LOCK TABLES) are locked by FLUSH TABLES WITH READ LOCK. A target on the same server waits for it: read tables, or leave out `consistent`. A preSql that takes so long does not go with it either.',
    },
  );

export class TableLock implements AsyncDisposable {
  readonly token = randomBytes(6).toString('hex');
  readonly at: LockedAt;
  readonly #held: readonly Held[];
  readonly #lanes: number;
  readonly #signal: AbortSignal;
  #released: Promise<void> | null = null;
  #lost: SyncError | null = null;
  #timer: NodeJS.Timeout | null = null;

  private constructor(held: readonly Held[], at: LockedAt, lanes: number, signal: AbortSignal) {
    this.#held = held;
    this.at = at;
    this.#lanes = lanes;
    this.#signal = signal;
  }

  /** `lanes`: as many as there may be. */
  static async take(
    sessions: SourceSessions,
    shapes: readonly Shape[],
    lanes: number,
    log: Logger,
    signal: AbortSignal,
    longestMs = LANES_WAIT_MS,
  ): Promise<TableLock> {
    const held: Held[] = [];
    let server = false;
    try {
      for (const connection of new Set(shapes.map((s) => s.connection))) {
        const session = await sessions.separate(connection);
        held.push({ connection, session });
        const mine = shapes.filter((s) => s.connection === connection);
        if ((await lockTables(session, mine)) === 'server') server = true;
      }
      const positions: (string | null)[] = [];
      for (const { session } of held) positions.push(await binlogPosition(session));
      if (positions.includes(null)) {
        log.warn(
          {},
          'the server tells no binlog position: where this run is broken off, it can only begin again (--fresh)',
        );
      }
      const lock = new TableLock(held, { positions }, lanes, signal);
      if (server) lock.#endAfter(longestMs);
      return lock;
    } catch (e) {
      for (const h of held) h.session.destroy();
      throw e;
    }
  }

  #endAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#lost = heldTooLong(ms);
      this.#destroy();
    }, ms);
  }

  #destroy(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { session } of this.#held) session.destroy();
  }

  /** Lanes are about to begin: the lock goes once all have, without anybody asking. */
  watch(): void {
    this.#released ??= this.#afterLanes();
    this.#released.catch(() => undefined); // `release` tells it
  }

  /** After `watch`: once all lanes have begun. Else at once. @throws SyncError where the lock was lost before that. */
  release(): Promise<void> {
    return (this.#released ??= this.#unlock());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#destroy();
    await this.#released?.catch(() => undefined);
  }

  async #afterLanes(): Promise<void> {
    try {
      for (const h of this.#held) await this.#begun(h);
      await this.#unlock();
    } catch (e) {
      this.#destroy();
      throw this.#lost ?? e;
    }
  }

  async #begun({ session, connection }: Held): Promise<void> {
    const until = performance.now() + LANES_WAIT_MS;
    const name = (lane: number, lanes: number): string => quoteText(snapshotLock(this.token, connection, lane, lanes));
    const counts = Array.from({ length: Math.max(1, this.#lanes) }, (_, i) => i + 1);
    for (;;) {
      const first = await this.#used(
        session,
        counts.map((n) => name(0, n)),
      );
      const lanes = first.indexOf(true) + 1;
      const others = counts.slice(1, lanes).map((n) => name(n - 1, lanes));
      if (lanes > 0 && (await this.#used(session, others)).every((used) => used)) return;
      if (performance.now() > until) {
        throw new SyncError('SOURCE_IO', `not all lanes began to read within ${String(LANES_WAIT_MS / 1000)} s`, {
          hint: 'The lock on the tables is given back. Try again with fewer channels.',
        });
      }
      await sleep(ASK_MS, undefined, { signal: this.#signal });
    }
  }

  async #used(session: Session, names: readonly string[]): Promise<readonly boolean[]> {
    if (names.length === 0) return [];
    const list = names.map((n) => `is_used_lock(${n}) is not null`).join(', ');
    const [row] = await session.query(`select ${list}`, 'wait for the lanes to begin');
    return (row ?? []).map((v) => v === '1');
  }

  /** That the lock held until now is shown by the statement's success: a session that broke has lost it. */
  async #unlock(): Promise<void> {
    if (this.#lost !== null) throw this.#lost;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { session } of this.#held) await session.run('unlock tables', 'unlock the tables');
    await Promise.all(this.#held.map((h) => h.session[Symbol.asyncDispose]()));
  }
}

/** For plans, which lock nothing: how it is just now. */
export async function positionsNow(sessions: SourceSessions, shapes: readonly Shape[]): Promise<LockedAt> {
  const positions: (string | null)[] = [];
  for (const c of new Set(shapes.map((s) => s.connection))) positions.push(await sessions.on(c, binlogPosition));
  return { positions };
}

/**
 * A run whose snapshot is lost goes on only where nothing was written since, so that a new one shows the same rows.
 * @throws SyncError SOURCE_CHANGED
 */
export function checkUnwritten(then: LockedAt, now: LockedAt): void {
  const same =
    then.positions.length === now.positions.length &&
    then.positions.every((p, i) => p !== null && p === now.positions[i]);
  if (same) return;
  const told = then.positions.includes(null) ? 'cannot be told' : 'is not the case';
  throw new SyncError(
    'SOURCE_CHANGED',
    `a consistent read goes on only where nothing was written since it began, which ${told}`,
    {
      hint: 'Start a new run with --fresh, or read without `consistent`.',
    },
  );
}
