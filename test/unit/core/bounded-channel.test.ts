import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import { BatchBuilder, internSchema, type RowBatch } from '../../../src/plugin-api/index.js';
import { BoundedChannel } from '../../../src/core/lane/bounded-channel.js';

const SCHEMA = internSchema([{ name: 'text', type: { is: 'string' } }]);

interface Shape {
  readonly rows: number;
  readonly bytes: number;
  readonly rejected?: number;
}

function batch({ rows, bytes, rejected = 0 }: Shape): RowBatch {
  const b = new BatchBuilder(SCHEMA, { rows: 1 << 20, bytes: 1 << 20 });
  for (let i = 0; i < rows; i++) {
    b.appendText('x'.repeat(bytes));
    b.endRow();
  }
  for (let i = 0; i < rejected; i++) {
    b.reject({ row: null, column: null, code: 'ROW_INVALID', reason: 'bad', place: null });
  }
  return b.finish('a', { row: 1 }, 0);
}

/** How many batches a producer gets in before it must wait, with nobody taking any. */
async function fill(channel: BoundedChannel, shape: Shape, most: number): Promise<number> {
  const stop = new AbortController();
  let pushed = 0;
  const producer = (async () => {
    while (pushed < most) {
      await channel.space(stop.signal);
      channel.push({ is: 'batch', batch: batch(shape) });
      pushed++;
    }
  })();
  await macrotask();
  stop.abort(new Error('enough'));
  await producer.catch(() => undefined);
  return pushed;
}

test('a fast producer stops within one batch of the bound of rows', async () => {
  assert.equal(await fill(new BoundedChannel(100, 1 << 30), { rows: 30, bytes: 1 }, 1000), 4);
});

test('a fast producer stops within one batch of the bound of bytes', async () => {
  const bound = 1 << 20;
  const n = await fill(new BoundedChannel(1 << 30, bound), { rows: 1, bytes: 100_000 }, 1000);
  assert.ok(n >= 10 && n <= 11, String(n));
});

test('rejected rows and empty batches take room too', async () => {
  assert.equal(await fill(new BoundedChannel(100, 1 << 30), { rows: 0, bytes: 0, rejected: 30 }, 1000), 4);
  assert.equal(await fill(new BoundedChannel(100, 1 << 30), { rows: 0, bytes: 0 }, 1000), 100);
});

test('the offsets of narrow cells count as bytes', async () => {
  const n = await fill(new BoundedChannel(1 << 30, 1 << 20), { rows: 10_000, bytes: 1 }, 1000);
  // 1 byte of text and 4 of its offset, a row.
  assert.ok(n >= 20 && n <= 22, String(n));
});

test('a slow consumer gets everything in order, and waiting leaves no listeners', async () => {
  const channel = new BoundedChannel(5, 1 << 30);
  const { signal } = new AbortController();
  const producer = (async () => {
    for (let i = 0; i < 200; i++) {
      await channel.space(signal);
      channel.push({ is: 'batch', batch: batch({ rows: 1, bytes: i }) });
      channel.push({ is: 'barrier', id: i });
    }
  })();
  let held = 0;
  for (let i = 0; i < 200; i++) {
    const item = await channel.take(signal);
    assert.equal(item.is === 'batch' ? item.batch.data.length : -1, i);
    assert.deepEqual(await channel.take(signal), { is: 'barrier', id: i });
    held = Math.max(held, getEventListeners(signal, 'abort').length);
    if (i % 7 === 0) await macrotask();
  }
  await producer;
  assert.ok(held <= 2, String(held));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(channel.empty, true);
});

test('both ends reject on abort', async () => {
  const stop = new AbortController();
  const channel = new BoundedChannel(1, 1);
  const take = channel.take(stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(take, /enough/);
  await assert.rejects(channel.space(stop.signal), /enough/);
  await assert.rejects(channel.take(stop.signal), /enough/);
});
