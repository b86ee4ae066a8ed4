import type { JobSettings, RestartSettings } from '../job/job-spec.js';
import type { OptionWalk } from './option-walk.js';

/** `job.setting` as the walk leaves it: each group may be missing, and then has its defaults. */
export interface RawSetting {
  readonly jobId?: string;
  readonly contentParallelism?: number;
  readonly speed?: {
    readonly channel?: number;
    readonly readerChannel?: number;
    readonly writerChannel?: number;
    readonly bytes: number;
    readonly record: number;
  };
  readonly errorLimit?: { readonly record?: number; readonly percentage?: number };
  readonly dirty?: { readonly path?: string; readonly hadoopConfig?: Readonly<Record<string, unknown>> };
  readonly verify?: boolean;
  readonly dryRun?: boolean;
  readonly checkpoint?: {
    readonly interval: number;
    readonly minPause: number;
    readonly timeout: number;
    readonly tolerableFailed: number;
    readonly numRetained: number;
    readonly numRetainedRuns: number;
    readonly onCancel: 'retain' | 'delete';
    readonly resume: boolean;
    readonly resumeMaxAge: number;
    readonly dir?: string;
  };
  readonly restart?: {
    readonly strategy: RestartSettings['strategy'];
    readonly attempts: number;
    readonly delay: number;
    readonly delayInterval?: number;
    readonly maxFailures: number;
    readonly failureRateInterval: number;
    readonly failureInterval?: number;
    readonly initialBackoff: number;
    readonly maxBackoff: number;
    readonly backoffMultiplier: number;
    readonly resetBackoffThreshold: number;
    readonly jitterFactor: number;
    readonly attemptsBeforeReset?: number;
  };
}

/** Settings of a valid file. Warns where two of them contradict each other. */
export function buildSettings(
  raw: Required<Pick<RawSetting, 'checkpoint'>> & RawSetting,
  walk: OptionWalk,
): JobSettings {
  const c = raw.checkpoint;
  checkDryRun(raw, walk);
  return {
    channel: channelOf(raw, walk),
    bytesPerSecond: Math.max(0, raw.speed?.bytes ?? 0),
    rowsPerSecond: Math.max(0, raw.speed?.record ?? 0),
    errorLimit: errorLimitOf(raw, walk),
    dirtyDir: dirtyDirOf(raw, walk),
    checkpoint: {
      intervalMs: c.interval,
      minPauseMs: c.minPause,
      timeoutMs: c.timeout,
      tolerableFailed: c.tolerableFailed,
      numRetained: c.numRetained,
      numRetainedRuns: c.numRetainedRuns,
      onCancel: c.onCancel,
      resume: c.resume,
      resumeMaxAgeMs: c.resumeMaxAge,
    },
    verify: raw.verify ?? false,
    restart: restartOf(raw, walk),
  };
}

/** Which options of setting.restart belong to which strategies. */
const USED_BY: Readonly<Record<string, readonly RestartSettings['strategy'][]>> = {
  attempts: ['fixed-delay'],
  delay: ['fixed-delay', 'failure-rate'],
  delayInterval: ['fixed-delay', 'failure-rate'],
  maxFailures: ['failure-rate'],
  failureRateInterval: ['failure-rate'],
  failureInterval: ['failure-rate'],
  initialBackoff: ['exponential-delay'],
  maxBackoff: ['exponential-delay'],
  backoffMultiplier: ['exponential-delay'],
  resetBackoffThreshold: ['exponential-delay'],
  jitterFactor: ['exponential-delay'],
  attemptsBeforeReset: ['exponential-delay'],
};

function restartOf(raw: RawSetting, walk: OptionWalk): RestartSettings {
  const r = raw.restart;
  if (!r) return { strategy: 'none' };
  const ofSeconds = (name: 'delayInterval' | 'failureInterval', main: 'delay' | 'failureRateInterval'): number => {
    const value = r[name];
    const spot = walk.spots.get(`/job/setting/restart/${name}`);
    if (value === undefined || !spot) return r[main];
    if (walk.spots.has(`/job/setting/restart/${main}`)) {
      walk.report('error', spot.node, spot.path, `says the same as ${main}`, 'keep one of them');
    }
    return value * 1000;
  };
  for (const [name, strategies] of Object.entries(USED_BY)) {
    const spot = walk.spots.get(`/job/setting/restart/${name}`);
    if (!spot || strategies.includes(r.strategy)) continue;
    const hint = `it belongs to ${strategies.join(', ')}`;
    walk.report('warning', spot.node, spot.path, `has no effect with the strategy ${r.strategy}`, hint);
  }
  if (r.maxBackoff < r.initialBackoff) {
    const spot =
      walk.spots.get('/job/setting/restart/maxBackoff') ?? walk.spots.get('/job/setting/restart/initialBackoff');
    if (spot) walk.report('error', spot.node, spot.path, 'maxBackoff is below initialBackoff', null);
  }
  const delayMs = ofSeconds('delayInterval', 'delay');
  const intervalMs = ofSeconds('failureInterval', 'failureRateInterval');
  switch (r.strategy) {
    case 'none':
      return { strategy: r.strategy };
    case 'fixed-delay':
      return { strategy: r.strategy, attempts: r.attempts, delayMs };
    case 'failure-rate':
      return { strategy: r.strategy, maxFailures: r.maxFailures, intervalMs, delayMs };
    case 'exponential-delay':
      return {
        strategy: r.strategy,
        initialMs: r.initialBackoff,
        maxMs: r.maxBackoff,
        multiplier: r.backoffMultiplier,
        resetMs: r.resetBackoffThreshold,
        jitter: r.jitterFactor,
        attempts: r.attemptsBeforeReset ?? null,
      };
  }
}

/** Lanes read and write at once, so the two sides cannot differ. */
function channelOf(raw: RawSetting, walk: OptionWalk): number {
  const { channel, readerChannel = -1, writerChannel = -1 } = raw.speed ?? {};
  const sides = [readerChannel, writerChannel].filter((n) => n > 0);
  const chosen = channel ?? Math.max(1, ...sides);
  for (const [name, n] of [
    ['readerChannel', readerChannel],
    ['writerChannel', writerChannel],
  ] as const) {
    const spot = walk.spots.get(`/job/setting/speed/${name}`);
    if (n === 0 && spot) walk.report('error', spot.node, spot.path, 'is 0; must be -1 or at least 1', null);
    else if (n > 0 && n !== chosen && spot) {
      const message = `is ${String(n)}; reader and writer share lanes, and the job runs with ${String(chosen)}`;
      walk.report('warning', spot.node, spot.path, message, 'set speed.channel');
    }
  }
  return chosen;
}

/** Without errorLimit, or with an empty one, no dirty row is allowed; -1 and what is left out are not checked. */
function errorLimitOf(raw: RawSetting, walk: OptionWalk): JobSettings['errorLimit'] {
  const limit = raw.errorLimit;
  if (limit?.record === undefined && limit?.percentage === undefined) return { record: 0, percentage: null };
  const record = limit.record === undefined || limit.record < 0 ? null : limit.record;
  const percentage = limit.percentage ?? null;
  const spot = walk.spots.get('/job/setting/errorLimit/percentage');
  if (spot && percentage !== null && percentage > 0 && percentage < 1) {
    const message = `is ${String(percentage)} percent of the rows`;
    const asFraction = String(Number((percentage * 100).toPrecision(12)));
    const hint = `in DataX it is a fraction: where ${asFraction} percent are meant, write ${asFraction}`;
    walk.report('warning', spot.node, spot.path, message, hint);
  }
  return { record, percentage };
}

/** FlinkX keeps dirty rows in HDFS. A path of another file system is none of this machine. */
function dirtyDirOf(raw: RawSetting, walk: OptionWalk): string | null {
  const { path, hadoopConfig } = raw.dirty ?? {};
  const hadoop = walk.spots.get('/job/setting/dirty/hadoopConfig');
  const local = 'dirty rows go to a local folder';
  if (hadoop) walk.report('warning', hadoop.node, hadoop.path, 'has no effect', local);
  const remote = path !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(path);
  if (path === undefined || !(remote || Object.keys(hadoopConfig ?? {}).length > 0)) return path ?? null;
  const spot = walk.spots.get('/job/setting/dirty/path');
  const why = remote ? 'it names another file system' : 'beside hadoopConfig it is a folder of HDFS';
  const hint = `${why}; ${local}, without path to that of the state`;
  if (spot) walk.report('warning', spot.node, spot.path, 'has no effect', hint);
  return null;
}

/** A job that only wants to be checked must not run for real. */
function checkDryRun(raw: RawSetting, walk: OptionWalk): void {
  const spot = walk.spots.get('/job/setting/dryRun');
  if (raw.dryRun !== true || !spot) return;
  walk.report('error', spot.node, spot.path, 'the job would really run', 'take it out; "sync validate" checks a job');
}
