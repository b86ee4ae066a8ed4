import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { DirtyLimit } from '../../../src/core/limits/dirty-limit.js';
import { scriptedRow } from '../../../plugins/scripted/rows.js';
import { tree, Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted, type ReaderEvent, type Script } from './scripted-job.js';

const dirty = (split: string, ...at: readonly number[]): readonly ReaderEvent[] =>
  at.map((n) => ({ split, at: n, do: 'dirty' }));

function job(ws: Workspace, script: Script, record: number | null, percentage: number | null = null): Scripted {
  const more = { ...script.more, dirtyDir: ws.path('dirty'), errorLimit: { record, percentage } };
  return new Scripted(ws, { ...script, more });
}

function lines(ws: Workspace, name: string): readonly Record<string, unknown>[] {
  const text = readFileSync(ws.path('dirty', name), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((l) => JSON.parse(l) as Record<string, unknown>);
}

test('one line a dirty row: row, column, code, reason, place, lane', async () => {
  using ws = new Workspace();
  const s = job(ws, { splits: chain(5, 4), events: dirty('s0', 2), writer: { reject: ['s1:3'] } }, 2);
  const r = await s.run();
  await s.assertExact(r);
  assert.equal(r.dirtyFiles, ws.path('dirty'));
  const names = tree(ws.path('dirty'));
  assert.deepEqual(names, [`dirty-${String(r.runId)}-0-1.jsonl`, `dirty-${String(r.runId)}-0-2.jsonl`]);
  assert.deepEqual(lines(ws, names[0] ?? ''), [
    {
      row: scriptedRow('s0', 2),
      column: 'n',
      code: 'ROW_INVALID',
      reason: 'the script makes row 2 dirty',
      place: 's0:2',
      lane: 0,
    },
  ]);
  assert.deepEqual(lines(ws, names[1] ?? '')[0]?.['row'], scriptedRow('s1', 3));
});

test('past the limit the epoch is undone, its rows are kept and the first ten are told', async () => {
  using ws = new Workspace();
  const bad = Array.from({ length: 15 }, (_, i) => i + 1);
  const s = job(
    ws,
    { splits: chain(5, 30), events: [...dirty('s0', 1), ...dirty('s1', ...bad)], reader: { batchRows: 1 } },
    12,
  );
  const r = await s.run();
  assertFails(r, 'DIRTY_LIMIT', 3, '13 dirty rows', 'errorLimit.record allows 12');
  const told = r.error?.message.split('\n').slice(1) ?? [];
  assert.equal(told.length, 11);
  assert.equal(told[0], '  s0:1, column n: the script makes row 1 dirty');
  assert.equal(told[10], '  and 3 more');
  assert.deepEqual([r.read, r.written, r.dirty], [5, 4, 13], 'dirty is what the limit counted');
  const kept = `dirty-${String(r.runId)}-a1-0.not-committed.jsonl`;
  assert.deepEqual(tree(ws.path('dirty')), [`dirty-${String(r.runId)}-0-1.jsonl`, kept].sort());
  assert.equal(lines(ws, kept).length, 12);
  // Raised, the run goes on from its last checkpoint and counts every row once.
  const raised = job(ws, s.script, 16);
  await raised.assertExact(await raised.run());
});

test('the limit is exact over restarts, whatever became of the epochs before', async () => {
  for (const lose of [[], [{ epoch: 2 }]]) {
    for (const limit of [5, 4]) {
      using ws = new Workspace();
      const events = [...dirty('s0', 1, 2), ...dirty('s1', 3, 4), ...dirty('s2', 1)];
      const writer = { failOn: [{ step: 'commit', epoch: 2 }], lose };
      const s = job(ws, { splits: chain(5, 4, 3), events, writer }, limit);
      assertFails(await s.run(), 'SINK_IO', 1);
      const r = await s.run();
      if (limit === 5) await s.assertExact(r);
      else assertFails(r, 'DIRTY_LIMIT', 3, '5 dirty rows');
    }
  }
});

test('a limit that was lowered between two starts is judged at the end', async () => {
  for (const [record, percentage] of [
    [1, null],
    [null, 10],
  ] as const) {
    using ws = new Workspace();
    const script: Script = { splits: chain(10), events: dirty('s0', 1, 2), writer: { failOn: [{ step: 'complete' }] } };
    assertFails(await job(ws, script, 2, 20).run(), 'SINK_IO', 1);
    const r = await job(ws, script, record, percentage).run();
    assertFails(r, 'DIRTY_LIMIT', 3);
    const good = job(ws, script, 2, 20);
    await good.assertExact(await good.run());
  }
});

test('the share of an unbounded job is judged from 1,000 rows on, and at its stop', () => {
  const limit = new DirtyLimit({ record: null, percentage: 10 }, 0);
  limit.check(999, 500, false, false);
  assert.throws(() => limit.check(1000, 101, false, false), { code: 'DIRTY_LIMIT' });
  limit.check(1000, 100, false, false);
  assert.throws(() => limit.check(5, 1, false, true), { code: 'DIRTY_LIMIT' });
  limit.check(5, 5, true, false);
  assert.throws(() => limit.check(5, 1, true, true), { code: 'DIRTY_LIMIT' });
});

test('staged dirty rows that no checkpoint names are swept by the next start', async () => {
  using ws = new Workspace();
  const s = job(
    ws,
    {
      splits: chain(5, 4),
      events: [...dirty('s0', 1), ...dirty('s1', 1)],
      writer: { failOn: [{ step: 'commit', epoch: 2 }] },
    },
    2,
  );
  const one = await s.run();
  assertFails(one, 'SINK_IO', 1);
  // What a process leaves that was killed between its prepare and its checkpoint.
  const left = `.dirty-${String(one.runId)}-a1-0-9.pending`;
  const alien = `.dirty-${'x'.repeat(12)}-a1-0-1.pending`;
  for (const name of [left, alien]) writeFileSync(ws.path('dirty', name), '{}\n');
  const two = await s.run();
  await s.assertExact(two);
  assert.deepEqual(
    tree(ws.path('dirty')).filter((n) => n.startsWith('.')),
    [alien],
  );
});

test('a start that gives a run up sweeps its staged dirty rows', async () => {
  using ws = new Workspace();
  const script: Script = { splits: chain(5), events: dirty('s0', 1), writer: { failOn: [{ step: 'commit' }] } };
  const s = job(ws, script, 1);
  assertFails(await s.run(), 'SINK_IO', 1);
  assert.deepEqual(tree(ws.path('dirty')).filter((n) => n.startsWith('.')).length, 1);
  const r = await s.run({ fresh: true });
  await s.assertRows();
  assert.deepEqual(tree(ws.path('dirty')), [`dirty-${String(r.runId)}-0-1.jsonl`]);
});
