import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../durable/files.js';
import { SyncError, toSyncError } from '../plugin-api/index.js';

/** What to do about what the file system said, where its own word does not tell. */
const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'Let the user that runs the job write there, or name another folder.',
  EPERM: 'Let the user that runs the job write there, or name another folder.',
  EROFS: 'The file system is mounted read-only: mount it for writing, or name another folder.',
  ENOENT:
    'It was there or was to be made: somebody removes files or folders while the job runs. Stop that, then run it again.',
  EMFILE: 'The process may not open more files: raise its limit (ulimit -n).',
};

/** The file system's word as a coded error that names the path; a full disk is told apart by its code. */
export function sinkError(e: unknown, path: string, doing: 'write' | 'list' = 'write'): SyncError {
  const s = toSyncError(e, 'SINK_IO');
  if (s.place !== undefined) return s;
  const hint = s.hint ?? HINTS[(e as NodeJS.ErrnoException).code ?? ''];
  return new SyncError(s.code, `cannot ${doing} ${path}: ${s.message}`, {
    place: path,
    cause: e,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Every call to the file system goes through here, so that none of its failures looks like a defect of the tool. */
export async function sinkIo<T>(path: string, f: () => Promise<T>, doing: 'write' | 'list' = 'write'): Promise<T> {
  try {
    return await f();
  } catch (e) {
    const file = hasCode(e, 'ENOTDIR') ? await fileOnTheWay(path) : null;
    if (file !== null) throw notAFolder(file, e);
    throw sinkError(e, path, doing);
  }
}

export function notAFolder(path: string, cause?: unknown): SyncError {
  return new SyncError('SINK_CONFLICT', `${path} is a file, not a folder`, {
    place: path,
    hint: 'Name a folder: the writer makes files of its own in it.',
    cause,
  });
}

/** The part of a path that is there and is no folder; null: there is none. */
async function fileOnTheWay(path: string): Promise<string | null> {
  for (let at = path; ; at = dirname(at)) {
    try {
      return (await stat(at)).isDirectory() ? null : at;
    } catch (e) {
      if (!hasCode(e, 'ENOENT', 'ENOTDIR') || dirname(at) === at) return null;
    }
  }
}
