import { createHash } from 'node:crypto';
import type { WalkedUse } from '../option-walk.js';

export interface RunNaming {
  /** `default`, or the parameters that say which data the run is about: `day=20261128`. A name for a folder. */
  readonly runName: string;
  /** Times in the job must stay what they were when the run began. */
  readonly keepsTimes: boolean;
}

/** Folder names have 255 bytes. */
const LONGEST = 150;

/**
 * A bounded job's parameters in identity options name its run, so that today's run is another one than yesterday's, which
 * can still be gone on with by yesterday's values. Times below a day cannot: every start would have its own.
 * `named` false: the job has one run at a time (unbounded, or with a cursor).
 */
export function runNaming(uses: readonly WalkedUse[], named: boolean): RunNaming {
  const naming = named ? uses.filter((u) => u.identity && u.time !== 'moment') : [];
  const keepsTimes = uses.some((u) => u.time !== null && !naming.includes(u));
  const texts = new Set(naming.map((u) => `${encodeURIComponent(u.name)}=${encodeURIComponent(u.value)}`));
  if (texts.size === 0) return { runName: 'default', keepsTimes };
  const runName = [...texts].sort().join(',');
  if (runName.length <= LONGEST) return { runName, keepsTimes };
  const hash = createHash('sha256').update(runName).digest('hex').slice(0, 32);
  return { runName: `${runName.slice(0, LONGEST - 40).replace(/%[0-9A-F]?$/, '')}~${hash}`, keepsTimes };
}
