import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BatchBuilder,
  dense,
  internSchema,
  isSyncError,
  MAX_BATCH_BYTES,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  RowView,
  toObjects,
  type RowBatch,
  type RowSchema,
  type Section,
} from '../../../src/plugin-api/index.js';

const AB = internSchema([
  { name: 'a', type: { is: 'int64' } },
  { name: 'b', type: { is: 'string' } },
]);
const C = internSchema([{ name: 'c', type: { is: 'binary' } }]);

function sectionOf(b: RowBatch, i = 0): Section {
  const s = b.sections[i];
  assert.ok(s);
  return s;
}

function addAb(b: BatchBuilder, a: string, text: string | null): void {
  b.appendText(a);
  if (text === null) b.appendNull();
  else b.appendText(text);
  b.endRow();
}

describe('BatchBuilder', () => {
  test('packs cells row by row', () => {
    const b = new BatchBuilder(AB);
    addAb(b, '1', 'é🙂');
    addAb(b, '-2', null);
    const batch = b.finish('s', { at: 2 }, 9);
    assert.equal(batch.rows, 2);
    assert.equal(Buffer.from(batch.data).toString(), '1é🙂-2');
    assert.deepEqual(
      [...toObjects(batch)],
      [
        { a: '1', b: 'é🙂' },
        { a: '-2', b: null },
      ],
    );
    assert.deepEqual(batch.sections, [{ schema: AB, firstRow: 0, firstCell: 0, rows: 2 }]);
    assert.deepEqual([batch.ops, batch.eventTimes, batch.rejected, batch.sourceBytes], [null, null, null, 9]);
  });

  test('tells NULL, ABSENT and empty apart', () => {
    const b = new BatchBuilder(AB);
    b.appendText('');
    b.appendAbsent();
    b.endRow();
    b.appendNull();
    b.appendText('');
    b.endRow();
    const batch = b.finish('s', null, 0);
    const v = new RowView(batch, sectionOf(batch)).at(0);
    assert.deepEqual([v.isNull(0), v.isAbsent(0), v.isNull(1), v.isAbsent(1)], [false, false, false, true]);
    assert.deepEqual([v.text(0), v.text(1)], ['', null]);
    v.at(1);
    assert.deepEqual([v.isNull(0), v.isAbsent(0), v.text(0), v.text(1)], [true, false, null, '']);
    assert.deepEqual(
      [...toObjects(batch)],
      [
        { a: '', b: undefined },
        { a: null, b: '' },
      ],
    );
  });

  test('grows past its target and keeps what is there', () => {
    const b = new BatchBuilder(AB, { bytes: 16, rows: 4 });
    const texts = Array.from({ length: 3000 }, (_, i) => `${'x'.repeat(i % 50)}${String(i)}`);
    texts.forEach((t, i) => addAb(b, String(i), t));
    assert.ok(b.full);
    const rows = [...toObjects(b.finish('s', null, 0))];
    assert.deepEqual(
      rows,
      texts.map((t, i) => ({ a: String(i), b: t })),
    );
  });

  test('is full by bytes, by rows, and by rejected rows', () => {
    const bytes = new BatchBuilder(AB, { bytes: 4, rows: 100 });
    addAb(bytes, '1', 'ab');
    assert.equal(bytes.full, false);
    addAb(bytes, '1', null);
    assert.equal(bytes.full, true);
    const rows = new BatchBuilder(AB, { bytes: 100, rows: 2 });
    addAb(rows, '1', null);
    assert.equal(rows.full, false);
    rows.reject({ row: 'x', column: null, code: 'ROW_INVALID', reason: 'bad', place: null });
    assert.equal(rows.full, true);
  });

  test('finish starts a new batch; the old one is not touched by it', () => {
    const b = new BatchBuilder(AB);
    addAb(b, '1', 'one');
    const first = b.finish('s', null, 0);
    assert.ok(b.empty);
    addAb(b, '2', 'two');
    const second = b.finish('s', null, 0);
    assert.deepEqual([...toObjects(first)], [{ a: '1', b: 'one' }]);
    assert.deepEqual([...toObjects(second)], [{ a: '2', b: 'two' }]);
    assert.notEqual(first.data.buffer, second.data.buffer);
  });

  test('dropRow takes back a row that was begun, also the first of a section', () => {
    const b = new BatchBuilder(AB);
    b.appendText('gone');
    b.dropRow();
    addAb(b, '1', 'one');
    b.appendText('2');
    b.appendText('two');
    b.dropRow();
    b.startSection(C);
    b.appendText('gone too');
    b.dropRow();
    b.appendBytes(Buffer.from([0, 255]));
    b.endRow();
    const batch = b.finish('s', null, 0);
    assert.deepEqual([...toObjects(batch)], [{ a: '1', b: 'one' }, { c: Uint8Array.from([0, 255]) }]);
  });

  test('sections follow each other; a section without rows leaves no trace', () => {
    const b = new BatchBuilder(AB);
    addAb(b, '1', 'one');
    b.startSection(C);
    b.startSection(AB);
    b.startSection(AB);
    b.startSection(C);
    b.appendBytes(Buffer.from('xyz'), 1, 2);
    b.endRow();
    const batch = b.finish('s', null, 0);
    assert.deepEqual(batch.sections, [
      { schema: AB, firstRow: 0, firstCell: 0, rows: 1 },
      { schema: C, firstRow: 1, firstCell: 2, rows: 1 },
    ]);
    assert.equal(Buffer.from(new RowView(batch, sectionOf(batch, 1)).bytes(0)).toString(), 'y');
  });

  test('ops begin with the first row that is no insert', () => {
    const b = new BatchBuilder(C);
    const ops = [OP_INSERT, OP_INSERT, OP_UPDATE_BEFORE, OP_UPDATE_AFTER, OP_DELETE, OP_INSERT] as const;
    for (const op of ops) {
      b.appendNull();
      b.endRow(op);
    }
    assert.deepEqual([...(b.finish('s', null, 0).ops ?? [])], [...ops]);
  });

  test('ops grow with the batch', () => {
    const b = new BatchBuilder(C);
    for (let i = 0; i < 5000; i++) {
      b.appendNull();
      b.endRow(i % 2 === 1 ? OP_DELETE : OP_INSERT);
    }
    const { ops } = b.finish('s', null, 0);
    assert.equal(ops?.length, 5000);
    assert.ok(ops.every((op, i) => op === (i % 2 === 1 ? OP_DELETE : OP_INSERT)));
  });

  test('rows without an event time have NaN beside rows with one', () => {
    const b = new BatchBuilder(C);
    for (const time of [undefined, 1000, undefined]) {
      b.appendNull();
      b.endRow(OP_INSERT, time);
    }
    assert.deepEqual([...(b.finish('s', null, 0).eventTimes ?? [])], [NaN, 1000, NaN]);
  });

  test('a row with too few cells is refused at finish', () => {
    const b = new BatchBuilder(AB);
    b.appendText('1');
    b.endRow();
    assert.throws(
      () => b.finish('s', null, 0),
      (e) => isSyncError(e) && e.code === 'PLUGIN_BROKEN',
    );
  });

  test('more than 1 GiB is refused before anything is allocated', () => {
    const b = new BatchBuilder(C);
    const { data } = b;
    b.length = MAX_BATCH_BYTES - 1;
    assert.throws(
      () => b.reserve(2, 1),
      (e) => isSyncError(e) && e.code === 'ROW_TOO_LARGE',
    );
    assert.equal(b.data, data);
  });

  test('a lone surrogate becomes U+FFFD', () => {
    const b = new BatchBuilder(AB);
    addAb(b, '1', 'a\ud800b');
    assert.deepEqual([...toObjects(b.finish('s', null, 0))], [{ a: '1', b: 'a\ufffdb' }]);
  });
});

describe('RowView', () => {
  test('a projection drops and reorders columns without copying', () => {
    const b = new BatchBuilder(AB);
    addAb(b, '1', 'one');
    addAb(b, '2', null);
    const batch = b.finish('s', null, 0);
    const v = new RowView(batch, sectionOf(batch), [1, 0]);
    assert.deepEqual([v.columns, v.rows, v.at(0).text(0), v.text(1)], [2, 2, 'one', '1']);
    assert.deepEqual([v.at(1).isNull(0), v.text(1), v.bigint(1), v.number(1)], [true, '2', 2n, 2]);
    assert.equal(v.bytes(1).buffer, batch.data.buffer);
  });

  test('a 64-bit integer is exact', () => {
    const b = new BatchBuilder(AB);
    b.appendBigint(-9223372036854775808n);
    b.appendNull();
    b.endRow();
    const batch = b.finish('s', null, 0);
    assert.equal(new RowView(batch, sectionOf(batch)).bigint(0), -9223372036854775808n);
  });
});

test('dense copies the projected cells, flags included', () => {
  const b = new BatchBuilder(AB);
  addAb(b, '1', 'one');
  b.appendAbsent();
  b.appendNull();
  b.endRow();
  const batch = b.finish('s', { at: 1 }, 5);
  const onlyB = internSchema([{ name: 'b', type: { is: 'string' } }]);
  const schemaOf = (s: RowSchema): RowSchema => (s === AB ? onlyB : s);
  const copy = dense(batch, [1], schemaOf);
  batch.data.fill(0);
  assert.deepEqual([...toObjects(copy)], [{ b: 'one' }, { b: null }]);
  assert.equal(Buffer.from(copy.data).toString(), 'one');
  assert.deepEqual([copy.position, copy.rows, copy.sourceBytes], [{ at: 1 }, 2, 5]);
  assert.deepEqual([...toObjects(dense(batch, [0], () => internSchema([{ name: 'a', type: { is: 'int64' } }])))][1], {
    a: undefined,
  });
});
