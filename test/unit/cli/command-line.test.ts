/** The command line as a child process: results, messages and exit codes of what needs no source or target. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ALL_TRANSFORM_SCHEMAS } from '../../../src/config/transform-schema.js';
import { renderError } from '../../../src/cli/output.js';
import { SyncError } from '../../../src/plugin-api/index.js';
import { BUILTIN_PLUGINS } from '../../../src/registry/builtin.js';
import { Registry } from '../../../src/registry/registry.js';
import { ROOT, startSync, sync, until, type SyncProcess, type SyncResult } from '../../support/sync.js';

let dir = '';
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'syncx-cli-'));
});
after(() => {
  rmSync(dir, { recursive: true, force: true });
});

const run = (...args: readonly string[]): Promise<SyncResult> => sync(args, { cwd: dir });

function job(name: string, writer: object, reader: object = { sliceRecordCount: [3] }, setting: object = {}): string {
  const column = [
    { name: 'id', type: 'id' },
    { name: 'src', type: 'string', value: 'demo' },
  ];
  const content = [
    {
      reader: { name: 'streamreader', parameter: { column, ...reader } },
      writer: { name: 'streamwriter', parameter: writer },
    },
  ];
  writeFileSync(join(dir, name), JSON.stringify({ job: { content, setting } }, null, 2));
  return name;
}

/** A process that does not outlive its test. */
function start(...args: readonly string[]): SyncProcess {
  return startSync(args, { cwd: dir });
}

/** The last line of stderr, and that there is no stack trace in any of it. */
function lastError(r: SyncResult): string {
  assert.doesNotMatch(r.stderr, /^\s+at /m);
  return r.stderr.trimEnd().split('\n').at(-1) ?? '';
}

describe('usage', () => {
  for (const [args, message] of [
    [[], 'sync: USAGE: a command is missing; see sync --help'],
    [['rum', 'x'], 'sync: USAGE: there is no command "rum"; did you mean run? see sync --help'],
    [['copy', 'x'], 'sync: USAGE: there is no command "copy"; see sync --help'],
    [['state', 'foo'], 'sync: USAGE: there is no command "state foo"; see sync --help'],
    [
      ['state', 'rest', 'x'],
      'sync: USAGE: there is no command "state rest"; did you mean state reset? see sync --help',
    ],
    [['run', 'x', '--fresh=maybe'], 'sync: USAGE: --fresh takes no value, or true or false; not "maybe"'],
    [['run', 'x', '--take-over='], 'sync: USAGE: --take-over takes no value, or true or false; not ""'],
    [['run'], 'sync: USAGE: arguments are missing: got 0, need at least 1; see sync --help'],
    [['run', 'x', '--frehs'], 'sync: USAGE: Unknown argument: frehs; see sync --help'],
    [['state'], 'sync: USAGE: say what to do with the state: list, show, resolve, reset; see sync --help'],
    [['state', 'resolve', 'x'], 'sync: USAGE: Missing required argument: as; see sync --help'],
    [
      ['state', 'resolve', 'x', '--as', 'lost', '--lane', 'one'],
      'sync: USAGE: --lane is "one"; must be a lane\'s number or all',
    ],
  ] as const) {
    test(`sync ${args.join(' ')}`, async () => {
      const r = await run(...args);
      assert.equal(r.code, 2);
      assert.equal(r.stdout, '');
      assert.equal(r.stderr, `${message}\n`);
    });
  }

  test('--help and --version are results', async () => {
    const help = await run('--help');
    assert.equal(help.code, 0);
    assert.match(help.stdout, /sync run <job> .*\n[^]*sync validate <job>.*\n[^]*sync state list/);
    assert.match((await run('run', '--help')).stdout, /^sync run <job>\n[^]*--log-level/);
    assert.match((await run('state', '--help')).stdout, /^sync state <command>\n[^]*sync state reset <job>/);
    assert.equal(help.stderr, '');
    const version = await run('--version');
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  });
});

test('what the build compiles ahead: the frame and every option schema', async () => {
  const registry = new Registry({ SYNC_TEST_PLUGINS: '1' });
  const wanted = ['job', ...Object.keys(ALL_TRANSFORM_SCHEMAS)];
  for (const p of BUILTIN_PLUGINS) {
    for (const kind of p.kinds) wanted.push(`${kind}.${(await registry[kind](p.name)).name}`);
  }
  const modules = readdirSync(join(ROOT, 'dist/bundle/modules/validators')).filter((name) => name.endsWith('.cjs'));
  assert.deepEqual(modules.sort(), wanted.map((name) => `${name}.cjs`).sort());
});

describe('job files that do not run', () => {
  test('a missing one: exit code 2, one line (C73.8)', async () => {
    const r = await run('run', 'nope.json');
    assert.equal(r.code, 2);
    assert.equal(r.stdout, '');
    assert.equal(r.stderr, 'sync: JOB_FILE: there is no such job file (nope.json); Check the path of the job file.\n');
    const json = await run('run', 'nope.json', '--output', 'json');
    assert.equal(json.code, 2);
    assert.equal(json.summary?.state, 'failed');
    assert.equal(json.summary.read, 0);
    assert.equal(json.summary.error?.code, 'JOB_FILE');
    assert.equal(json.stderr, r.stderr);
  });

  test('an empty SYNC_STATE_DIR', async () => {
    const r = await sync(['run', job('env.json', { print: false })], { cwd: dir, env: { SYNC_STATE_DIR: '' } });
    assert.equal(r.code, 2);
    assert.equal(r.stderr, 'sync: USAGE: SYNC_STATE_DIR is empty; Unset it, or name a folder.\n');
  });

  test('a folder, and text that is not UTF-8', async () => {
    assert.equal((await run('run', '.')).stderr.split(' (')[0], 'sync: JOB_FILE: is a folder, not a job file');
    writeFileSync(join(dir, 'latin1.json'), Buffer.from('{"job": "\xe9"}', 'latin1'));
    assert.equal((await run('run', 'latin1.json')).stderr.split(' (')[0], 'sync: JOB_FILE: is not UTF-8 text');
  });

  test('what a message lists has lines of its own, above the one that tells', () => {
    const error = new SyncError('DIRTY_LIMIT', 'two\n  a: x\n  b: y', { place: 'p', hint: 'Mend it.' });
    assert.equal(renderError(error), '  a: x\n  b: y\nsync: DIRTY_LIMIT: two (p); Mend it.');
  });

  test('one problem is one line; several are a list and a line', async () => {
    const one = await run('run', job('one.json', { prnt: true }));
    assert.equal(one.code, 2);
    assert.equal(
      one.stderr,
      'sync: JOB_INVALID: job.content[0].writer.parameter.prnt: unknown option (one.json:27:13); did you mean "print"?\n',
    );
    const two = await run('run', job('two.json', { prnt: true, format: 'xml' }), '--output', 'json');
    assert.equal(two.code, 2);
    assert.deepEqual(two.stderr.trimEnd().split('\n'), [
      'two.json:27:13: error: job.content[0].writer.parameter.prnt: unknown option; did you mean "print"?',
      'two.json:28:23: error: job.content[0].writer.parameter.format: is "xml"; must be one of "json", "text"',
      'sync: JOB_INVALID: two.json has 2 errors (two.json:27:13); each is listed above with its line and column',
    ]);
    const listed = two.summary?.['problems'] as readonly { readonly line: number; readonly path: string }[];
    assert.deepEqual(
      listed.map((p) => [p.line, p.path.split('.').at(-1)]),
      [
        [27, 'prnt'],
        [28, 'format'],
      ],
    );
  });
});

describe('validate', () => {
  test('a valid job, with its warnings', async () => {
    const name = job('valid.json', {}, {}, { log: {} });
    const r = await run('validate', name);
    assert.equal(r.code, 0);
    assert.equal(r.stderr, '');
    assert.equal(
      r.stdout,
      'valid.json:28:7: warning: job.setting.log: has no effect; logs go to stderr; see --log-level and --log-format\n' +
        'valid.json is valid: stream → stream\n',
    );
    const json = await run('validate', name, '--output', 'json');
    assert.equal(json.summary?.['ok'], true);
  });

  test('an invalid one: the problems are the result', async () => {
    const name = job('invalid.json', { print: 'maybe' }, { sliceRecordCount: [1, -1] });
    const r = await run('validate', name);
    assert.equal(r.code, 2);
    const message = 'job.content[0].writer.parameter.print: is "maybe"; must be true or false';
    assert.match(
      r.stdout,
      /^invalid\.json:21:15: error: .*sliceRecordCount\[1\]: is -1; must be a whole number, at least 0\n/,
    );
    assert.ok(r.stdout.includes(message));
    assert.equal(r.stdout.trimEnd().split('\n').length, 2);
  });

  test('every problem of a plugin name', async () => {
    writeFileSync(
      join(dir, 'names.json'),
      '{"job":{"content":[{"reader":{"name":"streamwriter","parameter":{}},"writer":{"name":"streamwritr","parameter":{}}}]}}',
    );
    const r = await run('validate', 'names.json');
    assert.deepEqual(r.stdout.trimEnd().split('\n'), [
      'names.json:1:38: error: job.content[0].reader.name: "streamwriter" is no reader but a writer; did you mean "streamreader"?',
      'names.json:1:86: error: job.content[0].writer.name: no writer is named "streamwritr"; did you mean "streamwriter"?',
    ]);
    assert.match(lastError(r), /^sync: PLUGIN_UNKNOWN: /);
  });
});

describe('run', () => {
  test('rows on stdout, the summary on stderr; with --output json the summary is the last line of stdout', async () => {
    const name = job('print.json', {});
    const rows = '{"id":1,"src":"demo"}\n{"id":2,"src":"demo"}\n{"id":3,"src":"demo"}\n';
    const text = await run('run', name);
    assert.equal(text.code, 0, text.stderr);
    assert.equal(text.stdout, rows);
    assert.match(text.stderr, /^read +3 rows, 15 B$/m);
    const json = await run('run', name, '--output', 'json');
    assert.equal(json.code, 0);
    assert.ok(json.stdout.startsWith(rows));
    assert.equal(json.stdout.split('\n').length, 5);
    const keys = ['state', 'read', 'written', 'dirty', 'filtered', 'bytesRead', 'bytesWritten', 'seconds', 'epochs'];
    for (const k of [...keys, 'delivery', 'error']) assert.ok(k in (json.summary ?? {}), k);
    assert.equal(json.summary?.state, 'finished');
    assert.deepEqual([json.summary.read, json.summary.written, json.summary.dirty], [3, 3, 0]);
    assert.equal(json.summary.error, null);
  });

  test('a summary on stdout where the rows go elsewhere; an empty source is fine', async () => {
    const r = await run('run', job('drop.json', { print: false }));
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stdout, /^state {5}finished\nread {6}3 rows, 15 B\nwritten {3}3 rows, 15 B\ndirty {5}0\n/);
  });

  test('a first signal stops cleanly, exit code 143; the next run goes on', async () => {
    const name = job(
      'endless.json',
      {},
      { sliceRecordCount: [0], permitsPerSecond: 100 },
      { checkpoint: { interval: 50 } },
    );
    const p = start('run', name);
    let rows = '';
    p.child.stdout?.on('data', (s: string) => (rows += s));
    await until('rows are printed', () => rows.includes('"id":20,'));
    p.child.kill('SIGTERM');
    const r = await p.done;
    assert.equal(r.code, 143, r.stderr);
    assert.match(r.stderr, /^state +stopped$/m);
    const next = start('run', name);
    let more = '';
    next.child.stdout?.on('data', (s: string) => (more += s));
    await until('more rows', () => more.split('\n').length > 3);
    next.child.kill('SIGINT');
    const again = await next.done;
    assert.equal(again.code, 130, again.stderr);
    const last = r.stdout.trimEnd().split('\n').length;
    assert.ok(again.stdout.startsWith(`{"id":${String(last + 1)},`), again.stdout.slice(0, 100));
  });

  test('a reader of stdout that leaves is a failed run, without a stack trace', async () => {
    const p = start('run', job('pipe.json', {}, { sliceRecordCount: [0] }));
    await new Promise((resolve) => p.child.stdout?.once('data', resolve));
    p.child.stdout?.destroy();
    const r = await p.done;
    assert.equal(r.code, 1);
    assert.equal(lastError(r), 'sync: SINK_IO: EPIPE: nobody reads stdout any more (stdout)');
  });

  test('logs are JSON with time and level, or text on request', async () => {
    const name = job('log.json', { print: false });
    const json = await run('run', name, '--log-format', 'json');
    const first = JSON.parse(json.stderr.split('\n')[0] ?? '') as Record<string, unknown>;
    assert.equal(first['level'], 30);
    assert.match(String(first['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(String(first['msg']), /^starting run /);
    const pretty = await run('run', name, '--log-format', 'pretty');
    assert.match(pretty.stderr, /^\[\d\d:\d\d:\d\d\] INFO: starting run \w+; delivery is at-least-once\n$/);
    const quiet = await run('run', name, '--log-level', 'error');
    assert.equal(quiet.stderr, '');
  });
});

describe('state', () => {
  test('list, show and reset; a job goes by its file or its id', async () => {
    const name = job('state.json', { print: false }, { sliceRecordCount: [5] }, { jobId: 'nightly' });
    assert.equal((await run('run', name)).code, 0);
    const list = await run('state', 'list', '--job-id', 'nightly', '--output', 'json');
    const states = JSON.parse(list.stdout) as readonly Record<string, unknown>[];
    assert.deepEqual(
      states.map((s) => [s['jobId'], s['state'], s['rows']]),
      [['nightly', 'finished', 5]],
    );
    const table = await run('state', 'list', '--job-id', 'nightly');
    assert.match(
      table.stdout,
      /^STATE +EPOCH +ROWS +LAST CHECKPOINT +RUN +JOB\nfinished +\d+ +5 +\S+Z +\w+ +nightly\n$/,
    );
    for (const which of [name, 'nightly']) {
      const shown = JSON.parse((await run('state', 'show', which)).stdout) as Record<string, unknown>;
      assert.equal(shown['runId'], states[0]?.['runId']);
    }
    const reset = await run('state', 'reset', name);
    assert.equal(reset.code, 0, reset.stderr);
    assert.match(reset.stdout, /^dropped the state of job nightly/);
    const gone = await run('state', 'show', 'nightly');
    assert.equal(gone.code, 2);
    assert.match(lastError(gone), /^sync: USAGE: there is no state of job nightly /);
  });
});
