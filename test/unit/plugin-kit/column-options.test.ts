/** What readers of files and lines refuse in their option `column`, and how job files spell delimiters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkColumns, spelledOut, type ColumnOption } from 'syncx/plugin-kit';

const findings = (
  entries: readonly ColumnOption[],
  json = false,
  star: string | null = null,
): readonly (readonly [string, string])[] => checkColumns(entries, { json, star }).map((f) => [f.path, f.message]);

test('delimiters may be spelled out', () => {
  for (const [text, want] of [
    ['\\t', '\t'],
    ['\\u0001', '\u0001'],
    ['\\x01', '\u0001'],
    ['\\001', '\u0001'],
    ['\\0', '\0'],
    ['||', '||'],
    ['\\\\', '\\'],
    ['\\q', '\\q'],
  ] as const) {
    assert.equal(spelledOut(text), want);
  }
});

test('a column needs a name or an index, a name of its own, and a type that is known', () => {
  assert.deepEqual(findings(['a', { name: 'b', index: 0 }, { index: 3, type: 'decimal(5,2)' }]), []);
  assert.deepEqual(findings([{ type: 'int' }, 'a', { name: 'a', type: 'number(' }]), [
    ['column[0]', 'the column has neither name nor index'],
    ['column[2]', 'the column `a` stands here twice'],
    ['column[2].type', '`number(` is no type'],
  ]);
});

test('constants are of their type, and date patterns stand with dates', () => {
  assert.deepEqual(
    findings([
      { name: 'a', type: 'int', value: 'x' },
      { name: 'b', type: 'date', format: 'dd.MM.yyyy' },
      { name: 'c', type: 'date', format: 'quarter' },
      { name: 'd', format: 'yyyy' },
      { name: 'e', value: null },
    ]),
    [
      ['column[0].value', '`x` is not a valid int'],
      ['column[2].format', '`quarter` is no date pattern'],
      ['column[3].format', 'a format is for date and time types'],
    ],
  );
});

test('a meta column has a name, its own type, and nothing of the record', () => {
  assert.deepEqual(findings([{ name: 'a', meta: 'line', type: 'bigint' }]), []);
  assert.deepEqual(
    findings([
      { meta: 'file', index: 1 },
      { name: 'b', meta: 'size', type: 'string' },
    ]),
    [
      ['column[0]', 'the meta column has no name'],
      ['column[0].index', '`index` has no place beside meta, which takes nothing from the record'],
      ['column[1].type', 'the type of the meta column `size` is int64, not `string`'],
    ],
  );
});

test('JSON lines are objects or arrays: names alone and indexes alone do not go together', () => {
  assert.deepEqual(findings(['a', { index: 1 }]), []);
  assert.deepEqual(findings(['a', { name: 'c', value: '1' }, { index: 1 }], true), [
    ['column[2]', 'the column has only an index, and column[0] only a name: no JSON line can have both'],
  ]);
  assert.deepEqual(findings(['a', { name: 'b', index: 1 }], true), []);
});

test('beside * stand constants, meta columns and copies by index; beside a whole line nothing of the line', () => {
  const others: readonly ColumnOption[] = [
    { name: 'a', value: 'x' },
    { name: 'b', meta: 'file' },
    { name: 'c', index: 1 },
  ];
  assert.deepEqual(findings(['*', ...others]), []);
  assert.deepEqual(findings([...others, '*', 'd', { name: 'e', value: null }, {}]), [
    ['column[4]', '`*` delivers the column `d` already'],
    ['column[5]', '`*` delivers the column `e` already'],
    ['column[6]', 'the column has neither name nor index'],
  ]);
  assert.deepEqual(findings(['*', ...others], false, 'message'), [
    ['column[3]', '`*` is the whole line as the column `message`: no part of it can be picked beside it'],
  ]);
  assert.deepEqual(findings([{ name: 'message', value: 'x' }, '*'], false, 'message'), [
    ['column[0]', 'the column `message` stands here twice'],
  ]);
});
