import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { folder, readAll, type ReaderOptions } from './drive.js';

/** The names of the files that were read, in their order, and what the log warned of; `dir` is cut from both. */
async function listed(
  dir: string,
  o: Partial<ReaderOptions>,
): Promise<{ readonly files: readonly string[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const read = await readAll(o, undefined, warnings);
  return {
    files: read.map((s) => relative(dir, s.split.id.replace(/^file:/, ''))),
    warnings: warnings.map((w) => w.replaceAll(`${dir}/`, '')),
  };
}

function write(dir: string, ...names: readonly string[]): void {
  for (const n of names) {
    mkdirSync(join(dir, n, '..'), { recursive: true });
    writeFileSync(join(dir, n), `${n}\n`);
  }
}

test('a file is read once, by whatever paths and links it is reached', async (t) => {
  const dir = folder(t);
  write(dir, 'in/b.csv', 'in/c.csv');
  symlinkSync('b.csv', join(dir, 'in/a.csv'));
  symlinkSync('in', join(dir, 'also'));
  const twice = 'files that are read under another name were left out';
  assert.deepEqual(await listed(dir, { path: join(dir, 'in') }), {
    files: ['in/b.csv', 'in/c.csv'],
    warnings: [`${twice}: in/a.csv (is in/b.csv)`],
  });
  assert.deepEqual(await listed(dir, { path: [join(dir, 'in/c.csv'), join(dir, 'in/?.csv'), join(dir, '*/c.csv')] }), {
    files: ['in/b.csv', 'in/c.csv'],
    warnings: [`${twice}: also/c.csv (is in/c.csv), in/a.csv (is in/b.csv)`],
  });
  assert.deepEqual(await listed(dir, { path: join(dir, 'in/a.csv') }), { files: ['in/a.csv'], warnings: [] });
  assert.deepEqual(await listed(dir, { path: join(dir, 'also'), filterRegex: '[ac].csv' }), {
    files: ['also/a.csv', 'also/c.csv'],
    warnings: [],
  });
});

test('hard links are files of their own', async (t) => {
  const dir = folder(t);
  write(dir, 'a.csv');
  linkSync(join(dir, 'a.csv'), join(dir, 'b.csv'));
  assert.deepEqual(await listed(dir, { path: dir }), { files: ['a.csv', 'b.csv'], warnings: [] });
});

test('** enters no linked folder, and says so; a folder that is named or matched without ** may be a link', async (t) => {
  const dir = folder(t);
  write(dir, 'in/a.csv', 'in/deep/b.csv', 'other/c.csv');
  symlinkSync('..', join(dir, 'in/loop'));
  symlinkSync('../other', join(dir, 'in/other'));
  symlinkSync('in', join(dir, 'link'));
  assert.deepEqual(await listed(dir, { path: join(dir, 'in/**') }), {
    files: ['in/a.csv', 'in/deep/b.csv'],
    warnings: ['linked folders below ** were not entered; name one in path to read it: in/loop, in/other'],
  });
  assert.deepEqual((await listed(dir, { path: join(dir, 'link/**/*.csv') })).files, ['link/a.csv', 'link/deep/b.csv']);
  assert.deepEqual(await listed(dir, { path: join(dir, 'in/*/*.csv') }), {
    files: ['in/deep/b.csv', 'in/other/c.csv'],
    warnings: [],
  });
  assert.deepEqual((await listed(dir, { path: join(dir, 'in/other') })).files, ['in/other/c.csv']);
});

async function special(t: TestContext, dir: string): Promise<void> {
  execFileSync('mkfifo', [join(dir, 'pipe.csv')]);
  const server = createServer().listen(join(dir, 'socket.csv'));
  t.after(() => server.close());
  await once(server, 'listening');
}

test('pipes, sockets and devices are named: by a warning where matched, by an error where asked for', async (t) => {
  const dir = folder(t);
  write(dir, 'a.csv');
  await special(t, dir);
  symlinkSync('/dev/null', join(dir, 'null.csv'));
  const want = {
    files: ['a.csv'],
    warnings: [
      'what is no regular file was left out: null.csv (a device), pipe.csv (a named pipe), socket.csv (a socket)',
    ],
  };
  assert.deepEqual(await listed(dir, { path: dir }), want);
  assert.deepEqual(await listed(dir, { path: join(dir, '*.csv') }), want);
  for (const [name, what, hint] of [
    ['pipe.csv', 'a named pipe', /^Set path to - /],
    ['socket.csv', 'a socket', /regular files/],
    ['null.csv', 'a device', /regular files/],
  ] as const) {
    const path = join(dir, name);
    await assert.rejects(readAll({ path }), (e: Error & { code?: string; place?: string; hint?: string }) => {
      assert.deepEqual([e.code, e.message, e.place], ['SOURCE_IO', `${path} is ${what}, not a file`, path]);
      assert.match(e.hint ?? '', hint);
      return true;
    });
  }
});

test('a link to nothing is an error wherever it is found, unless it is not asked for', async (t) => {
  const dir = folder(t);
  write(dir, 'a.csv');
  const path = join(dir, 'gone.csv');
  symlinkSync('nowhere.csv', path);
  for (const asked of [dir, path, join(dir, '*.csv'), join(dir, '**')]) {
    await assert.rejects(readAll({ path: asked }), {
      code: 'SOURCE_IO',
      message: `${path} is a link to nowhere.csv, which does not exist`,
      place: path,
    });
  }
  assert.deepEqual(await listed(dir, { path: join(dir, 'a*') }), { files: ['a.csv'], warnings: [] });
  assert.deepEqual((await listed(dir, { path: dir, filterRegex: 'a.*' })).files, ['a.csv']);
});

test('a name that is not UTF-8 is an error wherever it is found, unless it is not asked for', async (t) => {
  const dir = folder(t);
  write(dir, 'a.csv', 'gbk/b.csv');
  const bytes = Buffer.from('\xb6\xab', 'latin1');
  try {
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), bytes, Buffer.from('.csv')]), 'x\n');
  } catch {
    t.skip('the file system takes no such name');
    return;
  }
  const path = join(dir, '\ufffd\ufffd.csv');
  const message = `${path} has a name that is not UTF-8, and cannot be read by it`;
  for (const asked of [dir, join(dir, '*.csv'), join(dir, '**/*.csv')]) {
    await assert.rejects(readAll({ path: asked }), { code: 'SOURCE_IO', message, place: path });
  }
  assert.deepEqual((await listed(dir, { path: join(dir, 'a*') })).files, ['a.csv']);
  assert.deepEqual((await listed(dir, { path: dir, filterRegex: 'a.*' })).files, ['a.csv']);
  renameSync(join(dir, 'gbk'), Buffer.concat([Buffer.from(`${dir}/`), bytes]));
  await assert.rejects(readAll({ path: join(dir, '*/*.csv') }), {
    code: 'SOURCE_IO',
    place: join(dir, '\ufffd\ufffd'),
  });
  // One that really holds the character is a name like any other.
  write(dir, 'c/\ufffd.csv');
  assert.deepEqual((await listed(dir, { path: join(dir, 'c') })).files, ['c/\ufffd.csv']);
});

test('a link that leads round in a circle is an error', async (t) => {
  const dir = folder(t);
  write(dir, 'a.csv');
  symlinkSync('circle.csv', join(dir, 'circle.csv'));
  await assert.rejects(readAll({ path: join(dir, '**/*.csv') }), { code: 'SOURCE_IO', message: /ELOOP/ });
});

const ROOT = process.getuid?.() === 0 && 'root reads every folder';

test('a folder that cannot be read is an error where a pattern leads there', { skip: ROOT }, async (t) => {
  const dir = folder(t);
  write(dir, 'open/a.csv', 'shut/b.csv');
  chmodSync(join(dir, 'shut'), 0);
  t.after(() => {
    chmodSync(join(dir, 'shut'), 0o700);
  });
  await assert.rejects(readAll({ path: join(dir, '**/*.csv') }), { code: 'SOURCE_IO', message: /EACCES/ });
  assert.deepEqual((await listed(dir, { path: join(dir, 'o*/*.csv') })).files, ['open/a.csv']);
});
