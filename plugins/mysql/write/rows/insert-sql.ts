/** The SQL around the tuples, by the way of writing. */
import { atLeast, type ServerFacts } from '../../connect/session-setup.js';
import { quoteName, quoteTable, type TableName } from '../../sql/names.js';
import type { Binding, BoundColumn } from './bind-columns.js';

export type WriteMode = 'insert' | 'replace' | 'update' | 'insert-ignore';

const name = (c: BoundColumn): string => quoteName(c.target.name);

export interface Upsert {
  readonly table: TableName;
  readonly server: ServerFacts;
  /** False: NULL leaves the old value. */
  readonly allReplace: boolean;
  /** The table has this one unique key: then key columns of text may be set too, as `a` and `A` may be the same key. */
  readonly oneKey: boolean;
}

/** A set that sets nothing: a row whose key is there stays as it is. */
export function keepOld(binding: Binding): string {
  const column = binding.key?.columns[0] ?? binding.columns[0];
  const n = column === undefined ? '' : name(column);
  return ` on duplicate key update ${n}=${n}`;
}

/** MySQL warns of VALUES() at each statement from 8.0.20 on; MariaDB and older ones know nothing else. */
export function overwriteOld(binding: Binding, { table, server, allReplace, oneKey }: Upsert): string {
  const isKey = (c: BoundColumn): boolean => binding.key?.columns.includes(c) === true;
  const set = binding.columns.filter((c) => !isKey(c) || (oneKey && c.target.collation !== null));
  if (set.length === 0) return keepOld(binding);
  const alias = !server.mariadb && atLeast(server, 8, 0, 20);
  const fresh = (c: BoundColumn): string => (alias ? `syncx_new.${name(c)}` : `values(${name(c)})`);
  const old = (c: BoundColumn): string => (alias ? `${quoteTable(table)}.${name(c)}` : name(c));
  const values = set.map((c) => `${name(c)}=${allReplace ? fresh(c) : `ifnull(${fresh(c)},${old(c)})`}`);
  return `${alias ? ' as syncx_new' : ''} on duplicate key update ${values.join(',')}`;
}
