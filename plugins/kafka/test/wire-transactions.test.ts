/** Logs of several transactional producers, as fetches of any size give them, against a model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AbortedTransaction } from '../wire/aborted-producers.js';
import {
  ATTRIBUTES,
  BATCH_LENGTH,
  BEFORE_LENGTH,
  CONTROL,
  CRC,
  HEADER_BYTES,
  RECORD_COUNT,
} from '../wire/batch-layout.js';
import { NO_PRODUCER } from '../wire/batch-writer.js';
import { CODECS, type Codec } from '../wire/codec.js';
import { crc32c } from '../wire/crc32c.js';
import { batchOf, plainOf, readAll, text, type PlainRecord } from './wire-support.js';

type Step =
  | { readonly do: 'send'; readonly producer: number; readonly records: number; readonly codec: Codec }
  /** A batch that compaction has emptied; its offsets stay taken. */
  | { readonly do: 'emptied'; readonly producer: number; readonly records: number }
  | { readonly do: 'commit' | 'abort'; readonly producer: number };

/** 0 is no transactional producer. */
const PRODUCERS = 4;
const producer = fc.nat(PRODUCERS - 1);
const records = fc.integer({ min: 1, max: 5 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('send'), producer, records, codec: fc.constantFrom(...CODECS) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('emptied'), producer, records }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('commit', 'abort'), producer }) },
  ),
  { maxLength: 25 },
);

interface Entry {
  readonly bytes: Buffer;
  readonly base: number;
  readonly end: number;
}

interface Ended extends AbortedTransaction {
  readonly marker: number;
}

interface Log {
  readonly entries: readonly Entry[];
  readonly end: number;
  readonly committed: readonly PlainRecord[];
  readonly all: readonly PlainRecord[];
  readonly aborted: readonly Ended[];
}

function sealed(batch: Buffer): Buffer {
  batch.writeInt32BE(batch.length - BEFORE_LENGTH, BATCH_LENGTH);
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES)), CRC);
  return batch;
}

async function logOf(wanted: readonly Step[]): Promise<Log> {
  const entries: Entry[] = [];
  const lines: { readonly record: PlainRecord; readonly transaction: { state: string } | null }[] = [];
  const open = new Map<number, { first: number; transaction: { state: string } }>();
  const aborted: Ended[] = [];
  let at = 0;
  const identity = (p: number) =>
    p === 0
      ? NO_PRODUCER
      : { producerId: 2n ** 40n + BigInt(p), producerEpoch: 3, baseSequence: 0, transactional: true };
  const add = (bytes: Buffer, count: number) => {
    entries.push({ bytes, base: at, end: at + count });
    at += count;
  };
  const closing = Array.from({ length: PRODUCERS }, (_, p): Step => ({
    do: p % 2 === 0 ? 'commit' : 'abort',
    producer: p,
  }));
  for (const s of [...wanted, ...closing]) {
    if (!('records' in s)) {
      const ending = open.get(s.producer);
      if (ending === undefined) continue;
      open.delete(s.producer);
      ending.transaction.state = s.do;
      if (s.do === 'abort') {
        aborted.push({ producerId: identity(s.producer).producerId, firstOffset: ending.first, marker: at });
      }
      const key = Buffer.from([0, 0, 0, s.do === 'abort' ? 0 : 1]);
      const marker = { timestamp: 5, key, value: Buffer.alloc(6), headers: [] };
      const batch = await batchOf([marker], { baseOffset: at, producer: identity(s.producer) });
      batch.writeInt16BE(batch.readInt16BE(ATTRIBUTES) | CONTROL, ATTRIBUTES);
      add(sealed(batch), 1);
      continue;
    }
    if (s.producer !== 0 && !open.has(s.producer)) open.set(s.producer, { first: at, transaction: { state: 'open' } });
    const transaction = open.get(s.producer)?.transaction ?? null;
    const written = Array.from({ length: s.records }, (_, i) => text(`${String(s.producer)}: ${String(at + i)}`));
    const codec = s.do === 'emptied' ? 'none' : s.codec;
    const batch = await batchOf(written, { codec, baseOffset: at, producer: identity(s.producer) });
    if (s.do === 'emptied') {
      batch.writeInt32BE(0, RECORD_COUNT);
      add(sealed(batch.subarray(0, HEADER_BYTES)), s.records);
    } else {
      for (const [i, r] of written.entries()) lines.push({ record: plainOf(r, at + i), transaction });
      add(batch, s.records);
    }
  }
  return {
    entries,
    end: at,
    committed: lines.filter((l) => l.transaction?.state !== 'abort').map((l) => l.record),
    all: lines.map((l) => l.record),
    aborted,
  };
}

/** As a broker: from the batch that has `from`, that one whole, then as many bytes as are asked for. */
function fetch(
  log: Log,
  from: number,
  bytes: number,
): { readonly records: Buffer; readonly aborted: readonly Ended[] } {
  const entries = log.entries.filter((e) => e.end > from);
  const all = Buffer.concat(entries.map((e) => e.bytes));
  const records = all.subarray(0, Math.max(bytes, entries[0]?.bytes.length ?? 0));
  // Later ones first: no order is promised.
  return { records, aborted: log.aborted.filter((a) => a.marker >= from).reverse() };
}

test('interleaved transactions, in fetches of any size: committed records only, each once, and nextOffset to the very end', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(steps, sizes, fc.boolean(), fc.nat(3), async (wanted, bytes, committedOnly, start) => {
      const log = await logOf(wanted);
      const got: PlainRecord[] = [];
      const first = Math.min(start, log.end);
      let from = first;
      for (let i = 0; from < log.end; i++) {
        const { records: fetched, aborted } = fetch(log, from, bytes[i % bytes.length] ?? 1);
        const read = await readAll(fetched, { from, committedOnly, aborted });
        got.push(...read.records);
        assert.ok(read.nextOffset > from, 'each fetch gets on, also without records');
        from = read.nextOffset;
      }
      const right = committedOnly ? log.committed : log.all;
      assert.deepEqual(
        got,
        right.filter((r) => r.offset >= first),
      );
      assert.equal(from, log.end);
    }),
    { numRuns: 400 },
  );
});

test('the last batches are control or aborted ones: nextOffset is behind them', async () => {
  const send = (producer: number): Step => ({ do: 'send', producer, records: 3, codec: 'none' });
  for (const [wanted, kept] of [
    [[send(1), { do: 'commit', producer: 1 }], 3],
    [[send(1), { do: 'commit', producer: 1 }, send(2), send(2), { do: 'abort', producer: 2 }], 3],
    [[send(1), { do: 'abort', producer: 1 }], 0],
  ] as const) {
    const log = await logOf(wanted);
    const { records: fetched, aborted } = fetch(log, 0, 1e6);
    const got = await readAll(fetched, { committedOnly: true, aborted });
    assert.equal(got.records.length, kept);
    assert.equal(got.nextOffset, log.end);
  }
});
