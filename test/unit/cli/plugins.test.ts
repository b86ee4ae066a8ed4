/** `sync plugins`: what ships with the tool and what is installed, usable or not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, sync, type SyncResult } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';

const { version: v } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

const BUILTIN = `NAME    KIND    VERSION  INPUT       REPLAYABLE  DELIVERY                                              PACKAGE  NOTES
file    reader  ${v}    by options  by options  -                                                     syncx    also txtfile, localfile
file    writer  ${v}    -           -           exactly-once, at-least-once                           syncx    also txtfile, localfile
kafka   reader  ${v}    by options  yes         -                                                     syncx
kafka   writer  ${v}    -           -           at-least-once, exactly-once                           syncx
mysql   reader  ${v}    by options  yes         -                                                     syncx    also mysqld, mariadb
mysql   writer  ${v}    -           -           exactly-once, effectively-once-by-key, at-least-once  syncx    also mysqld, mariadb
socket  reader  ${v}    unbounded   no          -                                                     syncx
stream  reader  ${v}    by options  yes         -                                                     syncx
stream  writer  ${v}    -           -           at-least-once                                         syncx
`;

function plugins(ws: Workspace, args: readonly string[], env: Readonly<Record<string, string>>): Promise<SyncResult> {
  return sync(['plugins', ...args], { cwd: ws.dir, env: { SYNC_TEST_PLUGINS: '', COLUMNS: '', ...env } });
}

test('those that ship with the tool, whole; the one for tests only where it can be used', async () => {
  using ws = new Workspace();
  const r = await plugins(ws, [], {});
  assert.deepEqual([r.code, r.stdout, r.stderr], [0, BUILTIN, '']);
  const more = await plugins(ws, [], { SYNC_TEST_PLUGINS: '1' });
  assert.match(more.stdout, /^scripted {2}reader .*by options {2}by options {2}- .*\nscripted {2}writer .*\n$/m);
});

const READER = `{ apiVersion: 1, kind: 'reader', name: NAME, aliases: [], summary: 'S.', options: { type: 'object', properties: {} }`;

function install(ws: Workspace, name: string, code: string, version?: string): void {
  ws.write(`node_modules/${name}/package.json`, JSON.stringify({ name, version, type: 'module', main: 'index.js' }));
  ws.write(`node_modules/${name}/index.js`, code);
}

test('installed packages; one that cannot be used is a line with its error', async () => {
  using ws = new Workspace();
  const reader = (name: string, more: string): string =>
    `export const reader = ${READER.replace('NAME', JSON.stringify(name))}, ${more} };`;
  install(ws, 'syncx-plugin-good', reader('good', `boundedness: () => 'bounded', replayable: true`), '2.1.0');
  install(ws, '@acme/syncx-plugin-silent', reader('silent', `boundedness: (o) => 'bounded'`));
  install(ws, 'syncx-plugin-file', reader('file', ''), '1.0.0');
  install(ws, 'syncx-plugin-old', 'export const writer = { apiVersion: 0 };', '0.3.0');
  install(ws, 'syncx-plugin-torn', 'export const reader = {', '1.0.0');
  install(ws, 'syncx-plugin-odd', reader('odd', `boundedness: () => { throw new Error('odd') }`), '1.0.0');
  install(ws, 'syncx-plugin-bare', "export const reader = { apiVersion: 1, name: 'bare' };", '1.0.0');

  const json = await plugins(ws, ['--output', 'json'], {});
  assert.equal(json.code, 0, json.stderr);
  assert.equal(json.stderr, '');
  const all = JSON.parse(json.stdout) as readonly Readonly<Record<string, unknown>>[];
  const byName = (name: string): unknown => all.find((p) => p['package'] === name);
  assert.deepEqual(
    all.slice(0, 9).map((p) => `${String(p['name'])} ${String(p['kind'])}`),
    [
      'file reader',
      'file writer',
      'kafka reader',
      'kafka writer',
      'mysql reader',
      'mysql writer',
      'socket reader',
      'stream reader',
      'stream writer',
    ],
  );
  assert.equal(all.length, 16);
  assert.deepEqual(all[8], {
    name: 'stream',
    kind: 'writer',
    version: v,
    package: 'syncx',
    aliases: [],
    summary: 'Prints rows to stdout, or drops them.',
    delivery: ['at-least-once'],
    error: null,
  });
  assert.deepEqual(byName('syncx-plugin-good'), {
    name: 'good',
    kind: 'reader',
    version: '2.1.0',
    package: 'syncx-plugin-good',
    aliases: [],
    summary: 'S.',
    boundedness: 'bounded',
    replayable: true,
    error: null,
  });
  assert.deepEqual(byName('@acme/syncx-plugin-silent'), {
    name: 'silent',
    kind: 'reader',
    version: null,
    package: '@acme/syncx-plugin-silent',
    aliases: [],
    summary: 'S.',
    boundedness: 'by-options',
    replayable: null,
    error: null,
  });
  const dir = (name: string): string => ws.path('node_modules', name);
  assert.deepEqual(byName('syncx-plugin-old'), {
    name: 'old',
    kind: null,
    version: '0.3.0',
    package: 'syncx-plugin-old',
    error: {
      code: 'PLUGIN_BROKEN',
      message: `plugin syncx-plugin-old (${dir('syncx-plugin-old')}) is for contract 0, this is 1`,
      retry: 'never',
      blame: 'internal',
      hint: 'install a version of the plugin that fits this version of the tool',
    },
  });

  const text = await plugins(ws, [], {});
  assert.equal(text.code, 0);
  const lines = text.stdout.trimEnd().split('\n');
  assert.equal(lines.length, 17);
  const line = (name: string): string => lines.find((l) => l.startsWith(`${name} `))?.replace(/ {2,}/g, '  ') ?? '';
  assert.equal(line('good'), 'good  reader  2.1.0  bounded  yes  -  syncx-plugin-good');
  assert.equal(line('silent'), 'silent  reader  ?  by options  ?  -  @acme/syncx-plugin-silent');
  assert.match(
    line('old'),
    /^old {2}- {2}0\.3\.0 {2}- .*PLUGIN_BROKEN: .* is for contract 0, this is 1; install a vers/,
  );
  assert.match(line('torn'), /PLUGIN_BROKEN: plugin syncx-plugin-torn \(.*\) cannot be loaded: /);
  assert.match(line('odd'), /PLUGIN_BROKEN: boundedness of reader odd threw: odd$/);
  assert.match(line('bare'), /PLUGIN_BROKEN: the reader of syncx-plugin-bare \(.*\) has no schema of its options/);
  assert.ok(lines.some((l) => /syncx-plugin-file .*has the name of a plugin that ships with the tool/.test(l)));
});

test('a package that never ends loading is one of these', async () => {
  using ws = new Workspace();
  install(ws, 'syncx-plugin-slow', 'await new Promise(() => undefined);', '1.0.0');
  const message = 'PLUGIN_BROKEN: plugin syncx-plugin-slow is not loaded after 10 s';
  const job = ws.job({
    job: { content: [{ reader: { name: 'slow', parameter: {} }, writer: { name: 'stream', parameter: {} } }] },
  });
  const [list, described, validated] = await Promise.all([
    plugins(ws, [], {}),
    sync(['describe', 'slow'], { cwd: ws.dir, env: { COLUMNS: '' } }),
    sync(['validate', job], { cwd: ws.dir }),
  ]);
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, new RegExp(`^slow .* syncx-plugin-slow +${message}$`, 'm'));
  assert.deepEqual([described.code, described.stdout, described.stderr], [1, '', `sync: ${message}\n`]);
  assert.equal(validated.code, 1, validated.stderr);
  assert.match(validated.stdout, /job\.content\[0\]\.reader\.name: plugin syncx-plugin-slow is not loaded after 10 s/);
});
