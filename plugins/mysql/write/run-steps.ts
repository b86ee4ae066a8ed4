/** What happens once in a run: preSql before its first row, postSql and the swap after its last one. */
import { SyncError, type Logger, type RunIdentity } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import type { WriterOptions } from '../writer-options.js';
import { RUN_BEGUN, RUN_COMPLETED, RUN_LANE, type CommitTable } from './commit-table.js';
import { firstWord, isPlainDml } from './split-sql.js';
import { statementsOf, type Target } from './target.js';

export interface StepParts {
  readonly session: Session;
  readonly options: WriterOptions;
  readonly target: Target;
  readonly run: RunIdentity;
  readonly log: Logger;
  failpoint(step: string): void;
}

/** Whether these statements run once whatever happens; else they run again after a kill at a bad moment. */
export function runsOnce(texts: readonly string[], target: Pick<Target, 'exactlyOnce'>): boolean {
  return target.exactlyOnce && statementsOf(texts).every(isPlainDml);
}

export async function runStep(p: StepParts, which: 'preSql' | 'postSql'): Promise<void> {
  const step = which === 'preSql' ? RUN_BEGUN : RUN_COMPLETED;
  const texts = p.options[which];
  const statements = statementsOf(texts);
  if (statements.length === 0) return;
  const table = p.target.exactlyOnce ? p.target.commitTable : null;
  if (table === null) return runAll(p, which, statements);
  if (runsOnce(texts, p.target)) return inOneTransaction(p, which, statements, table, step);
  if (await isDone(p, table, step)) return;
  await runAll(p, which, statements);
  await table.note(p.session, p.run, step);
}

async function isDone(p: StepParts, table: CommitTable, step: number): Promise<boolean> {
  const row = await table.read(p.session, p.run.runId, RUN_LANE);
  return row !== null && row.epoch >= step;
}

async function inOneTransaction(
  p: StepParts,
  which: 'preSql' | 'postSql',
  statements: readonly string[],
  table: CommitTable,
  step: number,
): Promise<void> {
  const { session } = p;
  await session.run('start transaction', 'begin a transaction');
  try {
    const row = await table.readLocked(session, p.run.runId, RUN_LANE);
    if (row === null || row.epoch < step) {
      await runAll(p, which, statements);
      await table.note(session, p.run, step);
      p.failpoint(`mysql.${which}`);
    }
    await session.run('commit', `commit ${which}`);
  } catch (e) {
    if (!session.broken) await session.run('rollback', 'roll back').catch(() => undefined);
    throw e;
  }
}

async function runAll(p: StepParts, which: 'preSql' | 'postSql', statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const short = statement.length > 80 ? `${statement.slice(0, 77)}...` : statement;
    const began = performance.now();
    const { affected } = await resultOf(p.session, statement, `run ${which}: ${short}`);
    p.log.info({ rows: affected, ms: Math.round(performance.now() - began) }, `${which}: ${short}`);
  }
}

/** The rows of a result are nobody's. */
async function resultOf(session: Session, statement: string, doing: string): Promise<{ readonly affected: number }> {
  if (!RESULTS.has(firstWord(statement))) return session.run(statement, doing);
  await session.stream(statement, { fields: () => undefined, row: () => undefined }, doing);
  return { affected: 0 };
}

const RESULTS: ReadonlySet<string> = new Set([
  'select',
  'with',
  'values',
  'table',
  'show',
  'check',
  'analyze',
  'optimize',
]);

/** @throws SyncError SINK_CONFLICT where rows are missing, or too many. */
export function assertRowCount(expected: number, found: number, place: string): void {
  if (expected === found) return;
  throw new SyncError('SINK_CONFLICT', `${place} holds ${String(found)} rows, and ${String(expected)} were written`, {
    place,
    hint: 'The old table stays. Did somebody else write to the new one, or does it drop rows by triggers?',
  });
}
