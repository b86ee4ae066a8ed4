/** Processes that tests start. */
import type { ChildProcess } from 'node:child_process';
import { after } from 'node:test';

/**
 * Killed when the test that starts it is over, whatever became of the test: a job without an end that a failed test leaves
 * behind would keep the whole run waiting.
 */
export function endsWithTest(child: ChildProcess): void {
  // Benchmarks have no test, and a hook would start one.
  if (process.env['NODE_TEST_CONTEXT'] === undefined) return;
  after(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
}
