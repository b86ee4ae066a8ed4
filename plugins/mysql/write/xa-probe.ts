/** Whether prepared branches outlive their connection: tried, as no version tells (MySQL 5.5 rolls them back). */
import { setTimeout as sleep } from 'node:timers/promises';
import { SyncError } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import { quoteText } from '../sql/names.js';
import type { CommitTable } from './commit-table.js';
import { listBranches, rollBackBranch, xidOf } from './xa.js';

const GONE_MS = 5000;

/**
 * Prepares a branch with a row for the commit table, cuts its connection, and rolls it back from another one.
 * @throws SyncError JOB_INVALID where that does not work.
 */
export async function assertXa(open: () => Promise<Session>, table: CommitTable, runId: string): Promise<void> {
  const xid = xidOf(runId, 0, 0, 0);
  const first = await open();
  const { connectionId } = first.server;
  try {
    await first.run(`xa start ${quoteText(xid)}`, 'try XA');
    await table.note(first, { jobId: '', runId: `probe-${runId}`, attempt: 0 }, 0);
    await first.run(`xa end ${quoteText(xid)}`, 'try XA');
    await first.run(`xa prepare ${quoteText(xid)}`, 'try XA');
  } finally {
    first.destroy();
  }
  await using second = await open();
  const gone = `select 1 from information_schema.processlist where id = ${connectionId}`;
  const end = performance.now() + GONE_MS;
  while ((await second.query(gone, 'try XA')).length > 0 && performance.now() < end) await sleep(10);
  if ((await listBranches(second)).some((b) => b.xid === xid)) {
    while (!(await rollBackBranch(second, xid)) && performance.now() < end) await sleep(10);
    return;
  }
  throw new SyncError(
    'JOB_INVALID',
    `this server (${second.server.version}) rolls back prepared transactions when their connection ends`,
    {
      place: 'writer.parameter.commitProtocol',
      hint: 'With xa, committed epochs could be lost here: use commitProtocol marker, which is exactly-once too.',
    },
  );
}
