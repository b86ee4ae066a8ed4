/** From nothing to a finished job: the keystrokes of the README, in an empty folder. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ROOT, SYNC, sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const KEYS = /^## From nothing to a finished job\n\n```sh\n([^]*?)```$/m.exec(README)?.[1] ?? '';

test('the keystrokes of the README make the target', async () => {
  assert.match(KEYS, /^sync init .*\n/m);
  using ws = new Workspace();
  mkdirSync(ws.path('bin'));
  mkdirSync(ws.path('empty'));
  symlinkSync(SYNC, ws.path('bin/sync'));
  const { stdout } = await promisify(execFile)('sh', ['-euc', KEYS], {
    cwd: ws.path('empty'),
    env: { ...process.env, PATH: `${ws.path('bin')}:${process.env['PATH'] ?? ''}`, SYNC_STATE_DIR: ws.path('state') },
  });
  assert.match(stdout, /^job\.json is valid: file → file$/m);
  assert.ok(stdout.endsWith('\nid,name\n1,Ada\n2,Linus\n'), stdout);
  assert.deepEqual(publishedLines(ws.path('empty/data/out')), ['1,Ada', '2,Linus', 'id,name']);
});

test('sync --help alone names each of the steps', async () => {
  using ws = new Workspace();
  const { stdout } = await sync(['--help'], { cwd: ws.dir });
  const help = stdout.replace(/\s+/g, ' ');
  for (const step of ['sync init file file > job.json', 'sync validate job.json', 'sync run job.json']) {
    assert.ok(help.includes(step), step);
    assert.ok(KEYS.includes(step), step);
  }
});
