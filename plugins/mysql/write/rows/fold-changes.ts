/**
 * Of changes of one table that come together, the last one of each row alone: all that are gone in one statement, all that
 * are there in another one. In their order they would be a statement each, wherever an insert follows a delete. Nobody sees
 * the states between, as they are in one transaction; where they matter (see `tiesOf`) changes stay as they are.
 */
import { cellKind } from 'syncx/plugin-api';
import type { TableFacts } from '../../catalog/tables.js';
import type { Binding, BoundColumn, RowKey } from './bind-columns.js';
import { DELETE, PUT, type Steps } from './change-steps.js';
import { cellOf, endOf, isAbsent, isNull, startOf, type Piece } from './row-forms.js';

export interface PieceSteps {
  readonly piece: Piece;
  readonly steps: Steps;
}

const INTEGER = /^(?:tiny|small|medium|big)?int/i;
const TEXT = /^(?:var)?char/i;
/** Where letters, digits, `-` and `_` of ASCII equal nothing but themselves, and perhaps the other case. */
const PLAIN_COLLATION =
  /^(?:ascii|latin1|utf8|utf8mb3|utf8mb4)_(?:bin|general_ci|unicode_ci|unicode_520_ci|0900_bin|0900_(?:ai|as)_c[is])$|^latin1_swedish_ci$|^uca1400_(?:ai|as)_c[is]$/;
const PLAIN_TEXT = /^[\w-]+$/;

type KeyKind = 'integer' | 'text';

function kindOf(binding: Binding, { source, target }: BoundColumn): KeyKind | null {
  const from = binding.schema.columns[source];
  if (from === undefined) return null;
  if (cellKind(from.type) === 'integer') return INTEGER.test(target.rawType) ? 'integer' : null;
  const text = from.type.is === 'string' && TEXT.test(target.rawType) && PLAIN_COLLATION.test(target.collation ?? '');
  return text ? 'text' : null;
}

/** Tells rows of one binding apart as the server does, by the one unique key of their table. */
export class ChangeFold {
  readonly #binding: Binding;
  readonly #columns: readonly BoundColumn[];
  readonly #kinds: readonly KeyKind[];

  private constructor(binding: Binding, columns: readonly BoundColumn[], kinds: readonly KeyKind[]) {
    this.#binding = binding;
    this.#columns = columns;
    this.#kinds = kinds;
  }

  /** Null: equal keys cannot be told here, or a row may be in the way of another one by a second unique key. */
  static of(binding: Binding, key: RowKey | null, table: TableFacts): ChangeFold | null {
    if (key?.unique !== true || table.uniqueKeys !== 1) return null;
    const unique = table.keys.find((k) => k.unique);
    if (unique?.columns.length !== key.columns.length) return null;
    const kinds = key.columns.map((c) => kindOf(binding, c));
    return kinds.includes(null)
      ? null
      : new ChangeFold(
          binding,
          key.columns,
          kinds.filter((k) => k !== null),
        );
  }

  /** Null: as they are, in their order. */
  fold(all: readonly PieceSteps[]): readonly PieceSteps[] | null {
    if (!areMixed(all)) return null;
    const last = new Map<string, { readonly alive: Uint8Array; readonly step: number }>();
    const spellings = new Map<string, string>();
    const texts = this.#kinds.includes('text');
    const marked = all.map((p) => ({ ...p, alive: new Uint8Array(p.steps.count) }));
    for (const { piece, steps, alive } of marked) {
      for (let step = 0; step < steps.count; step++) {
        const key = this.#keyText(piece, steps.rows[step] ?? 0);
        if (key === null) return null;
        if (texts && !isOnlySpelling(spellings, key)) return null;
        const before = last.get(key);
        if (before !== undefined) before.alive[before.step] = 0;
        alive[step] = 1;
        last.set(key, { alive, step });
      }
    }
    return [DELETE, PUT].flatMap((kind) =>
      marked.map(({ piece, steps, alive }) => ({ piece, steps: ofKind(steps, kind, alive) })),
    );
  }

  #keyText(piece: Piece, row: number): string | null {
    let key = '';
    for (const [i, column] of this.#columns.entries()) {
      const cell = cellOf(this.#binding, piece, row, column);
      if (isNull(piece, cell) || isAbsent(piece, cell)) return null;
      const text = piece.data.toString('latin1', startOf(piece, cell), endOf(piece, cell));
      if (this.#kinds[i] === 'text' && !PLAIN_TEXT.test(text)) return null;
      key = i === 0 ? text : `${key} ${text}`;
    }
    return key;
  }
}

/** Else they share statements as they are. */
function areMixed(all: readonly PieceSteps[]): boolean {
  let [puts, deletes] = [0, 0];
  for (const { steps } of all) {
    for (let i = 0; i < steps.count; i++) {
      if (steps.kinds[i] === PUT) puts++;
      else if (steps.kinds[i] === DELETE) deletes++;
      else return false; // a patch needs the row that is there
    }
  }
  return puts > 0 && deletes > 0;
}

/** False: another case of it was there, and whether that is the same row is the collation's to say. */
function isOnlySpelling(spellings: Map<string, string>, key: string): boolean {
  const folded = key.toLowerCase();
  const known = spellings.get(folded);
  if (known === undefined) spellings.set(folded, key);
  return known === undefined || known === key;
}

function ofKind(steps: Steps, kind: number, alive: Uint8Array): Steps {
  const kinds = new Uint8Array(steps.count).fill(kind);
  const rows = new Uint32Array(steps.count);
  let count = 0;
  for (let i = 0; i < steps.count; i++)
    if (alive[i] === 1 && steps.kinds[i] === kind) rows[count++] = steps.rows[i] ?? 0;
  return { kinds, rows, count };
}
