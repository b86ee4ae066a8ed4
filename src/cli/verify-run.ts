/** Runs comparisons with what the command line has: plugins, a log, a live line. */
import { givenUse } from '../config/plugin-use.js';
import type { VerifyOutcome, VerifyProgress } from '../core/verify/verify-types.js';
import type { JobSpec } from '../job/job-spec.js';
import type { Redact } from '../job/redact.js';
import type { Registry } from '../registry/registry.js';
import { createLogger } from './logger.js';
import { onTerminal } from './output.js';
import { liveStderr, plainStderr } from './stderr-line.js';
import { formatCount, formatDuration } from './units.js';

const LIVE_MS = 200;
const LOG_MS = 10_000;

export interface VerifyAsked {
  readonly stateRoot: string;
  readonly key: readonly string[] | null;
  readonly repair: boolean;
  /** Rows of the result are for a script: no live line. */
  readonly quiet: boolean;
  readonly redact: Redact;
  readonly stop?: AbortSignal;
}

export async function runVerify(
  parts: readonly JobSpec[],
  registry: Registry,
  { stateRoot, key, repair, quiet, redact, stop }: VerifyAsked,
): Promise<readonly VerifyOutcome[]> {
  const live = onTerminal() && !quiet;
  const line = live ? await liveStderr() : plainStderr();
  const { log, ready } = createLogger('info', onTerminal() ? 'pretty' : 'json', line, redact);
  const { verifyParts } = await import('../core/verify/verify-job.js');
  const began = performance.now();
  let at: VerifyProgress = { phase: 'comparing', sourceRows: 0, targetRows: 0 };
  const tell = (): void => {
    const text = `${at.phase} · source ${formatCount(at.sourceRows)} rows, target ${formatCount(at.targetRows)} · ${formatDuration((performance.now() - began) / 1000)}`;
    if (live) line.show(text);
    else log.info({ ...at }, text);
  };
  const timer = setInterval(tell, live ? LIVE_MS : LOG_MS);
  timer.unref();
  const ended = new AbortController();
  try {
    return await verifyParts(parts, {
      log,
      stateRoot,
      signal: stop ? AbortSignal.any([stop, ended.signal]) : ended.signal,
      key,
      repair,
      useReader: ({ reader, options }) => givenUse(registry, 'reader', reader, options),
      useWriterOptions: async (writer, options) => (await givenUse(registry, 'writer', writer, options)).options,
      onProgress: (p) => (at = p),
      failpoint: process.env['SYNC_FAILPOINT'],
    });
  } finally {
    clearInterval(timer);
    line.end();
    ended.abort();
    await ready;
  }
}
