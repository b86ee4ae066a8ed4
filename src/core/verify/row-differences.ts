import { cellKind, type RowBatch } from '../../plugin-api/index.js';
import type { Bound, Pairing } from './pairing.js';
import { sameCell, type KeptCell, type RowScan } from './row-scan.js';
import type { Difference, DifferenceKind } from './verify-types.js';

export interface KeptRow {
  readonly bound: Bound;
  readonly cells: readonly KeptCell[];
  readonly key: string;
}

/** A key whose rows are not the same. Of `different` both rows are there. */
export interface Found {
  readonly is: DifferenceKind;
  readonly source: KeptRow | null;
  readonly target: KeptRow | null;
}

/** Rows of both sides, of which equal ones take each other out as they come; what is left differs. */
export class RowDifferences {
  readonly #left = new Map<string, KeptRow[]>();

  /** `wanted`: whether rows whose key has this hash are looked at. */
  add(bound: Bound, batch: RowBatch, section: number, scan: RowScan, wanted: (keyLow: number) => boolean): void {
    const s = batch.sections[section];
    if (s === undefined) return;
    const { key, row } = scan;
    for (let r = 0; r < s.rows; r++) {
      scan.hash(bound, s, r);
      if (!wanted(key.low)) continue;
      const keyText = `${String(key.high)}.${String(key.low)}`;
      const id = `${keyText}.${String(row.high)}.${String(row.low)}`;
      const same = this.#left.get(id);
      if (same?.[0] !== undefined && same[0].bound.side !== bound.side) {
        if (same.length === 1) this.#left.delete(id);
        else same.pop();
        continue;
      }
      const kept = { bound, cells: scan.keep(bound, s, r), key: keyText };
      if (same) same.push(kept);
      else this.#left.set(id, [kept]);
    }
  }

  /** In the order in which they came. */
  found(): readonly Found[] {
    const byKey = new Map<string, { source: KeptRow[]; target: KeptRow[] }>();
    for (const row of [...this.#left.values()].flat()) {
      const of = byKey.get(row.key) ?? { source: [], target: [] };
      byKey.set(row.key, of);
      of[row.bound.side].push(row);
    }
    return [...byKey.values()].flatMap(({ source, target }) =>
      Array.from({ length: Math.max(source.length, target.length) }, (_, i): Found => {
        const [s, t] = [source[i] ?? null, target[i] ?? null];
        return { is: s === null ? 'extra' : t === null ? 'missing' : 'different', source: s, target: t };
      }),
    );
  }
}

/** For people: values as texts, bytes as base64. */
export function showFound(pairing: Pairing, { is, source, target }: Found): Difference {
  const row = source ?? target;
  const shown = pairing.key.length > 0 ? pairing.key : pairing.columns.map((_, i) => i);
  const key = Object.fromEntries(
    shown.map((i): [string, string | null] => [pairing.columns[i]?.to ?? '', row === null ? null : showCell(row, i)]),
  );
  const columns = pairing.columns.flatMap((c, i) => {
    if (source === null || target === null) return [];
    const same = sameCell(
      source.cells[i] ?? null,
      source.bound.forms[i] ?? null,
      target.cells[i] ?? null,
      target.bound.forms[i] ?? null,
    );
    return same ? [] : [{ name: c.to, source: showCell(source, i), target: showCell(target, i) }];
  });
  return { is, key, columns };
}

function showCell(row: KeptRow, i: number): string | null {
  const cell = row.cells[i] ?? null;
  const type = row.bound.schema.columns[row.bound.at[i] ?? -1]?.type;
  return cell === null ? null : cell.toString(type && cellKind(type) === 'bytes' ? 'base64' : 'utf8');
}
