import type { Position } from '../../plugin-api/index.js';
import type { LaneRecord, OpenSplit, SplitProgress } from '../checkpoint/format.js';

/** Where open splits stand behind an epoch: what its lanes moved is there, the others are where they were. */
export function openAfter(open: readonly OpenSplit[], records: readonly LaneRecord[]): readonly OpenSplit[] {
  const to = new Map(records.flatMap((r) => r.splits).map((s) => [s.split.id, s.to]));
  return open.map((o) => ({
    split: o.split,
    position: to.has(o.split.id) ? (to.get(o.split.id) ?? null) : o.position,
  }));
}

/** By split: what is committed, of open splits and of those that an epoch has ended. */
export function positionsOf(
  open: readonly OpenSplit[],
  moved: readonly SplitProgress[],
): Readonly<Record<string, Position | null>> {
  const out: Record<string, Position | null> = {};
  for (const o of open) out[o.split.id] = o.position;
  for (const m of moved) out[m.split.id] = m.to;
  return out;
}
