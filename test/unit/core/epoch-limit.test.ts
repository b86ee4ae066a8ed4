/** Epochs that end because the writer wants them small. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTarget } from '../../../plugins/scripted/target.js';
import { until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { assertFails, Scripted } from './scripted-job.js';

/** Rows of about this many bytes of cells. */
const PADDING = 1000;

async function rowsByEpoch(s: Scripted): Promise<readonly number[]> {
  const n = new Map<string, number>();
  for (const r of await readTarget(s.target)) {
    const key = `${String(r.lane)}:${String(r.epoch)}`;
    n.set(key, (n.get(key) ?? 0) + 1);
  }
  return [...n.values()];
}

for (const channel of [1, 3]) {
  test(`an epoch is asked for at the limit, and none passes twice that (${String(channel)} lanes)`, async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, {
      splits: Array.from({ length: 3 }, (_, i) => ({ id: `s${String(i)}`, rows: 200 })),
      reader: { batchRows: 2, padding: PADDING },
      // minPause is for epochs by the clock only.
      more: { channel, checkpoint: { minPauseMs: 600_000, intervalMs: 600_000 } },
      writer: { epochBytes: 20 * PADDING },
    });
    const r = await s.run();
    await s.assertExact(r);
    const epochs = await rowsByEpoch(s);
    // Every seventh text is NULL, and texts are a little longer than the padding: 20,000 bytes are 19 to 24 rows.
    assert.ok(Math.max(...epochs) <= 2 * 24 + 2, String(epochs));
    assert.ok(r.epochs >= 600 / channel / 50, `${String(r.epochs)} epochs`);
  });
}

test('a full lane waits while the epoch before is slow to commit', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 's', rows: 300 }],
    reader: { batchRows: 1, padding: PADDING },
    writer: {
      epochBytes: 10 * PADDING,
      pipelined: true,
      gates: [{ step: 'commit', epoch: 1, until: ws.path('go') }],
    },
    more: { checkpoint: { intervalMs: 600_000 } },
  });
  let read = (): number => 0;
  const running = s.run({ onStart: (p) => (read = () => p().counters.read) });
  // One epoch and twice the limit: without the wait all rows are read by then, and the second epoch has the rest of them.
  await until('two full epochs are read', () => read() >= 30);
  s.open('go');
  await s.assertExact(await running);
  const epochs = await rowsByEpoch(s);
  assert.ok(Math.max(...epochs) <= 2 * 12 + 1, String(epochs));
});

test('a source transaction goes on past the limit, to its end', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [
      { id: 'a', rows: 120, transaction: 60 },
      { id: 'b', rows: 40, bounded: true },
    ],
    reader: { batchRows: 3, padding: PADDING },
    writer: { epochBytes: 5 * PADDING, hardEpochBytes: 100 * PADDING },
    more: { checkpoint: { intervalMs: 600_000 } },
  });
  await s.assertExact(await s.run());
  const a = (await readTarget(s.target)).filter((r) => (r.values as { split: string }).split === 'a');
  for (const n of [1, 61]) {
    const epochs = new Set(
      a
        .filter((r) => {
          const row = Number((r.values as { n: string }).n);
          return row >= n && row < n + 60;
        })
        .map((r) => r.epoch),
    );
    assert.equal(epochs.size, 1, `transaction at ${String(n)}: epochs ${[...epochs].join()}`);
  }
});

test('a source transaction that passes the hard limit is an error that names it; nothing of it stays', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: [{ id: 'a', rows: 120, transaction: 120 }],
    reader: { batchRows: 3, padding: PADDING },
    writer: { epochBytes: 5 * PADDING, hardEpochBytes: 50 * PADDING },
  });
  assertFails(await s.run(), 'TRANSACTION_TOO_LARGE', 1, '50000 bytes', 'a');
  assert.deepEqual(await s.rows(), []);
  const wider = s.with({ writer: { epochBytes: 5 * PADDING } });
  await wider.assertExact(await wider.run());
});
