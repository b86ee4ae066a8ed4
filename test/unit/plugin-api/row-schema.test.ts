import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internSchema, type ColumnInit } from '../../../src/plugin-api/index.js';

const id: ColumnInit = { name: 'id', type: { is: 'int64' } };

test('equal schemas are the same object, whatever was left to its default', () => {
  const full: ColumnInit = { name: 'id', type: { is: 'int64' }, nullable: true, rawType: null, role: 'data' };
  assert.equal(internSchema([id]), internSchema([full], null, []));
});

test('every part of a schema counts', () => {
  const base = internSchema([id], 't', [0]);
  const others = [
    internSchema([id], 'u', [0]),
    internSchema([id], null, [0]),
    internSchema([id], 't'),
    internSchema([{ ...id, name: 'ID' }], 't', [0]),
    internSchema([{ ...id, nullable: false }], 't', [0]),
    internSchema([{ ...id, rawType: 'bigint(20)' }], 't', [0]),
    internSchema([{ ...id, role: 'meta' }], 't', [0]),
    internSchema([{ ...id, type: { is: 'uint64' } }], 't', [0]),
    internSchema([{ ...id, type: { is: 'enum', labels: ['a'] } }], 't', [0]),
    internSchema([{ ...id, type: { is: 'enum', labels: ['a', 'b'] } }], 't', [0]),
    internSchema([{ ...id, type: { is: 'enum', labels: null } }], 't', [0]),
    internSchema([{ ...id, type: { is: 'time', fraction: 3 } }], 't', [0]),
    internSchema([{ ...id, type: { is: 'time', fraction: 6 } }], 't', [0]),
  ];
  assert.equal(new Set([base, ...others]).size, others.length + 1);
  assert.equal(new Set([base, ...others].map((s) => s.id)).size, others.length + 1);
});

test('a schema is frozen to its columns', () => {
  const s = internSchema([id], 'frozen', [0]);
  assert.ok(
    Object.isFrozen(s) && Object.isFrozen(s.columns) && Object.isFrozen(s.columns[0]) && Object.isFrozen(s.key),
  );
});

test('duplicate names and keys out of range are refused, and not remembered', () => {
  for (let i = 0; i < 2; i++) {
    assert.throws(() => internSchema([id, id]), { name: 'RangeError', message: /duplicate column name/ });
    assert.throws(() => internSchema([id], 'k', [1]), { name: 'RangeError', message: /key column out of range/ });
  }
});
