import { cellKind, type RowBatch } from '../../plugin-api/index.js';
import type { Bound, Pairing } from './pairing.js';
import { KeptRow } from './kept-row.js';
import { sameCell, type RowScan } from './row-scan.js';
import type { Difference, DifferenceKind } from './verify-types.js';

/** A key whose rows are not the same. Of `different` both rows are there. */
export interface Found {
  readonly is: DifferenceKind;
  readonly source: KeptRow | null;
  readonly target: KeptRow | null;
}

/** 128 bits as eight characters: as short as a key of a Map can be. */
function idOf({ key, row }: RowScan): string {
  return String.fromCharCode(
    key.high >>> 16,
    key.high & 0xffff,
    key.low >>> 16,
    key.low & 0xffff,
    row.high >>> 16,
    row.high & 0xffff,
    row.low >>> 16,
    row.low & 0xffff,
  );
}

const KEY_LENGTH = 4;

/** Rows of both sides, of which equal ones take each other out as they come; what is left differs. */
export class RowDifferences {
  readonly #left = new Map<string, KeptRow>();

  /** `wanted`: whether rows whose key has this hash are looked at. */
  add(bound: Bound, batch: RowBatch, section: number, scan: RowScan, wanted: (keyLow: number) => boolean): void {
    const s = batch.sections[section];
    if (s === undefined) return;
    for (let r = 0; r < s.rows; r++) {
      scan.hash(bound, s, r);
      if (!wanted(scan.key.low)) continue;
      const id = idOf(scan);
      const same = this.#left.get(id);
      if (same !== undefined && same.bound.side !== bound.side) {
        if (same.next === null) this.#left.delete(id);
        else this.#left.set(id, same.next);
        continue;
      }
      const kept = new KeptRow(bound, scan.keep(bound, s, r));
      kept.next = same ?? null;
      this.#left.set(id, kept);
    }
  }

  /** In the order in which they came. */
  found(): readonly Found[] {
    const byKey = new Map<string, { source: KeptRow[]; target: KeptRow[] }>();
    for (const [id, first] of this.#left) {
      const key = id.slice(0, KEY_LENGTH);
      const of = byKey.get(key) ?? { source: [], target: [] };
      byKey.set(key, of);
      for (let row: KeptRow | null = first; row !== null; row = row.next) of[row.bound.side].push(row);
    }
    this.#left.clear();
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
  const [ofSource, ofTarget] = [source?.cells ?? [], target?.cells ?? []];
  const columns = pairing.columns.flatMap((c, i) => {
    if (source === null || target === null) return [];
    const same = sameCell(
      ofSource[i] ?? null,
      source.bound.forms[i] ?? null,
      ofTarget[i] ?? null,
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
