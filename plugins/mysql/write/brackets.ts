/** What stands around the statements of an epoch: an ordinary transaction, or a branch of XA. */
import type { Session } from '../connect/session.js';

export interface Brackets {
  begin(session: Session): Promise<void>;
  /** On a session whose transaction is open, or was undone by the server. */
  rollBack(session: Session): Promise<void>;
}

export const PLAIN_TRANSACTION: Brackets = {
  async begin(session) {
    await session.run('start transaction', 'begin a transaction');
  },
  async rollBack(session) {
    await session.run('rollback', 'roll back');
  },
};
