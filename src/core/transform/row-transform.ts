/** Applies a job's transform to what its reader gives. Loaded only by lanes of jobs that have one. */
import {
  ABSENT_FLAG,
  cellKind,
  NULL_FLAG,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  SyncError,
  type JsonValue,
  type RejectedRow,
  type RowBatch,
  type RowSchema,
  type SchemaChange,
  type Section,
} from '../../plugin-api/index.js';
import { RowFault } from '../../expr/faults.js';
import { loadRegex, type RegexEngine } from '../../expr/regex.js';
import type { TransformSpec } from '../../job/transform-spec.js';
import { parseExpr, usesRegex } from './expressions.js';
import { Frame } from './frame.js';
import { planOf, type Plan, type Prepared } from './plan.js';
import { RowSink } from './row-sink.js';

export interface Transformed {
  readonly batch: RowBatch;
  /** Rows that filters took out. */
  readonly filtered: number;
}

type Fate = 'kept' | 'filtered' | 'rejected';

export class RowTransform {
  readonly #prepared: readonly Prepared[];
  /** By id of the input schema. */
  readonly #plans = new Map<number, Plan>();
  readonly #frame = new Frame();
  #sink: RowSink | null = null;
  #rejected: RejectedRow[] = [];

  private constructor(prepared: readonly Prepared[]) {
    this.#prepared = prepared;
  }

  static async load(specs: readonly TransformSpec[]): Promise<RowTransform> {
    const parsed = specs.map((spec) => {
      const source = spec.op === 'filter' ? spec.where : spec.op === 'compute' ? spec.expression : null;
      return { spec, source, expr: source === null ? null : parseExpr(source) };
    });
    const needed = parsed.some(({ spec, expr }) => spec.op === 'dx_filter' || (expr !== null && usesRegex(expr)));
    const regex: RegexEngine | null = needed ? await loadRegex() : null;
    return new RowTransform(
      parsed.map(({ spec, source, expr }) => ({
        spec,
        regex,
        parsed: source !== null && expr !== null ? { source, expr, regex } : null,
      })),
    );
  }

  #plan(schema: RowSchema): Plan {
    let plan = this.#plans.get(schema.id);
    if (!plan) {
      plan = planOf(this.#prepared, schema);
      this.#plans.set(schema.id, plan);
    }
    return plan;
  }

  /** What rows of this schema become. @throws SyncError COLUMN_MISMATCH as `change` does. */
  output(schema: RowSchema): RowSchema {
    return this.#plan(schema).output;
  }

  /** @throws SyncError COLUMN_MISMATCH where the table's columns are not those that the transform is about. */
  change(c: SchemaChange): SchemaChange {
    const through = (s: RowSchema | null): RowSchema | null => (s ? this.#plan(s).output : null);
    return { ...c, before: through(c.before), after: through(c.after) };
  }

  /** The batch may share its buffers with the one that is given. */
  apply(batch: RowBatch): Transformed {
    if (batch.rows === 0) return { batch, filtered: 0 };
    const f = this.#frame;
    f.data = Buffer.from(batch.data.buffer, batch.data.byteOffset, batch.data.byteLength);
    f.ends = batch.ends;
    const sink = new RowSink(batch, f.data);
    this.#sink = sink;
    this.#rejected = [];
    let filtered = 0;
    for (const s of batch.sections) {
      const plan = this.#plan(s.schema);
      if (plan.steps.length > 0) filtered += this.#section(batch, s, plan, sink);
      else this.#project(s, plan, sink);
      sink.endSection(plan.output);
    }
    this.#sink = null;
    const own = this.#rejected;
    const rejected = own.length === 0 ? batch.rejected : [...(batch.rejected ?? []), ...own];
    return { batch: sink.finish(rejected), filtered };
  }

  /** Nothing is computed and nothing can fail. */
  #project(s: Section, plan: Plan, sink: RowSink): void {
    const width = s.schema.columns.length;
    if (plan.whole) {
      sink.whole(s.firstCell, s.firstCell + s.rows * width, s.firstRow, s.rows);
      return;
    }
    for (let r = 0; r < s.rows; r++) {
      this.#frame.at(s.firstCell + r * width);
      sink.row(plan.outs, this.#frame, s.firstRow + r);
    }
  }

  /** @returns how many rows were filtered. */
  #section(batch: RowBatch, s: Section, plan: Plan, sink: RowSink): number {
    const { ops } = batch;
    let filtered = 0;
    for (let r = 0; r < s.rows; r++) {
      if (ops?.[s.firstRow + r] === OP_UPDATE_BEFORE) {
        if (r + 1 === s.rows || ops[s.firstRow + r + 1] !== OP_UPDATE_AFTER)
          throw new SyncError('PLUGIN_BROKEN', 'the reader sent an update-before without its update-after');
        filtered += this.#update(s, r, plan, sink);
        r++;
      } else if (this.#row(s, r, plan) === 'filtered') filtered++;
    }
    return filtered;
  }

  /**
   * Both halves of an update. Where a filter takes one of them, the row enters or leaves what the target holds: the other
   * half becomes an insert or a delete. Where one fails, both are rejected: half an update is none.
   */
  #update(s: Section, r: number, plan: Plan, sink: RowSink): number {
    sink.mark();
    const before = this.#row(s, r, plan);
    const kept = before === 'kept';
    const after = this.#row(s, r + 1, plan);
    if (before === 'rejected' || after === 'rejected') {
      sink.rollback();
      const own = this.#rejected.at(-1);
      if (own && before !== after) {
        const other: RejectedRow = {
          ...own,
          row: this.#show(s, before === 'rejected' ? r + 1 : r),
          reason: `the other half of its update failed: ${own.reason}`,
        };
        this.#rejected.push(other);
      }
      return 0;
    }
    if (kept && after === 'filtered') {
      sink.setOp(OP_DELETE);
      return 1;
    }
    if (!kept && after === 'kept') {
      sink.setOp(OP_INSERT);
      return 1;
    }
    return kept ? 0 : 2;
  }

  #row(s: Section, r: number, plan: Plan): Fate {
    const f = this.#frame;
    const width = s.schema.columns.length;
    const base = s.firstCell + r * width;
    f.at(base);
    let at = 0;
    try {
      for (const step of plan.steps) {
        if (!step.run(f)) return 'filtered';
        at++;
      }
    } catch (e) {
      if (!(e instanceof RowFault)) throw e;
      const step = plan.steps[at];
      this.#rejected.push({
        row: this.#show(s, r),
        column: step?.column ?? null,
        code: 'ROW_INVALID',
        reason: `${step?.label ?? 'transform'}: ${e.message}`,
        place: null,
      });
      return 'rejected';
    }
    if (plan.whole) this.#sink?.whole(base, base + width, s.firstRow + r, 1);
    else this.#sink?.row(plan.outs, f, s.firstRow + r);
    return 'kept';
  }

  /** The row as it came, by column name. */
  #show(s: Section, r: number): JsonValue {
    const f = this.#frame;
    f.at(s.firstCell + r * s.schema.columns.length);
    const shown: [string, JsonValue][] = [];
    s.schema.columns.forEach((c, index) => {
      const flag = f.load({ is: 'input', index });
      if (flag === ABSENT_FLAG) return;
      const bytes = cellKind(c.type) === 'bytes';
      const value = flag === NULL_FLAG ? null : bytes ? f.buf.toString('base64', f.start, f.end) : f.text();
      shown.push([c.name, value]);
    });
    return Object.fromEntries(shown);
  }
}
