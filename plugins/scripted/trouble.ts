/** What ends or blocks the thread of a lane instead of failing its call. For lanes in workers. */
export const TROUBLES = ['exit', 'throw-async', 'oom', 'spin'] as const;

export type Trouble = (typeof TROUBLES)[number];

export const TROUBLE_TEXT =
  'exit ends the thread, throw-async throws in a timer where nobody can catch it, oom takes memory until there is none, ' +
  'spin blocks the thread for good.';

/** The exit code of `exit`. */
export const EXIT_CODE = 7;

/** Never resolves. */
export function makeTrouble(how: Trouble): Promise<never> {
  switch (how) {
    case 'exit':
      process.exit(EXIT_CODE);
      break;
    case 'throw-async':
      setTimeout(() => {
        throw new Error('the script throws in a timer');
      }, 1);
      break;
    case 'oom':
      takeMemory();
      break;
    case 'spin':
      spin();
      break;
  }
  return new Promise(() => undefined);
}

/** In small pieces: a single large one ends the whole process, as Node cannot stop the thread in time. */
function takeMemory(): void {
  const kept: number[][] = [];
  for (;;) kept.push(new Array<number>(10_000).fill(kept.length + 0.5));
}

/** Like a busy loop, but for the heat. */
function spin(): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0, 100);
}
