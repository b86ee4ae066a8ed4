import { SyncError, type JsonObject, type JsonValue, type Split, type SplitFacts } from 'syncx/plugin-api';
import type { RecordPoint } from 'syncx/plugin-kit';
import { STDIN } from './file-list.js';
import type { FileSpec } from './file-spec.js';

/** A part of a file that begins and ends at a record's border. */
export interface FileRange {
  readonly from: RecordPoint;
  /** Offset behind its last byte. */
  readonly to: number;
}

/** What a lane must know to read a split. */
export interface FileSplit {
  readonly spec: FileSpec;
  /** Null: the whole file. */
  readonly range: FileRange | null;
  /** What `*` means, where it was not known when the lanes were opened; else null. */
  readonly columns: readonly string[] | null;
}

export const STDIN_SPLIT: Split = { id: 'stdin', bounded: true, spec: { path: STDIN }, weight: null };

/**
 * `watched`: of one path there may be several files, one after the other, so their ids say more; and what is `null`
 * elsewhere is told here: the columns.
 */
export function splitOf(
  spec: FileSpec,
  range: FileRange | null,
  watched: { readonly columns: readonly string[] | null } | null,
): Split {
  const version = watched === null ? '' : `@${spec.mtimeNs}-${spec.ino}`;
  const part = range === null ? '' : `:${String(range.from.offset)}`;
  const kind = range === null ? 'file' : 'range';
  return {
    id: `${kind}${version}${part}:${spec.path}`,
    bounded: true,
    spec: {
      ...spec,
      ...(range === null ? {} : { from: range.from.offset, line: range.from.line, to: range.to }),
      ...(watched === null || watched.columns === null ? {} : { columns: watched.columns }),
    },
    weight: range === null ? spec.size : range.to - range.from.offset,
  };
}

const isDigits = (v: JsonValue | undefined): v is string => typeof v === 'string' && /^-?\d+$/.test(v);
const isTexts = (v: JsonValue): v is readonly string[] => Array.isArray(v) && v.every((t) => typeof t === 'string');

/** @throws SyncError STATE_CORRUPT */
export function readSplitSpec(split: Split): FileSplit {
  const { path, size, mtimeNs, ino, from, line, to, columns } = split.spec as JsonObject;
  const whole = from === undefined && line === undefined && to === undefined;
  const part = typeof from === 'number' && typeof line === 'number' && typeof to === 'number';
  if (
    typeof path !== 'string' ||
    typeof size !== 'number' ||
    !isDigits(mtimeNs) ||
    typeof ino !== 'string' ||
    !(whole || part) ||
    !(columns === undefined || isTexts(columns))
  ) {
    throw new SyncError('STATE_CORRUPT', `split ${split.id} is none of this file reader`, {
      hint: 'It was written by another version; go on with that version.',
    });
  }
  return {
    spec: { path, size, mtimeNs, ino },
    range: part ? { from: { offset: from, line }, to } : null,
    columns: columns ?? null,
  };
}

/** For `sync plan`. */
export function explainSplit(split: Split): SplitFacts {
  if (split.id === STDIN_SPLIT.id) return { what: 'standard input', rows: null, bytes: null };
  const { spec, range } = readSplitSpec(split);
  const part = range === null ? '' : `, bytes ${String(range.from.offset)} to ${String(range.to)}`;
  return { what: `${spec.path}${part}`, rows: null, bytes: split.weight };
}
