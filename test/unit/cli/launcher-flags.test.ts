/** Command lines of `flinkx`, `start-chunjun` and `datax.py`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translateFlags } from '../../../src/cli/launcher-flags.js';
import { sync } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';

const argsOf = (...given: readonly string[]): readonly string[] => translateFlags(given).args;
const refused = (message: RegExp, ...given: readonly string[]): void => {
  assert.throws(() => translateFlags(given), { code: 'USAGE', message });
};

test('the flags of a launcher become those of run', () => {
  const conf = '{"flink.checkpoint.interval":60000}';
  assert.deepEqual(argsOf('-mode', 'local', '-job', 'a.json', '-confProp', conf, '-p', 'k=v'), [
    'run',
    'a.json',
    `--conf-prop=${conf}`,
    '-p',
    'k=v',
  ]);
  assert.deepEqual(argsOf('run', '--job=a.json', '-jobType', 'sync', '-pj', '{"a":1}'), [
    'run',
    'a.json',
    '-p',
    '{"a":1}',
  ]);
  assert.deepEqual(argsOf('validate', '-job', 'a.json'), ['validate', 'a.json']);
  assert.deepEqual(argsOf('run', 'a.json', '--jvm', '-Xmx1G', '-m', 'standalone'), ['run', 'a.json']);
  assert.deepEqual(argsOf('run', 'a.json', '-p', '-job'), ['run', 'a.json', '-p', '-job'], 'a value is no flag');
});

test('each flag without meaning is told', () => {
  const { args, warnings } = translateFlags(['-job', 'a.json', '-jobid', 'J', '-queue', 'q', '-krb5conf', 'k']);
  assert.deepEqual(args, ['run', 'a.json']);
  assert.deepEqual(warnings, [
    'warning: -jobid has no effect; it names no state; --job-id does',
    'warning: -queue has no effect; the job runs in this process',
    'warning: -krb5conf has no effect; Kerberos is no concern of the command line',
  ]);
});

test('what cannot be done is refused', () => {
  refused(/^-mode yarnPer: sync is one process/, '-mode', 'yarnPer', '-job', 'a.json');
  refused(/^-jobType sql: SQL jobs/, '-jobType', 'sql', '-job', 'a.json');
  refused(/^-s: a savepoint of Flink cannot be read$/, 'run', 'a.json', '-s', '/sp');
  refused(/^there is no option -confprops$/, '-job', 'a.json', '-confprops', '{}');
  refused(/^-job is given twice$/, '-job', 'a.json', '-job', 'b.json');
  refused(/^-mode has no value$/, '-job', 'a.json', '-mode');
});

test('an old command line runs, and says what it passes over', async () => {
  using ws = new Workspace();
  const reader = { name: 'streamreader', parameter: { column: [{ type: 'int' }], sliceRecordCount: ['3'] } };
  ws.job({ job: { content: [{ reader, writer: { name: 'streamwriter', parameter: { print: false } } }] } });
  const conf = '{"flink.checkpoint.interval":"60000","flink.chekpoint.timeout":1}';
  const old = ['-mode', 'local', '-job', 'job.json', '-pluginRoot', '/p', '-confProp', conf, '--output', 'json'];
  const r = await sync(old, { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.written, 3);
  const told = r.stderr.split('\n').filter((l) => l.includes('warning: '));
  assert.deepEqual(told, [
    'warning: -pluginRoot has no effect; plugins ship with the tool or are npm packages; see "sync plugins"',
    '-confProp flink.chekpoint.timeout: warning: unknown key; did you mean "flink.checkpoint.timeout"?',
  ]);
  const bad = await sync(['validate', 'job.json', '--conf', 'speed.channel=0'], { cwd: ws.dir });
  assert.equal(bad.code, 2);
  assert.match(bad.stdout, /^--conf speed\.channel: error: job\.setting\.speed\.channel: is "0"; must be/);
});
