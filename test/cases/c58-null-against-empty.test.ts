import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvFormat, csvWriter, decodeAll, encodeAll, strings } from '../unit/plugin-kit/format-harness.js';

const INPUT = Buffer.from('1,,"",\\N,"\\N",null\n');

for (const [nullText, want] of [
  ['\\N', ['1', '', '', null, '\\N', 'null']],
  ['', ['1', null, '', '\\N', '\\N', 'null']],
  ['null', ['1', '', '', '\\N', '\\N', null]],
] as const) {
  test(`C58 nullFormat ${JSON.stringify(nullText)} tells NULL from empty; the quoted form is never NULL`, () => {
    for (const chunk of [1, 2, 100]) {
      assert.deepEqual(decodeAll(csvFormat({ nullText }), INPUT, { chunk }).rows, [want]);
    }
  });
}

test('C58 the writer keeps the four apart and they read back', () => {
  const row = [null, '', '\\N', 'null'];
  const { bytes } = encodeAll(csvWriter(), strings(4), [row]);
  assert.equal(bytes.toString(), '\\N,,"\\N",null\n');
  assert.deepEqual(decodeAll(csvFormat(), bytes).rows, [row]);
});

test('C58 in one column an empty text is quoted, as an empty line may be skipped; NULL is told from it', () => {
  const rows = [[''], [null], ['x']];
  for (const [nullText, want] of [
    ['\\N', '""\n\\N\nx\n'],
    ['', '""\n\nx\n'],
  ] as const) {
    const { bytes } = encodeAll(csvWriter({ nullText }), strings(1), rows);
    assert.equal(bytes.toString(), want);
    assert.deepEqual(decodeAll(csvFormat({ nullText }), bytes, { chunk: 1 }).rows, rows);
  }
});
