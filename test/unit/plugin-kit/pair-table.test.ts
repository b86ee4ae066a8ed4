import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { PairTable } from '../../../src/plugin-kit/encodings/pair-table.js';

const ENCODINGS = ['gbk', 'gb18030', 'big5', 'euc-kr', 'shift_jis', 'euc-jp', 'iso-8859-1', 'windows-1252', 'koi8-r'];

function tableOf(encoding: string): PairTable {
  return new PairTable(iconv.getDecoder(encoding));
}

for (const encoding of ENCODINGS) {
  test(`${encoding}: what the table decodes is what its decoder does; of the rest it says so`, () => {
    const table = tableOf(encoding);
    const high = fc.integer({ min: 0x80, max: 0xff });
    const byte = fc.oneof({ weight: 2, arbitrary: fc.integer({ min: 0, max: 0x7f }) }, { weight: 3, arbitrary: high });
    let decoded = 0;
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), (list) => {
        const bytes = Buffer.from(list);
        const got = table.decode(bytes);
        if (!got) return;
        decoded++;
        assert.ok(bytes.length - got.whole <= 1);
        const decoder = iconv.getDecoder(encoding);
        const text = decoder.write(bytes.subarray(0, got.whole));
        assert.equal(decoder.end() ?? '', '', 'a character was cut');
        assert.equal(got.utf8.toString('utf8'), text);
        assert.ok(!text.includes('\ufffd'));
      }),
      { numRuns: 20_000 },
    );
    assert.ok(decoded > 500, `${String(decoded)} were decoded at all`);
  });
}

test('each character of two bytes that gbk has goes through the table', () => {
  const table = tableOf('gbk');
  let pairs = 0;
  for (let lead = 0x81; lead < 0xff; lead++) {
    for (let trail = 0x40; trail < 0xff; trail++) {
      const bytes = Buffer.from([lead, trail]);
      const text = iconv.decode(bytes, 'gbk');
      if (text.length !== 1 || text === '\ufffd') continue;
      pairs++;
      assert.equal(table.decode(bytes)?.utf8.toString(), text);
    }
  }
  assert.ok(pairs > 21_000);
});

test('a first byte at the end is left for the next chunk', () => {
  const table = tableOf('gbk');
  assert.deepEqual(table.decode(Buffer.from([0x61, 0xd6])), { utf8: Buffer.from('a'), whole: 1 });
  assert.equal(table.decode(Buffer.from([0xff, 0x41])), null);
});
