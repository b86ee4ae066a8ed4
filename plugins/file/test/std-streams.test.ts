import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openReader, openWriter } from './drive.js';

interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `feed` gets the child's standard input and its output so far, and must end the input. */
async function copy(
  args: readonly string[],
  feed: (write: (b: Buffer | string) => void, seen: (text: string) => Promise<void>) => Promise<void>,
): Promise<Result> {
  const child = spawn(process.execPath, [
    '-C',
    'development',
    join(import.meta.dirname, 'copy-std-streams.js'),
    ...args,
  ]);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (d: string) => (out += d));
  child.stderr.setEncoding('utf8').on('data', (d: string) => (err += d));
  const seen = async (text: string): Promise<void> => {
    while (!out.includes(text)) await once(child.stdout, 'data');
  };
  const closed = once(child, 'close');
  await feed((b) => void child.stdin.write(b), seen);
  child.stdin.end();
  const [code] = (await closed) as [number | null];
  return { code, out, err };
}

test('standard input to standard output: rows go through while the input is open', async () => {
  const got = await copy(['{"isFirstLineHeader":true}', '{"fileType":"json"}'], async (write, seen) => {
    write('id,name\n1,ann\n2,"b');
    await seen('{"id":"1","name":"ann"}\n');
    write('ob"\n');
    await seen('{"id":"2","name":"bob"}\n');
    write('3,eve');
  });
  assert.deepEqual(got, {
    code: 0,
    out: '{"id":"1","name":"ann"}\n{"id":"2","name":"bob"}\n{"id":"3","name":"eve"}\n',
    err: '',
  });
});

test('gzip on standard input: what zlib passes over behind a member is an error, at once or later', async () => {
  const one = gzipSync('1,a\n');
  for (const later of [false, true]) {
    const got = await copy(['{"compress":"gzip"}'], async (write, seen) => {
      if (later) {
        write(Buffer.concat([one, one]));
        await seen('1,a\n1,a\n');
      } else write(one);
      write(Buffer.concat([Buffer.alloc(3), gzipSync('2,b\n')]));
    });
    assert.equal(got.code, 1);
    const at = one.length * (later ? 2 : 1);
    assert.match(got.err, /SyncError: standard input goes on with something else behind its gzip data/);
    assert.match(got.err, new RegExp(`behind compressed byte ${String(at)}'`));
  }
});

test('gzip on standard input, and a header on standard output', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => `${String(i)},x\n`).join('');
  const got = await copy(
    ['{"compress":"gzip","column":["a","b"]}', '{"isFirstLineHeader":true,"fieldDelimiter":";"}'],
    (write) => {
      write(gzipSync(rows));
      return Promise.resolve();
    },
  );
  assert.equal(got.err, '');
  assert.equal(got.out === `a;b\n${rows.replaceAll(',', ';')}`, true);
});

test('standard input cannot be read a second time, and says so', async () => {
  const got = await copy(['{}', '{}', 'again'], (write) => {
    write('1,a\n');
    return Promise.resolve();
  });
  assert.equal(got.code, 1);
  assert.match(got.err, /standard input was read in part already and cannot be read again/);
});

test('what cannot be read again or taken back promises less', async () => {
  assert.equal((await openReader({ path: '-' })).replayable, false);
  assert.equal((await openReader({ path: 'x' })).replayable, true);
  assert.equal((await openWriter({ path: '-' })).delivery, 'at-least-once');
  assert.equal((await openWriter({ path: 'x' })).delivery, 'exactly-once');
});
