/** Settings of the command line: `--conf key=value` and `-confProp '{…}'`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenConf } from '../../../src/config/conf/given.js';
import { knownKeys, useOfKey } from '../../../src/config/conf/keys.js';
import { jobText, load } from './support.js';

const settingsWith = async (setting: string, pairs: readonly string[], json = '') => {
  const { result, lines } = await load(jobText({ setting }), { conf: givenConf(pairs, json === '' ? [] : [json]) });
  assert.ok(result.ok, lines.join('\n'));
  return { settings: result.parts[0].settings, stateDir: result.stateDir, lines };
};

const refusedWith = async (pairs: readonly string[], json = ''): Promise<readonly string[]> => {
  const { result, lines } = await load(jobText(), { conf: givenConf(pairs, json === '' ? [] : [json]) });
  assert.ok(!result.ok);
  return lines;
};

test('keys of Flink set what the job file sets, as text or as JSON', async () => {
  const json = JSON.stringify({
    'execution.checkpointing.interval': '60000',
    'execution.checkpointing.min-pause': 500,
    'execution.checkpointing.timeout': '10 min',
    'execution.checkpointing.tolerable-failed-checkpoints': 2,
    'execution.checkpointing.externalized-checkpoint-retention': 'DELETE_ON_CANCELLATION',
    'state.checkpoints.num-retained': 5,
    'state.checkpoints.dir': 'file:///var/lib/sync',
    'restart-strategy': 'fixed-delay',
    'restart-strategy.fixed-delay.attempts': '4',
    'restart-strategy.fixed-delay.delay': '2 s',
    'parallelism.default': 3,
    'chunjun.dirty-data.max-rows': 7,
  });
  const { settings, stateDir, lines } = await settingsWith('', [], json);
  assert.deepEqual(lines, []);
  assert.equal(stateDir, '/var/lib/sync');
  assert.equal(settings.channel, 3);
  assert.deepEqual(settings.errorLimit, { record: 7, percentage: null });
  assert.deepEqual(settings.restart, { strategy: 'fixed-delay', attempts: 4, delayMs: 2000 });
  const { intervalMs, minPauseMs, timeoutMs, tolerableFailed, onCancel, numRetained } = settings.checkpoint;
  assert.deepEqual(
    [intervalMs, minPauseMs, timeoutMs, tolerableFailed, onCancel, numRetained],
    [60_000, 500, 600_000, 2, 'delete', 5],
  );
});

test('keys of FlinkX 1.8, and settings by their own names', async () => {
  const { settings } = await settingsWith('', ['flink.checkpoint.interval=5000', 'flink.checkpoint.timeout = 7000']);
  assert.deepEqual([settings.checkpoint.intervalMs, settings.checkpoint.timeoutMs], [5000, 7000]);
  const own = await settingsWith('', ['checkpoint.interval=1 s', 'speed.record=9', 'dirty.path=a=b,c']);
  assert.deepEqual(
    [own.settings.checkpoint.intervalMs, own.settings.rowsPerSecond, own.settings.dirtyDir],
    [1000, 9, 'a=b,c'],
  );
});

test('the command line wins over the file, whatever name the file uses', async () => {
  const file =
    '"speed": {"channel": 8, "record": 5}, "errorLimit": {"record": 1, "percentage": 50}, ' +
    '"restart": {"restart-strategy": "failureRate", "failureInterval": 30, "delayInterval": 1}';
  const { settings, lines } = await settingsWith(file, [
    'parallelism.default=2',
    'chunjun.dirty-data.max-rows=-1',
    'restart-strategy=failure-rate',
    'restart-strategy.failure-rate.failure-rate-interval=45 s',
  ]);
  assert.deepEqual(lines, []);
  assert.deepEqual([settings.channel, settings.rowsPerSecond], [2, 5]);
  assert.deepEqual(settings.errorLimit, { record: null, percentage: 50 });
  assert.deepEqual(settings.restart, { strategy: 'failure-rate', maxFailures: 2, intervalMs: 45_000, delayMs: 1000 });
});

test('even over one that is wrong', async () => {
  const { settings } = await settingsWith('"speed": {"channel": 0}', ['speed.channel=2']);
  assert.equal(settings.channel, 2);
});

test('a value is no template', async () => {
  const { settings, lines } = await settingsWith('', ['dirty.path=${x}']);
  assert.deepEqual(lines, []);
  assert.equal(settings.dirtyDir, '${x}');
});

test('an error names the key, not a place of the file', async () => {
  assert.deepEqual(await refusedWith(['execution.checkpointing.interval=abc']), [
    '--conf execution.checkpointing.interval: error: job.setting.checkpoint.interval: is "abc"; must be a whole number from 1 to 316224000000 (ms)',
  ]);
  assert.deepEqual(await refusedWith([], '{"parallelism.default": {"a": 1}}'), [
    '-confProp parallelism.default: error: job.setting.speed.channel: is an object; must be a whole number from 1 to 1024',
  ]);
  assert.deepEqual(await refusedWith(['speed.channel=1'], '{"parallelism.default": 2}'), [
    '--conf speed.channel: error: sets job.setting.speed.channel, as -confProp parallelism.default does; keep one of them',
  ]);
  assert.deepEqual(await refusedWith(['execution.savepoint.path=/s']), [
    '--conf execution.savepoint.path: error: a savepoint of Flink cannot be read; leave it out: an interrupted job goes on from its own last checkpoint, see "sync state show"',
  ]);
});

test('what is not known, or means nothing, is a warning each', async () => {
  const { lines } = await settingsWith('', [
    'execution.checkpointing.intervall=1',
    'what.ever=1',
    'yarn.application.id=a',
    'chunjun.dirty-data.output-type=log',
    'chunjun.dirty-data.jdbc.password=hunter2',
    'state.checkpoints.dir=hdfs://ns1/c',
  ]);
  assert.deepEqual(lines, [
    '--conf execution.checkpointing.intervall: warning: unknown key; did you mean "execution.checkpointing.interval"?',
    '--conf what.ever: warning: unknown key; it has no effect',
    '--conf yarn.application.id: warning: has no effect; the job runs in this process, not in a cluster',
    '--conf chunjun.dirty-data.output-type: warning: has no effect; dirty rows go to files in setting.dirty.path',
    '--conf chunjun.dirty-data.jdbc.password: warning: has no effect; dirty rows go to files in setting.dirty.path',
    '--conf state.checkpoints.dir: warning: has no effect; state is kept in a local folder; name one with --state-dir',
  ]);
});

test('what is no key=value is a usage error, and is not repeated', () => {
  const usage = (message: string) => ({ code: 'USAGE', message });
  assert.throws(() => givenConf(['hunter2'], []), usage('--conf is given without key='));
  assert.throws(() => givenConf(['a=1', 'a=2'], []), usage('--conf a is given twice'));
  assert.throws(() => givenConf([], ['[1]']), usage('-confProp is no JSON object'));
  assert.throws(() => givenConf([], ['{"a" 1}']), usage('-confProp is no JSON object (column 6)'));
  assert.deepEqual(givenConf([], ['', '{}']), []);
});

test('every known key leads to a setting that there is', async () => {
  for (const key of knownKeys()) {
    const use = useOfKey(key);
    assert.ok(use, key);
    if ('to' in use) assert.deepEqual(useOfKey(use.to.join('.')), use, key);
  }
  assert.equal(useOfKey('restore.isRestore'), null);
  assert.equal(useOfKey('toString'), null);
  await Promise.resolve();
});
