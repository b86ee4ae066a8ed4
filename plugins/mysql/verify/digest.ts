import { randomUUID } from 'node:crypto';
import {
  SyncError,
  type ChunkRange,
  type ChunkSum,
  type Digest,
  type DigestFacts,
  type KeyTuple,
  type Split,
  type SummedColumn,
} from 'syncx/plugin-api';
import type { MysqlColumn } from '../catalog/columns.js';
import { columnNamed } from '../catalog/tables.js';
import { keyType, rangePredicate } from '../read/plan/key-predicate.js';
import { extremes, walkKey } from '../read/plan/key-queries.js';
import { fromOf, planShapes } from '../read/plan/plan-shapes.js';
import { condition, hasCursor } from '../read/plan/check-options.js';
import { isInteger, rowKeyColumns, showShape } from '../read/plan/shapes.js';
import type { SourceSessions } from '../read/plan/source-sessions.js';
import { sameName } from '../read/read-shape.js';
import { isOwn, specJson, type KeyRange, type Shape, type ShapeColumn, type SplitSpec } from '../read/split-spec.js';
import type { ReaderOptions } from '../reader-options.js';
import { UNHASHED, comparable, orderOf, sumExpressions } from './digest-sql.js';

/** Keys that may lie so many times further apart than there are rows are walked instead. */
const SPARSE = 2;

/** A column under the job's name for it. */
interface Named {
  readonly name: string;
  readonly column: MysqlColumn;
}

/** Of one table with a key. */
class MysqlDigest implements Digest {
  readonly family = 'mysql';
  readonly facts: DigestFacts;
  readonly #sessions: SourceSessions;
  readonly #shape: Shape;
  readonly #key: readonly ShapeColumn[];
  readonly #columns: readonly Named[];
  readonly #where: string | null;
  /** Of rows, by the server; null: it has none. */
  readonly #estimate: number | null;
  #extremes: Promise<{ readonly lo: bigint; readonly hi: bigint } | null> | null = null;

  constructor(
    sessions: SourceSessions,
    shape: Shape,
    key: readonly ShapeColumn[],
    columns: readonly Named[],
    where: string | null,
    estimate: number | null,
  ) {
    this.#estimate = estimate;
    this.#sessions = sessions;
    this.#shape = shape;
    this.#key = key;
    this.#columns = columns;
    this.#where = where;
    const named = key.map((k) => columns.find((c) => sameName(c.name, k.name))?.name ?? '');
    this.facts = {
      columns: columns.map(({ name, column }) => ({
        name,
        type: column.type,
        nullable: column.nullable,
        order: orderOf(column),
      })),
      key: named,
    };
  }

  comparable = comparable;

  async border({ after, upTo }: ChunkRange, rows: number): Promise<KeyTuple | null> {
    const stepped = upTo === null ? await this.#stepped(after, rows) : undefined;
    if (stepped !== undefined) return stepped;
    const conditions = [this.#condition(), rangePredicate({ columns: this.#key, ...(upTo === null ? {} : { upTo }) })];
    const window = conditions.filter((c) => c !== 'true').join(' and ') || 'true';
    return this.#sessions.on(this.#shape.connection, (s) => walkKey(s, this.#shape, this.#key, after, rows, window));
  }

  /**
   * Whole numbers that mostly follow each other need no look at the rows: of so many values there are at most so many rows.
   * Undefined: they are of another kind.
   */
  async #stepped(after: KeyTuple | null, rows: number): Promise<KeyTuple | null | undefined> {
    const [column, ...more] = this.#key;
    if (column === undefined || more.length > 0 || !isInteger(keyType(column))) return undefined;
    this.#extremes ??= this.#sessions.on(this.#shape.connection, (s) =>
      extremes(s, this.#shape, column, this.#condition()),
    );
    const found = await this.#extremes;
    if (found === null) return null;
    const sparse = found.hi - found.lo > BigInt(Math.ceil(SPARSE * (this.#estimate ?? 0)));
    if (this.#where !== null || sparse) return undefined;
    const next = (after === null ? found.lo - 1n : BigInt(after[0] ?? '0')) + BigInt(rows);
    return next >= found.hi ? null : [String(next)];
  }

  async sum(range: ChunkRange, columns: readonly SummedColumn[]): Promise<ChunkSum> {
    const summed = columns.map((as) => {
      const column = this.#columns.find((c) => c.name === as.name)?.column;
      if (column === undefined) throw new SyncError('INTERNAL', `no column ${as.name} to sum up`);
      return { column, as };
    });
    const range1 = this.#range(range);
    const conditions = [this.#condition(), range1 === null ? 'true' : rangePredicate(range1)].filter(
      (c) => c !== 'true',
    );
    const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
    const rest = `from ${fromOf(this.#shape)}${filter}`;
    const [row] = await this.#sessions.on(this.#shape.connection, (s) =>
      s.query(
        `select ${sumExpressions(summed, s.server.maxAllowedPacket)} ${rest}`,
        `sum up rows of ${showShape(this.#shape)}`,
      ),
    );
    const sum = row?.[1] ?? '0';
    // Rows that the server could not sum up are compared one by one.
    const known = BigInt(sum) < UNHASHED;
    return { rows: Number(row?.[0] ?? 0), sum: known ? sum : `${sum} ${randomUUID()}` };
  }

  split(range: ChunkRange): Split {
    const spec: SplitSpec = { format: 1, shape: 0, range: this.#range(range), nullsOf: null, window: null };
    const id = `verify ${JSON.stringify([range.after, range.upTo])}`;
    return { id, bounded: true, spec: specJson(spec), weight: null };
  }

  #condition(): string {
    return this.#where === null ? 'true' : `(${this.#where}\n)`;
  }

  #range({ after, upTo }: ChunkRange): KeyRange | null {
    if (after === null && upTo === null) return null;
    return { columns: this.#key, ...(after === null ? {} : { after }), ...(upTo === null ? {} : { upTo }) };
  }

  /** The sessions are the reader's. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** Null: a query, several tables, constants and expressions, a cursor, dates that are altered, or rows without a key. */
export async function openDigest(o: ReaderOptions, zeroDate: string, sessions: SourceSessions): Promise<Digest | null> {
  // A consistent read holds its lock until lanes have begun, and here none does.
  if (hasCursor(o) || o.consistent || zeroDate !== 'keep') return null;
  const planned = await planShapes(o, sessions);
  const [only] = planned;
  if (planned.length !== 1 || only?.facts === undefined || only.facts === null) return null;
  const { shape, facts } = only;
  const columns: Named[] = [];
  for (const c of shape.columns) {
    const column = isOwn(c) ? columnNamed(facts.columns, c.name) : undefined;
    if (column === undefined) return null;
    columns.push({ name: c.name, column });
  }
  const key = rowKeyColumns(facts);
  if (key.length === 0 || !key.every((k) => columns.some((c) => sameName(c.name, k.name)))) return null;
  return new MysqlDigest(sessions, shape, key, columns, condition(o.where), facts.rows);
}
