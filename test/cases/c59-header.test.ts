/** C59 (d) for the header line: bytes that are not UTF-8 are loud, never a column name with replaced characters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvFormat, decodeAll } from '../unit/plugin-kit/format-harness.js';

test('C59 (d) a header that is not UTF-8 names file and line; UTF-16 is called by its name', () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('name\r\nAnn\r\n', 'utf16le')]);
  assert.throws(() => decodeAll(csvFormat({}, true), utf16), { code: 'SOURCE_FORMAT', message: /x\.csv:1 .*UTF-16/ });
  const latin1 = Buffer.from('a\xff,b\n1,2\n', 'latin1');
  assert.throws(() => decodeAll(csvFormat({}, true), latin1), { code: 'SOURCE_FORMAT', message: /x\.csv:1 .*UTF-8$/ });
});
