import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { eachOf, Scripted, type ReaderEvent } from './scripted-job.js';

// The scripted writer fails where `schema` is called with an epoch open.

test('schema changes of a bounded split come between epochs', async () => {
  using ws = new Workspace();
  const events: ReaderEvent[] = [
    { split: 'a', at: 1, do: 'schema', add: 'x' },
    { split: 'a', at: 11, do: 'schema', add: 'y' },
    { split: 'a', at: 31, do: 'schema', add: 'z' },
  ];
  const s = new Scripted(ws, { splits: [{ id: 'a', rows: 30 }], events, reader: { batchRows: 4 } });
  const r = await s.run();
  await s.assertExact(r);
  assert.equal(r.epochs, 3);
});

test('a schema change while another split is inside a transaction', async () => {
  await eachOf([1, 2, 5], async (batchRows) => {
    using ws = new Workspace();
    const events: ReaderEvent[] = [
      { split: 'a', at: 5, do: 'schema', add: 'x' },
      { split: 'b', at: 15, do: 'schema', add: 'y' },
      { split: 'a', at: 13, do: 'schema', add: 'z' },
    ];
    const s = new Scripted(ws, {
      splits: [
        { id: 'a', rows: 20, transaction: 4, bounded: false },
        { id: 'b', rows: 70, transaction: 7, bounded: false },
      ],
      events,
      reader: { batchRows },
      more: { rowsPerSecond: 600, checkpoint: { timeoutMs: 3000 } },
    });
    const stop = new AbortController();
    let read = (): number => 0;
    const running = s.run({ stop: stop.signal, onStart: (p) => (read = () => p().counters.read) });
    await until('all rows read', () => read() === 90, 8000).finally(() => {
      stop.abort('SIGTERM');
    });
    const r = await running;
    assert.equal(r.error, null, JSON.stringify(r.error));
    await s.assertRows();
  });
});

test('a schema change right behind a barrier waits for the next one', async () => {
  using ws = new Workspace();
  // The prepare of epoch 1 is slow: the lane reads on past its barrier and meets the change there.
  const s = new Scripted(ws, {
    splits: [
      { id: 'first', rows: 2 },
      { id: 'a', rows: 10 },
    ],
    events: [
      { split: 'a', at: 1, do: 'pause', until: ws.path('go') },
      { split: 'a', at: 6, do: 'schema', add: 'x' },
    ],
    writer: { gates: [{ step: 'commit', epoch: 1, until: ws.path('commit') }] },
    more: { checkpoint: { intervalMs: 50 } },
  });
  let read = (): number => 0;
  const running = s.run({ onStart: (p) => (read = () => p().counters.read) });
  await until('epoch 1 is prepared', () => s.has('1.ckpt'));
  s.open('go');
  await until('rows behind the barrier', () => read() === 7);
  s.open('commit');
  await s.assertExact(await running);
});
