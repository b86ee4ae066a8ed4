import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLinesFormat } from 'syncx/plugin-kit';
import { csvFormat, decodeAll } from '../unit/plugin-kit/format-harness.js';

const MANY = '市'.repeat(200_000);

for (const chunk of [1, 2, 3, 65_535, 65_536, 65_537]) {
  test(`C59 (c) 200,000 characters of three bytes each, in chunks of ${String(chunk)} bytes`, () => {
    const one = decodeAll(csvFormat(), Buffer.from(`1,${MANY}\n2,x\n`), { chunk });
    assert.deepEqual(one.rejected, []);
    assert.equal(one.rows[0]?.[1] === MANY, true);
    assert.deepEqual(one.rows[1], ['2', 'x']);
    const lines = decodeAll(csvFormat(), Buffer.from(`1,市\n`.repeat(200_000)), { chunk });
    assert.equal(lines.rows.length, 200_000);
    assert.equal(
      lines.rows.every((r) => r[1] === '市'),
      true,
    );
    const json = decodeAll(jsonLinesFormat(null), Buffer.from(`"${MANY}"\n`), { chunk });
    assert.equal(json.rows[0]?.[0] === `"${MANY}"`, true);
  });
}

test('C59 (d) a byte that is not UTF-8 makes its row dirty, naming file, line and byte', () => {
  const bytes = Buffer.concat([Buffer.from('1,a\n2,b'), Buffer.from([0xff]), Buffer.from('\n3,c\n')]);
  for (const chunk of [1, 3, 100]) {
    const got = decodeAll(csvFormat(), bytes, { chunk });
    assert.deepEqual(got.rows, [
      ['1', 'a'],
      ['3', 'c'],
    ]);
    assert.deepEqual(got.rejected, [
      {
        row: { text: '2,b\ufffd', base64: 'Mixi/w==' },
        column: null,
        code: 'ROW_INVALID',
        reason: 'the record is not valid UTF-8 (record at byte 4)',
        place: 'x.csv:2',
      },
    ]);
  }
});

test('C59 (d) the same in JSON lines', () => {
  const bytes = Buffer.concat([Buffer.from('{"a":1}\n{"a":"'), Buffer.from([0xff]), Buffer.from('"}\n')]);
  const got = decodeAll(jsonLinesFormat(null), bytes);
  assert.deepEqual(got.rows, [['{"a":1}']]);
  assert.equal(got.rejected[0]?.place, 'x.csv:2:1');
  assert.equal(got.rejected[0]?.reason, 'the line is not valid UTF-8 (line at byte 8)');
});
