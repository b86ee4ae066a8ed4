/** Runs schedules in a thread of its own: node:test watches every promise of its own thread, which costs more than they do. */
import { parentPort, workerData } from 'node:worker_threads';
import { schedule } from './schedule.js';
import { Tally } from './tally.js';

export interface ModelWork {
  readonly first: number;
  readonly count: number;
  /** How many schedules run beside each other: they wait for timers. */
  readonly atOnce: number;
  /** The number of schedules taken so far, by all threads. */
  readonly taken: SharedArrayBuffer;
  /** Where workspaces are made. */
  readonly root: string;
  readonly watchful: boolean;
  readonly mostFailures: number;
}

export interface ModelReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

const HUNG_MS = 30_000;

async function inTime(seed: number, w: ModelWork): Promise<Tally> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the schedule hangs for ${String(HUNG_MS / 1000)} s`));
    }, HUNG_MS);
  });
  try {
    return await Promise.race([schedule(seed, w.root, w.watchful), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function work(w: ModelWork): Promise<ModelReport> {
  const all = new Tally();
  const failures: string[] = [];
  const taken = new Int32Array(w.taken);
  process.on('warning', (e) => failures.push(`${e.name}: ${e.message}`));
  process.on('unhandledRejection', (e) =>
    failures.push(`unhandled: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`),
  );
  let giveUp: () => void = () => undefined;
  const gaveUp = new Promise<void>((resolve) => (giveUp = resolve));
  const some = async (): Promise<void> => {
    for (let i = Atomics.add(taken, 0, 1); i < w.count; i = Atomics.add(taken, 0, 1)) {
      const seed = w.first + i;
      try {
        all.merge((await inTime(seed, w)).counts);
        all.add('schedules');
      } catch (e) {
        failures.push(`MODEL_SEED=${String(seed)}: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
        if (failures.length < w.mostFailures) continue;
        Atomics.add(taken, 0, w.count); // the other threads give up too
        giveUp();
      }
    }
  };
  await Promise.race([Promise.all(Array.from({ length: w.atOnce }, some)), gaveUp]);
  return { counts: all.counts, failures };
}

parentPort?.postMessage(await work(workerData as ModelWork));
