/** Log segments of a real broker, written by the Java client, against what the Java consumer read from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AbortedTransaction } from '../wire/aborted-producers.js';
import { ATTRIBUTES, CODEC_BITS } from '../wire/batch-layout.js';
import { CODECS } from '../wire/codec.js';
import { batchesIn, fixture, javaReport, readAll } from './wire-support.js';

const load = (name: string) => ({
  segment: fixture(`${name}.segment`),
  java: javaReport(fixture(`${name}.json`).toString()),
});

/** The broker's own index: version (int16), then producer, first offset, offset of the marker, last stable offset (int64). */
function abortedIn(index: Buffer): readonly (AbortedTransaction & { readonly marker: number })[] {
  return Array.from({ length: index.length / 34 }, (_, i) => ({
    producerId: index.readBigInt64BE(34 * i + 2),
    firstOffset: Number(index.readBigInt64BE(34 * i + 10)),
    marker: Number(index.readBigInt64BE(34 * i + 18)),
  }));
}

for (const name of [...CODECS, 'append-time', 'compacted']) {
  test(`${name}: the records that Java reads, from each offset on`, async () => {
    const { segment, java } = load(name);
    if (name !== 'append-time' && name !== 'compacted') {
      const used = batchesIn(segment).map((b) => CODECS[b.readInt16BE(ATTRIBUTES) & CODEC_BITS]);
      assert.deepEqual([...new Set(used)], [name]);
    }
    for (let from = 0; from <= java.end; from++) {
      const got = await readAll(segment, { from, committedOnly: true });
      assert.deepEqual(
        got.records,
        java.committed.filter((r) => r.offset >= from),
      );
      assert.equal(got.nextOffset, java.end);
    }
  });
}

test('the awkward records are in the fixtures', () => {
  const { java } = load('zstd');
  assert.deepEqual(
    java.all.slice(0, 7).map((r) => [r.key, r.value, r.headers.length]),
    [
      [null, '7631', 0],
      ['', '', 0],
      ['6b', null, 0],
      ['6b', '7634', 1],
      ['6b', '7635', 4],
      ['6b', 'fffe0080', 0],
      ['00', 'c3bc', 0],
    ],
  );
  assert.deepEqual(java.all[3]?.headers, [['68', null]]);
  assert.deepEqual(java.all[4]?.headers.slice(0, 3), [
    ['68', '61'],
    ['68', '62'],
    ['', ''],
  ]);
  assert.match(java.all[7]?.value ?? '', /^sha256/);
  const times = load('append-time').java.all.map((r) => r.timestamp);
  assert.equal(new Set(times).size, 1);
  assert.ok((times[0] ?? 0) > 1_750_000_000_000);
});

test('transactions: only committed records, or all, as Java reads them', async () => {
  const { segment, java } = load('transactions');
  const aborted = abortedIn(fixture('transactions.txnindex'));
  assert.equal(aborted.length, 3);
  assert.ok(java.all.length > java.committed.length);
  const committed = await readAll(segment, { committedOnly: true, aborted });
  assert.deepEqual(committed.records, java.committed);
  assert.equal(committed.nextOffset, java.end);
  const all = await readAll(segment, { committedOnly: false, aborted });
  assert.deepEqual(all.records, java.all);
  assert.equal(all.nextOffset, java.end);
});

test('transactions, fetched from each batch on and to each batch: what was aborted before is known from the list', async () => {
  const { segment, java } = load('transactions');
  const aborted = abortedIn(fixture('transactions.txnindex'));
  const batches = batchesIn(segment);
  for (let first = 0; first < batches.length; first++) {
    for (let last = first; last < batches.length; last++) {
      const part = batches.slice(first, last + 1);
      const from = Number(part[0]?.readBigInt64BE(0));
      const end = batches[last + 1] === undefined ? java.end : Number(batches[last + 1]?.readBigInt64BE(0));
      // A fetch names the transactions that have records or their marker there, in any order.
      const named = aborted.filter((a) => a.firstOffset < end && a.marker >= from).reverse();
      const got = await readAll(Buffer.concat(part), { from, committedOnly: true, aborted: named });
      assert.deepEqual(
        got.records,
        java.committed.filter((r) => r.offset >= from && r.offset < end),
      );
      assert.equal(got.nextOffset, end);
    }
  }
});
