/** Compressed bytes as other programs make them, and such as nobody should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compress } from '@mongodb-js/zstd';
import fc from 'fast-check';
import { compressSync } from 'snappy';
import { isSyncError } from 'syncx/plugin-api';
import { ATTRIBUTES, BATCH_LENGTH, BEFORE_LENGTH, CODEC_BITS, CRC, HEADER_BYTES } from '../wire/batch-layout.js';
import { CODECS, type Codec } from '../wire/codec.js';
import { crc32c, portableCrc32c } from '../wire/crc32c.js';
import { readLz4, writeLz4 } from '../wire/lz4-frame.js';
import { readSnappy, writeSnappy } from '../wire/snappy-blocks.js';
import {
  readVarint,
  readVarlong,
  varintEnd,
  varintSize,
  varlongSize,
  writeVarint,
  writeVarlong,
} from '../wire/varint.js';
import { readZstd } from '../wire/zstd-frames.js';
import { RecordReader, newRecordSlot } from '../wire/record-reader.js';
import { ALL, batchOf, plain, plainOf, readAll, text } from './wire-support.js';

const NO_LIMIT = 1 << 30;

test('CRC-32C, native and in JavaScript', () => {
  for (const of of [crc32c, portableCrc32c]) {
    assert.equal(of(Buffer.from('123456789')), 0xe3069283);
    assert.equal(of(Buffer.alloc(32)), 0x8a9136aa);
    assert.equal(of(Buffer.alloc(0)), 0);
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (b) => portableCrc32c(b) === crc32c(b)));
});

test('varints are as Kafka has them, and as long as told', () => {
  const at = Buffer.alloc(12);
  const hex = (end: number) => at.toString('hex', 0, end);
  assert.equal(hex(writeVarint(at, 0, -1)), '01');
  assert.equal(hex(writeVarint(at, 0, 300)), 'd804');
  assert.equal(hex(writeVarint(at, 0, -2147483648)), 'ffffffff0f');
  assert.equal(hex(writeVarlong(at, 0, -1_700_000_000_000)), 'ff9fabfef962');
  fc.assert(
    fc.property(fc.integer(), (n) => {
      const end = writeVarint(at, 0, n);
      assert.equal(end, varintSize(n));
      assert.equal(readVarint(at, 0), n);
      assert.equal(varintEnd, end);
      assert.equal(readVarlong(at, 0), n);
    }),
  );
  const edges = [0, 6, 7, 13, 20, 27, 28, 30, 31, 34, 48, 52].flatMap((b) => [
    2 ** b - 1,
    2 ** b,
    -(2 ** b),
    -(2 ** b) - 1,
  ]);
  const longs = fc.oneof(fc.constantFrom(...edges), fc.maxSafeInteger());
  fc.assert(
    fc.property(longs, (n) => {
      const end = writeVarlong(at, 0, n);
      assert.equal(end, varlongSize(n));
      const zigzag = BigInt.asUintN(64, (BigInt(n) << 1n) ^ (BigInt(n) >> 63n));
      assert.equal(
        at.subarray(0, end).reduceRight((sum, b) => (sum << 7n) | BigInt(b & 127), 0n),
        zigzag,
      );
      assert.equal(readVarlong(at, 0), n);
      assert.equal(varintEnd, end);
    }),
    { numRuns: 1000 },
  );
  at.fill(255);
  readVarint(at, 0);
  assert.ok(varintEnd > 1e9);
  readVarlong(at, 0);
  assert.ok(varintEnd > 1e9);
});

/** A batch of ours with other bytes for its records. */
async function batchWith(codec: Codec, records: Buffer, of = [text('a'), text('b')]): Promise<Buffer> {
  const header = (await batchOf(of)).subarray(0, HEADER_BYTES);
  const batch = Buffer.concat([header, records]);
  batch.writeInt16BE((batch.readInt16BE(ATTRIBUTES) & ~CODEC_BITS) | CODECS.indexOf(codec), ATTRIBUTES);
  batch.writeInt32BE(batch.length - BEFORE_LENGTH, BATCH_LENGTH);
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES)), CRC);
  return batch;
}

const OF = Array.from({ length: 400 }, (_, i) => text(`record ${String(i)} of a batch `.repeat(8)));

const FORMS: readonly (readonly [string, Codec, (records: Buffer) => Buffer | Promise<Buffer>])[] = [
  ['snappy without framing', 'snappy', (b) => compressSync(b)],
  [
    'two snappy streams of Java',
    'snappy',
    (b) => Buffer.concat([writeSnappy(b.subarray(0, 9)), writeSnappy(b.subarray(9))]),
  ],
  ['gzip in two members', 'gzip', (b) => Buffer.concat([gzipSync(b.subarray(0, 99)), gzipSync(b.subarray(99))])],
  ['lz4 in two frames', 'lz4', (b) => Buffer.concat([writeLz4(b.subarray(0, 99)), writeLz4(b.subarray(99))])],
  [
    'zstd in two frames, with a skippable one between them',
    'zstd',
    async (b) =>
      Buffer.concat([
        await compress(b.subarray(0, 99), 1),
        Buffer.from('502a4d1803000000aabbcc', 'hex'),
        await compress(b.subarray(99), 19),
      ]),
  ],
];
for (const [name, codec, pack] of FORMS) {
  test(name, async () => {
    const plain = (await batchOf(OF)).subarray(HEADER_BYTES);
    const got = await readAll(await batchWith(codec, await pack(plain), OF));
    assert.deepEqual(
      got.records,
      OF.map((r, i) => plainOf(r, i)),
    );
  });
}

test('lz4 frames with blocks that reach into others, with checksums and a size', () => {
  const block2 = Buffer.concat([
    Buffer.from([0x00, 6, 0]), // no literals, match of 4, 6 back: cdef
    Buffer.from([0x12, 0x58, 11, 0]), // "X", match of 6, 11 back: cdefgh
    Buffer.from([0x50]), // the last 5 are literals
    Buffer.from('vwxyz'),
  ]);
  const frame = (flags: number, blockTail: Buffer, size: Buffer, tail: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(block2.length);
    return Buffer.concat([
      Buffer.from([0x04, 0x22, 0x4d, 0x18, flags, 0x40]),
      size,
      Buffer.from([0]),
      Buffer.from([8, 0, 0, 0x80]),
      Buffer.from('abcdefgh'),
      blockTail,
      length,
      block2,
      blockTail,
      Buffer.alloc(4),
      tail,
    ]);
  };
  const none = Buffer.alloc(0);
  const four = Buffer.alloc(4, 1);
  const wanted = 'abcdefghcdefXcdefghvwxyz';
  assert.equal(readLz4(frame(0x40, none, none, none), NO_LIMIT)?.toString(), wanted);
  assert.equal(readLz4(frame(0x54, four, none, four), NO_LIMIT)?.toString(), wanted);
  assert.equal(readLz4(frame(0x4c, none, Buffer.alloc(8), four), NO_LIMIT)?.toString(), wanted);
  const twice = Buffer.concat([frame(0x40, none, none, none), frame(0x40, none, none, none)]);
  assert.equal(readLz4(twice, NO_LIMIT)?.toString(), wanted + wanted);
  // Blocks that say to stand alone and do not, a dictionary, another version.
  assert.throws(() => readLz4(frame(0x60, none, none, none), NO_LIMIT), /damaged/);
  assert.throws(() => readLz4(frame(0x41, none, none, none), NO_LIMIT), /dictionary/);
  assert.throws(() => readLz4(frame(0x80, none, none, none), NO_LIMIT), /version 2/);
});

const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 3000 })), { maxLength: 6 })
  .map((parts) => Buffer.concat(parts.map(([part, times]) => Buffer.concat(Array<Uint8Array>(times).fill(part)))));

test('lz4 and snappy both ways; a limit that is one byte too low is told', () => {
  for (const [write, read] of [
    [writeLz4, readLz4],
    [writeSnappy, readSnappy],
  ] as const) {
    fc.assert(
      fc.property(repetitive, (b) => {
        const packed = write(b);
        assert.ok(read(packed, b.length)?.equals(b) ?? false);
        if (b.length > 0) assert.equal(read(packed, b.length - 1), null);
      }),
    );
  }
});

test('damaged lz4 never gives more than the limit, nor anything but an Error', () => {
  fc.assert(
    fc.property(repetitive, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (b, changes) => {
      const packed = writeLz4(b);
      for (const [at, value] of changes) packed[at % packed.length] = value;
      try {
        assert.ok((readLz4(packed, 100_000)?.length ?? 0) <= 100_000);
      } catch (e) {
        assert.match(String(e), /lz4/);
      }
    }),
    { numRuns: 500 },
  );
});

const ZEROS = Buffer.alloc(64 << 20);
const BOMBS: readonly (readonly [Codec, () => Buffer | Promise<Buffer>])[] = [
  ['gzip', () => gzipSync(ZEROS)],
  ['snappy', () => writeSnappy(ZEROS)],
  ['snappy', () => compressSync(ZEROS)],
  ['snappy', () => Buffer.from('ffffffff0f00', 'hex')],
  ['lz4', () => writeLz4(ZEROS)],
  ['zstd', () => compress(ZEROS, 1)],
];
test('a batch that holds more than the bound is refused before it takes the memory', async () => {
  for (const [codec, make] of BOMBS) {
    const bomb = await batchWith(codec, await make());
    const before = process.memoryUsage();
    await assert.rejects(readAll(bomb, { maxBatchBytes: 1 << 20 }), (e) => {
      assert.ok(isSyncError(e) && e.code === 'SOURCE_FORMAT', String(e));
      assert.match(e.message, new RegExp(`The ${codec} record batch at orders-3@0 holds more than 1048576 bytes`));
      return true;
    });
    const after = process.memoryUsage();
    const grown = after.rss + after.external - before.rss - before.external;
    assert.ok(grown < 40 << 20, `${codec}: ${String(grown)} bytes more`);
  }
});

test('the bound itself fits, with all codecs', async () => {
  for (const codec of CODECS) {
    const batch = await batchOf(OF, { codec });
    const size = (await batchOf(OF)).length - HEADER_BYTES;
    assert.equal((await readAll(batch, { maxBatchBytes: size })).records.length, OF.length);
    if (codec !== 'none') await assert.rejects(readAll(batch, { maxBatchBytes: size - 1 }), /holds more than/);
  }
});

test('zstd of many small blocks: what they might hold is over the bound, what they do is not', async () => {
  const frames = await Promise.all(
    Array.from({ length: 50 }, (_, i) => compress(Buffer.from(`frame ${String(i)} `.repeat(9)))),
  );
  const all = Buffer.concat(frames);
  const wanted = await readZstd(all, NO_LIMIT, 'x');
  assert.ok(wanted !== null && wanted.length < 10_000);
  assert.ok((await readZstd(all, 10_000, 'x'))?.equals(wanted) ?? false);
});

for (const codec of CODECS.slice(1)) {
  test(`${codec} data that is none`, async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('no such thing')]) {
      const behind = await batchOf([text('behind')], { baseOffset: 2 });
      const reader = new RecordReader(Buffer.concat([await batchWith(codec, bytes), behind]), ALL);
      const slot = newRecordSlot();
      // Whoever calls again does not get what is behind it.
      for (const _ of [1, 2]) {
        await assert.rejects(
          async () => reader.next(slot) || (await reader.more()),
          (e) => {
            assert.ok(isSyncError(e) && e.code === 'SOURCE_FORMAT' && e.place === 'orders-3@0', String(e));
            assert.match(e.message, /The record batch at orders-3@0 is damaged: its /);
            return true;
          },
        );
        assert.equal(reader.nextOffset, 0);
      }
    }
  });
}

test('zstd batches that are decompressed ahead come in turn, also among others; a damaged one behind them is told last', async () => {
  const batches = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      batchOf([text(`of batch ${String(i)}`)], { codec: i % 7 === 3 ? 'lz4' : 'zstd', baseOffset: i }),
    ),
  );
  const whole = Buffer.concat(batches);
  const { records } = await readAll(whole, { from: 5 });
  const wanted = Array.from({ length: 35 }, (_, i) => [i + 5, plain(Buffer.from(`of batch ${String(i + 5)}`))]);
  assert.deepEqual(
    records.map((r) => [r.offset, r.value]),
    wanted,
  );
  const reader = new RecordReader(
    Buffer.concat([...batches.slice(0, 9), await batchWith('zstd', Buffer.from('no'))]),
    ALL,
  );
  const slot = newRecordSlot();
  let last = -1;
  await assert.rejects(async () => {
    do while (reader.next(slot)) last = slot.offset;
    while (await reader.more());
  }, /The record batch at orders-3@0 is damaged/);
  assert.equal(last, 8);
});
