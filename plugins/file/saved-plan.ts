import { basename, dirname } from 'node:path';
import type { JsonValue } from 'syncx/plugin-api';
import type { RecordPoint } from 'syncx/plugin-kit';
import type { FileSpec } from './file-spec.js';

/** The newest form that is written and read. */
export const PLAN_FORMAT = 3;

/** A plan of up to so many files is told to each checkpoint again, so that each stands for itself. */
export const SMALL_PLAN = 1000;

/** How files are cut, fixed at the start of a run: every later start must cut at the same places. */
export interface Cutting {
  /** Bytes; only larger files are cut. */
  readonly splitSize: number;
  /** Files are cut into a multiple of so many parts. */
  readonly lanes: number;
}

/** What a watching reader must not forget. */
export interface Watched {
  /** Files that were taken, as they were then. */
  readonly known: readonly FileSpec[];
  /** The folders that are looked through, with their inodes. */
  readonly bases: readonly (readonly [path: string, ino: string])[];
}

/** What is left to hand out, and what `*` means. */
export interface Plan {
  readonly files: readonly FileSpec[];
  readonly columns: readonly string[] | null;
  /** Null: no file is cut. */
  readonly cutting: Cutting | null;
  /** Where the rest of the first file begins; null: it is whole. */
  readonly from: RecordPoint | null;
  /** Null: the job does not watch. */
  readonly watched: Watched | null;
}

/** Name, size, mtimeNs, ino. */
type SavedFile = readonly [string, number, string, string];
/** Folder by folder. */
type SavedFiles = readonly (readonly [string, readonly SavedFile[]])[];

/** The form of a plan that has nothing but whole files. */
interface SavedPlan2 {
  readonly format: 2;
  readonly columns: readonly string[] | null;
  readonly folders: SavedFiles;
}

interface SavedPlan3 {
  readonly format: 3;
  readonly columns: readonly string[] | null;
  readonly folders: SavedFiles;
  readonly cutting: Cutting | null;
  readonly from: RecordPoint | null;
  readonly watched: { readonly known: SavedFiles; readonly bases: Watched['bases'] } | null;
}

function encodeFiles(files: readonly FileSpec[]): SavedFiles {
  const folders: [string, SavedFile[]][] = [];
  let open: [string, SavedFile[]] | undefined;
  for (const f of files) {
    const folder = dirname(f.path);
    if (open?.[0] !== folder) folders.push((open = [folder, []]));
    open[1].push([basename(f.path), f.size, f.mtimeNs, f.ino]);
  }
  return folders;
}

export function encodePlan({ files, columns, cutting, from, watched }: Plan): JsonValue {
  const folders = encodeFiles(files);
  const saved: SavedPlan2 | SavedPlan3 =
    cutting === null && watched === null
      ? { format: 2, columns, folders }
      : {
          format: 3,
          columns,
          folders,
          cutting: cutting === null ? null : { ...cutting },
          from: from === null ? null : { ...from },
          watched: watched === null ? null : { known: encodeFiles(watched.known), bases: watched.bases },
        };
  return saved as unknown as JsonValue;
}
