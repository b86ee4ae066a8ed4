/** Random rows and random steps, against a naive reference that works on objects and knows no bytes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  BatchBuilder,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  type RowOp,
} from '../../../../src/plugin-api/index.js';
import { RowTransform } from '../../../../src/core/transform/row-transform.js';
import type { TransformSpec } from '../../../../src/job/transform-spec.js';
import { batchProblems } from '../../../../src/plugin-testkit/check-batch.js';
import { append, rowsOf, schemaOf } from '../../../support/rows.js';

type Cell = string | null;
/** [name, value] in column order. */
type Row = readonly (readonly [string, Cell])[];
type Result = { readonly row: Row } | 'filtered' | 'dirty';

const TYPES = { id: 'bigint', amount: 'decimal(30,6)', name: 'string', note: 'string' };
const SCHEMA = schemaOf(TYPES);

const cells = fc.record({
  id: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), { freq: 8 }),
  amount: fc.option(
    fc
      .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 6 }))
      .map(([n, s]) => plain(n, s)),
    { freq: 8 },
  ),
  name: fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }), { freq: 8 }),
  note: fc.option(fc.oneof(fc.integer().map(String), fc.constantFrom('', 'x', '007', '1.0')), { freq: 8 }),
});

function plain(n: bigint, scale: number): string {
  const all = (n < 0n ? -n : n).toString().padStart(scale + 1, '0');
  const text = scale === 0 ? all : `${all.slice(0, -scale)}.${all.slice(-scale)}`;
  return n < 0n ? `-${text}` : text;
}

function micros(cell: string): bigint {
  const [w = '', f = ''] = cell.split('.');
  return BigInt(`${w}${f.padEnd(6, '0')}`);
}

const get = (row: Row, name: string): Cell => row.find(([n]) => n === name)?.[1] ?? null;
const set = (row: Row, name: string, value: Cell): Row =>
  row.some(([n]) => n === name) ? row.map(([n, v]) => [n, n === name ? value : v]) : [...row, [name, value]];

interface Step {
  readonly spec: TransformSpec;
  readonly run: (row: Row) => Result;
}
const MASK = { op: 'mask', keepFirst: 1, keepLast: 2, with: '#' } as const;

/** Steps that can stand anywhere: none needs a column that another one takes away. */
const steps = fc.array(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).map((n): Step => ({
      spec: { op: 'filter', where: `id < ${String(n)} or id % 2 = 0` },
      run: (row) => {
        const id = get(row, 'id');
        return id !== null && (BigInt(id) < n || BigInt(id) % 2n === 0n) ? { row } : 'filtered';
      },
    })),
    fc
      .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 6 }))
      .map(([n, s]): Step => ({
        spec: { op: 'filter', where: `amount >= ${plain(n, s)} or name is null` },
        run: (row) => {
          const a = get(row, 'amount');
          const ok = (a !== null && micros(a) >= micros(plain(n, s))) || get(row, 'name') === null;
          return ok ? { row } : 'filtered';
        },
      })),
    fc.constantFrom<Step>(
      {
        spec: { op: 'constant', column: 'note', value: '12', type: 'string' },
        run: (row) => ({ row: set(row, 'note', '12') }),
      },
      {
        spec: { op: 'constant', column: 'k', value: null, type: 'date' },
        run: (row) => ({ row: set(row, 'k', null) }),
      },
      {
        spec: { op: 'compute', column: 'twice', expression: 'amount + amount' },
        run: (row) => {
          const a = get(row, 'amount');
          if (a === null) return { row: set(row, 'twice', null) };
          const scale = a.split('.')[1]?.length ?? 0;
          return { row: set(row, 'twice', plain(2n * BigInt(a.replace('.', '')), scale)) };
        },
      },
      {
        spec: { op: 'compute', column: 'next', expression: 'id + 1' },
        run: (row) => {
          const id = get(row, 'id');
          if (id === null) return { row: set(row, 'next', null) };
          return BigInt(id) === 2n ** 63n - 1n ? 'dirty' : { row: set(row, 'next', String(BigInt(id) + 1n)) };
        },
      },
      {
        spec: { op: 'compute', column: 'both', expression: "concat(coalesce(name, '?'), ':', note)" },
        run: (row) => {
          const note = get(row, 'note');
          return { row: set(row, 'both', note === null ? null : `${get(row, 'name') ?? '?'}:${note}`) };
        },
      },
      {
        spec: { ...MASK, columns: ['name'], method: 'sha256', salt: 's' },
        run: (row) => {
          const v = get(row, 'name');
          return { row: set(row, 'name', v === null ? null : createHash('sha256').update(`s${v}`).digest('hex')) };
        },
      },
      {
        spec: { ...MASK, columns: ['name'], method: 'partial' },
        run: (row) => {
          const v = get(row, 'name');
          if (v === null) return { row };
          const chars = [...v];
          const masked = chars.map((c, i) => (chars.length > 3 && (i < 1 || i >= chars.length - 2) ? c : '#')).join('');
          return { row: set(row, 'name', masked) };
        },
      },
      {
        spec: { op: 'cast', column: 'note', type: 'bigint', onError: 'dirty' },
        run: (row) => {
          const v = get(row, 'note');
          if (v === null) return { row };
          return /^[+-]?\d+$/.test(v) ? { row: set(row, 'note', BigInt(v).toString()) } : 'dirty';
        },
      },
      {
        spec: { op: 'cast', column: 'note', type: 'string', onError: 'dirty' },
        run: (row) => ({ row }),
      },
    ),
  ),
  { maxLength: 5 },
);

/** At the end, as others need the columns. */
const ends = fc.constantFrom<readonly Step[]>(
  [],
  [
    {
      spec: { op: 'select', columns: ['note', { name: 'id', as: 'number' }, 'name'] },
      run: (row) => ({
        row: [
          ['note', get(row, 'note')],
          ['number', get(row, 'id')],
          ['name', get(row, 'name')],
        ],
      }),
    },
  ],
  [{ spec: { op: 'drop', columns: ['amount'] }, run: (row) => ({ row: row.filter(([n]) => n !== 'amount') }) }],
  [
    {
      spec: { op: 'rename', columns: { id: 'name', name: 'id' } },
      run: (row) => ({ row: row.map(([n, v]) => [n === 'id' ? 'name' : n === 'name' ? 'id' : n, v]) }),
    },
  ],
);

function reference(all: readonly Step[], row: Row): Result {
  let now: Row = row;
  for (const s of all) {
    const r = s.run(now);
    if (typeof r === 'string') return r;
    now = r.row;
  }
  return { row: now };
}

const ops = fc.array(fc.constantFrom<readonly RowOp[]>([OP_INSERT], [OP_DELETE], [OP_UPDATE_BEFORE, OP_UPDATE_AFTER]), {
  maxLength: 12,
});

test('a transform gives what the reference gives, row by row, cell by cell', async () => {
  await fc.assert(
    fc.asyncProperty(
      ops,
      fc.boolean(),
      fc.infiniteStream(cells),
      steps,
      ends,
      fc.boolean(),
      async (groups, plainOps, source, some, last, times) => {
        // A cast from text makes later steps see a number: each kind of cast stands once, the text one only after.
        const all = [
          ...some.filter((s, i) => s.spec.op !== 'cast' || some.findIndex((o) => o.spec.op === 'cast') === i),
          ...last,
        ];
        if (
          all.some((s) => s.spec.op === 'cast' && s.spec.type === 'bigint') &&
          all.some((s) => s.spec.op === 'compute' && s.spec.column === 'both')
        )
          return;
        const kinds = groups.flat().map((o) => (plainOps ? OP_INSERT : o));
        const rows = kinds.map(() => source.next().value);
        const b = new BatchBuilder(SCHEMA);
        append(b, SCHEMA, rows, { ops: kinds, ...(times ? { times: kinds.map((_, i) => i) } : {}) });
        const batch = b.finish('s', 1, 0);
        const before = JSON.stringify([...batch.data, ...batch.ends]);
        const { batch: out, filtered } = (await RowTransform.load(all.map((s) => s.spec))).apply(batch);
        assert.deepEqual(batchProblems({ ...out, position: 1 }), []);
        assert.equal(JSON.stringify([...batch.data, ...batch.ends]), before, 'the input is not changed');

        const results = rows.map((r) => reference(all, Object.entries(r)));
        const want: { readonly row: Row; readonly op: RowOp; readonly time: number }[] = [];
        let wantFiltered = 0;
        let wantDirty = 0;
        for (let i = 0; i < rows.length; i++) {
          const pair = kinds[i] === OP_UPDATE_BEFORE;
          const halves = pair ? [i, i + 1] : [i];
          const fates = halves.map((h) => results[h] ?? 'dirty');
          if (fates.includes('dirty')) wantDirty += halves.length;
          else {
            wantFiltered += fates.filter((f) => f === 'filtered').length;
            halves.forEach((h, n) => {
              const r = results[h];
              if (r === undefined || typeof r === 'string') return;
              const alone = pair && fates.includes('filtered');
              want.push({
                row: r.row,
                op: alone ? (n === 0 ? OP_DELETE : OP_INSERT) : (kinds[h] ?? OP_INSERT),
                time: h,
              });
            });
          }
          if (pair) i++;
        }
        assert.deepEqual(
          rowsOf(out).map((r) => Object.entries(r)),
          want.map((w) => w.row),
        );
        assert.deepEqual(
          kinds.length === 0 ? [] : [...(out.ops ?? want.map(() => OP_INSERT))],
          want.map((w) => w.op),
        );
        if (times && rows.length > 0)
          assert.deepEqual(
            [...(out.eventTimes ?? [])],
            want.map((w) => w.time),
          );
        assert.deepEqual([filtered, out.rejected?.length ?? 0], [wantFiltered, wantDirty]);
      },
    ),
    { numRuns: 1500 },
  );
});
