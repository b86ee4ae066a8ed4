/** The plan of a run as checkpoints hold it: all that was not handed out yet. */
import { SyncError, type JsonValue } from 'syncx/plugin-api';
import type { CursorWindow, Shape, ShapeColumn } from '../split-spec.js';

/** What is left of a table or query. `shape`: index into the plan's shapes; `part`: number of the next split. */
export type Feed = WholeFeed | PartsFeed | WalkFeed;

interface FeedBase {
  readonly shape: number;
  /** Estimated; null: not known. */
  readonly rowBytes: number | null;
}

/** One split. `polls`: without an end. */
export interface WholeFeed extends FeedBase {
  readonly is: 'whole';
  readonly polls: boolean;
  readonly rows: number | null;
}

/** Ranges between known cuts of an integer column. */
export interface PartsFeed extends FeedBase {
  readonly is: 'parts';
  readonly column: ShapeColumn;
  readonly part: number;
  /** Where the next part begins; null: the first part. */
  readonly from: string | null;
  /** Where the parts behind the next one begin. */
  readonly cuts: readonly string[];
  /** Of the next part and those behind it. */
  readonly rows: readonly number[];
  /** Whether rows with NULL are still to come, and those alone. */
  readonly nulls: boolean;
}

/** Ranges that are found one by one, by walking the key. */
export interface WalkFeed extends FeedBase {
  readonly is: 'walk';
  readonly columns: readonly ShapeColumn[];
  readonly part: number;
  /** The last key of the part before; null: the first part. */
  readonly after: readonly string[] | null;
  /** Rows of a part. */
  readonly step: number;
  /** The range behind `after` was handed out without an upper bound. */
  readonly ended: boolean;
  readonly nulls: boolean;
}

/** Of each connection that is read, while all tables were locked; null: the server does not say. */
export interface LockedAt {
  readonly positions: readonly (string | null)[];
}

export interface SavedPlan {
  readonly format: 1;
  readonly shapes: readonly Shape[];
  /** By shape; null: the job has no cursor. */
  readonly windows: readonly (CursorWindow | null)[];
  readonly feeds: readonly Feed[];
  /** Null: the job is not `consistent`. */
  readonly locked: LockedAt | null;
}

/** @throws SyncError STATE_MISFIT */
export function decodePlan(saved: JsonValue): SavedPlan {
  const plan = saved as unknown as SavedPlan;
  if ((plan.format as number) === 1) return plan;
  throw new SyncError('STATE_MISFIT', 'the saved plan is of another version of this reader', {
    hint: 'Go on with the version that began the run, or start a new one with --fresh.',
  });
}
