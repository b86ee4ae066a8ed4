import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internSchema } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';

const SCHEMA = internSchema([
  { name: 'a', type: { is: 'string' } },
  { name: 'b', type: { is: 'string' } },
  { name: 'file', type: { is: 'string' }, role: 'meta' },
]);

test('* takes the data columns, in their order', () => {
  assert.deepEqual(chooseColumns(SCHEMA, null), { projection: [0, 1], names: ['a', 'b'] });
});

test('names that the rows have go by name, meta columns too, in any order and number', () => {
  assert.deepEqual(chooseColumns(SCHEMA, ['b', 'a']), { projection: [1, 0], names: ['b', 'a'] });
  assert.deepEqual(chooseColumns(SCHEMA, ['file']), { projection: [2], names: ['file'] });
});

test('as many other names go by position, under the names of the writer', () => {
  assert.deepEqual(chooseColumns(SCHEMA, ['x', 'a']), { projection: [0, 1], names: ['x', 'a'] });
});

test('another number of names that are not there is an error that names both numbers and the column', () => {
  assert.throws(() => chooseColumns(SCHEMA, ['a', 'b', 'c']), {
    code: 'COLUMN_MISMATCH',
    message: /the writer has 3 columns and the reader 2, .*`c`/,
  });
});

test('* among names is all data columns at its place; what it brings already, or nobody has, is an error', () => {
  assert.deepEqual(chooseColumns(SCHEMA, ['*']), { projection: [0, 1], names: ['a', 'b'] });
  assert.deepEqual(chooseColumns(SCHEMA, ['*', 'file']), { projection: [0, 1, 2], names: ['a', 'b', 'file'] });
  assert.deepEqual(chooseColumns(SCHEMA, ['file', '*']), { projection: [2, 0, 1], names: ['file', 'a', 'b'] });
  assert.throws(() => chooseColumns(SCHEMA, ['*', 'b']), {
    code: 'COLUMN_MISMATCH',
    message: /`b` beside `\*`, which/,
  });
  // Never by position, though the numbers are equal.
  assert.throws(() => chooseColumns(SCHEMA, ['*', 'x']), {
    code: 'COLUMN_MISMATCH',
    message: /`x`.* does not deliver/,
  });
});
