/** docs/write-a-plugin.md shows the sample plugin as it is, so that who follows it gets what the tests have run. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { pageBlocks, SAMPLE, shownDescription } from './install.js';

const page = readFileSync(join(ROOT, 'docs/write-a-plugin.md'), 'utf8');
const blocks = pageBlocks();
const shell = blocks.filter((b) => b.language === 'sh');
const shown = blocks.filter((b) => b.language !== 'sh' && b.language !== 'text');

test('each block of code is a file of the sample, whole', () => {
  for (const b of shown) {
    assert.ok(b.file !== null, `a block of ${b.language} names no file:\n${b.text}`);
    const wanted = readFileSync(join(SAMPLE, b.file), 'utf8');
    // Lists in a package.json are laid out in a way of its own.
    if (b.file === 'package.json') assert.deepEqual(JSON.parse(b.text), JSON.parse(wanted));
    else assert.equal(b.text, wanted, `${b.file} differs from the page`);
  }
});

test('every file of the sample is on the page, once', () => {
  const files = (readdirSync(SAMPLE, { recursive: true }) as string[]).filter((n) =>
    statSync(join(SAMPLE, n)).isFile(),
  );
  assert.deepEqual(shown.map((b) => b.file).sort(), files.sort());
});

test('the page says the name of every file before its block', () => {
  for (const b of shown) {
    const before = page
      .slice(0, page.indexOf(`file=${String(b.file)}`))
      .split('\n')
      .slice(-4)
      .join('\n');
    assert.ok(before.includes(`\`${String(b.file)}\``), String(b.file));
  }
});

test('commands name the versions that there are', () => {
  const version = (path: string): string =>
    (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
  const text = shell.map((b) => b.text).join('');
  assert.ok(text.includes(`syncx-${version(join(ROOT, 'package.json'))}.tgz`));
  assert.ok(text.includes(`syncx-plugin-counter-${version(join(SAMPLE, 'package.json'))}.tgz`));
});

test('what describe prints is what the page shows', async () => {
  using ws = new Workspace();
  cpSync(SAMPLE, ws.path('syncx-plugin-counter'), { recursive: true });
  mkdirSync(ws.path('node_modules'));
  symlinkSync(ROOT, ws.path('node_modules/syncx'));
  const env = { SYNC_PLUGIN_PATH: ws.path('syncx-plugin-counter'), COLUMNS: '' };
  const r = await sync(['describe', 'counter'], { cwd: ws.dir, env });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stdout, shownDescription());
});
