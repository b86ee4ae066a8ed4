import type { JobSpec } from '../../job/job-spec.js';
import type { VerifyResult } from '../verify/verify-types.js';
import type { AnyWriterDefinition, ErrorReport, Delivery, Logger } from '../../plugin-api/index.js';

/** Rows and bytes; of a lane, of a run. `written` counts rows that were handed to the writer and not rejected. */
export interface Counters {
  readonly read: number;
  readonly written: number;
  readonly dirty: number;
  readonly filtered: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export interface Progress {
  readonly phase: 'starting' | 'recovering' | 'running' | 'stopping' | 'completing' | 'done';
  /** What lanes have moved so far, committed or not. */
  readonly counters: Counters;
  readonly epochs: number;
  /** Splits read to their end, open now, and estimated bytes of those seen; bytes null where unknown. */
  readonly splits: { readonly done: number; readonly open: number; readonly bytes: number | null };
  readonly restarts: number;
  /** Records of the source that were not read yet; null: it has an end, or does not say. */
  readonly lag: number | null;
  /** The last durable checkpoint of the run, and when it was made (ms since 1970); null: there is none yet. */
  readonly checkpoint: { readonly epoch: number; readonly at: number } | null;
}

/**
 * The counters are the run's totals over all its starts, as far as they are committed. One exception: after
 * `DIRTY_LIMIT`, `dirty` also has the rows of the epoch that was given up, as the limit counted them.
 */
export interface RunSummary extends Counters {
  readonly state: 'finished' | 'failed' | 'stopped';
  readonly exitCode: number;
  /** Of this start, as `thisStart` is: a rate is one of these by the other. */
  readonly seconds: number;
  /** What this start has committed. */
  readonly thisStart: Counters;
  /** What was moved and is not committed when a failure cut it off, rows that were read ahead included; else all 0. */
  readonly uncommitted: Counters;
  /** False: refused before it went on with any run (locked, no fitting state, an epoch in doubt); nothing is counted. */
  readonly begun: boolean;
  /** Restarts within this start. */
  readonly restarts: number;
  readonly epochs: number;
  readonly delivery: Delivery;
  readonly jobId: string;
  readonly runId: string | null;
  readonly resumed: boolean;
  /** Folder with the files of dirty rows; null where there are none. */
  readonly dirtyFiles: string | null;
  readonly error: ErrorReport | null;
  /** Of `setting.verify`; left out where nothing was compared. */
  readonly verify?: VerifyResult;
}

export interface RunDeps {
  readonly log: Logger;
  /** Absolute path of the folder of all jobs' state. */
  readonly stateRoot: string;
  readonly fresh: boolean;
  readonly allowReplay: boolean;
  /** The state folder was moved here and nothing runs from its old place. */
  readonly takeOver: boolean;
  /** Aborted (reason: 'SIGTERM' | 'SIGINT') to stop cleanly at a checkpoint. */
  readonly stop: AbortSignal;
  /** How long a stop may look for a safe point; 10 s by default. */
  readonly stopTimeoutMs?: number;
  /** Called once; poll it for live progress. */
  readonly onStart?: (progress: () => Progress) => void;
  /** Loads the writer that an older run used, by plugin name, when the job now names another. */
  readonly loadWriter: (name: string) => Promise<AnyWriterDefinition | null>;
  /** The module that a worker lane runs; without it several lanes share this thread. */
  readonly workerEntry?: URL;
  /** Id of the round that the run belongs to, where the job has several content entries. */
  readonly round?: string;
  /** The job as it was when the clock showed this (ms since 1970): an unfinished run keeps its times. */
  readonly atClock?: (job: JobSpec, now: number) => Promise<JobSpec>;
  /** The value of SYNC_FAILPOINT, or undefined. */
  readonly failpoint?: string | undefined;
  /** Counts the hits of failpoints over all parts of a job (`failpointMemory`). */
  readonly hits?: SharedArrayBuffer;
}
