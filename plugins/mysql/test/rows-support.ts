/** What the tests of write/rows share: a transaction without retries, batches from simple values, and what a table holds. */
import { BatchBuilder, internSchema, parseType, type ColumnInit, type RowBatch, type RowOp } from 'syncx/plugin-api';
import { testContext } from 'syncx/plugin-testkit';
import { findTable } from '../catalog/tables.js';
import type { RunResult, Session } from '../connect/session.js';
import { RowWriter, type RowWriterOptions } from '../write/rows/row-writer.js';
import type { Statements } from '../write/statements.js';
import type { TestDatabase } from './servers.js';

/** One transaction on one session; notes what was sent. */
export class TestStatements implements Statements {
  readonly session: Session;
  readonly sent: string[] = [];
  /** Refuses files, as a server does that must not load any. */
  loadError: Error | null = null;

  constructor(session: Session) {
    this.session = session;
  }

  async run(statement: Buffer, doing: string): Promise<RunResult> {
    this.sent.push(statement.toString('latin1', 5));
    return this.session.run(statement, doing);
  }

  async load(sql: string, packets: readonly Buffer[], doing: string): Promise<RunResult> {
    this.sent.push(sql);
    if (this.loadError !== null) throw this.loadError;
    return this.session.load(sql, packets, doing);
  }

  async savepoint(): Promise<void> {
    await this.session.run('savepoint t', 'set a savepoint');
  }

  async rollBack(): Promise<void> {
    await this.session.run('rollback to savepoint t', 'go back');
  }
}

/** Text, bytes, null for NULL, undefined for ABSENT. */
export type Value = string | Uint8Array | null | undefined;

export function column(name: string, type: string, more: Partial<ColumnInit> = {}): ColumnInit {
  const parsed = parseType(type);
  if (parsed === null) throw new Error(`no type ${type}`);
  return { name, type: parsed, ...more };
}

export function batchOf(
  columns: readonly ColumnInit[],
  rows: readonly (readonly Value[])[],
  ops: readonly RowOp[] | null = null,
): RowBatch {
  const builder = new BatchBuilder(internSchema(columns));
  rows.forEach((row, r) => {
    for (const v of row) {
      if (v === null) builder.appendNull();
      else if (v === undefined) builder.appendAbsent();
      else if (typeof v === 'string') builder.appendText(v);
      else builder.appendBytes(v);
    }
    builder.endRow(ops?.[r] ?? 0);
  });
  const batch = builder.finish('s', null, 0);
  return ops !== null && batch.ops === null ? { ...batch, ops: new Uint8Array(rows.length) } : batch;
}

export const DEFAULTS: RowWriterOptions = {
  writeMode: 'insert',
  columns: null,
  uniqueKey: null,
  allReplace: true,
  batchSize: 1024,
  fileRows: null,
  load: 'never',
  maxStatementBytes: null,
  mayReorder: () => Promise.resolve(true),
  log: testContext().log,
};

export interface Written {
  readonly to: TestStatements;
  readonly writer: RowWriter;
  /** `column: reason` of each rejected row, in order. */
  readonly rejected: readonly string[];
}

const signal = new AbortController().signal;

/** Writes the batches in one transaction and commits it. Each batch's buffers are wiped after its write. */
export async function writeAll(
  db: TestDatabase,
  table: string,
  batches: readonly RowBatch[],
  options: Partial<RowWriterOptions> = {},
  prepare?: (to: TestStatements) => void,
): Promise<Written> {
  await using session = await db.open('sink');
  const to = new TestStatements(session);
  prepare?.(to);
  await session.run('start transaction', 'begin');
  const facts = await findTable(session, table, db.name, 'sink');
  const writer = new RowWriter(facts, { ...DEFAULTS, fileRows: options.batchSize ?? null, ...options }, to);
  for (const batch of batches) {
    await writer.write(batch, signal);
    batch.data.fill(0x5a);
    batch.ends.fill(0);
  }
  await writer.flush();
  await session.run('commit', 'commit');
  const rejected = (writer.takeRejected() ?? []).map((r) => `${r.column ?? '-'}: ${r.reason}`);
  return { to, writer, rejected };
}

/** Rows of the table as text, `|` between cells, NULL as `∅`. */
export async function table(db: TestDatabase, sql: string): Promise<readonly string[]> {
  return (await db.rows(sql)).map((row) => row.map((c) => c ?? '∅').join('|'));
}
