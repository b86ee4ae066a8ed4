import { addCounters } from '../core/checkpoint/format.js';
import type { RunSummary } from '../core/job/run-types.js';
import type { ErrorReport, JsonObject } from '../plugin-api/index.js';
import { formatBytes, formatCount } from './units.js';
import { verdictText } from './verify-text.js';

/** The object of `--output json`: the keys that scripts rely on first. */
export function summaryJson(s: RunSummary): JsonObject {
  const { state, read, written, dirty, filtered, bytesRead, bytesWritten, seconds, epochs, delivery } = s;
  return {
    ok: s.exitCode === 0,
    state,
    read,
    written,
    dirty,
    filtered,
    bytesRead,
    bytesWritten,
    seconds,
    epochs,
    delivery,
    error: s.error ? errorJson(s.error) : null,
    exitCode: s.exitCode,
    jobId: s.jobId,
    runId: s.runId,
    resumed: s.resumed,
    restarts: s.restarts,
    dirtyFiles: s.dirtyFiles,
    thisStart: { ...s.thisStart },
    uncommitted: { ...s.uncommitted },
    ...(s.verify ? { verify: { ...s.verify } as unknown as JsonObject } : {}),
  };
}

/** Sums of the entries that ran, with the keys that scripts rely on. */
export function totalJson(parts: readonly RunSummary[], seconds: number, exitCode: number): JsonObject {
  const total = addCounters(...parts);
  const state = parts.some((p) => p.state === 'failed') ? 'failed' : exitCode === 0 ? 'finished' : 'stopped';
  const error = parts.find((p) => p.error !== null)?.error;
  return { ok: exitCode === 0, state, ...total, seconds, error: error ? errorJson(error) : null, exitCode };
}

/** The same for a job that never began: nothing was read. */
export function notBegunJson(error: ErrorReport, exitCode: number, extra: JsonObject): JsonObject {
  const none = { read: 0, written: 0, dirty: 0, filtered: 0, bytesRead: 0, bytesWritten: 0, seconds: 0, epochs: 0 };
  return { ok: false, state: 'failed', ...none, delivery: null, error: errorJson(error), exitCode, ...extra };
}

function errorJson(e: ErrorReport): JsonObject {
  return { ...e };
}

/** A small aligned table. Counts are those of the run that are committed; time and rate are this start's. */
export function summaryText(s: RunSummary): string {
  const perSecond = (n: number): number => (s.seconds > 0 ? n / s.seconds : 0);
  const rows: readonly (readonly [string, string])[] = [
    ['state', s.resumed ? `${s.state} (resumed)` : s.state],
    ['read', `${formatCount(s.read)} rows, ${formatBytes(s.bytesRead)}`],
    ['written', `${formatCount(s.written)} rows, ${formatBytes(s.bytesWritten)}`],
    ['dirty', s.dirtyFiles === null ? formatCount(s.dirty) : `${formatCount(s.dirty)}, kept in ${s.dirtyFiles}`],
    ['filtered', formatCount(s.filtered)],
    ...(s.uncommitted.read > 0
      ? ([['uncommitted', `${formatCount(s.uncommitted.read)} rows read and not committed`]] as const)
      : []),
    ['time', `${s.seconds.toFixed(3)} s`],
    ['rate', `${formatCount(perSecond(s.thisStart.read))} rows/s, ${formatBytes(perSecond(s.thisStart.bytesRead))}/s`],
    ['epochs', formatCount(s.epochs)],
    ...(s.restarts > 0 ? ([['restarts', formatCount(s.restarts)]] as const) : []),
    ['delivery', s.delivery],
    ...(s.verify ? ([['verified', verdictText(s.verify)]] as const) : []),
  ];
  const width = Math.max(...rows.map(([k]) => k.length));
  return rows.map(([k, v]) => `${k.padEnd(width)}  ${v}`).join('\n');
}
