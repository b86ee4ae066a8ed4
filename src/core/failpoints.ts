/**
 * Places where tests make the process die. `SYNC_FAILPOINT` is a comma list of `<step>[@lane][#hit][=kill|stop|throw]`
 * (kill by default; `hit` counts from 1) and of `lock:release`, which gives the job lock back right after taking it, so
 * that a stopped process becomes a zombie beside its successor.
 */
import { SyncError } from '../plugin-api/index.js';

type Action = 'kill' | 'stop' | 'throw';

interface Point {
  readonly step: string;
  readonly lane: number | null;
  readonly hit: number;
  readonly action: Action;
}

export interface Failpoints {
  readonly releaseLock: boolean;
  hit(step: string, lane?: number): void;
}

const SHAPE = /^([a-z][a-zA-Z0-9.-]*)(?:@(\d+))?(?:#(\d+))?(?:=(kill|stop|throw))?$/;

const NONE: Failpoints = { releaseLock: false, hit: () => undefined };

/** Signals to oneself may land a moment later: nothing may run until then. */
function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function act(p: Point): void {
  switch (p.action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      sleepSync(60_000);
      return;
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      sleepSync(50);
      return;
    case 'throw':
      throw new SyncError('INTERNAL', `failpoint ${p.step}`);
  }
}

/** Room for the hits of so many points. */
const MOST_POINTS = 64;

/** Counts hits over all lanes of a process. */
export function failpointMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * MOST_POINTS);
}

/** @throws SyncError USAGE where the text is not of the form above. */
export function parseFailpoints(text: string | undefined, memory = failpointMemory()): Failpoints {
  if (text === undefined || text === '') return NONE;
  const points: Point[] = [];
  let releaseLock = false;
  for (const part of text.split(',')) {
    if (part === 'lock:release') {
      releaseLock = true;
      continue;
    }
    const m = SHAPE.exec(part);
    if (!m) throw new SyncError('USAGE', `SYNC_FAILPOINT: '${part}' is not of the form step[@lane][#hit][=action]`);
    points.push({
      step: m[1] ?? '',
      lane: m[2] === undefined ? null : Number(m[2]),
      hit: Number(m[3] ?? 1),
      action: (m[4] ?? 'kill') as Action,
    });
  }
  if (points.length > MOST_POINTS) throw new SyncError('USAGE', 'SYNC_FAILPOINT: too many points');
  const seen = new Int32Array(memory);
  return {
    releaseLock,
    hit(step, lane) {
      for (const [i, p] of points.entries()) {
        if (p.step !== step || (p.lane !== null && p.lane !== (lane ?? 0))) continue;
        if (Atomics.add(seen, i, 1) + 1 === p.hit) act(p);
      }
    },
  };
}
