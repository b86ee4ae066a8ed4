import type { Session } from '../connect/session.js';

/** A line of EXPLAIN: how the server would read one table. */
export interface ExplainedTable {
  readonly table: string | null;
  /** The index that it goes by, or several with commas; null: none. */
  readonly key: string | null;
  /** Digits; null: it does not say. */
  readonly rows: string | null;
  readonly extra: string;
}

export async function explain(session: Session, sql: string, doing: string): Promise<readonly ExplainedTable[]> {
  const lines = await session.query(`explain ${sql}`, doing);
  return lines.map((r) => {
    // Ten columns, from MySQL 5.7 on twelve: `partitions` came before the type, and `filtered` behind the rows.
    const shift = r.length >= 12 ? 1 : 0;
    return {
      table: r[2] ?? null,
      key: r[5 + shift] ?? null,
      rows: r[8 + shift] ?? null,
      extra: r[r.length - 1] ?? '',
    };
  });
}
