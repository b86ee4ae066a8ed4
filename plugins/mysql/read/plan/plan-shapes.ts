import { SyncError, isSyncError } from 'syncx/plugin-api';
import { lookUpTable } from '../../catalog/tables.js';
import type { Session } from '../../connect/session.js';
import type { ReaderOptions } from '../../reader-options.js';
import { quoteName, quoteTable, showTable } from '../../sql/names.js';
import { isConstant, isOwn, type Shape, type ShapeColumn } from '../split-spec.js';
import { markOf } from '../table-mark.js';
import { condition, given } from './check-options.js';
import { describeExpressions } from './expressions.js';
import { findSources } from './job-sources.js';
import { describeQuery } from './query-columns.js';
import {
  checkUnchanged,
  expressionsOf,
  shapeColumn,
  shapeOfQuery,
  shapeOfTable,
  showShape,
  type PlannedShape,
} from './shapes.js';
import type { SourceSessions } from './source-sessions.js';
import { wantedColumns } from './wanted-columns.js';

/** What SELECT reads from. */
export function fromOf(shape: Shape): string {
  if (shape.database !== null && shape.table !== null) return `${quoteName(shape.database)}.${quoteName(shape.table)}`;
  return `(${shape.query ?? ''}) chunjun_tmp`;
}

/** Asks the server whether we may read all that, and whether the condition is one. Of queries, it would cost a run of them. */
export async function tryReading(session: Session, shape: Shape, where: string | null): Promise<void> {
  if (shape.query !== null) return;
  const names = [...shape.columns.filter(isOwn), ...shape.orderKey].map((c) => quoteName(c.name));
  const list = names.length === 0 ? '1' : names.join(', ');
  const filter = where === null ? '' : ` where (${where}\n)`;
  await session.query(`select ${list} from ${fromOf(shape)}${filter} limit 0`, `read ${showShape(shape)}`);
}

/** All that the job reads, as it is now. @throws SyncError SOURCE_MISSING, COLUMN_MISMATCH, SOURCE_IO (no right to read) */
export async function planShapes(o: ReaderOptions, sessions: SourceSessions): Promise<readonly PlannedShape[]> {
  const wanted = wantedColumns(o);
  const where = condition(o.where);
  const shapes: PlannedShape[] = [];
  for (const s of await findSources(o, sessions)) {
    shapes.push(
      await sessions.on(s.connection, async (session) => {
        if (s.query !== null) {
          const all = await describeQuery(session, s.query);
          const from = `(${s.query}) chunjun_tmp`;
          const described = await describeExpressions(session, from, 'the query', expressionsOf(all, wanted));
          return shapeOfQuery(s.connection, s.query, all, wanted, described);
        }
        const { name } = s.facts;
        const all = s.facts.columns.map((c) => shapeColumn(c));
        const sql = expressionsOf(all, wanted);
        const described = await describeExpressions(session, quoteTable(name), showTable(name), sql);
        const planned = shapeOfTable(s.connection, s.facts, wanted, given(o.splitPk), described);
        await tryReading(session, planned.shape, where);
        return planned;
      }),
    );
  }
  return shapes;
}

/** With the marks by which lanes tell that a table is still the same one. */
export async function markShapes(
  planned: readonly PlannedShape[],
  sessions: SourceSessions,
): Promise<readonly PlannedShape[]> {
  const marked: PlannedShape[] = [];
  for (const p of planned) {
    const { facts, shape } = p;
    const name = facts === null || facts.view ? null : facts.name;
    const mark = name === null ? null : await sessions.on(shape.connection, (s) => markOf(s, name));
    marked.push(mark === null ? p : { ...p, shape: { ...shape, mark } });
  }
  return marked;
}

/** @throws SyncError SOURCE_CHANGED */
export async function compareShapes(shapes: readonly Shape[], sessions: SourceSessions): Promise<void> {
  for (const shape of shapes) await sessions.on(shape.connection, (s) => compareShape(shape, s));
}

/** Whether its columns are still there, as they were. @throws SyncError SOURCE_CHANGED naming the column. */
export async function compareShape(shape: Shape, s: Session): Promise<void> {
  const computed = shape.columns.flatMap((c) =>
    isConstant(c) || c.expression === undefined ? [] : [{ name: c.name, sql: c.expression }],
  );
  const now = await columnsNow(s, shape);
  // What an expression needs may be gone: that is told by name first.
  checkUnchanged({ ...shape, columns: shape.columns.filter(isOwn) }, now, []);
  const described = await describeExpressions(s, fromOf(shape), showShape(shape), computed).catch((e: unknown) => {
    if (!isSyncError(e) || e.code !== 'COLUMN_MISMATCH') throw e;
    throw new SyncError('SOURCE_CHANGED', e.message, {
      place: showShape(shape),
      cause: e,
      hint: 'The run cannot go on as it began. Undo the change, or start a new run with --fresh.',
    });
  });
  checkUnchanged(shape, now, described);
}

async function columnsNow(session: Session, shape: Shape): Promise<readonly ShapeColumn[]> {
  if (shape.database === null || shape.table === null) return describeQuery(session, shape.query ?? '');
  const facts = await lookUpTable(session, { database: shape.database, table: shape.table });
  if (facts !== null) return facts.columns.map((c) => shapeColumn(c));
  throw new SyncError('SOURCE_CHANGED', `the table ${showShape(shape)} is gone`, {
    place: showShape(shape),
    hint: 'Bring it back, or start a new run with --fresh.',
  });
}
