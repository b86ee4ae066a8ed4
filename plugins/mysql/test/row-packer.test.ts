import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import { BatchBuilder } from 'syncx/plugin-api';
import { RowPacker } from '../read/row-packer.js';
import { readShape } from '../read/read-shape.js';

const shape = readShape({
  connection: 0,
  database: 'd',
  table: 't',
  query: null,
  columns: [{ name: 'a', rawType: 'varchar(100)', nullable: true, json: false }],
  orderKey: [],
  primaryKey: [],
});

/** Whether a row with this one text is taken. */
function takes(text: Buffer): boolean {
  const packer = new RowPacker(shape, 'keep');
  const builder = new BatchBuilder(packer.schema);
  const buffer = Buffer.concat([Buffer.from([text.length]), text]);
  packer.pack({ buffer, offset: 0, end: buffer.length }, builder);
  return builder.rows === 1;
}

test('texts of few bytes: taken where they are UTF-8, and nothing else', () => {
  const edges = [
    0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
  ];
  const bytes = [...edges, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff];
  let good = 0;
  for (const a of bytes) {
    for (const b of bytes) {
      for (const c of bytes) {
        for (const d of bytes) {
          const text = Buffer.from([a, b, c, d]);
          const right = isUtf8(text);
          assert.equal(takes(text), right, text.toString('hex'));
          if (right) good++;
        }
      }
    }
  }
  assert.ok(good > 1000);
  for (const cut of [1, 2, 3]) assert.equal(takes(Buffer.from('é😀').subarray(0, 2 + cut)), false);
});
