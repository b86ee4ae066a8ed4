// Defects that the contract once had.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder, internSchema, parseType, RowView, toObjects } from '../../../src/plugin-api/index.js';

const text = (name: string) => internSchema([{ name, type: { is: 'string' } }]);

test('parseType reads unsigned after an argument', () => {
  assert.deepEqual(parseType('bigint(20) unsigned'), { is: 'uint64' });
  assert.deepEqual(parseType('decimal(10,2) unsigned'), { is: 'decimal', precision: 10, scale: 2 });
  assert.deepEqual(parseType('decimal(10) unsigned'), { is: 'decimal', precision: 10, scale: 0 });
});

test('parseType does not ignore an unsigned that it cannot apply', () => {
  assert.notDeepEqual(parseType('int8 unsigned'), { is: 'int8' });
});

test('RowView.bigint refuses what is no integer', () => {
  for (const cell of ['', ' ', '0x10']) {
    const b = new BatchBuilder(text('bigint'));
    b.appendText(cell);
    b.endRow();
    const batch = b.finish('s', null, 0);
    const section = batch.sections[0];
    assert.ok(section);
    assert.throws(() => new RowView(batch, section).bigint(0), SyntaxError, JSON.stringify(cell));
  }
});

test('a row that was begun and not ended is refused at finish', () => {
  const b = new BatchBuilder(text('begun'));
  b.appendText('not ended');
  assert.throws(() => b.finish('s', null, 0), { name: 'SyncError' });
});

test('toObjects gives a column called __proto__ like any other', () => {
  const b = new BatchBuilder(text('__proto__'));
  b.appendText('x');
  b.endRow();
  assert.deepEqual(
    [...toObjects(b.finish('s', null, 0))].map((r) => Object.keys(r)),
    [['__proto__']],
  );
});
