import { setImmediate } from 'node:timers/promises';
import { SyncError, type Logger, type RejectedRow, type RowBatch, type RowSchema } from 'syncx/plugin-api';
import type { TableFacts } from '../../catalog/tables.js';
import { showTable } from '../../sql/names.js';
import type { Statements } from '../statements.js';
import { bindColumns, type Binding } from './bind-columns.js';
import { changeSteps, onlyInserts, type Steps } from './change-steps.js';
import { Delivery } from './deliver.js';
import type { PieceSteps } from './fold-changes.js';
import type { WriteMode } from './insert-sql.js';
import { Loader } from './loader.js';
import { PendingStatement } from './pending-statement.js';
import { cellOf, isAbsent, pieceOf, type Piece, type RowForm } from './row-forms.js';
import { TableForms } from './table-forms.js';

export interface RowWriterOptions {
  readonly writeMode: WriteMode;
  /** The writer's option `column`; null: `*`. */
  readonly columns: readonly string[] | null;
  /** Columns that tell rows apart; null: the target's own key. */
  readonly uniqueKey: readonly string[] | null;
  /** True: in mode `update` a NULL overwrites; false: it leaves the old value. Rows with operations always overwrite. */
  readonly allReplace: boolean;
  /** Rows of an INSERT, at most. */
  readonly batchSize: number;
  /** Rows of a file of LOAD DATA, at most; null: its bytes alone end it. */
  readonly fileRows: number | null;
  /** `auto`: LOAD DATA LOCAL where it may be and where it keeps values. */
  readonly load: 'auto' | 'never';
  /** Bytes of a statement; null: {@link STATEMENT_BYTES}. Never above max_allowed_packet. */
  readonly maxStatementBytes: number | null;
  /** The states between two changes of one transaction matter to nobody: no trigger and no foreign key is there. */
  readonly mayReorder: () => Promise<boolean>;
  readonly log: Logger;
}

/** Rows of one section; `steps` null: all of them, as inserts. */
interface Part {
  readonly piece: Piece;
  readonly forms: TableForms;
  readonly steps: Steps | null;
}

/** Of an INSERT, where the job does not say. */
export const STATEMENT_BYTES = 1 << 20;
/** Of a file of LOAD DATA: a short one, as it holds the lock of AUTO_INCREMENT to its end. */
export const LOAD_BYTES = 512 << 10;

/** So many rows are encoded before what is under way may go on. */
const SLICE = 256;

/** Engines that undo a statement that fails. Of others, and of views, nobody can tell. */
const TRANSACTIONAL = /^(?:innodb|xtradb|rocksdb|tokudb|ndb|ndbcluster)$/i;

export const isTransactional = (table: TableFacts): boolean =>
  table.engine !== null && TRANSACTIONAL.test(table.engine);

/**
 * Makes statements of rows for one table. Between two calls it keeps copies of rows for the next statement, never more than
 * one statement's, and one other statement may be under way: the server works while rows are read and encoded. What comes
 * of that one, an error too, the next call tells. After an error `clear` is due.
 *
 * A row that the server or the column refuses becomes a rejected row, and the rows around it arrive once. Nothing is stored
 * otherwise than it came: what the server would change without an error is refused beforehand, or undone by its warning.
 */
export class RowWriter {
  readonly #table: TableFacts;
  readonly #o: RowWriterOptions;
  readonly #to: Statements;
  readonly #delivery: Delivery;
  readonly #loader: Loader | null;
  readonly #transactional: boolean;
  readonly #forms = new Map<number, TableForms>();
  readonly #warned = new Set<string>();
  #checked = false;
  /** Asked where there are changes; null: not yet. */
  #mayReorder: boolean | null = null;
  #open: PendingStatement | null = null;
  /** Of the file that is open: its rows as INSERT. */
  #insertOfOpen: RowForm | null = null;
  #underWay: Promise<unknown> | null = null;
  #last: TableForms | null = null;

  constructor(table: TableFacts, options: RowWriterOptions, statements: Statements) {
    this.#table = table;
    this.#o = options;
    this.#to = statements;
    this.#transactional = isTransactional(table);
    const place = showTable(table.name);
    this.#delivery = new Delivery(statements, {
      transactional: this.#transactional,
      target: options.maxStatementBytes ?? STATEMENT_BYTES,
      place,
    });
    const mayLoad = options.load === 'auto' && options.writeMode === 'insert' && this.#transactional;
    this.#loader = mayLoad ? new Loader(statements, this.#delivery, place, options.log) : null;
    if (!this.#transactional) {
      const what = 'the table knows no transactions: each row is a statement of its own, and stays when the job fails';
      options.log.warn({ table: place, engine: table.engine }, what);
    }
  }

  /** For the log; may change when the first file is refused. */
  get path(): 'LOAD DATA' | 'INSERT' {
    return this.#loader?.on === true ? 'LOAD DATA' : 'INSERT';
  }

  /** Rows of mode `insert-ignore` that were there already. */
  get ignored(): number {
    return this.#delivery.ignored;
  }

  /** Bytes handed to the server since the last call. */
  takeBytes(): number {
    return this.#delivery.takeBytes();
  }

  /** Since the last call. Null: none. */
  takeRejected(): readonly RejectedRow[] | null {
    return this.#delivery.takeRejected();
  }

  /** @throws SyncError COLUMN_MISMATCH where such rows do not fit the table; nothing is sent. */
  check(schema: RowSchema): Binding {
    return this.#formsOf(schema).binding;
  }

  /** True: what was sent last may still be under way, so that nothing else may be asked of the transaction. */
  get busy(): boolean {
    return this.#underWay !== null;
  }

  /** Rows are in a statement that was sent, or kept for the next one, when it resolves; the batch may be reused. */
  async write(batch: RowBatch, signal: AbortSignal): Promise<void> {
    try {
      if (!this.#checked) await this.#checkSession();
      if (batch.ops !== null) this.#mayReorder ??= await this.#o.mayReorder();
      for (const { piece, forms, steps } of this.#partsOf(batch)) await this.#writeRows(piece, forms, steps, signal);
    } catch (e) {
      await this.#underWay?.catch(() => undefined);
      throw e;
    }
    this.#open?.keep();
  }

  #partsOf(batch: RowBatch): readonly Part[] {
    const parts = batch.sections.map((section): Part => {
      const forms = this.#formsOf(section.schema);
      const piece = pieceOf(batch, section);
      const { key } = forms.binding;
      // Rows with operations are written by key, also where all of these are inserts.
      if (batch.ops === null || (key === null && onlyInserts(piece))) return { piece, forms, steps: null };
      return { piece, forms, steps: changeSteps(piece, forms.binding, key, showTable(this.#table.name)) };
    });
    return this.#folded(parts) ?? parts;
  }

  #folded(parts: readonly Part[]): readonly Part[] | null {
    const forms = parts[0]?.forms;
    const fold = forms?.fold ?? null;
    if (this.#mayReorder !== true || !this.#transactional || forms === undefined || fold === null) return null;
    const all: PieceSteps[] = [];
    for (const { forms: its, piece, steps } of parts) {
      if (its !== forms || steps === null) return null;
      all.push({ piece, steps });
    }
    return fold.fold(all)?.map((p) => ({ ...p, forms })) ?? null;
  }

  /** All rows are in the transaction when it resolves. */
  async flush(): Promise<void> {
    await this.#ship();
    await this.settled();
  }

  /** Forgets rows that were not sent, once what is under way has ended. */
  async clear(): Promise<void> {
    this.#open = null;
    await this.#underWay?.catch(() => undefined);
    this.#underWay = null;
    this.#delivery.takeRejected();
  }

  async #writeRows(piece: Piece, forms: TableForms, steps: Steps | null, signal: AbortSignal): Promise<void> {
    const count = steps?.count ?? piece.section.rows;
    for (let i = 0; i < count;) {
      signal.throwIfAborted();
      if (this.#underWay !== null) await setImmediate();
      const form = steps === null ? this.#plainForm(forms) : forms.change(steps.kinds[i] ?? 0);
      let open = this.#open;
      if (open !== null && open.form !== form) await this.#ship();
      open = this.#open ??= this.#start(form, steps === null ? forms.plain : null);
      const until = Math.min(count, i + SLICE);
      let ship = false;
      for (; i < until && !ship; i++) {
        if (steps !== null && forms.change(steps.kinds[i] ?? 0) !== form) break;
        const row = steps === null ? i : (steps.rows[i] ?? 0);
        const how = open.append(piece, row);
        ship = how === 'full' || open.full;
        if (how === 'full') break;
        if (how === 'refused' || how === 'huge') ship = await this.#refused(forms, piece, row, how, ship);
      }
      if (ship) await this.#ship();
    }
  }

  #plainForm(forms: TableForms): RowForm {
    return this.#loader?.on === true ? forms.load : forms.plain;
  }

  #start(form: RowForm, insert: RowForm | null): PendingStatement {
    const file = insert !== null && form !== insert;
    this.#insertOfOpen = file ? insert : null;
    const limit = file ? (this.#loader?.limit ?? 0) : this.#delivery.limit;
    const target = this.#o.maxStatementBytes ?? (file ? LOAD_BYTES : STATEMENT_BYTES);
    return new PendingStatement(form, Math.min(target, limit), limit, file);
  }

  /** @returns whether what is open is to be shipped. */
  async #refused(
    forms: TableForms,
    piece: Piece,
    row: number,
    how: 'refused' | 'huge',
    ship: boolean,
  ): Promise<boolean> {
    const form = this.#open?.form ?? forms.plain;
    const file = this.#insertOfOpen !== null;
    const absent = forms.binding.columns.some((c) => isAbsent(piece, cellOf(forms.binding, piece, row, c)));
    if (file && (absent || how === 'huge')) {
      // A line of a file has no word for a default, and a packet of it a length of its own.
      await this.#ship();
      await this.settled();
      await this.#delivery.sendRows(forms.plain, [{ piece, row }]);
      return true;
    }
    if (how === 'huge') this.#delivery.rejectHuge(form, { piece, row });
    else this.#delivery.reject(form, { piece, row });
    return ship;
  }

  /** Begins to send what is open, once what is under way has ended. */
  async #ship(): Promise<void> {
    const statement = this.#open;
    const insert = this.#insertOfOpen;
    this.#open = null;
    this.#insertOfOpen = null;
    if (statement === null || statement.rows === 0) return;
    statement.keep(); // before anything is awaited: its batch may be gone when the server complains
    await this.settled();
    const sent =
      insert === null || this.#loader === null ? this.#delivery.send(statement) : this.#loader.send(statement, insert);
    // It may fail before anybody waits for it.
    sent.catch(() => undefined);
    this.#underWay = sent;
  }

  /** What was sent is in the transaction when it resolves. */
  async settled(): Promise<void> {
    const sent = this.#underWay;
    if (sent === null) return;
    await sent;
    this.#underWay = null;
  }

  /** A job may set variables of the session; with some of them texts would be read otherwise than they are written. */
  async #checkSession(): Promise<void> {
    const sql = 'select @@session.sql_mode, @@session.character_set_client, @@session.character_set_connection';
    const [row] = await this.#to.session.query(sql, 'ask how the session reads texts');
    const wrong = row?.[0]?.includes('NO_BACKSLASH_ESCAPES') === true || row?.[1] !== 'utf8mb4' || row[2] !== 'utf8mb4';
    if (wrong) {
      const what = `the session reads texts as no rows are written: sql_mode ${row?.[0] ?? ''}, charset ${row?.[1] ?? ''}`;
      throw new SyncError('JOB_INVALID', what, {
        place: showTable(this.#table.name),
        hint: 'Leave NO_BACKSLASH_ESCAPES and character sets out of the variables that the job sets for its sessions.',
      });
    }
    this.#checked = true;
  }

  #formsOf(schema: RowSchema): TableForms {
    if (this.#last?.binding.schema === schema) return this.#last;
    const known = this.#forms.get(schema.id);
    const forms = known ?? this.#makeForms(schema);
    if (known === undefined) this.#forms.set(schema.id, forms);
    this.#last = forms;
    return forms;
  }

  #makeForms(schema: RowSchema): TableForms {
    const { server } = this.#to.session;
    const { writeMode, uniqueKey, allReplace, columns } = this.#o;
    const binding = bindColumns(schema, this.#table, {
      columns,
      uniqueKey,
      warn: (column, message) => this.#warnOnce(column, { column }, `the column \`${column}\` ${message}`),
    });
    if (writeMode === 'update' && binding.key?.unique !== true) {
      const what =
        'no unique key of the table is among the columns written: rows that are there already may be doubled';
      this.#warnOnce('', {}, what);
    }
    const most = this.#transactional ? Math.max(1, this.#o.batchSize) : 1;
    return new TableForms(binding, this.#table, server, {
      mode: writeMode,
      allReplace,
      most,
      loadMost: this.#o.fileRows ?? Number.MAX_SAFE_INTEGER,
    });
  }

  #warnOnce(id: string, fields: Readonly<Record<string, string>>, message: string): void {
    if (this.#warned.has(id)) return;
    this.#warned.add(id);
    this.#o.log.warn({ table: showTable(this.#table.name), ...fields }, message);
  }
}
