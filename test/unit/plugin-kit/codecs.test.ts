/** Files in base64 were written by the programs `zstd` 1.5 and `bzip2` 1.0.8. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDecompressor } from 'syncx/plugin-kit';
import { BZIP2, ZSTD, LINES } from './codec-samples.js';

type Codec = 'zstd' | 'bzip2';

async function inflate(codec: Codec, bytes: Uint8Array, size = 1 << 20): Promise<Buffer> {
  const d = await openDecompressor(codec, 'x');
  const parts: Buffer[] = [];
  for (let at = 0, ended = false; ;) {
    const out = d.next();
    if (out !== null) {
      assert.ok(out.length > 0);
      parts.push(Buffer.from(out));
    } else if (ended) return Buffer.concat(parts);
    else {
      const chunk = Buffer.from(bytes.subarray(at, at + size));
      at += size;
      ended = chunk.length === 0;
      d.push(chunk, ended);
      chunk.fill(0xee); // the chunk is the caller's again
    }
  }
}

const SAMPLES: Readonly<Record<Codec, Buffer>> = { zstd: ZSTD.lines, bzip2: BZIP2.lines };
const OTHER = Buffer.from('id,name\n1,a\n');

for (const codec of ['zstd', 'bzip2'] as const) {
  const sample = SAMPLES[codec];

  test(`${codec}: in chunks of any size; streams one after another are one; an empty stream is no bytes`, async () => {
    for (const size of [1, 2, 3, 7, 100, 1 << 20]) {
      assert.deepEqual(await inflate(codec, sample, size), LINES);
      assert.deepEqual(
        await inflate(codec, Buffer.concat([sample, sample, sample]), size),
        Buffer.concat([LINES, LINES, LINES]),
      );
    }
    const empty = codec === 'zstd' ? ZSTD.empty : BZIP2.empty;
    assert.equal((await inflate(codec, empty)).length, 0);
    assert.deepEqual(await inflate(codec, Buffer.concat([empty, sample, empty])), LINES);
  });

  test(`${codec}: cut anywhere it is loud and says where`, async () => {
    await assert.rejects(inflate(codec, Buffer.alloc(0)), {
      code: 'SOURCE_FORMAT',
      message: /file that was cut: it ends in the middle, at about compressed byte 0$/,
    });
    for (let length = 1; length < sample.length; length++) {
      const message =
        length < 4
          ? /^x is not a|^x is a .* that was cut/
          : /^x is a .* file that was cut: it ends in the middle, at about compressed byte \d+$/;
      await assert.rejects(
        inflate(codec, sample.subarray(0, length)),
        { code: 'SOURCE_FORMAT', message },
        String(length),
      );
    }
  });

  test(`${codec}: a changed byte is loud, or changes nothing`, async () => {
    for (let at = 0; at < sample.length; at++) {
      const bad = Buffer.from(sample);
      bad[at] = (bad[at] ?? 0) ^ 0x10;
      const got = await inflate(codec, bad).catch((e: unknown) => e);
      if (Buffer.isBuffer(got)) assert.deepEqual(got, LINES, `byte ${String(at)}`);
      else assert.equal((got as { code?: string }).code, 'SOURCE_FORMAT', `byte ${String(at)}: ${String(got)}`);
    }
  });

  test(`${codec}: what is no such file, and what follows one, is called by its place`, async () => {
    await assert.rejects(inflate(codec, OTHER), {
      code: 'SOURCE_FORMAT',
      message: `x is not a ${codec} file: it begins with the bytes 69 64 2c 6e`,
    });
    for (const behind of [OTHER, Buffer.alloc(10)]) {
      await assert.rejects(inflate(codec, Buffer.concat([sample, behind])), {
        message: `x goes on with something else behind its ${codec} data`,
        place: `x, behind compressed byte ${String(sample.length)}`,
      });
    }
  });
}

test('zstd: frames that are to be passed over, without sizes, of many blocks, of equal bytes', async () => {
  const skippable = Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from('abc')]);
  for (const size of [1, 5, 1000]) {
    assert.deepEqual(await inflate('zstd', Buffer.concat([skippable, ZSTD.lines, skippable]), size), LINES);
  }
  await assert.rejects(inflate('zstd', skippable.subarray(0, 10)), { message: /cut/ });
  assert.deepEqual(await inflate('zstd', ZSTD.streamed), LINES);
  const zeros = await inflate('zstd', ZSTD.zeros);
  assert.deepEqual([zeros.length, zeros.every((b) => b === 0)], [1_000_000, true]);
});

test('zstd: a dictionary or a huge window is refused by name', async () => {
  const dictionary = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 9, 0, 0, 0x61]);
  await assert.rejects(inflate('zstd', dictionary), { message: /^x: a zstd frame needs a dictionary/ });
  const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x90, 9, 0, 0, 0x61]);
  await assert.rejects(inflate('zstd', window), { message: /^x: a zstd frame needs a window of 268435456 bytes/ });
});

test('bzip2: long runs, blocks of every level', async () => {
  const zeros = await inflate('bzip2', BZIP2.zeros, 3);
  assert.deepEqual([zeros.length, zeros.every((b) => b === 0)], [1_000_000, true]);
  assert.deepEqual(await inflate('bzip2', BZIP2.runs, 1), RUNS);
});

/** Runs of 1 to 300 equal bytes: on both sides of 4 and of 255 + 4. */
const RUNS = Buffer.concat(Array.from({ length: 300 }, (_, i) => Buffer.alloc(i + 1, 97 + (i % 26))));
