/** Which column of the source is which of the target, in what form the two are compared, and by what key rows are told apart. */
import { SyncError, type LogicalType, type RowSchema, type WrittenColumn } from '../../plugin-api/index.js';
import { verifyForm, type VerifyForm } from './verify-form.js';
import type { SideName } from './verify-types.js';

/** Where the compared cells stand in rows of one schema, and their forms. */
export interface Bound {
  readonly side: SideName;
  readonly schema: RowSchema;
  /** By compared column: its index in the schema. */
  readonly at: readonly number[];
  readonly forms: readonly (VerifyForm | null)[];
}

export interface PairingParts {
  readonly source: RowSchema | null;
  readonly target: RowSchema | null;
  /** The writer's rule, for rows of any schema of the source. */
  readonly written: (rows: RowSchema) => readonly WrittenColumn[];
  /** Key columns that a person gave, by name at the target. */
  readonly key: readonly string[] | null;
}

export class Pairing {
  readonly columns: readonly WrittenColumn[];
  /** Indexes into `columns`; empty: the whole row. */
  readonly key: readonly number[];
  /** True: it is the target's own, by which a writer finds rows. */
  readonly keyOfTarget: boolean;
  readonly #parts: PairingParts;
  readonly #types: Readonly<Record<SideName, readonly (LogicalType | null)[]>>;
  readonly #bound = { source: new Map<number, Bound>(), target: new Map<number, Bound>() };

  /** @throws SyncError COLUMN_MISMATCH, USAGE */
  constructor(parts: PairingParts) {
    this.#parts = parts;
    const { source, target } = parts;
    this.columns = source
      ? parts.written(source)
      : (target?.columns ?? []).map(({ name }) => ({ from: name, to: name }));
    if (this.columns.length === 0 && (source !== null || target !== null)) {
      throw new SyncError('COLUMN_MISMATCH', 'the two sides have no column in common', {
        place: 'writer.parameter.column',
      });
    }
    this.#types = {
      source: this.columns.map((c) => (source ? typeIn(source, c.from) : null)),
      target: this.columns.map((c) => (target ? typeIn(target, c.to) : null)),
    };
    const ofTarget =
      target === null
        ? []
        : this.#indexes(
            target.key.map((k) => target.columns[k]?.name ?? ''),
            'to',
          );
    const ofSource =
      source === null
        ? []
        : this.#indexes(
            source.key.map((k) => source.columns[k]?.name ?? ''),
            'from',
          );
    this.key = parts.key === null ? (ofTarget.length > 0 ? ofTarget : ofSource) : this.#given(parts.key);
    this.keyOfTarget = ofTarget.length > 0 && ofTarget.join() === this.key.join();
  }

  get keyNames(): readonly string[] {
    return this.key.map((k) => this.columns[k]?.to ?? '');
  }

  /** Empty where one of them is not compared: the others alone tell no row apart. */
  #indexes(names: readonly string[], by: 'from' | 'to'): readonly number[] {
    const found = names.map((n) => this.columns.findIndex((c) => c[by] === n));
    return found.includes(-1) ? [] : found;
  }

  #given(names: readonly string[]): readonly number[] {
    return names.map((n) => {
      const i = this.columns.findIndex((c) => c.to === n);
      if (i >= 0 || this.columns.length === 0) return i;
      throw new SyncError('USAGE', `--key names the column \`${n}\`, which is not compared`, {
        hint: `There are ${this.columns.map((c) => c.to).join(', ')}.`,
      });
    });
  }

  bind(side: SideName, schema: RowSchema): Bound {
    const known = this.#bound[side].get(schema.id);
    if (known) return known;
    const names = side === 'target' ? this.columns.map((c) => c.to) : this.#parts.written(schema).map((c) => c.from);
    if (names.length !== this.columns.length) {
      throw new SyncError(
        'COLUMN_MISMATCH',
        `rows with ${String(names.length)} columns to compare follow rows with ${String(this.columns.length)}`,
        {
          place: schema.table ?? side,
        },
      );
    }
    const at = names.map((n) => columnIn(schema, n));
    const missing = names.find((_, i) => at[i] === -1);
    if (missing !== undefined) {
      throw new SyncError('COLUMN_MISMATCH', `the ${side} has no column \`${missing}\``, {
        place: schema.table ?? side,
        hint: `It has ${schema.columns.map((c) => c.name).join(', ')}.`,
      });
    }
    const others = this.#types[side === 'source' ? 'target' : 'source'];
    const forms = at.map((index, i) => {
      const own = schema.columns[index]?.type ?? { is: 'string' };
      return verifyForm(own, others[i] ?? own);
    });
    const bound = { side, schema, at, forms };
    this.#bound[side].set(schema.id, bound);
    return bound;
  }
}

function columnIn(schema: RowSchema, name: string): number {
  const exact = schema.columns.findIndex((c) => c.name === name);
  return exact >= 0 ? exact : schema.columns.findIndex((c) => c.name.toLowerCase() === name.toLowerCase());
}

function typeIn(schema: RowSchema, name: string): LogicalType | null {
  return schema.columns[columnIn(schema, name)]?.type ?? null;
}
