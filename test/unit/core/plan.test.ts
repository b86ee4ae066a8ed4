import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mapColumns } from '../../../src/core/plan/map-columns.js';
import { planError, planParts, type PartPlan } from '../../../src/core/plan/make-plan.js';
import { typeLoss } from '../../../src/core/plan/type-loss.js';
import type { JobSpec } from '../../../src/job/job-spec.js';
import { parseType, SyncError, type LogicalType, type PlanColumn } from '../../../src/plugin-api/index.js';
import { specOf } from '../../support/engine.js';
import { tree, Workspace } from '../../support/workspace.js';

function type(name: string): LogicalType {
  const t = parseType(name);
  assert.ok(t, name);
  return t;
}

describe('losses between two types', () => {
  for (const [from, to, loss] of [
    ['int', 'int', null],
    ['int', 'bigint', null],
    ['bigint', 'int', 'values outside of int32 are dirty rows'],
    ['bigint', 'uint64', 'values outside of uint64 are dirty rows'],
    ['uint32', 'int', 'values outside of int32 are dirty rows'],
    ['uint32', 'bigint', null],
    ['bigint', 'string', null],
    ['string', 'date', 'texts that are no date are dirty rows'],
    ['binary', 'string', 'bytes that are no UTF-8 text are dirty rows'],
    ['int', 'double', null],
    ['bigint', 'double', 'digits beyond 2^53 are rounded'],
    ['double', 'float', 'digits are rounded'],
    ['float', 'double', null],
    ['decimal(10,2)', 'decimal(12,2)', null],
    ['decimal(10,2)', 'decimal(10,4)', 'values with more digits than decimal(10,4) are dirty rows'],
    ['decimal(10,2)', 'int', 'values with a fraction, or outside of int32, are dirty rows'],
    ['int', 'decimal(10,0)', null],
    ['bigint', 'decimal(10,0)', 'values with more digits than decimal(10,0) are dirty rows'],
    ['timestamp(6)', 'timestamp(3)', 'values with more than 3 digits of a second are dirty rows'],
    ['timestamp(3)', 'timestamp(6)', null],
    ['timestamp', 'datetime', 'the instant becomes a wall clock time'],
    ['datetime', 'date', 'values with a time of day are dirty rows'],
    ['date', 'datetime', null],
    ['boolean', 'date', 'values that are no date are dirty rows'],
  ] as const) {
    test(`${from} → ${to}`, () => {
      assert.equal(typeLoss(type(from), type(to)), loss);
    });
  }
});

describe('columns', () => {
  const from: readonly PlanColumn[] = [
    { name: 'a', type: type('bigint') },
    { name: 'b', type: null },
    { name: 'src', type: type('string'), role: 'meta' },
  ];
  const pairs = (wanted: readonly string[] | null, target: readonly PlanColumn[] | null = null) => {
    const m = mapColumns(from, { wanted, target, losses: [] });
    return [m.by, m.columns.map((c) => `${c.from}>${c.to}`).join(), m.dropped.join(), m.problems[0]?.code];
  };

  test('go by name where all are there, else by position, else not at all', () => {
    assert.deepEqual(pairs(null), ['all', 'a>a,b>b', 'src', undefined]);
    assert.deepEqual(pairs(['b', 'src']), ['name', 'b>b,src>src', 'a', undefined]);
    assert.deepEqual(pairs(['x', 'y']), ['position', 'a>x,b>y', 'src', undefined]);
    assert.deepEqual(pairs(['x']), ['unknown', '', '', 'COLUMN_MISMATCH']);
    assert.equal(mapColumns(null, { wanted: ['x'], target: null, losses: [] }).by, 'unknown');
  });

  test('losses are those of the types, and what the writer says', () => {
    const m = mapColumns(from, {
      wanted: ['x', 'y'],
      target: [
        { name: 'y', type: type('int') },
        { name: 'x', type: type('int') },
      ],
      losses: [{ column: 'a', what: 'more' }],
    });
    assert.deepEqual(
      m.columns.map((c) => [c.fromType, c.toType, c.loss]),
      [
        ['int64', 'int32', 'values outside of int32 are dirty rows; more'],
        [null, 'int32', null],
      ],
    );
  });
});

/** A job whose plugins were written before plans were known. */
function withoutExplain(job: JobSpec): JobSpec {
  const { reader, writer } = job;
  return {
    ...job,
    reader: {
      ...reader,
      definition: {
        ...reader.definition,
        create: async (o, c) => {
          const made = await reader.definition.create(o, c);
          return {
            positions: made.positions,
            replayable: made.replayable,
            planner: (saved, lanes) => made.planner(saved, lanes),
            openLane: (lane, shared) => made.openLane(lane, shared),
          };
        },
      },
    },
    writer: {
      ...writer,
      definition: {
        ...writer.definition,
        create: async (o, c) => {
          const made = await writer.definition.create(o, c);
          return {
            delivery: made.delivery,
            begin: (run) => made.begin(run),
            openLane: (lane, restored) => made.openLane(lane, restored),
            complete: (run) => made.complete(run),
          };
        },
      },
    },
  };
}

async function planOf(ws: Workspace, job: JobSpec): Promise<PartPlan> {
  const before = tree(ws.dir);
  const [plan] = await planParts([job], {
    stateRoot: ws.path('state'),
    fresh: false,
    takeOver: false,
    allowReplay: false,
    inOrder: true,
  });
  assert.deepEqual(tree(ws.dir), before);
  assert.ok(plan);
  return plan;
}

const split = (id: string, more: object = {}) => ({ id, rows: 10, ...more });

test('a plugin that explains nothing: the plan says less, and fails for nothing', async () => {
  using ws = new Workspace();
  const reader = { splits: [split('a'), split('b')] };
  const job = withoutExplain(specOf({ reader, writer: { path: ws.path('target'), delivery: 'at-least-once' } }));
  const plan = await planOf(ws, job);
  assert.deepEqual(plan.problems, []);
  assert.deepEqual([plan.reads, plan.writes, plan.target], [[], [], null]);
  assert.deepEqual(plan.splits?.first, [
    { id: 'a', bounded: true, what: 'a', rows: null, bytes: 10 },
    { id: 'b', bounded: true, what: 'b', rows: null, bytes: 10 },
  ]);
  assert.deepEqual(plan.delivery, { is: 'at-least-once', why: 'the writer promises no more' });
  assert.deepEqual(
    plan.mapping?.columns.map((c) => [c.from, c.fromType]),
    [
      ['id', null],
      ['split', null],
      ['n', null],
      ['text', null],
    ],
  );
});

test('splits that wait for others are not waited for', async () => {
  using ws = new Workspace();
  const reader = { splits: [split('a'), split('b', { after: ['a'] })] };
  const plan = await planOf(ws, specOf({ reader, writer: { path: ws.path('target') } }));
  assert.deepEqual([plan.splits?.count, plan.splits?.whole, plan.splits?.first.length], [2, false, 1]);
  assert.deepEqual(plan.splits?.aboutRows, 20);
});

test('an explain that throws is an error of the plan, with its code', async () => {
  using ws = new Workspace();
  const job = specOf({ reader: { splits: [split('a')] }, writer: { path: ws.path('target') } });
  const broken: JobSpec = {
    ...job,
    reader: {
      ...job.reader,
      definition: {
        ...job.reader.definition,
        create: async (o, c) => {
          const made = await job.reader.definition.create(o, c);
          made.explain = () => Promise.reject(new SyncError('SOURCE_IO', 'no rights', { place: 'table t' }));
          return made;
        },
      },
    },
  };
  const plan = await planOf(ws, broken);
  assert.deepEqual(plan.problems, [{ level: 'error', code: 'SOURCE_IO', message: 'no rights', place: 'table t' }]);
  assert.equal(planError([plan])?.code, 'SOURCE_IO');
  assert.equal(plan.splits?.count, 1, 'the rest is told all the same');
});
