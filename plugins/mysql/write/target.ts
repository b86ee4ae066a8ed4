/** Looks at the target before anything is written, and tells what can be promised of it. */
import { SyncError, type Delivery } from 'syncx/plugin-api';
import { findTable, lookUpTable, rowKeyOf, type TableFacts } from '../catalog/tables.js';
import type { Session } from '../connect/session.js';
import { quoteText, showTable, tableCandidates, type TableName } from '../sql/names.js';
import {
  ALL_TABLES,
  keyOption,
  tableText,
  wantedColumns,
  wantsExactlyOnce,
  type WriterOptions,
} from '../writer-options.js';
import { CommitTable } from './commit-table.js';
import { lackingByCatalog, lackingRights } from './rights.js';
import { checkNames } from './rows/bind-columns.js';
import { firstWord, splitSql } from './split-sql.js';

/** Whether a statement may change the columns of a table. */
const mayChange = (sql: string, table: string): boolean =>
  /^(?:call|execute)$/.test(firstWord(sql)) ||
  (/^(?:alter|create|drop|rename)$/.test(firstWord(sql)) && sql.toLowerCase().includes(table.toLowerCase()));

export interface Target {
  readonly name: TableName;
  /** Null: it is not there yet. */
  readonly facts: TableFacts | null;
  readonly commitTable: CommitTable;
  readonly exactlyOnce: boolean;
  readonly delivery: Delivery;
  /** Why it is not exactly-once, as a clause; null: it is. */
  readonly why: string | null;
  /** True: `why` is not what the job asks for. */
  readonly downgraded: boolean;
  /** Triggers of the table, as far as the user may see them: `BEFORE INSERT audit`. */
  readonly triggers: readonly string[];
}

export const statementsOf = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => {
    const split = splitSql(text);
    return typeof split === 'string' ? [text] : split;
  });

/** @throws SyncError JOB_INVALID where the job asks for more than the tables can give; SINK_IO where there is no table. */
export async function lookAtTarget(session: Session, o: WriterOptions, database: string | null): Promise<Target> {
  const facts = await targetFacts(session, o, database);
  // Before preSql empties the table, that is; but it may change its columns, too.
  if (facts !== null && !statementsOf(o.preSql).some((s) => mayChange(s, facts.name.table))) {
    checkNames(facts, wantedColumns(o) ?? [], keyOption(o));
  }
  const name =
    facts?.name ?? (tableText(o) === ALL_TABLES ? allTables(database) : firstCandidate(tableText(o), database));
  const commitTable = new CommitTable(firstCandidate(o.commitTable, name.database));
  const chosen = whyChosen(o);
  const cannot = chosen === null ? await whyNotExactlyOnce(session, facts, commitTable) : null;
  if (cannot !== null && o.semantic === 'exactly-once') {
    throw new SyncError('JOB_INVALID', `the job asks for exactly-once, and ${cannot}`, {
      place: 'writer.parameter.semantic',
      hint: 'Mend that, or set semantic to at-least-once.',
    });
  }
  const why = chosen ?? cannot;
  return {
    name,
    facts,
    commitTable,
    exactlyOnce: why === null,
    delivery: why === null ? 'exactly-once' : byKey(o, facts) ? 'effectively-once-by-key' : 'at-least-once',
    why,
    downgraded: cannot !== null,
    triggers: facts === null ? [] : await triggersOf(session, facts.name),
  };
}

/** Seeing them needs the right TRIGGER on the table. */
async function triggersOf(session: Session, t: TableName): Promise<readonly string[]> {
  const rows = await session.query(
    `select action_timing, event_manipulation, trigger_name from information_schema.triggers
     where event_object_schema = ${quoteText(t.database)} and event_object_table = ${quoteText(t.table)}
     order by trigger_name`,
    `look for triggers of ${showTable(t)}`,
  );
  return rows.map((words) => words.join(' '));
}

/** What is said of them; null: there are none. */
export const triggersNote = ({ name, triggers }: Target): string | null =>
  triggers.length === 0
    ? null
    : `${showTable(name)} has triggers, which may change rows on their way in, or write elsewhere: ${triggers.join(', ')}`;

async function targetFacts(session: Session, o: WriterOptions, database: string | null): Promise<TableFacts | null> {
  const mayCome = o.createTable === 'auto' || statementsOf(o.preSql).some((s) => firstWord(s) === 'create');
  if (tableText(o) === ALL_TABLES) return null;
  if (!mayCome) return findTable(session, tableText(o), database, 'sink');
  for (const candidate of tableCandidates(tableText(o), database)) {
    const facts = await lookUpTable(session, candidate);
    if (facts !== null) return facts;
  }
  return null;
}

/** Stands for all tables of the database. */
function allTables(database: string | null): TableName {
  if (database !== null) return { database, table: ALL_TABLES };
  throw new SyncError('JOB_INVALID', 'no database is given for the tables', {
    place: 'writer.parameter.connection',
    hint: 'Name one in jdbcUrl.',
  });
}

/** `a.b` is a table of database a. */
function firstCandidate(text: string, database: string | null): TableName {
  const [name] = [...tableCandidates(text, null), ...tableCandidates(text, database)];
  if (name !== undefined) return name;
  throw new SyncError('JOB_INVALID', `no database is given for the table \`${text}\``, {
    place: 'writer.parameter.connection',
    hint: 'Name one in jdbcUrl, or write the table as database.table.',
  });
}

function whyChosen(o: WriterOptions): string | null {
  if (wantsExactlyOnce(o)) return null;
  if (o.semantic === 'at-least-once') return 'semantic says so';
  return `writeMode ${o.writeMode} is at-least-once unless semantic is exactly-once`;
}

/** What markers need; DELETE only tidies up. */
const COMMIT_RIGHTS = ['SELECT', 'INSERT', 'UPDATE'] as const;

async function whyNotExactlyOnce(
  session: Session,
  facts: TableFacts | null,
  commitTable: CommitTable,
): Promise<string | null> {
  if (facts !== null && !isInnodb(facts)) return `${showTable(facts.name)} ${engineOf(facts)}`;
  const there = await lookUpTable(session, commitTable.name);
  if (there !== null && !isInnodb(there)) return `the commit table ${commitTable.shown} ${engineOf(there)}`;
  if (there === null) {
    const lacking = await lackingByCatalog(session, commitTable.name, ['CREATE', ...COMMIT_RIGHTS]);
    if (lacking.length === 0) return null;
    return `the commit table ${commitTable.shown} is missing, and the user has no right to ${lacking.join(', ')} there`;
  }
  await commitTable.checkFormat(session);
  const lacking = await lackingRights(session, commitTable.name, '`epoch`', COMMIT_RIGHTS);
  return lacking.length === 0
    ? null
    : `the user has no right to ${lacking.join(', ')} on the commit table ${commitTable.shown}`;
}

export const isInnodb = (facts: TableFacts): boolean => facts.engine?.toLowerCase() === 'innodb';

const engineOf = (facts: TableFacts): string =>
  facts.view ? 'is a view' : `has the engine ${facts.engine ?? '(none)'}, which is not InnoDB`;

/** Whether writing a row again comes to the same rows. */
function byKey(o: WriterOptions, facts: TableFacts | null): boolean {
  if (o.writeMode === 'insert') return false;
  const key = facts === null ? null : rowKeyOf(facts);
  if (key === null) return false;
  const names = wantedColumns(o)?.map((n) => n.toLowerCase());
  return names === undefined || key.columns.every((c) => names.includes(c.toLowerCase()));
}
