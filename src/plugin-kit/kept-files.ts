import { SyncError, type JsonObject, type JsonValue } from '../plugin-api/index.js';

/** A file that stays open over checkpoints, as the state of its lane names it. */
export interface KeptFile {
  readonly staged: string;
  /** Bytes that are durable and committed; what stands behind them is not. */
  readonly size: number;
  /** Rows in these bytes. */
  readonly rows: number;
  /** Folder below the target's that it is published into; empty: the target's own. */
  readonly bucket: string;
  readonly suffix: string;
  /** What its writer needs to go on with it. */
  readonly note: JsonValue;
}

/** The writer state of a lane. */
export interface KeptState {
  readonly format: 1;
  readonly open: readonly KeptFile[];
}

function isKept(v: JsonValue): boolean {
  const f = (typeof v === 'object' && v !== null ? v : {}) as JsonObject;
  const texts = [f['staged'], f['bucket'], f['suffix']];
  return texts.every((t) => typeof t === 'string') && typeof f['size'] === 'number' && typeof f['rows'] === 'number';
}

/** @throws SyncError STATE_CORRUPT where it is not of {@link KeptState}'s form. */
export function keptFilesOf(state: JsonValue | null): readonly KeptFile[] {
  if (state === null) return [];
  const { format, open } = (typeof state === 'object' ? state : {}) as JsonObject;
  if (format !== 1 || !Array.isArray(open) || !(open as readonly JsonValue[]).every(isKept)) {
    throw new SyncError('STATE_CORRUPT', 'the writer state of the checkpoint does not name open files in format 1', {
      hint: 'It was written by another version; go on with that version.',
    });
  }
  return open;
}

export function keptState(open: readonly KeptFile[]): JsonValue | null {
  return open.length === 0 ? null : { format: 1, open: open.map((f) => ({ ...f })) };
}

/** Spreads the open files of all lanes over the lanes of a new start. */
export function spreadKept(states: readonly (JsonValue | null)[], lanes: number): readonly (JsonValue | null)[] {
  const all = states.flatMap(keptFilesOf);
  return Array.from({ length: lanes }, (_, lane) => keptState(all.filter((_f, i) => i % lanes === lane)));
}

export function keptFileLost(f: KeptFile, there: number | null): SyncError {
  const what = there === null ? 'is gone' : `has only ${String(there)} bytes`;
  return new SyncError(
    'SINK_CONFLICT',
    `the open file ${f.staged} ${what}: ${String(f.rows)} committed rows (${String(f.size)} bytes) were in it and in no other file`,
    {
      place: f.staged,
      retry: 'never',
      hint: 'Put it back and run the job again. If it is gone for good, start anew with --fresh: the rows are read again.',
    },
  );
}
