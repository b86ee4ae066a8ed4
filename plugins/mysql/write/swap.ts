/** A full refresh: rows go into a shadow table, which takes the place of the old one in one step. */
import { SyncError, type RunIdentity } from 'syncx/plugin-api';
import { lookUpTable } from '../catalog/tables.js';
import type { Session } from '../connect/session.js';
import { quoteTable, showTable, type TableName } from '../sql/names.js';
import { assertRowCount, type StepParts } from './run-steps.js';
import type { Target } from './target.js';
import { tiesOf } from './ties.js';

/** Characters that a name of a table may have. */
const MOST_NAME = 64;

function beside(t: TableName, ending: string): TableName {
  return { database: t.database, table: [...t.table].slice(0, MOST_NAME - ending.length).join('') + ending };
}

export const shadowOf = (t: TableName, runId: string): TableName => beside(t, `__syncx_${runId}`);
const oldOf = (t: TableName, runId: string): TableName => beside(t, `__syncx_${runId}_old`);

/** What a table made LIKE another lacks, and would be lost with the old one. @throws SyncError JOB_INVALID */
export async function assertSwappable(session: Session, target: Target): Promise<void> {
  const { facts, name } = target;
  if (facts === null) return;
  const problems = [...(facts.view ? ['it is a view'] : []), ...(await tiesOf(session, name, 'anywhere'))];
  if (problems.length === 0) return;
  throw new SyncError('JOB_INVALID', `${showTable(name)} cannot be swapped: ${problems.join(', ')}`, {
    place: 'writer.parameter.writeStrategy',
    hint: 'These would stay with the old table. Use writeStrategy direct.',
  });
}

/** Anew each time: no row was written before `begin` is done. */
export async function beginSwap(session: Session, target: Target, run: RunIdentity): Promise<void> {
  const shadow = quoteTable(shadowOf(target.name, run.runId));
  await session.run(`drop table if exists ${shadow}`, 'remove an earlier shadow table');
  if (target.facts === null) return; // the first row makes it
  await session.run(`create table ${shadow} like ${quoteTable(target.name)}`, 'create the shadow table');
}

/** A kill between its steps is no trouble: each asks what is there. */
export async function completeSwap(p: StepParts): Promise<void> {
  const { session, target, run } = p;
  const [shadow, old] = [shadowOf(target.name, run.runId), oldOf(target.name, run.runId)];
  if ((await lookUpTable(session, shadow)) !== null) {
    await gate(p, shadow);
    const there = (await lookUpTable(session, target.name)) !== null;
    const [t, s, o] = [target.name, shadow, old].map(quoteTable);
    const aside = there ? `${t ?? ''} to ${o ?? ''}, ` : '';
    p.failpoint('mysql.swap');
    await session.run(
      `rename table ${aside}${s ?? ''} to ${t ?? ''}`,
      `put the new ${showTable(target.name)} in its place`,
    );
    p.failpoint('mysql.swapped');
    p.log.info({ table: showTable(target.name) }, 'the new table is in the place of the old one');
  }
  await session.run(`drop table if exists ${quoteTable(old)}`, 'remove the old table');
}

async function gate(p: StepParts, shadow: TableName): Promise<void> {
  const { session, target, options, run } = p;
  if (!target.exactlyOnce || options.writeMode !== 'insert') return;
  const lanes = await target.commitTable.ofRun(session, run.runId);
  const written = lanes.reduce((n, l) => n + l.rows, 0);
  const [row] = await session.query(
    `select count(*) from ${quoteTable(shadow)}`,
    `count the rows of ${showTable(shadow)}`,
  );
  assertRowCount(written, Number(row?.[0] ?? 0), showTable(shadow));
}

export async function dropShadow(session: Session, target: Target, runId: string): Promise<void> {
  await session.run(`drop table if exists ${quoteTable(shadowOf(target.name, runId))}`, 'remove a shadow table');
}
