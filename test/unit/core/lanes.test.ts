/** Several lanes: in this thread and in workers, on the same script. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { RunDeps } from '../../../src/core/job/run-types.js';
import { until } from '../../support/sync.js';
import { memoryLog, type LogLine } from '../../support/engine.js';
import { Workspace } from '../../support/workspace.js';
import { assertFails, Scripted, type Split } from './scripted-job.js';

process.env['SYNC_TEST_PLUGINS'] = '1'; // workers look the scripted plugin up

const WORKERS: Partial<RunDeps> = { workerEntry: new URL('../../../src/worker/lane-worker.js', import.meta.url) };
const splits = (n: number, rows: number): readonly Split[] =>
  Array.from({ length: n }, (_, i) => ({ id: `s${String(i)}`, rows }));

for (const [where, deps] of [
  ['one thread', {}],
  ['workers', WORKERS],
] as const) {
  describe(`several lanes in ${where}`, () => {
    test('each row once, with many epochs', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, {
        splits: splits(7, 40),
        reader: { batchRows: 3 },
        more: { channel: 3, rowsPerSecond: 1500, checkpoint: { intervalMs: 20 } },
      });
      const r = await s.run(deps);
      await s.assertExact(r);
      assert.ok(r.epochs > 1, `${String(r.epochs)} epochs`);
    });

    test('no more lanes than splits', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, { splits: splits(2, 5), more: { channel: 16 } });
      const r = await s.run(deps);
      await s.assertExact(r);
      assert.deepEqual(r.logs.find((l) => l.message === 'lanes')?.fields, { lanes: 2, channel: 16 });
    });

    test('another number of lanes goes on where the last one stopped', async () => {
      using ws = new Workspace();
      let s = new Scripted(ws, {
        splits: [...splits(5, 30), { id: 'late', rows: 4, after: ['s4'] }],
        events: ['s2:20', 'late:2'].map((w) => {
          const [split = '', at] = w.split(':');
          return { split, at: Number(at), do: 'fail' as const, times: 1 };
        }),
        reader: { batchRows: 2 },
        more: { channel: 2, checkpoint: { intervalMs: 10 }, rowsPerSecond: 800 },
      });
      assertFails(await s.run(deps), 'SOURCE_IO', 1);
      s = s.with({ more: { ...s.script.more, channel: 8 } });
      assertFails(await s.run(deps), 'SOURCE_IO', 1);
      s = s.with({ more: { ...s.script.more, channel: 1 } });
      await s.assertExact(await s.run(deps));
    });

    test('a failure of one lane ends all; nothing of its epoch stays', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, {
        splits: splits(4, 30),
        writer: { failOn: [{ step: 'prepare', lane: 1, epoch: 1 }] },
        more: { channel: 4 },
      });
      assertFails(await s.run(deps), 'SINK_IO', 1);
      assert.deepEqual(await s.rows(), []);
      await s.assertExact(await s.run(deps));
    });

    test('the dirty limit is exact over all lanes, and shows rows of all', async () => {
      for (const [record, code] of [
        [11, 'DIRTY_LIMIT'],
        [12, null],
      ] as const) {
        using ws = new Workspace();
        const s = new Scripted(ws, {
          splits: splits(4, 10),
          events: splits(4, 10).flatMap((x) => [2, 5, 9].map((at) => ({ split: x.id, at, do: 'dirty' as const }))),
          more: { channel: 4, errorLimit: { record, percentage: null }, dirtyDir: ws.path('dirty') },
        });
        const r = await s.run(deps);
        if (code === null) {
          await s.assertExact(r);
          continue;
        }
        assertFails(r, code, 3, '12 dirty rows; errorLimit.record allows 11');
        const told = r.error?.message.split('\n').slice(1) ?? [];
        assert.equal(told.length, 11);
        assert.equal(told.at(-1), '  and 2 more');
        assert.equal(new Set(told.slice(0, 10).map((t) => t.split(',')[0])).size, 10);
        assert.deepEqual(await s.rows(), []);
        const kept = readdirSync(ws.path('dirty'));
        assert.ok(
          kept.every((n) => n.endsWith('.not-committed.jsonl')),
          kept.join(),
        );
      }
    });

    test('a rate limit holds for the job, not for each lane', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, {
        splits: splits(4, 200),
        reader: { batchRows: 10 },
        more: { channel: 4, rowsPerSecond: 800 },
      });
      const r = await s.run(deps);
      await s.assertExact(r);
      assert.ok(r.seconds > 0.85 && r.seconds < 2.5, String(r.seconds));
    });

    test('unbounded splits spread over the lanes and stop cleanly', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, {
        splits: [
          ...['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, rows: 50, bounded: false, transaction: 4 })),
          { id: 'z', rows: 20 },
        ],
        reader: { batchRows: 3 },
        more: { channel: 3, checkpoint: { intervalMs: 15 } },
      });
      const stop = new AbortController();
      let rows = (): number => 0;
      const running = s.run({
        ...deps,
        stop: stop.signal,
        onStart: (p) => (rows = () => p().counters.read),
      });
      await until('all rows read', () => rows() === 270);
      stop.abort('SIGTERM');
      const r = await running;
      assert.equal(r.exitCode, 143, JSON.stringify(r.error));
      await s.assertRows();
      assert.deepEqual([r.read, r.written], [270, 270]);
    });

    test('a schema change quiesces the job and reaches every lane that has rows of it', async () => {
      using ws = new Workspace();
      const s = new Scripted(ws, {
        splits: splits(3, 20),
        events: [{ split: 's1', at: 11, do: 'schema', add: 'extra' }],
        reader: { batchRows: 4 },
        more: { channel: 3 },
      });
      await s.assertExact(await s.run(deps));
    });
  });
}

describe('what workers say', () => {
  test('logs come through, with counters live while rows flow', async () => {
    using ws = new Workspace();
    const s = new Scripted(ws, {
      splits: splits(2, 10),
      events: [{ split: 's1', at: 6, do: 'pause', until: ws.path('go') }],
      reader: { batchRows: 5 },
      more: { channel: 2 },
    });
    const logs: LogLine[] = [];
    let read = (): number => 0;
    const running = s.run({ ...WORKERS, log: memoryLog(logs), onStart: (p) => (read = () => p().counters.read) });
    await until('the rows before the pause are counted', () => read() === 15);
    s.open('go');
    await s.assertExact(await running);
  });
});
