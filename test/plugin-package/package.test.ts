/** The contract is open: a plugin from outside, built on the published exports only, installed as a package. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT, until } from '../support/sync.js';
import { publishedLines, tree } from '../support/workspace.js';
import { Installed, SAMPLE, shownDescription, start, summaryOf } from './install.js';

const there = new Installed();
before(() => there.install(), { timeout: 300_000 });
after(() => {
  there[Symbol.dispose]();
});

interface Parts {
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly out?: string;
  readonly channel?: number;
  readonly record?: number;
}

const COUNT = 4000;
function jobOf(p: Parts): unknown {
  const name = p.name ?? 'counter';
  return {
    job: {
      content: [
        {
          reader: { name, parameter: { count: COUNT, splits: 4, ...p.reader } },
          writer: { name, parameter: { path: p.out ?? 'out' } },
        },
      ],
      setting: { speed: { channel: p.channel ?? 1, record: p.record ?? 0 }, checkpoint: { interval: 20 } },
    },
  };
}

/** Every number once, each in its line. */
function assertCounted(out: string): void {
  const wanted = Array.from({ length: COUNT }, (_, i) => {
    const id = String(i + 1);
    return JSON.stringify({ id, text: `row ${id}` });
  });
  assert.deepEqual(publishedLines(out), wanted.sort());
  assert.deepEqual(
    tree(out).filter((n) => n.endsWith('.part')),
    [],
    'staged files are left',
  );
}

test('the page can be followed word for word, and its plugin passes the testkit', () => {
  assert.match(there.log, /^# pass [3-9]\d$/m);
  assert.match(there.log, /^# fail 0$/m);
  assert.match(there.log, /^job\.json is valid: counter → counter$/m);
  assert.ok(shownDescription() !== '' && there.log.includes(shownDescription()), there.log);
  assertCounted(join(there.jobs, 'out'));
});

test('it is found and validated; what is wrong is told with line and column', async () => {
  const good = await there.sync(['validate', there.job('good.json', jobOf({}))]).done;
  assert.equal(good.stdout, 'good.json is valid: counter → counter\n', good.stderr);
  const text = readFileSync(join(SAMPLE, 'job.json'), 'utf8')
    .replace('"count": 4000', '"count": -1')
    .replace('"splits"', '"split"');
  const bad = await there.sync(['validate', there.job('bad.json', text)]).done;
  assert.equal(bad.code, 2);
  assert.match(bad.stdout, /bad\.json:5:\d+: .*count.* is -1; must be a whole number, at least 0/);
  assert.match(bad.stdout, /bad\.json:5:\d+: .*split.*did you mean "splits"\?/);
});

test('names: with suffixes, as a package, mistyped', async () => {
  const validate = async (name: string) => {
    const r = await there.sync(['validate', there.job('name.json', jobOf({ name }))]).done;
    return r.stdout + r.stderr;
  };
  assert.match(await validate('syncx-plugin-counter'), /is valid: counter → counter/);
  assert.match(await validate('Counter'), /is valid/);
  assert.match(await validate('conter'), /no reader is named "conter".*did you mean "counter"\?/);
  assert.match(await validate('syncx-plugin-countr'), /did you mean "syncx-plugin-counter"\?/);
  assert.match(await validate('oracle'), /known readers: .*, counter \(syncx-plugin-counter\)/);
  assert.match(await validate('../counter'), /no reader is named/);
});

test('it is described and listed as those of the tool are', async () => {
  const { version } = JSON.parse(readFileSync(join(SAMPLE, 'package.json'), 'utf8')) as { readonly version: string };
  const from = { version, package: 'syncx-plugin-counter', aliases: [] };
  for (const name of ['counterwriter', 'syncx-plugin-counter']) {
    const r = await there.sync(['describe', name, '--json']).done;
    assert.equal(r.code, 0, r.stderr);
    const all = JSON.parse(r.stdout) as readonly Readonly<Record<string, unknown>>[];
    const kinds = name === 'counterwriter' ? ['writer'] : ['reader', 'writer'];
    assert.deepEqual(
      all.map((d) => d['kind']),
      kinds,
    );
    const { options, ...facts } = all.at(-1) ?? {};
    const summary = 'Writes rows as JSON lines into a folder, exactly once.';
    assert.deepEqual(facts, { name: 'counter', ...from, kind: 'writer', summary, delivery: ['exactly-once'] });
    assert.deepEqual((options as { readonly required: unknown }).required, ['path']);
  }
  const md = await there.sync(['describe', 'counter', '--writer', '--md']).done;
  assert.equal(
    md.stdout,
    `| option | type   | default  | meaning                                                    |
| ------ | ------ | -------- | ---------------------------------------------------------- |
| \`path\` | string | required | Folder that gets the files; it is made if it is not there. |
`,
  );
  const unknown = await there.sync(['describe', 'countr']).done;
  assert.deepEqual(
    [unknown.code, unknown.stdout, unknown.stderr],
    [2, '', 'sync: PLUGIN_UNKNOWN: no plugin is named "countr"; did you mean "counter"?\n'],
  );
  const list = await there.sync(['plugins']).done;
  const lines = list.stdout.split('\n').filter((l) => l.startsWith('counter '));
  assert.deepEqual(
    lines.map((l) => l.replace(/ {2,}/g, '  ')),
    [
      `counter  reader  ${version}  bounded  yes  -  syncx-plugin-counter`,
      `counter  writer  ${version}  -  -  exactly-once  syncx-plugin-counter`,
    ],
  );
});

describe('it runs', () => {
  for (const channel of [1, 2]) {
    test(`on ${String(channel)} lanes`, async () => {
      const out = `out-${String(channel)}`;
      const name = channel === 1 ? 'counter' : 'syncx-plugin-counter';
      const job = there.job(`run-${String(channel)}.json`, jobOf({ out, channel, name }));
      const r = await there.sync(['run', job, '--output', 'json']).done;
      assert.equal(r.code, 0, r.stderr);
      const s = summaryOf(r);
      assert.deepEqual([s.state, s.read, s.written, s.delivery], ['finished', COUNT, COUNT, 'exactly-once']);
      assertCounted(join(there.jobs, out));
    });

    test(`on ${String(channel)} lanes, killed and resumed: every row once`, async () => {
      const out = join(there.jobs, `killed-${String(channel)}`);
      const job = there.job(`killed-${String(channel)}.json`, jobOf({ out, channel, record: 4000 }));
      let seen = 0;
      for (let kills = 0; kills < 2; kills++) {
        const p = there.sync(['run', job, '--output', 'json']);
        await until('more rows are published', () => publishedLines(out).length > seen || p.child.exitCode !== null);
        p.child.kill('SIGKILL');
        assert.equal((await p.done).signal, 'SIGKILL', 'it had ended before it could be killed');
        seen = publishedLines(out).length;
      }
      const r = await there.sync(['run', job, '--output', 'json']).done;
      assert.equal(r.code, 0, r.stderr);
      assert.match(r.stderr, /resuming run/);
      assertCounted(out);
    });
  }
});

test('SYNC_PLUGIN_PATH: folders of packages, or a package itself; also for lanes in threads', async () => {
  const cwd = there.path('elsewhere');
  mkdirSync(cwd);
  const folder = there.path('plugins');
  mkdirSync(join(folder, '@acme'), { recursive: true });
  cpSync(SAMPLE, join(folder, '@acme/syncx-plugin-tally'), { recursive: true });
  for (const f of ['reader.js', 'writer.js']) {
    const path = join(folder, '@acme/syncx-plugin-tally', f);
    writeFileSync(path, readFileSync(path, 'utf8').replace("name: 'counter'", "name: 'tally'"));
  }
  cpSync(join(there.jobs, 'node_modules/syncx'), join(folder, 'node_modules/syncx'), { recursive: true });
  const run = (name: string, path: string) => {
    writeFileSync(join(cwd, 'job.json'), JSON.stringify(jobOf({ name, out: name.replace(/.*\//, ''), channel: 2 })));
    return there.sync(['run', 'job.json', '--fresh'], { cwd, env: { SYNC_PLUGIN_PATH: path } }).done;
  };
  const byPath = await run('tally', `/nowhere:${folder}`);
  assert.equal(byPath.code, 0, byPath.stderr);
  assertCounted(join(cwd, 'tally'));
  const scoped = await run('@acme/syncx-plugin-tally', folder);
  assert.equal(scoped.code, 0, scoped.stderr);
  assertCounted(join(cwd, 'syncx-plugin-tally'));
  const itself = await run('counter', there.plugin);
  assert.equal(itself.code, 0, itself.stderr);
  assertCounted(join(cwd, 'counter'));
});

test('packages that cannot be used say why', async () => {
  const folder = there.path('broken');
  const make = (name: string, index: string): void => {
    const dir = join(folder, name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, type: 'module', main: 'index.js' }));
    writeFileSync(join(dir, 'index.js'), index);
  };
  const told = async (name: string): Promise<string> => {
    const job = there.job('broken.json', jobOf({ name }));
    return (await there.sync(['validate', job], { env: { SYNC_PLUGIN_PATH: folder } }).done).stdout;
  };
  make('syncx-plugin-old', 'export const reader = { apiVersion: 0, name: "old" }; export const writer = reader;');
  assert.match(await told('old'), /plugin syncx-plugin-old \(.*\) is for contract 0, this is 1/);
  make('syncx-plugin-other', 'export const reader = { apiVersion: 1, name: "that" };');
  assert.match(await told('other'), /calls its reader "that".*must be "other"/);
  assert.match(await told('other'), /exports no writer/);
  make('syncx-plugin-lost', 'import "syncx/plugin-api";');
  assert.match(await told('lost'), /cannot be loaded: Cannot find package 'syncx'.*Install syncx beside the plugin/);
  make('syncx-plugin-file', '');
  assert.match(await told('syncx-plugin-file'), /has the name of a plugin that ships with the tool/);
  make('syncx-plugin-twin', '');
  make('@acme/syncx-plugin-twin', '');
  assert.match(await told('twin'), /syncx-plugin-twin and @acme\/syncx-plugin-twin.*Give the full name/);
});

test('the published types fit the plugin', async () => {
  const config = {
    compilerOptions: {
      noEmit: true,
      checkJs: true,
      strict: true,
      module: 'NodeNext',
      target: 'ES2022',
      lib: ['ES2023', 'ESNext.Disposable'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      skipLibCheck: true,
    },
    include: ['*.js', 'test/*.js'],
  };
  writeFileSync(join(there.plugin, 'tsconfig.json'), JSON.stringify(config));
  const tsc = [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'];
  const r = await start(tsc, there.plugin).done;
  assert.equal(r.stdout, '');
  assert.equal(r.code, 0);
  // And they are types: a wrong name is an error.
  const path = join(there.plugin, 'reader.js');
  renameSync(path, join(there.plugin, 'reader.bak'));
  writeFileSync(
    path,
    readFileSync(join(there.plugin, 'reader.bak'), 'utf8').replace('options.splits', 'options.split'),
  );
  const wrong = await start(tsc, there.plugin).done;
  renameSync(join(there.plugin, 'reader.bak'), path);
  assert.match(wrong.stdout, /Property 'split' does not exist/);
});
