/** Record batches that our writer makes, as our reader reads them, whole and damaged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSyncError } from 'syncx/plugin-api';
import {
  ATTRIBUTES,
  BATCH_LENGTH,
  CRC,
  HEADER_BYTES,
  LAST_OFFSET_DELTA,
  MAGIC,
  RECORD_COUNT,
} from '../wire/batch-layout.js';
import { BatchWriter, NO_PRODUCER, mostRecordBytes } from '../wire/batch-writer.js';
import { CODECS, type Codec } from '../wire/codec.js';
import { crc32c } from '../wire/crc32c.js';
import { headersOf } from '../wire/record-headers.js';
import { RecordReader, newRecordSlot } from '../wire/record-reader.js';
import { ALL, atOffset, batchOf, plainOf, readAll, text, type RecordToWrite } from './wire-support.js';

const RUNS = { numRuns: 150 };
const bytes = fc.oneof(
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 80 }) },
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 9000 })).map(([part, times]) => {
    return Uint8Array.from({ length: part.length * times }, (_, i) => part[i % part.length] ?? 0);
  }),
);
const timestamp = fc.oneof(
  fc.integer({ min: -1, max: 2 ** 31 }),
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }),
  fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
);
const anyRecord: fc.Arbitrary<RecordToWrite> = fc.record({
  timestamp,
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.array(
    fc.record({
      key: fc.string({ unit: 'grapheme', maxLength: 12 }),
      value: fc.option(fc.uint8Array({ maxLength: 9 })),
    }),
    { maxLength: 3 },
  ),
});
const someRecords = fc.array(anyRecord, { minLength: 1, maxLength: 12 });
const someBatches = fc.array(fc.record({ codec: fc.constantFrom(...CODECS), gap: fc.nat(5), records: someRecords }), {
  minLength: 1,
  maxLength: 4,
});

interface Made {
  readonly codec: Codec;
  readonly gap: number;
  readonly records: readonly RecordToWrite[];
}

/** The batches, each `gap` offsets behind the one before. */
async function logOf(batches: readonly Made[]) {
  let offset = 0;
  const made = [];
  for (const { codec, gap, records } of batches) {
    const baseOffset = offset + gap;
    offset = baseOffset + records.length;
    const plain = records.map((r, i) => plainOf(r, baseOffset + i));
    made.push({ bytes: await batchOf(records, { codec, baseOffset }), plain, end: offset });
  }
  return made;
}

test('what is written is read again, with all codecs', async () => {
  await fc.assert(
    fc.asyncProperty(someBatches, async (batches) => {
      const log = await logOf(batches);
      const got = await readAll(Buffer.concat(log.map((b) => b.bytes)));
      assert.deepEqual(
        got.records,
        log.flatMap((b) => b.plain),
      );
      assert.equal(got.nextOffset, log.at(-1)?.end);
      assert.equal(got.cutBytes, 0);
    }),
    RUNS,
  );
});

test('cut anywhere: the whole batches come, and the rest from nextOffset on', async () => {
  await fc.assert(
    fc.asyncProperty(someBatches, fc.double({ min: 0, max: 1, noNaN: true }), async (batches, share) => {
      const log = await logOf(batches);
      const all = Buffer.concat(log.map((b) => b.bytes));
      const cut = Math.floor(share * all.length);
      const first = await readAll(all.subarray(0, cut));
      let wholeBytes = 0;
      const whole = log.filter((b) => (wholeBytes += b.bytes.length) <= cut);
      assert.deepEqual(
        first.records,
        whole.flatMap((b) => b.plain),
      );
      assert.equal(first.nextOffset, whole.at(-1)?.end ?? 0);
      assert.equal(first.cutBytes, cut - whole.reduce((sum, b) => sum + b.bytes.length, 0));
      const second = await readAll(all, { from: first.nextOffset });
      assert.deepEqual(
        [...first.records, ...second.records],
        log.flatMap((b) => b.plain),
      );
    }),
    RUNS,
  );
});

test('from any offset: no record before it, and each one behind it', async () => {
  await fc.assert(
    fc.asyncProperty(someBatches, fc.nat(60), async (batches, from) => {
      const log = await logOf(batches);
      const got = await readAll(Buffer.concat(log.map((b) => b.bytes)), { from });
      assert.deepEqual(
        got.records,
        log.flatMap((b) => b.plain).filter((r) => r.offset >= from),
      );
      assert.equal(got.nextOffset, Math.max(from, log.at(-1)?.end ?? 0));
    }),
    RUNS,
  );
});

test('one byte changed anywhere from the length on: an error with the place, or a batch that seems cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRecords,
      fc.constantFrom(...CODECS),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (...p) => {
        const [records, codec, where, change] = p;
        const whole = await batchOf([text('before')], { codec: 'none', baseOffset: 41 });
        const batch = await batchOf(records, { codec, baseOffset: 42 });
        // Base offset and leader epoch are the broker's, and not under the CRC.
        const places = [8, 9, 10, 11, ...Array.from({ length: batch.length - MAGIC }, (_, i) => MAGIC + i)];
        const at = places[where % places.length] ?? 0;
        batch[at] = (batch[at] ?? 0) ^ change;
        const reader = new RecordReader(Buffer.concat([whole, batch]), { ...ALL, from: 41 });
        const slot = newRecordSlot();
        assert.ok(reader.next(slot));
        assert.equal(slot.offset, 41);
        let more = false;
        try {
          more = reader.next(slot) || (await reader.more());
        } catch (e) {
          assert.ok(isSyncError(e) && e.code === 'SOURCE_FORMAT', String(e));
          assert.equal(e.place, 'orders-3@42');
          assert.match(e.message, /orders-3@42/);
          await assert.rejects(async () => reader.next(slot) || (await reader.more()));
          assert.equal(reader.nextOffset, 42);
          return;
        }
        assert.equal(more, false);
        assert.ok(at < 12, 'only a wrong length can seem a cut batch');
        assert.ok(reader.cutBytes > 0);
      },
    ),
    { numRuns: 400 },
  );
});

/** With what was changed under the CRC made good again: a producer's fault. */
function sealedAgain(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES)), CRC);
  return batch;
}

test('records that lie, under a right CRC: an error with the place, never a crash, a hang or bytes of other records', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRecords,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      async (...p) => {
        const [records, changes] = p;
        const batch = await batchOf(records, { baseOffset: 42 });
        for (const [where, value] of changes) batch[RECORD_COUNT + (where % (batch.length - RECORD_COUNT))] = value;
        const behind = await batchOf([text('behind')], { baseOffset: 1000 });
        const reader = new RecordReader(Buffer.concat([sealedAgain(batch), behind]), { ...ALL, from: 42 });
        const slot = newRecordSlot();
        try {
          while (reader.next(slot) && slot.offset !== 1000) {
            assert.ok(slot.headersEnd <= batch.length);
            assert.ok(slot.keyEnd <= batch.length && slot.valueEnd <= batch.length);
            assert.ok(slot.keyStart <= slot.keyEnd && slot.valueStart <= slot.valueEnd);
          }
        } catch (e) {
          assert.ok(isSyncError(e) && e.code === 'SOURCE_FORMAT' && e.place === 'orders-3@42', String(e));
        }
      },
    ),
    { numRuns: 400 },
  );
});

const refused = (change: (batch: Buffer) => void, message: RegExp) => async () => {
  const batch = await batchOf([text('a'), text('b')], { baseOffset: 7 });
  change(batch);
  await assert.rejects(readAll(batch, { from: 7 }), (e) => {
    assert.ok(isSyncError(e) && e.code === 'SOURCE_FORMAT', String(e));
    assert.match(e.message, message);
    return true;
  });
};

test(
  'an unknown codec',
  refused((b) => {
    b.writeInt16BE(5, ATTRIBUTES);
    sealedAgain(b);
  }, /orders-3@7 has the unknown compression codec 5/),
);
test('messages of the old formats', async () => {
  await refused((b) => b.writeInt8(0, MAGIC), /orders-3@7 are of the old format 0/)();
  await refused((b) => b.writeInt8(1, MAGIC), /orders-3@7 are of the old format 1/)();
  // The shortest old message is shorter than a batch's header.
  const old = Buffer.alloc(26);
  old.writeInt32BE(14, BATCH_LENGTH);
  await assert.rejects(readAll(old), /orders-3@0 are of the old format 0/);
});
test(
  'a format to come',
  refused((b) => b.writeInt8(3, MAGIC), /orders-3@7 is damaged: its format is 3/),
);
test(
  'a wrong CRC',
  refused((b) => b.writeUInt32BE(1, CRC), /orders-3@7 is damaged: its CRC-32C is [0-9a-f]{8}, not 00000001/),
);
test('lengths that cannot be', async () => {
  for (const length of [-2147483648, -13, -12, -1, 0, 48]) {
    await refused((b) => b.writeInt32BE(length, BATCH_LENGTH), /orders-3@7 is damaged: its length is/)();
  }
});
test('fewer and more records than it says', async () => {
  for (const count of [1, 3]) {
    await refused((b) => {
      b.writeInt32BE(count, RECORD_COUNT);
      sealedAgain(b);
    }, /orders-3@7 is damaged: its records do not fit/)();
  }
});

test('a record whose value would reach into the next record', async () => {
  const batch = await batchOf([text('b'.repeat(30)), text('b'.repeat(30))]);
  const lengthAt = HEADER_BYTES + 5;
  assert.equal(batch[lengthAt], 60);
  for (let length = 2; length < 128; length += 2) {
    if (length === 60) continue;
    batch[lengthAt] = length;
    const reader = new RecordReader(sealedAgain(batch), ALL);
    const slot = newRecordSlot();
    if (length > 60) assert.throws(() => reader.next(slot), /its records do not fit/);
    else assert.throws(() => reader.next(slot) && headersOf(slot), /do not fit/);
  }
});

test('the header of a batch', async () => {
  const producer = { producerId: 2n ** 62n + 1n, producerEpoch: 7, baseSequence: 12345, transactional: true };
  const b = await batchOf([text('a', 5000), text('b', 9000), text('c', 2000)], { codec: 'lz4', producer });
  const fields = {
    length: b.readInt32BE(8) + 12,
    epoch: b.readInt32BE(12),
    magic: b[16],
    attributes: b.readInt16BE(21),
  };
  assert.deepEqual(fields, { length: b.length, epoch: -1, magic: 2, attributes: 16 | 3 });
  assert.deepEqual([b.readInt32BE(23), b.readBigInt64BE(27), b.readBigInt64BE(35)], [2, 5000n, 9000n]);
  const by = [b.readBigInt64BE(43), b.readInt16BE(51), b.readInt32BE(53), b.readInt32BE(57)];
  assert.deepEqual(by, [producer.producerId, 7, 12345, 3]);
  const plain = await batchOf([text('a', -1)]);
  assert.deepEqual([plain.readInt16BE(21), plain.readBigInt64BE(27), plain.readBigInt64BE(35)], [0, -1n, -1n]);
  assert.deepEqual([plain.readBigInt64BE(43), plain.readInt16BE(51), plain.readInt32BE(53)], [-1n, -1, -1]);
});

test('an offset behind the batch it is in', async () => {
  await refused((b) => {
    b.writeInt32BE(0, LAST_OFFSET_DELTA);
    sealedAgain(b);
  }, /orders-3@7 is damaged: its records do not fit/)();
});

test('offsets up to 2^53 are exact, and none beyond is taken for another', async () => {
  const last = Number.MAX_SAFE_INTEGER - 2;
  const got = await readAll(atOffset(await batchOf([text('a'), text('b')]), last), { from: last });
  assert.deepEqual(
    got.records.map((r) => r.offset),
    [last, last + 1],
  );
  assert.equal(got.nextOffset, Number.MAX_SAFE_INTEGER);
  for (const base of [last + 1, 2 ** 53, 2 ** 62]) {
    await assert.rejects(readAll(atOffset(await batchOf([text('a'), text('b')]), base)), /offset beyond 2\^53/);
  }
});

test('times beyond 2^53 are told as no number, and are not written', async () => {
  const batch = await batchOf([text('ns', 0), text('ms', 5)]);
  batch.writeBigInt64BE(1_700_000_000_000_000_000n, 27);
  const got = await readAll(sealedAgain(batch));
  assert.deepEqual(
    got.records.map((r) => r.timestamp),
    [NaN, NaN],
  );
  // Neither is a small one that is made of two such.
  const far = await batchOf([text('a', 0), text('b', 2 ** 52)]);
  far.writeBigInt64BE(-(2n ** 53n) - 1n, 27);
  assert.deepEqual(
    (await readAll(sealedAgain(far))).records.map((r) => r.timestamp),
    [NaN, NaN],
  );
  const writer = new BatchWriter({ codec: 'none' });
  writer.append(1, null, null, null);
  const before = writer.bytes;
  for (const time of [NaN, 1.5, 2 ** 60, Infinity]) {
    assert.throws(() => writer.append(time, null, null, null), /cannot be written/);
  }
  assert.throws(() => {
    writer.append(-Number.MAX_SAFE_INTEGER, null, null, null);
    writer.append(Number.MAX_SAFE_INTEGER, null, null, null);
    writer.append(-Number.MAX_SAFE_INTEGER, null, null, null);
  }, /cannot be written/);
  assert.ok(writer.bytes >= before);
});

test('the writer goes on while codecs work, counts bytes, and drops what it is told to', async () => {
  for (const codec of CODECS) {
    const writer = new BatchWriter({ codec });
    const empty = writer.bytes;
    writer.append(5, Buffer.from('k'), Buffer.from('dropped'), null);
    writer.reset();
    assert.deepEqual([writer.bytes, writer.records], [empty, 0]);
    const pending: Promise<Buffer>[] = [];
    const wanted = [];
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 200; i++) {
        const value = Buffer.from(`round ${String(round)} record ${String(i)} `.repeat(9));
        const before = writer.bytes;
        writer.appendSlices(1000 + i, value, 2, 7, value, 3, value.length, null);
        assert.ok(writer.bytes - before <= mostRecordBytes(5, value.length - 3));
        wanted.push(
          plainOf(
            { timestamp: 1000 + i, key: value.subarray(2, 7), value: value.subarray(3), headers: [] },
            wanted.length,
          ),
        );
      }
      assert.equal(writer.records, 200);
      pending.push(Promise.resolve(writer.finish(NO_PRODUCER)));
      assert.equal(writer.records, 0);
    }
    const batches = await Promise.all(pending);
    const got = await readAll(Buffer.concat(batches.map((b, i) => atOffset(b, 200 * i))));
    assert.deepEqual(got.records, wanted);
  }
});

test('the most that a record may add is enough', async () => {
  await fc.assert(
    fc.asyncProperty(anyRecord, async (r) => {
      const alone = await batchOf([r]);
      const empty = new BatchWriter({ codec: 'none' }).bytes;
      assert.ok(alone.length - empty <= mostRecordBytes(r.key?.length ?? 0, r.value?.length ?? 0, r.headers));
    }),
    RUNS,
  );
});
