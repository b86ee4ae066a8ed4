/**
 * What is persisted, and its shape. Every file carries `format`; a reader of a newer format refuses politely.
 * docs/specs/checkpoint-protocol.md tells when each is written.
 */
import { createHash } from 'node:crypto';
import {
  SyncError,
  type Committable,
  type CursorBounds,
  type JsonObject,
  type JsonValue,
  type Position,
  type Split,
} from '../../plugin-api/index.js';
import type { Counters } from '../job/run-types.js';

export const STATE_FORMAT = 1;

/** A split as one lane moved it in one epoch. */
export interface SplitProgress {
  readonly split: Split;
  readonly from: Position | null;
  readonly to: Position | null;
  /** Set where the split was read to its end. */
  readonly ended: { readonly outcome: JsonValue } | null;
}

export interface OpenSplit {
  readonly split: Split;
  readonly position: Position | null;
}

/** What one lane did in the epoch, at both ends: `from` is what a lost epoch goes back to. */
export interface LaneRecord {
  readonly lane: number;
  readonly splits: readonly SplitProgress[];
  readonly writer: { readonly from: JsonValue | null; readonly to: JsonValue | null };
  /** Since the start of the attempt; add `base`. */
  readonly counters: { readonly from: Counters; readonly to: Counters };
  readonly committables: readonly Committable[];
  /** Staged file of this epoch's dirty rows, or null. */
  readonly dirty: DirtyFile | null;
}

export interface DirtyFile {
  readonly staged: string;
  readonly target: string;
  readonly size: number;
  readonly rows: number;
}

/** What a restart tells the planner again, after its snapshot. */
export interface PlannerReplay {
  readonly committed: readonly string[];
  readonly reopened: readonly OpenSplit[];
}

export interface Checkpoint {
  readonly format: typeof STATE_FORMAT;
  /** `takeover`: written by a new start to seal the slot that a zombie of an older one would need; holds no committables. */
  readonly kind: 'epoch' | 'takeover';
  readonly runId: string;
  readonly attempt: number;
  readonly epoch: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly fingerprint: string;
  /** Format number of the reader's positions below; missing: 1. */
  readonly positions?: number;
  readonly planner: JsonValue;
  readonly replay: PlannerReplay;
  /** Splits handed out and not read to their end, with where they stand after this epoch. */
  readonly open: readonly OpenSplit[];
  /** Counters of earlier attempts. */
  readonly base: Counters;
  /** Epochs with data that were committed before this one. */
  readonly epochs: number;
  readonly lanes: readonly LaneRecord[];
  /** True: nothing is left to read after this epoch. */
  readonly end: boolean;
}

/** `0.ckpt`: what the run is. Written once. */
export interface RunInfo {
  readonly format: typeof STATE_FORMAT;
  readonly kind: 'run';
  readonly runId: string;
  readonly runName: string;
  readonly jobId: string;
  readonly at: number;
  /** Random id of the state root, to tell a copied folder from the one that wrote it. */
  readonly stateId: string;
  readonly fingerprint: string;
  readonly reader: PluginRecord;
  readonly writer: PluginRecord;
  /** Without secrets; missing: none. */
  readonly transform?: readonly JsonObject[];
  readonly parent: string | null;
  /** What `${now}` was (ms since 1970) when the run began, where the job asks for times that stay as they were then. */
  readonly clock?: number;
  /** Of a job with a cursor: what this run reads. */
  readonly cursor?: CursorBounds;
}

export interface PluginRecord {
  readonly name: string;
  /** Non-secret options: where the target was, also after the job file has been edited. */
  readonly options: JsonObject;
  readonly identity: JsonObject;
}

export interface AttemptInfo {
  readonly format: typeof STATE_FORMAT;
  readonly attempt: number;
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly at: number;
  readonly lanes: number;
  /** Absolute real path of the run's folder when this attempt began. */
  readonly home: string;
}

export interface Outcome {
  readonly format: typeof STATE_FORMAT;
  readonly epoch: number;
  readonly attempt: number;
  /** By lane number. */
  readonly lanes: Readonly<Record<string, 'committed' | 'lost'>>;
  /** `resolve`: a person had to decide at least one lane. */
  readonly by: 'commit' | 'recover' | 'resolve';
}

export const NO_COUNTERS: Counters = { read: 0, written: 0, dirty: 0, filtered: 0, bytesRead: 0, bytesWritten: 0 };

export function addCounters(...all: readonly Counters[]): Counters {
  const sum = { ...NO_COUNTERS };
  for (const c of all) {
    sum.read += c.read;
    sum.written += c.written;
    sum.dirty += c.dirty;
    sum.filtered += c.filtered;
    sum.bytesRead += c.bytesRead;
    sum.bytesWritten += c.bytesWritten;
  }
  return sum;
}

export function countersBetween(from: Counters, to: Counters): Counters {
  return {
    read: to.read - from.read,
    written: to.written - from.written,
    dirty: to.dirty - from.dirty,
    filtered: to.filtered - from.filtered,
    bytesRead: to.bytesRead - from.bytesRead,
    bytesWritten: to.bytesWritten - from.bytesWritten,
  };
}

/** A document and its SHA-256 on the next line: a file cut short or altered is told from a whole one. */
export function sealed(doc: unknown): string {
  const body = JSON.stringify(doc);
  return `${body}\nsha256:${createHash('sha256').update(body).digest('hex')}\n`;
}

/**
 * @throws SyncError STATE_CORRUPT naming the file, where the checksum does not hold, or the format is from a newer version
 * or is none.
 */
export function unsealed<T extends { readonly format: number }>(text: string, path: string): T {
  const cut = text.indexOf('\n');
  const body = cut < 0 ? text : text.slice(0, cut);
  const sum = cut < 0 ? '' : text.slice(cut + 1);
  if (sum !== `sha256:${createHash('sha256').update(body).digest('hex')}\n`) {
    throw new SyncError('STATE_CORRUPT', 'the checksum of a state file does not hold', {
      place: path,
      hint: 'Restore the file from a backup of the state folder, or start anew with --fresh.',
    });
  }
  const doc = JSON.parse(body) as T;
  if (doc.format > STATE_FORMAT) {
    throw new SyncError(
      'STATE_CORRUPT',
      `the state file has format ${String(doc.format)}; this version knows up to ${String(STATE_FORMAT)}`,
      {
        place: path,
        hint: 'Run the job with the newer version that wrote it.',
      },
    );
  }
  if (!Number.isInteger(doc.format) || doc.format < 1) {
    throw new SyncError('STATE_CORRUPT', 'the state file has no format number', {
      place: path,
      hint: 'It was written by another version; go on with that version.',
    });
  }
  return doc;
}
