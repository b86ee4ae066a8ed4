import { ERROR_CODES, type Blame, type ErrorCode, type RetryClass } from './error-codes.js';

const BRAND = 'syncx.SyncError.1';

export interface SyncErrorInit {
  /** What to do about it; one sentence. */
  readonly hint?: string;
  /** Where: file:line:column, table, topic-partition-offset, option path. */
  readonly place?: string;
  readonly cause?: unknown;
  /** Overrides the code's own class, where the plugin knows better. */
  readonly retry?: RetryClass;
  readonly blame?: Blame;
}

/**
 * The one error class that crosses the contract. The plugin classifies (code, retry, blame), the engine waits or stops.
 * Tell it apart with {@link isSyncError}, never with instanceof: two copies of this module may be loaded.
 */
export class SyncError extends Error {
  readonly brand = BRAND;
  readonly code: ErrorCode;
  readonly retry: RetryClass;
  readonly blame: Blame;
  readonly hint: string | undefined;
  readonly place: string | undefined;

  constructor(code: ErrorCode, message: string, init: SyncErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'SyncError';
    this.code = code;
    this.retry = init.retry ?? ERROR_CODES[code].retry;
    this.blame = init.blame ?? ERROR_CODES[code].blame;
    this.hint = init.hint;
    this.place = init.place;
  }
}

export function isSyncError(e: unknown): e is SyncError {
  return e instanceof Error && (e as { brand?: unknown }).brand === BRAND;
}

/** An error as plain JSON: what crosses threads, stands in the summary and in `--output json`. */
export interface ErrorReport {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: RetryClass;
  readonly blame: Blame;
  readonly hint?: string;
  readonly place?: string;
}

/**
 * Total: any thrown value becomes a SyncError. A foreign error keeps its text and becomes the cause. `fallback` is the
 * code of errors of the operating system; whatever else was thrown is a defect.
 */
export function toSyncError(e: unknown, fallback: ErrorCode = 'INTERNAL'): SyncError {
  if (isSyncError(e)) return e;
  if (e instanceof Error) {
    const sys = (e as NodeJS.ErrnoException).code;
    const full = sys === 'ENOSPC' || sys === 'EDQUOT';
    const text = sys !== undefined && !e.message.includes(sys) ? `${sys}: ${e.message}` : e.message;
    if (sys === 'EFBIG') {
      const hint = 'A file has reached the largest size that is allowed: see ulimit -f, or lower the size of files.';
      return new SyncError('SINK_FULL', text, { cause: e, hint });
    }
    if (sys === 'EMFILE' || sys === 'ENFILE') {
      const hint = 'Too many files are open: raise the limit (ulimit -n) or lower speed.channel.';
      return new SyncError(fallback, text, { cause: e, retry: 'never', hint });
    }
    if (full) return new SyncError('SINK_FULL', text, { cause: e, hint: 'Free some space, then run the job again.' });
    return new SyncError(sys === undefined ? 'INTERNAL' : fallback, text || e.name, { cause: e });
  }
  return new SyncError('INTERNAL', String(e));
}

export function reportError(e: unknown): ErrorReport {
  const s = toSyncError(e);
  return {
    code: s.code,
    message: s.message,
    retry: s.retry,
    blame: s.blame,
    ...(s.hint === undefined ? {} : { hint: s.hint }),
    ...(s.place === undefined ? {} : { place: s.place }),
  };
}

/** The way back from {@link reportError}, on the other side of a thread. */
export function errorFromReport(r: ErrorReport): SyncError {
  return new SyncError(r.code, r.message, r);
}

/** The process exit code that an error asks for (design: exit codes). */
export function exitCodeOf(e: SyncError | ErrorReport): 1 | 2 | 3 | 4 {
  return ERROR_CODES[e.code].exit;
}
