/**
 * Keeps to one way of reading a table whose rows have no order of their own. A resume compares them with those that were
 * read before, and the server may go by another index, and so give them in another order, once the table has grown.
 */
import type { Session } from '../connect/session.js';
import { explain } from '../sql/explain.js';
import { quoteName } from '../sql/names.js';
import type { Shape } from './split-spec.js';

/** The index that the server goes by; null: by none, through the table itself. */
export type Scan = string | null;

/** How the server would read rows of the shape by this SELECT; undefined: no single index says it, or it is a query or view. */
export async function chosenScan(session: Session, shape: Shape, sql: string): Promise<Scan | undefined> {
  // Views take no index hints; only base tables have a mark.
  if (shape.table === null || shape.mark === undefined) return undefined;
  const [first] = await explain(session, sql, 'ask how rows will be read');
  if (first?.table?.toLowerCase() !== shape.table.toLowerCase()) return undefined;
  return first.key?.includes(',') === true ? undefined : first.key; // several: merged
}

/** Goes behind the table's name in FROM. */
export function scanHint(scan: Scan | undefined): string {
  if (scan === undefined) return '';
  return scan === null ? ' use index ()' : ` force index (${quoteName(scan)})`;
}
