/** For `sync plan`: what would be written, and what is in the way. Changes nothing. */
import {
  isSyncError,
  type PlanColumn,
  type PlanProblem,
  type PlanTarget,
  type RowSchema,
  type WriterFacts,
} from 'syncx/plugin-api';
import { columnNamed, type TableFacts } from '../catalog/tables.js';
import { isDenied } from '../connect/mysql-errors.js';
import type { Session } from '../connect/session.js';
import { quoteName, quoteTable, showTable, type TableName } from '../sql/names.js';
import { keyOption, wantedColumns, type WriterOptions } from '../writer-options.js';
import { newColumns } from './create-table.js';
import { schemaOf } from './fit-rows.js';
import { lackingRights } from './rights.js';
import { bindColumns } from './rows/bind-columns.js';
import { runsOnce } from './run-steps.js';
import { statementsOf, triggersNote, type Target } from './target.js';

/** A plan must not wait for whoever has locked the table. */
const LOCK_WAIT_S = 5;

export interface ToExplain {
  readonly session: Session;
  readonly options: WriterOptions;
  readonly target: Target;
  /** `127.0.0.1:3306/shop` */
  readonly where: string;
  /** What will come; null: not known. */
  readonly from: readonly PlanColumn[] | null;
}

export async function explainTarget(e: ToExplain): Promise<WriterFacts> {
  await e.session.run(`set session lock_wait_timeout = ${String(LOCK_WAIT_S)}`, 'set how long to wait for locks');
  const { facts, why } = e.target;
  const schema = schemaOf(e.from);
  return {
    writes: writesOf(e, schema),
    target: await targetOf(e),
    columns: facts === null ? null : columnsOf(e, facts),
    losses: [],
    whyDelivery: why,
    problems: [...bindingProblems(e, schema), ...(await rightsProblems(e)), ...stepProblems(e)],
  };
}

function writesOf(
  { options: o, target, where, from, session }: ToExplain,
  schema: RowSchema | null,
): readonly string[] {
  const names = wantedColumns(o) ?? from?.filter((c) => c.role !== 'meta').map((c) => c.name) ?? ['…'];
  const list = names.map((n) => (n === '…' ? n : quoteName(n))).join(', ');
  const verb = {
    insert: 'INSERT INTO',
    replace: 'REPLACE INTO',
    update: 'INSERT INTO',
    'insert-ignore': 'INSERT INTO',
  };
  const after = { insert: '', replace: '', update: ' ON DUPLICATE KEY UPDATE …', 'insert-ignore': ' (old rows stay)' };
  const mode = o.writeMode;
  const sql = `${verb[mode]} ${quoteTable(target.name)} (${list}) VALUES …${after[mode]}`;
  const load = o.loadData === 'auto' && mode === 'insert' ? '; by LOAD DATA LOCAL where the server allows it' : '';
  const swap = o.writeStrategy === 'swap' ? ['a table beside it, which then takes its place by RENAME TABLE'] : [];
  const make =
    target.facts === null && schema !== null && o.createTable === 'auto'
      ? [
          `CREATE TABLE ${quoteTable(target.name)} (${newColumns(schema, wantedColumns(o), session.server)
            .map((c) => `${quoteName(c.name)} ${c.sql}`)
            .join(', ')})`,
        ]
      : [];
  const pre = statementsOf(o.preSql).map((s) => `preSql: ${s}`);
  const post = statementsOf(o.postSql).map((s) => `postSql: ${s}`);
  return [...pre, ...make, `${where}: ${sql}${load}`, ...swap, ...post];
}

async function targetOf({ session, options: o, target }: ToExplain): Promise<PlanTarget> {
  const { facts } = target;
  const place = showTable(target.name);
  if (facts === null) {
    const effect = o.createTable === 'auto' ? 'it is created with the first row' : 'preSql is to create it';
    return { place, state: 'missing', holds: null, effect };
  }
  const effect =
    o.writeStrategy === 'swap'
      ? 'they are replaced once all rows are there'
      : {
          insert: 'they stay; a row whose key is there already is a dirty row',
          replace: 'rows whose key comes again are replaced; the others stay',
          update: 'rows whose key comes again are overwritten in the columns that are written; the others stay',
          'insert-ignore': 'they stay, also where their key comes again',
        }[o.writeMode];
  const filled = await isFilled(session, target.name);
  if (filled === null)
    return { place, state: 'unknown', holds: null, effect: `rows that are there: ${effect}; the user may not look` };
  if (!filled) return { place, state: 'empty', holds: null, effect: 'rows are added' };
  const about = facts.rows === null ? null : `about ${Math.max(1, facts.rows).toLocaleString('en-US')} rows`;
  return { place, state: 'filled', holds: about, effect };
}

/** Null: the user may write it, and not read. */
async function isFilled(session: Session, t: TableName): Promise<boolean | null> {
  try {
    return (await session.query(`select 1 from ${quoteTable(t)} limit 1`, `look into ${showTable(t)}`)).length > 0;
  } catch (e) {
    if (isDenied(e)) return null;
    throw e;
  }
}

/** By the names of the writer's `column`; of `*`, by those that come. */
function columnsOf({ options, from }: ToExplain, facts: TableFacts): readonly PlanColumn[] {
  const names = wantedColumns(options) ?? from?.map((c) => c.name) ?? facts.columns.map((c) => c.name);
  return names.map((name) => ({ name, type: columnNamed(facts.columns, name)?.type ?? null }));
}

/** What the row writer would say at the first row. */
function bindingProblems({ options: o, target }: ToExplain, schema: RowSchema | null): readonly PlanProblem[] {
  if (target.facts === null || schema === null) return [];
  const problems: PlanProblem[] = [];
  const key = keyOption(o);
  try {
    bindColumns(schema, target.facts, {
      columns: wantedColumns(o),
      uniqueKey: key.length === 0 ? null : key,
      warn: (column, what) => {
        const message = `the column \`${column}\` ${what}`;
        problems.push({ level: 'warning', code: 'COLUMN_MISMATCH', message, place: showTable(target.name) });
      },
    });
  } catch (e) {
    if (!isSyncError(e)) throw e;
    const more = {
      ...(e.place === undefined ? {} : { place: e.place }),
      ...(e.hint === undefined ? {} : { hint: e.hint }),
    };
    problems.push({ level: 'error', code: e.code, message: e.message, ...more });
  }
  return problems;
}

async function rightsProblems({ session, options: o, target }: ToExplain): Promise<readonly PlanProblem[]> {
  const problems: PlanProblem[] = [];
  const lack = (what: string, rights: readonly string[], hint: string): void => {
    if (rights.length === 0) return;
    const message = `the user has no right to ${rights.join(', ')} on ${what}`;
    problems.push({ level: 'error', code: 'SINK_IO', message, place: what, hint });
  };
  const { facts } = target;
  if (facts !== null && !facts.view) {
    const needed = {
      insert: ['INSERT'],
      replace: ['INSERT', 'DELETE'],
      // ON DUPLICATE KEY UPDATE reads.
      update: ['SELECT', 'INSERT', 'UPDATE'],
      'insert-ignore': ['SELECT', 'INSERT', 'UPDATE'],
    };
    // The swap counts the rows of the new table.
    const counted = o.writeStrategy === 'swap' ? ['SELECT'] : [];
    const column = quoteName(facts.columns.find((c) => !c.generated)?.name ?? '');
    lack(
      showTable(target.name),
      await lackingRights(session, target.name, column, [...counted, ...needed[o.writeMode]]),
      'Grant them, or name another user.',
    );
  }
  return problems;
}

function stepProblems({ options: o, target }: ToExplain): readonly PlanProblem[] {
  const problems: PlanProblem[] = [];
  const warn = (message: string): void => {
    problems.push({ level: 'warning', code: 'SINK_CONFLICT', message });
  };
  const triggers = triggersNote(target);
  if (triggers !== null) warn(triggers);
  for (const which of ['preSql', 'postSql'] as const) {
    if (o[which].length === 0 || runsOnce(o[which], target)) continue;
    warn(
      `${which} may run twice, if the job is killed in the middle of it: it is not only INSERT, UPDATE, DELETE, REPLACE, or the job is not exactly-once`,
    );
  }
  if (target.exactlyOnce && o.commitProtocol === 'xa') {
    warn('whether this server keeps prepared transactions over a lost connection is tried when the job starts');
  }
  return problems;
}
