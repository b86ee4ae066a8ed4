import { SyncError, isSyncError } from 'syncx/plugin-api';
import { isConnectionLost } from '../../connect/mysql-errors.js';
import { openSession, type Endpoint, type Session } from '../../connect/session.js';

const TRIES = 3;

/** The planner's sessions, one for each entry of `connection`, opened when first needed and anew where they broke. */
export class SourceSessions implements AsyncDisposable {
  readonly #connections: readonly (readonly Endpoint[])[];
  readonly #signal: AbortSignal;
  readonly #open = new Map<number, Promise<Session>>();

  constructor(connections: readonly (readonly Endpoint[])[], signal: AbortSignal) {
    this.#connections = connections;
    this.#signal = signal;
  }

  /** The database that the entry's tables are in where they do not say; null: it names none. */
  databaseOf(connection: number): string | null {
    return this.#endpoints(connection).find((e) => e.database !== null)?.database ?? null;
  }

  /** `ask` must only read: it is called again, with a new session, where the connection was lost. */
  async on<T>(connection: number, ask: (session: Session) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let left = TRIES; ; left--) {
      const session = await this.#session(connection);
      const stop = (): void => session.destroy();
      signal?.addEventListener('abort', stop);
      try {
        signal?.throwIfAborted();
        return await ask(session);
      } catch (e) {
        signal?.throwIfAborted();
        if (session.broken) this.#open.delete(connection);
        if (left <= 1 || !isSyncError(e) || !isConnectionLost(e)) throw e;
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    }
  }

  /** A session of its own, for locks; the caller closes it. */
  separate(connection: number): Promise<Session> {
    return openSession(this.#endpoints(connection), { side: 'source' }, this.#signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(all.map(async (s) => (await s)[Symbol.asyncDispose]()));
  }

  async #session(connection: number): Promise<Session> {
    const known = await this.#open.get(connection)?.catch(() => null);
    if (known !== undefined && known !== null && !known.broken) return known;
    const opening = this.separate(connection);
    this.#open.set(connection, opening);
    return opening;
  }

  #endpoints(connection: number): readonly Endpoint[] {
    const endpoints = this.#connections[connection];
    if (endpoints === undefined) {
      throw new SyncError(
        'STATE_MISFIT',
        `the saved plan reads from connection[${String(connection)}], which the job does not have`,
      );
    }
    return endpoints;
  }
}
