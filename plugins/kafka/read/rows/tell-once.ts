import type { Logger } from 'syncx/plugin-api';
import type { ChangeOptions } from './change-rows.js';

const MOST_TOLD = 1000;

/** Each kind of record without rows is told of once for each table. */
export function tellOnce(log: Logger): ChangeOptions['note'] {
  const told = new Set<string>();
  return (what, table, place) => {
    const id = JSON.stringify([what, table]);
    if (told.has(id) || told.size >= MOST_TOLD) return;
    told.add(id);
    const of = table === null ? '' : ` of ${table}`;
    const hint = 'they are not carried out at the target, and no more of them are told';
    log.warn({ type: what, table, place }, `${place} is a change of definitions${of} (${what}): ${hint}`);
  };
}
