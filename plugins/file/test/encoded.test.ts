import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { decompress } from '@mongodb-js/zstd';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { BatchBuilder, internSchema, type RejectedRow } from 'syncx/plugin-api';
import { RUN, folder, laneOf, openWriter, type WriterOptions } from './drive.js';

const AB = internSchema(['a', 'b'].map((name) => ({ name, type: { is: 'string' } as const })));
const signal = new AbortController().signal;

async function write(
  t: TestContext,
  o: Partial<WriterOptions>,
  rows: readonly (readonly [string, string])[],
): Promise<{ readonly files: readonly Buffer[]; readonly names: readonly string[]; readonly rejected: RejectedRow[] }> {
  const dir = folder(t);
  const w = await openWriter({ path: dir, ...o });
  await w.begin(RUN);
  const lane = await w.openLane(laneOf(), null);
  const b = new BatchBuilder(AB);
  for (const row of rows) {
    for (const cell of row) b.appendText(cell);
    b.endRow();
  }
  const { rejected } = await lane.write(b.finish('s', null, 0), signal);
  await lane.prepare(1);
  await lane.commit(1);
  await w.complete(RUN);
  const names = readdirSync(dir).sort();
  return { names, files: names.map((n) => readFileSync(join(dir, n))), rejected: [...(rejected ?? [])] };
}

test('rows in another encoding, the header too', async (t) => {
  const gbk = await write(t, { encoding: 'GBK', column: ['编', '号'], isFirstLineHeader: true }, [['中', 'x,"y"']]);
  assert.deepEqual(gbk.files, [iconv.encode('编,号\n中,"x,""y"""\n', 'gbk')]);
  const latin = await write(t, { encoding: 'latin1', fieldDelimiter: '§' }, [['é', 'ÿ']]);
  assert.deepEqual(latin.files, [Buffer.from('é§ÿ\n', 'latin1')]);
  const json = await write(t, { encoding: 'utf-16be', fileType: 'json' }, [['é', '😀']]);
  assert.deepEqual(json.files, [Buffer.from('{"a":"é","b":"😀"}\n', 'utf16le').swap16()]);
});

test('utf-16 begins each file with a byte order mark, utf-16le does not', async (t) => {
  const rows = [
    ['1', 'x'],
    ['2', 'y'],
  ] as const;
  for (const [encoding, mark] of [
    ['utf-16', '\ufeff'],
    ['utf-16le', ''],
  ] as const) {
    const { files } = await write(t, { encoding, maxFileSize: 1 }, rows);
    assert.deepEqual(
      files,
      rows.map((r) => Buffer.from(`${mark}${r.join(',')}\n`, 'utf16le')),
    );
  }
});

test('a character that the encoding lacks makes the row dirty, and no other', async (t) => {
  const rows = Array.from({ length: 3000 }, (_, i): readonly [string, string] => [
    String(i),
    i % 1000 === 7 ? 'not ☃' : 'plain é',
  ]);
  const { files, rejected } = await write(t, { encoding: 'iso-8859-1' }, rows);
  assert.deepEqual(
    rejected.map((r) => [r.row, r.column, r.code, r.reason]),
    [7, 1007, 2007].map((i) => [
      { a: String(i), b: 'not ☃' },
      'b',
      'ROW_INVALID',
      'the encoding iso-8859-1 has no character `☃` (U+2603)',
    ]),
  );
  const good = rows.filter(([, b]) => b !== 'not ☃').map((r) => `${r.join(',')}\n`);
  assert.equal(files[0]?.toString('latin1'), good.join(''));
});

test('gb18030 has a code for all of Unicode but one code point, whose row is dirty', async (t) => {
  const { files, rejected } = await write(t, { encoding: 'gb18030', fileType: 'text' }, [
    ['1', '\ue5e5'],
    ['2', '\ufffd\u{10ffff}\ue5e4'],
  ]);
  assert.deepEqual(
    rejected.map((r) => [r.column, r.reason]),
    [['b', 'the encoding gb18030 has no character `\ue5e5` (U+E5E5)']],
  );
  assert.equal(files[0]?.toString('hex'), '322c8431a437e3329a35a39f0a');
});

test('rows that the format refuses are told once, beside those that the encoding refuses', async (t) => {
  const rows = [
    ['1', 'a,b'],
    ['2', '☃'],
    ['3', 'ok'],
    ['4', 'c,d'],
  ] as const;
  const { files, rejected } = await write(t, { encoding: 'gbk', fileType: 'text' }, rows);
  assert.deepEqual(
    rejected.map((r) => (r.row as { a: string }).a),
    ['1', '2', '4'],
  );
  assert.equal(files[0]?.toString('latin1'), '3,ok\n');
});

test('names and delimiters that the encoding lacks are errors', async (t) => {
  await assert.rejects(write(t, { encoding: 'gbk', fieldDelimiter: '☃' }, []), { code: 'JOB_INVALID' });
  await assert.rejects(write(t, { encoding: 'latin1', column: ['中', 'b'], isFirstLineHeader: true }, [['1', '2']]), {
    code: 'JOB_INVALID',
    message: /iso-8859-1 has no character `中` \(U\+4E2D\)/,
  });
});

test('any text: it is written so that it reads back, or its row is refused', async (t) => {
  const text = fc.string({ unit: fc.oneof(fc.constantFrom('中', '文', 'é', '€', 'a', '"', ',', '\n'), fc.string()) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('gbk', 'gb18030', 'big5', 'shift_jis', 'euc-kr', 'windows-1252', 'iso-8859-15', 'us-ascii'),
      fc.array(fc.tuple(fc.constant('k'), text), { minLength: 1, maxLength: 8 }),
      async (encoding, rows) => {
        const utf8 = await write(t, { fileType: 'json' }, rows);
        const { files, rejected } = await write(t, { fileType: 'json', encoding }, rows);
        const refused = new Set(rejected.map((r) => (r.row as { b: string }).b));
        const lines = utf8.files.map(String).join('').split('\n').slice(0, -1);
        const want = lines.filter((l) => !refused.has((JSON.parse(l) as { b: string }).b));
        const got = files.map((f) => iconv.decode(f, encoding, { stripBOM: false })).join('');
        assert.equal(got, want.map((l) => `${l}\n`).join(''));
        assert.equal(want.length + rejected.length, rows.length);
        for (const l of refused) assert.notEqual(iconv.decode(iconv.encode(l, encoding), encoding), l);
      },
    ),
    { numRuns: 60 },
  );
});

test('zstd: whole files of several frames, with a name that tells', async (t) => {
  const rows = Array.from({ length: 200_000 }, (_, i): readonly [string, string] => [String(i), `text ${String(i)}`]);
  const { files, names } = await write(t, { compress: 'zstd' }, rows);
  assert.deepEqual(names, ['part-run0run0run0-000-000001-0000.csv.zst']);
  const [file = Buffer.alloc(0)] = files;
  const frames = file.toString('latin1').split('\x28\xb5\x2f\xfd').length - 1;
  assert.ok(frames >= 3, `${String(frames)} frames`);
  assert.equal(String(await decompressAll(file)), rows.map((r) => `${r.join(',')}\n`).join(''));
});

/** The library's own takes one frame. */
async function decompressAll(file: Buffer): Promise<Buffer> {
  const magic = Buffer.from('28b52ffd', 'hex');
  const parts: Buffer[] = [];
  for (let at = 0; at < file.length;) {
    const found = file.indexOf(magic, at + 4);
    const next = found < 0 ? file.length : found;
    parts.push(await decompress(file.subarray(at, next)));
    at = next;
  }
  return Buffer.concat(parts);
}
