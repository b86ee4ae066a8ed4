import { addCounters } from '../core/checkpoint/format.js';
import type { Progress } from '../core/job/run-types.js';
import type { Logger } from '../plugin-api/index.js';
import type { StderrLine } from './stderr-line.js';
import { formatBytes, formatCount, formatDuration } from './units.js';

const LIVE_MS = 200;
const LOG_MS = 10_000;

/** Rates over the last few seconds: those of the whole run hide a stall. */
export class RateMeter {
  readonly #windowMs: number;
  readonly #points: { readonly at: number; readonly rows: number; readonly bytes: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** `at` in ms. @returns rates per second. */
  add(at: number, rows: number, bytes: number): { readonly rows: number; readonly bytes: number } {
    this.#points.push({ at, rows, bytes });
    while (this.#points.length > 2 && at - (this.#points[1]?.at ?? at) >= this.#windowMs) this.#points.shift();
    const first = this.#points[0];
    if (!first || first.at === at) return { rows: 0, bytes: 0 };
    const seconds = (at - first.at) / 1000;
    return { rows: Math.max(0, rows - first.rows) / seconds, bytes: Math.max(0, bytes - first.bytes) / seconds };
  }
}

/** Of the entries of a job as of one; bytes are known where all are. */
export function sumProgress(parts: readonly Progress[]): Progress {
  const [first] = parts;
  if (!first) throw new RangeError('nothing runs');
  if (parts.length === 1) return first;
  const sum = (of: (p: Progress) => number): number => parts.reduce((n, p) => n + of(p), 0);
  const bytes = parts.some((p) => p.splits.bytes === null) ? null : sum((p) => p.splits.bytes ?? 0);
  return {
    phase: (parts.find((p) => p.phase !== 'done') ?? first).phase,
    counters: addCounters(...parts.map((p) => p.counters)),
    epochs: sum((p) => p.epochs),
    splits: { done: sum((p) => p.splits.done), open: sum((p) => p.splits.open), bytes },
    restarts: sum((p) => p.restarts),
    lag: parts.every((p) => p.lag === null) ? null : sum((p) => p.lag ?? 0),
    checkpoint: null, // each part has its own
  };
}

/** One line about a running job; `seconds` since its start. */
export function progressLine(
  p: Progress,
  rate: { readonly rows: number; readonly bytes: number },
  seconds: number,
): string {
  const { counters: c, splits } = p;
  const parts = [
    p.phase,
    `${formatCount(c.read)} rows`,
    `${formatCount(rate.rows)} rows/s`,
    `${formatBytes(rate.bytes)}/s`,
    `splits ${String(splits.done)} done, ${String(splits.open)} open`,
  ];
  const total = splits.bytes;
  if (total !== null && total > 0 && c.bytesRead <= total) {
    parts.push(`${((100 * c.bytesRead) / total).toFixed(0)} % of ${formatBytes(total)}`);
    if (rate.bytes > 0) parts.push(`ETA ${formatDuration((total - c.bytesRead) / rate.bytes)}`);
  }
  if (p.lag !== null) parts.push(`lag ${formatCount(p.lag)}`);
  if (c.dirty > 0) parts.push(`${formatCount(c.dirty)} dirty`);
  if (p.restarts > 0) parts.push(`${String(p.restarts)} restarts`);
  parts.push(`${String(p.epochs)} epochs`, formatDuration(seconds));
  return parts.join(' · ');
}

/** Tells progress until it is stopped: as the live line on a terminal, else as a log line every 10 s. */
export function followProgress(progress: () => Progress, live: boolean, line: StderrLine, log: Logger): () => void {
  const began = performance.now();
  const meter = new RateMeter(live ? 3000 : LOG_MS);
  meter.add(began, 0, 0);
  const tell = (): void => {
    const p = progress();
    const now = performance.now();
    const rate = meter.add(now, p.counters.read, p.counters.bytesRead);
    const lag = p.lag === null ? {} : { lag: p.lag };
    const text = progressLine(p, rate, (now - began) / 1000);
    if (live) line.show(text);
    else
      log.info({ phase: p.phase, ...p.counters, epochs: p.epochs, ...lag, rowsPerSecond: Math.round(rate.rows) }, text);
  };
  const timer = setInterval(tell, live ? LIVE_MS : LOG_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    line.end();
  };
}
