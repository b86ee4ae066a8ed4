import { join } from 'node:path';
import { SyncError, type JsonObject, type JsonValue } from 'syncx/plugin-api';
import type { RecordPoint } from 'syncx/plugin-kit';
import type { FileSpec } from './file-spec.js';
import { PLAN_FORMAT, type Cutting, type Plan, type Watched } from './saved-plan.js';

/** `at`: the place in the plan. */
function broken(at: string, must: string): SyncError {
  return new SyncError('STATE_CORRUPT', `the file reader's saved plan is malformed: \`${at}\` must be ${must}`, {
    hint: 'It was written by another version, or changed since; go on with the version that wrote it.',
  });
}

function objectAt(v: JsonValue | undefined, at: string): JsonObject {
  if (typeof v === 'object' && v !== null && !Array.isArray(v)) return v as JsonObject;
  throw broken(at, 'an object');
}

function listAt(v: JsonValue | undefined, at: string, length?: number): readonly JsonValue[] {
  if (Array.isArray(v) && (length === undefined || v.length === length)) return v as readonly JsonValue[];
  throw broken(at, length === undefined ? 'a list' : `a list of ${String(length)}`);
}

function textAt(v: JsonValue | undefined, at: string): string {
  if (typeof v === 'string') return v;
  throw broken(at, 'a text');
}

/** A text, as it is more than a double holds. */
function digitsAt(v: JsonValue | undefined, at: string): string {
  if (typeof v === 'string' && /^-?\d+$/.test(v)) return v;
  throw broken(at, 'a text of digits');
}

function countAt(v: JsonValue | undefined, at: string, least: number): number {
  if (typeof v === 'number' && Number.isSafeInteger(v) && v >= least) return v;
  throw broken(at, `an integer from ${String(least)} on`);
}

/** For keys that may be null, but not missing. */
function orNull<T>(v: JsonValue | undefined, at: string, read: (v: JsonValue | undefined, at: string) => T): T | null {
  return v === null ? null : read(v, at);
}

const textsAt = (v: JsonValue | undefined, at: string): readonly string[] =>
  listAt(v, at).map((name, i) => textAt(name, `${at}[${String(i)}]`));

function filesAt(v: JsonValue | undefined, at: string): readonly FileSpec[] {
  return listAt(v, at).flatMap((entry, i) => {
    const inFolder = `${at}[${String(i)}]`;
    const [path, files] = listAt(entry, inFolder, 2);
    const folder = textAt(path, `${inFolder}[0]`);
    return listAt(files, `${inFolder}[1]`).map((file, k): FileSpec => {
      const here = `${inFolder}[1][${String(k)}]`;
      const [name, size, mtimeNs, ino] = listAt(file, here, 4);
      const base = textAt(name, `${here}[0]`);
      return {
        path: folder === '' ? base : join(folder, base),
        size: countAt(size, `${here}[1]`, 0),
        mtimeNs: digitsAt(mtimeNs, `${here}[2]`),
        ino: digitsAt(ino, `${here}[3]`),
      };
    });
  });
}

function cuttingAt(v: JsonValue | undefined, at: string): Cutting {
  const { splitSize, lanes } = objectAt(v, at);
  return { splitSize: countAt(splitSize, `${at}.splitSize`, 1), lanes: countAt(lanes, `${at}.lanes`, 1) };
}

function pointAt(v: JsonValue | undefined, at: string): RecordPoint {
  const { offset, line } = objectAt(v, at);
  return { offset: countAt(offset, `${at}.offset`, 0), line: countAt(line, `${at}.line`, 1) };
}

function watchedAt(v: JsonValue | undefined, at: string): Watched {
  const { known, bases } = objectAt(v, at);
  return {
    known: filesAt(known, `${at}.known`),
    bases: listAt(bases, `${at}.bases`).map((base, i) => {
      const here = `${at}.bases[${String(i)}]`;
      const [path, ino] = listAt(base, here, 2);
      return [textAt(path, `${here}[0]`), digitsAt(ino, `${here}[1]`)];
    }),
  };
}

function formatOf(plan: JsonObject): 2 | 3 {
  const { format } = plan;
  if (format === 2 || format === 3) return format;
  if (typeof format === 'number' && format > PLAN_FORMAT) {
    const message = `the file reader's saved plan has format ${String(format)}; this version knows up to ${String(PLAN_FORMAT)}`;
    throw new SyncError('STATE_CORRUPT', message, { hint: 'Run the job with the newer version that wrote it.' });
  }
  throw broken('format', `2 or ${String(PLAN_FORMAT)}`);
}

/** @throws SyncError STATE_CORRUPT, naming the part of the plan that is wrong. */
export function decodePlan(saved: JsonValue): Plan {
  const plan = objectAt(saved, 'plan');
  const format = formatOf(plan);
  const columns = orNull(plan['columns'], 'columns', textsAt);
  const files = filesAt(plan['folders'], 'folders');
  if (format === 2) return { files, columns, cutting: null, from: null, watched: null };
  const cutting = orNull(plan['cutting'], 'cutting', cuttingAt);
  const from = orNull(plan['from'], 'from', pointAt);
  if (from !== null && from.offset > (files[0]?.size ?? -1))
    throw broken('from', 'a place in the first file that is left');
  return { files, columns, cutting, from, watched: orNull(plan['watched'], 'watched', watchedAt) };
}
