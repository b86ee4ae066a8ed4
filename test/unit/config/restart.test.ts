/** setting.restart: FlinkX's names and units, Flink's keys, one meaning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccepted, assertRefused, jobText } from './support.js';

const restart = (json: string): string => jobText({ setting: `"restart": ${json}` });
const accepted = async (json: string) => (await assertAccepted(restart(json))).job.settings.restart;

test('none by default', async () => {
  assert.deepEqual((await assertAccepted(jobText())).job.settings.restart, { strategy: 'none' });
  assert.deepEqual(await accepted('{}'), { strategy: 'none' });
  assert.deepEqual(await accepted('{"strategy": "NoRestart", "restartAttempts": 5}'), { strategy: 'none' });
});

test("FlinkX's spelling, in seconds", async () => {
  assert.deepEqual(await accepted('{"strategy": "fixedDelay", "restartAttempts": "5", "delayInterval": 10}'), {
    strategy: 'fixed-delay',
    attempts: 5,
    delayMs: 10_000,
  });
  assert.deepEqual(
    await accepted('{"strategy": "failureRate", "failureRate": 2, "failureInterval": 60, "delayInterval": 0.5}'),
    { strategy: 'failure-rate', maxFailures: 2, intervalMs: 60_000, delayMs: 500 },
  );
});

test("Flink's keys and durations", async () => {
  assert.deepEqual(
    await accepted(
      '{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": 2, "restart-strategy.fixed-delay.delay": "2 s"}',
    ),
    { strategy: 'fixed-delay', attempts: 2, delayMs: 2000 },
  );
  assert.deepEqual(
    await accepted(
      '{"strategy": "exponential-delay", "exponential-delay.initial-backoff": "500ms", "maxBackoff": "2 min", "backoffMultiplier": 2, "resetBackoffThreshold": "1 h", "jitterFactor": 0}',
    ),
    {
      strategy: 'exponential-delay',
      initialMs: 500,
      maxMs: 120_000,
      multiplier: 2,
      resetMs: 3_600_000,
      jitter: 0,
      attempts: null,
    },
  );
});

test('every time in ms may be written as a duration', async () => {
  const { checkpoint } = (await assertAccepted(jobText({ setting: '"checkpoint": {"interval": "3 s"}' }))).job.settings;
  assert.equal(checkpoint.intervalMs, 3000);
  await assertRefused(jobText({ setting: '"checkpoint": {"interval": "3 weeks"}' }), [
    'job.json:15:44: error: job.setting.checkpoint.interval: is "3 weeks"; must be a whole number from 1 to 316224000000 (ms)',
  ]);
});

test('two names of one thing are refused', async () => {
  await assertRefused(restart('{"strategy": "fixedDelay", "delay": 5, "delayInterval": 1}'), [
    'job.json:15:84: error: job.setting.restart.delayInterval: says the same as delay; keep one of them',
  ]);
});
