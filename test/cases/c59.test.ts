/** C59: bytes of GBK that look like delimiters, and characters that chunks cut, read from files through the file reader. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import iconv from 'iconv-lite';
import { BatchBuilder, RowView, type RejectedRow } from 'syncx/plugin-api';
import { openTranscoder } from 'syncx/plugin-kit';
import { specOf } from '../../plugins/file/file-spec.js';
import { SplitReading } from '../../plugins/file/split-reading.js';
import { Workspace } from '../support/workspace.js';
import { csvFormat, type Cell, type DialectText } from '../unit/plugin-kit/format-harness.js';

const CHUNKS = [1, 2, 3, 65_535, 65_536, 65_537];
const TARGET = { bytes: 1 << 20, rows: 65_536 };
const COUNT = 200_000;

interface Read {
  readonly rows: readonly (readonly Cell[])[];
  readonly rejected: readonly RejectedRow[];
}

/** Reads a csv file of an encoding (null: UTF-8) in reads of so many bytes. */
async function read(
  path: string,
  encoding: string | null,
  chunkBytes: number,
  dialect: DialectText = {},
): Promise<Read> {
  const spec = specOf(path, statSync(path, { bigint: true }));
  const options = {
    format: csvFormat(dialect, false, ['*'], encoding),
    compress: 'none',
    encoding,
    chunkBytes,
  } as const;
  const reading = await SplitReading.open(options, spec, null, TARGET, null, null, null);
  assert.ok(reading);
  const builder = new BatchBuilder(reading.decoder.schema, TARGET);
  const rows: Cell[][] = [];
  const rejected: RejectedRow[] = [];
  try {
    for (let state = 'hungry'; state !== 'end';) {
      state = reading.decoder.decode(builder);
      if (state === 'hungry') await reading.fill();
      else if (!builder.empty) {
        const batch = builder.finish('s', null, 0);
        rejected.push(...(batch.rejected ?? []));
        for (const section of batch.sections) {
          const view = new RowView(batch, section);
          for (let r = 0; r < section.rows; r++) {
            view.at(r);
            rows.push(section.schema.columns.map((_, c) => view.text(c)));
          }
        }
      }
    }
  } finally {
    await reading.close();
  }
  return { rows, rejected };
}

test('C59 (a) the second byte 7C of GBK is no delimiter', async () => {
  using ws = new Workspace();
  const file = ws.write('a.csv', Buffer.from('31 7C 96 7C CE F7 7C 78 0A'.replaceAll(' ', ''), 'hex'));
  for (const chunk of CHUNKS) {
    assert.deepEqual(await read(file, 'gbk', chunk, { delimiter: '|' }), { rows: [['1', '東西', 'x']], rejected: [] });
  }
});

test('C59 (b) the second byte 5C of GBK is no escape', async () => {
  using ws = new Workspace();
  const file = ws.write('a.csv', Buffer.from('31 2C D5 5C 2C 79 0A'.replaceAll(' ', ''), 'hex'));
  for (const chunk of CHUNKS) {
    assert.deepEqual(await read(file, 'gbk', chunk, { escape: '\\' }), { rows: [['1', '誠', 'y']], rejected: [] });
  }
});

const MANY = '市'.repeat(COUNT);

for (const chunk of CHUNKS) {
  test(`C59 (c) GBK, ${String(COUNT)} characters in one line, decoded in chunks of ${String(chunk)} bytes`, async () => {
    const bytes = iconv.encode(MANY, 'gbk');
    assert.equal(bytes.length, COUNT * 2);
    const transcoder = await openTranscoder('gbk', 'x');
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += chunk) {
      parts.push(Buffer.from(transcoder.push(bytes.subarray(at, at + chunk), at + chunk >= bytes.length)));
    }
    assert.equal(Buffer.concat(parts).toString() === MANY, true);
  });
}

for (const chunk of CHUNKS.filter((n) => n > 3)) {
  for (const [encoding, name] of [
    [null, 'utf8'],
    ['gbk', 'gbk'],
  ] as const) {
    test(`C59 (c) a ${name} file, in one line and in lines, read by ${String(chunk)} bytes`, async () => {
      using ws = new Workspace();
      const one = ws.write('one.csv', iconv.encode(`1,${MANY}\n2,x\n`, name));
      const got = await read(one, encoding, chunk);
      assert.deepEqual(got.rejected, []);
      assert.equal(got.rows[0]?.[1] === MANY, true);
      assert.deepEqual(got.rows[1], ['2', 'x']);
      const lines = await read(ws.write('lines.csv', iconv.encode('1,市\n'.repeat(COUNT), name)), encoding, chunk);
      assert.equal(lines.rows.length, COUNT);
      assert.equal(
        lines.rows.every((r) => r[1] === '市'),
        true,
      );
      assert.deepEqual(lines.rejected, []);
    });
  }
}

test('C59 (c) files read by 1, 2 and 3 bytes', async () => {
  using ws = new Workspace();
  const text = '1,市\n'.repeat(500);
  for (const name of ['utf8', 'gbk', 'utf-16le', 'utf-16be']) {
    const file = ws.write(`${name}.csv`, iconv.encode(text, name));
    for (const chunk of [1, 2, 3]) {
      const got = await read(file, name === 'utf8' ? null : name, chunk);
      assert.equal(got.rows.length, 500);
      assert.equal(
        got.rows.every((r) => r[0] === '1' && r[1] === '市'),
        true,
      );
    }
  }
});

test('C59 (d) the byte FF: its row is dirty and names file and line, in UTF-8 and in GBK', async () => {
  using ws = new Workspace();
  const file = ws.write('a.csv', Buffer.concat([Buffer.from('1,a\n2,b'), Buffer.from([0xff]), Buffer.from('\n3,c\n')]));
  for (const [encoding, reason] of [
    [null, 'the record is not valid UTF-8 (record at byte 4)'],
    ['gbk', 'the record is not valid gbk (record at byte 4 of the decoded text)'],
    ['us-ascii', 'the record is not valid us-ascii (record at byte 4 of the decoded text)'],
  ] as const) {
    for (const chunk of CHUNKS) {
      const got = await read(file, encoding, chunk);
      assert.deepEqual(got.rows, [
        ['1', 'a'],
        ['3', 'c'],
      ]);
      assert.deepEqual(got.rejected, [
        {
          row: { text: '2,b\ufffd', base64: 'Mixi/w==' },
          column: null,
          code: 'ROW_INVALID',
          reason,
          place: `${file}:2`,
        },
      ]);
    }
  }
});
