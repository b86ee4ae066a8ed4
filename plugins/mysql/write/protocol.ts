/** How a lane ends its epochs: what is done to the open transaction in prepare and in commit. */
import { SyncError, type Committable, type LaneContext } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import type { TableName } from '../sql/names.js';
import type { ConnectionMark } from './connection-mark.js';
import { fencedError, type CommitTable, type LaneId } from './commit-table.js';
import type { EpochTransaction } from './epoch-transaction.js';

/** What a checkpoint keeps of a prepared epoch. */
export interface CommittableData {
  readonly format: 1;
  readonly protocol: 'marker' | 'xa';
  readonly commitTable: { readonly database: string; readonly table: string };
  readonly runId: string;
  readonly lane: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly connectionId: string;
  /** Of xa; null: marker. */
  readonly xid: string | null;
}

export interface LaneProtocol {
  /** Before the first row of an epoch. */
  begin?(): Promise<void>;
  /** @returns null: the epoch needs no evidence, as nothing can be lost of it. */
  prepare(epoch: number, rows: number): Promise<Committable | null>;
  commit(epoch: number): Promise<void>;
  abort(): Promise<void>;
}

export interface MarkerParts {
  readonly tx: EpochTransaction;
  readonly table: CommitTable;
  readonly id: LaneId;
  readonly lane: LaneContext;
  /** Where the rows will be. */
  readonly place: string;
}

export const tableJson = (t: TableName): CommittableData['commitTable'] => ({ database: t.database, table: t.table });

/** Rows and the lane's marker in one transaction that is open until the checkpoint is durable. */
export class MarkerProtocol implements LaneProtocol {
  readonly #p: MarkerParts;

  constructor(parts: MarkerParts) {
    this.#p = parts;
  }

  async prepare(epoch: number, rows: number): Promise<Committable> {
    const { tx, lane } = this.#p;
    await moveMarker(this.#p, epoch, rows);
    lane.failpoint('mysql.prepared');
    return committable(this.#p, epoch, rows, tx.mark?.id ?? '', null);
  }

  async commit(epoch: number): Promise<void> {
    const { tx, table, id, lane } = this.#p;
    lane.failpoint('mysql.committing');
    await tx.commit(
      async (session) => {
        await session.run('commit', 'commit an epoch');
      },
      // The connection is gone and cannot commit any more; what it did before, the row tells.
      async (session) => ((await table.readLocked(session, id.runId, id.lane))?.epoch ?? -1) >= epoch,
    );
    lane.failpoint('mysql.committed');
  }

  abort(): Promise<void> {
    return this.#p.tx.abort();
  }
}

/** Inside the open transaction. @throws SyncError FENCED */
export async function moveMarker(p: MarkerParts, epoch: number, rows: number): Promise<void> {
  const { tx, table, id, lane } = p;
  lane.failpoint('mysql.marker');
  const { affected } = await tx.runMatching(table.moveTo(epoch, id, rows), `note an epoch in ${table.shown}`);
  if (affected > 0) return;
  await tx.abort();
  throw fencedError(id, table.shown);
}

export function committable(
  p: MarkerParts,
  epoch: number,
  rows: number,
  connectionId: string,
  xid: string | null,
): Committable {
  const { runId, lane, attempt } = p.id;
  const protocol = xid === null ? 'marker' : 'xa';
  const commitTable = tableJson(p.table.name);
  const data = { format: 1, protocol, commitTable, runId, lane, epoch, attempt, connectionId, xid };
  return { data, rows, place: p.place };
}

/** @throws SyncError STATE_CORRUPT */
export function committableData(c: Committable): CommittableData {
  const data = c.data as unknown as CommittableData;
  if ((data as { format?: unknown } | null)?.format === 1) return data;
  throw new SyncError('STATE_CORRUPT', 'a prepared epoch of MySQL has a form that this version does not know', {
    hint: 'Run the job with the version that wrote it.',
  });
}

/** What is done on each new connection of a lane. @throws SyncError FENCED */
export function adoption(table: CommitTable, id: LaneId): (session: Session, mark: ConnectionMark) => Promise<void> {
  let registered = false;
  return async (session, mark) => {
    const mine = registered ? await table.claim(session, id, mark) : await table.register(session, id, mark);
    if (!mine) throw fencedError(id, table.shown);
    registered = true;
  };
}

/** At-least-once: every batch is committed as it comes. */
export class PlainProtocol implements LaneProtocol {
  readonly #tx: EpochTransaction;

  constructor(tx: EpochTransaction) {
    this.#tx = tx;
  }

  async prepare(): Promise<null> {
    await this.end();
    return null;
  }

  async commit(): Promise<void> {
    // All was committed before.
  }

  async end(): Promise<void> {
    if (this.#tx.empty) return;
    await this.#tx.commit(
      async (session) => {
        await session.run('commit', 'commit rows');
      },
      () => Promise.resolve(false),
    );
  }

  abort(): Promise<void> {
    return this.#tx.abort();
  }
}
