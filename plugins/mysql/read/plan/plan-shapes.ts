import { SyncError } from 'syncx/plugin-api';
import { lookUpTable } from '../../catalog/tables.js';
import type { Session } from '../../connect/session.js';
import type { ReaderOptions } from '../../reader-options.js';
import { quoteName } from '../../sql/names.js';
import { isConstant, type Shape, type ShapeColumn } from '../split-spec.js';
import { given } from './check-options.js';
import { findSources } from './job-sources.js';
import { describeQuery } from './query-columns.js';
import { checkUnchanged, shapeColumn, shapeOfQuery, shapeOfTable, showShape, type PlannedShape } from './shapes.js';
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
  const names = [...shape.columns.filter((c) => !isConstant(c)), ...shape.orderKey].map((c) => quoteName(c.name));
  const list = names.length === 0 ? '1' : names.join(', ');
  const filter = where === null ? '' : ` where (${where}\n)`;
  await session.query(`select ${list} from ${fromOf(shape)}${filter} limit 0`, `read ${showShape(shape)}`);
}

/** All that the job reads, as it is now. @throws SyncError SOURCE_MISSING, COLUMN_MISMATCH, SOURCE_IO (no right to read) */
export async function planShapes(o: ReaderOptions, sessions: SourceSessions): Promise<readonly PlannedShape[]> {
  const wanted = wantedColumns(o);
  const where = given(o.where);
  const shapes: PlannedShape[] = [];
  for (const s of await findSources(o, sessions)) {
    shapes.push(
      await sessions.on(s.connection, async (session) => {
        if (s.query !== null) {
          return shapeOfQuery(s.connection, s.query, await describeQuery(session, s.query), wanted);
        }
        const planned = shapeOfTable(s.connection, s.facts, wanted, given(o.splitPk));
        await tryReading(session, planned.shape, where);
        return planned;
      }),
    );
  }
  return shapes;
}

/** @throws SyncError SOURCE_CHANGED */
export async function compareShapes(shapes: readonly Shape[], sessions: SourceSessions): Promise<void> {
  for (const shape of shapes) checkUnchanged(shape, await sessions.on(shape.connection, (s) => columnsNow(s, shape)));
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
