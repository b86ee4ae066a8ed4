import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartPolicy } from '../../../src/core/job/restart-policy.js';
import type { RestartSettings } from '../../../src/job/job-spec.js';

/** The pauses that failures at these times (ms) lead to; null where the job ends. */
function pauses(s: RestartSettings, times: readonly number[], random = 0.5): readonly (number | null)[] {
  const policy = new RestartPolicy(s, () => random);
  return times.map((t) => policy.next('retry', t));
}

test('none, and errors that a restart cannot mend', () => {
  assert.deepEqual(pauses({ strategy: 'none' }, [1, 2]), [null, null]);
  const policy = new RestartPolicy({ strategy: 'fixed-delay', attempts: 1, delayMs: 7 });
  assert.equal(policy.next('never', 0), null);
  assert.equal(policy.next('reconnect', 0), 7);
  assert.equal(policy.next('retry', 0), null);
});

test('fixed-delay: so many restarts', () => {
  assert.deepEqual(pauses({ strategy: 'fixed-delay', attempts: 3, delayMs: 10 }, [0, 1, 9e9, 9e9]), [10, 10, 10, null]);
});

test('failure-rate: so many failures in an interval', () => {
  const s = { strategy: 'failure-rate', maxFailures: 2, intervalMs: 100, delayMs: 5 } as const;
  assert.deepEqual(pauses(s, [0, 50, 99]), [5, 5, null]);
  // The first is out of the interval when the third comes.
  assert.deepEqual(pauses(s, [0, 50, 100, 149]), [5, 5, 5, null]);
});

test('exponential-delay: grows to its end, and begins anew after a quiet time', () => {
  const s: RestartSettings = {
    strategy: 'exponential-delay',
    initialMs: 100,
    maxMs: 1000,
    multiplier: 3,
    resetMs: 10_000,
    jitter: 0,
    attempts: null,
  };
  assert.deepEqual(pauses(s, [0, 200, 600, 2000, 3500]), [100, 300, 900, 1000, 1000]);
  // The quiet time counts from the restart on, not from the failure.
  assert.deepEqual(pauses(s, [0, 10_099]), [100, 300]);
  assert.deepEqual(pauses(s, [0, 10_100, 10_500]), [100, 100, 300]);
  assert.deepEqual(pauses({ ...s, attempts: 2 }, [0, 1, 2]), [100, 300, null]);
  assert.deepEqual(pauses({ ...s, attempts: 1 }, [0, 20_000, 40_000]), [100, 100, 100]);
});

test('exponential-delay: the share that is left to chance goes both ways, never above the longest', () => {
  const s: RestartSettings = {
    strategy: 'exponential-delay',
    initialMs: 100,
    maxMs: 105,
    multiplier: 2,
    resetMs: 10_000,
    jitter: 0.1,
    attempts: null,
  };
  assert.deepEqual(pauses(s, [0], 0), [90]);
  assert.deepEqual(pauses(s, [0], 0.5), [100]);
  assert.deepEqual(pauses(s, [0], 0.9999), [105]);
});
