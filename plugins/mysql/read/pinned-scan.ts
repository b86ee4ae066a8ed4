/**
 * Keeps to one way of reading a table whose rows have no order of their own. A resume compares them with those that were
 * read before, and the server may go by another index, and so give them in another order, once the table has grown.
 */
import type { Session } from '../connect/session.js';
import { quoteName } from '../sql/names.js';
import type { Shape } from './split-spec.js';

/** The index that the server goes by; null: by none, through the table itself. */
export type Scan = string | null;

/** How the server would read rows of the shape by this SELECT; undefined: no single index says it, or it is a query or view. */
export async function chosenScan(session: Session, shape: Shape, sql: string): Promise<Scan | undefined> {
  // Views take no index hints; only base tables have a mark.
  if (shape.table === null || shape.mark === undefined) return undefined;
  const [row] = await session.query(`explain ${sql}`, 'ask how rows will be read');
  if (row === undefined || row[2]?.toLowerCase() !== shape.table.toLowerCase()) return undefined;
  // From MySQL 5.7 on `partitions` stands before it.
  const key = row[row.length >= 12 ? 6 : 5] ?? null;
  return key?.includes(',') === true ? undefined : key; // several: merged
}

/** Goes behind the table's name in FROM. */
export function scanHint(scan: Scan | undefined): string {
  if (scan === undefined) return '';
  return scan === null ? ' use index ()' : ` force index (${quoteName(scan)})`;
}
