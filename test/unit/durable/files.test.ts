import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { createExclusive, makeDirDurable, publishNoReplace } from '../../../src/durable/files.js';
import { tree, Workspace } from '../../support/workspace.js';

test('folders are made with all their parents, and again without a word', async () => {
  using ws = new Workspace();
  await makeDirDurable(ws.path('a/b/c'));
  await makeDirDurable(ws.path('a/b/c'));
  assert.ok(statSync(ws.path('a/b/c')).isDirectory());
});

test('a file in the way of a folder is an error', async () => {
  using ws = new Workspace();
  ws.write('a', 'x');
  await assert.rejects(makeDirDurable(ws.path('a')), { code: 'EEXIST' });
  await assert.rejects(makeDirDurable(ws.path('a/b')), { code: 'ENOTDIR' });
});

test('a folder that takes no names is an error, not a loop', { skip: !existsSync('/proc/self') }, async () => {
  await assert.rejects(makeDirDurable('/proc/no-such/folder'), { code: 'ENOENT' });
});

test('a name is created once, whole, and leaves no temporary one', async () => {
  using ws = new Workspace();
  assert.equal(await createExclusive(ws.dir, 'n', 'one', 'a'), true);
  assert.equal(await createExclusive(ws.dir, 'n', 'two', 'b'), false);
  assert.equal(readFileSync(ws.path('n'), 'utf8'), 'one');
  assert.deepEqual(tree(ws.dir), ['n']);
});

test('publishing never replaces and tells what it found', async () => {
  using ws = new Workspace();
  const staged = ws.write('staged', 'rows');
  const target = ws.path('target');
  assert.equal(await publishNoReplace(staged, target, 4), 'published');
  assert.equal(await publishNoReplace(staged, target, 4), 'already');
  rmSync(staged);
  assert.equal(await publishNoReplace(staged, target, 4), 'already');
  assert.equal(await publishNoReplace(staged, ws.path('gone'), 4), 'missing');
  writeFileSync(target, 'others');
  assert.equal(await publishNoReplace(staged, target, 4), 'conflict');
  rmSync(target);
  mkdirSync(target);
  assert.equal(await publishNoReplace(ws.write('staged', 'rows'), target, 4), 'conflict');
});
