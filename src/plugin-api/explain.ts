/** What readers and writers tell of a job that does not run yet (`sync plan`). Plain JSON; never a secret. */
import type { ErrorCode } from './error-codes.js';
import type { LogicalType } from './logical-type.js';

/** `error`: a run would fail for it. `warning`: a run would go on, and a person should know. */
export interface PlanProblem {
  readonly level: 'error' | 'warning';
  readonly code: ErrorCode;
  readonly message: string;
  /** As in `SyncErrorInit`. */
  readonly place?: string;
  readonly hint?: string;
}

export interface PlanColumn {
  readonly name: string;
  /** Null: not known, or whatever comes. */
  readonly type: LogicalType | null;
  /** Left out: `data`. */
  readonly role?: 'data' | 'meta';
}

export interface ReaderFacts {
  /** What is read, a line each: paths with their format, SQL, addresses. */
  readonly reads: readonly string[];
  /** The columns that rows will have; null: known only when rows come. */
  readonly columns: readonly PlanColumn[] | null;
  /** Estimates for all that the source holds now; null: not known. */
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly problems: readonly PlanProblem[];
}

export interface SplitFacts {
  /** The split in words: a path and its range, a table and its keys. */
  readonly what: string;
  /** Estimated; null: not known. */
  readonly rows: number | null;
  readonly bytes: number | null;
}

export interface PlanTarget {
  /** Path, table, topic. */
  readonly place: string;
  /** `unknown`: it cannot be asked (a pipe), or may not be. */
  readonly state: 'missing' | 'empty' | 'filled' | 'unknown';
  /** How much is there, in words: `3 files`, `about 1,200 rows`; null: nothing to say. */
  readonly holds: string | null;
  /** What the job will do to what is there; a clause: `they stay; new files come beside them`. */
  readonly effect: string;
}

/** A column whose values can change, or be refused, on their way into the target. */
export interface ColumnLoss {
  /** Name at the reader. */
  readonly column: string;
  /** A clause: `NULL becomes the text NULL`. */
  readonly what: string;
}

export interface WriterFacts {
  /** What is written, a line each: paths with their format, SQL. */
  readonly writes: readonly string[];
  readonly target: PlanTarget | null;
  /** The target's own columns, in the order of the writer's `columns`; null: it takes the names and types that come. */
  readonly columns: readonly PlanColumn[] | null;
  /** What types alone do not show; losses between two known types are told by the engine. */
  readonly losses: readonly ColumnLoss[];
  /** Why `delivery` is not exactly-once, as a clause; null where it is, or there is no more to say. */
  readonly whyDelivery: string | null;
  readonly problems: readonly PlanProblem[];
}
