import assert from 'node:assert/strict';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SyncError } from 'syncx/plugin-api';
import { reader } from '../index.js';
import { folder, openReader, readAll, readSplit, readerOptions } from './drive.js';

/** `1,a` and `2,b` in lines, as `zstd` and `bzip2` write them. */
const ZSTD = Buffer.from('KLUv/SQIQQAAMSxhCjIsYgrEFJqT', 'base64');
const BZIP2 = Buffer.from('QlpoOTFBWSZTWbCnEU8AAAJZAAAQAAQwADAAIAAhppmgwAKVCwu5IpwoSFhTiKeA', 'base64');
const ROWS = [
  ['1', 'a'],
  ['2', 'b'],
];

test('auto goes by the ending, the option by itself; files one after another in one are one', async (t) => {
  const dir = folder(t);
  const gzip = gzipSync('1,a\n2,b\n');
  for (const [name, bytes, compress] of [
    ['a.gz', gzip, 'gzip'],
    ['a.csv.ZST', ZSTD, 'zstd'],
    ['a.zstd', ZSTD, 'zstd'],
    ['a.csv.bz2', BZIP2, 'bzip2'],
  ] as const) {
    const path = join(dir, name);
    writeFileSync(path, bytes);
    const [one] = await readAll({ path });
    assert.deepEqual([one?.rows, one?.end, one?.sourceBytes], [ROWS, { offset: 8, line: 3 }, bytes.length], name);
    const plain = join(dir, 'plain');
    writeFileSync(plain, Buffer.concat([bytes, bytes]));
    const [two] = await readAll({ path: plain, compress });
    assert.deepEqual(two?.rows, [...ROWS, ...ROWS], name);
  }
});

test('resumes inside of a compressed file in another encoding, at every position that was given out', async (t) => {
  const dir = folder(t);
  const path = join(dir, 'a.csv.gz');
  const text = Array.from({ length: 3000 }, (_, i) => `${String(i)},é${'ß'.repeat(i % 50)}\n`).join('');
  writeFileSync(path, gzipSync(Buffer.from(text, 'latin1')));
  const options = { path, encoding: 'latin1' };
  const batch = { bytes: 1 << 20, rows: 500 };
  const [whole] = await readAll(options, batch);
  assert.equal(whole?.rows.map((r) => `${r.join(',')}\n`).join(''), text);
  assert.deepEqual(whole.end, { offset: Buffer.byteLength(text), line: 3001 });
  assert.ok(whole.positions.length >= 6);
  const r = await openReader(options);
  const split = await (await r.planner(null)).next(new AbortController().signal);
  assert.ok(split !== 'end');
  for (const { position, rows } of whole.positions) {
    const rest = await readSplit(r, split, position, batch);
    assert.deepEqual(rest.rows, whole.rows.slice(rows));
    assert.deepEqual(rest.end, whole.end);
  }
});

test('a file that begins with the mark of another encoding is not read as UTF-8, compressed or not', async (t) => {
  const path = join(folder(t), 'a.csv');
  const utf16 = Buffer.from('\ufeff1,a\n2,b\n', 'utf16le');
  for (const [bytes, mark, hint] of [
    [utf16, 'utf-16le', 'Set encoding to utf-16le.'],
    [Buffer.from(utf16).swap16(), 'utf-16be', 'Set encoding to utf-16be.'],
    [Buffer.from([0xff, 0xfe, 0, 0, 0x31, 0, 0, 0]), 'utf-32le', 'Convert it to utf-8; utf-32 is not read.'],
  ] as const) {
    for (const compress of ['none', 'gzip'] as const) {
      writeFileSync(path, compress === 'gzip' ? gzipSync(bytes) : bytes);
      await assert.rejects(readAll({ path, compress }), {
        code: 'SOURCE_FORMAT',
        message: `${path} begins with the byte order mark of ${mark}, but encoding says utf-8`,
        hint,
      });
    }
  }
});

test('a cut or wrong compressed file names itself and about where', async (t) => {
  const dir = folder(t);
  for (const [name, bytes] of [
    ['a.zst', ZSTD],
    ['a.bz2', BZIP2],
  ] as const) {
    const path = join(dir, name);
    writeFileSync(path, bytes.subarray(0, bytes.length - 2));
    await assert.rejects(readAll({ path }), (e) => {
      assert.ok(e instanceof SyncError);
      assert.equal(e.code, 'SOURCE_FORMAT');
      assert.match(e.message, /file that was cut: it ends in the middle, at about compressed byte \d+$/);
      assert.ok(e.message.startsWith(`${path} is a `));
      return true;
    });
    writeFileSync(path, '1,a\n');
    await assert.rejects(readAll({ path }), { code: 'SOURCE_FORMAT', message: /begins with the bytes 31 2c 61 0a$/ });
  }
});

test('a byte order mark of another encoding stops the file; encodings are found with did you mean', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, '\ufeff1,a\n');
  await assert.rejects(readAll({ path, encoding: 'gbk' }), { code: 'SOURCE_FORMAT', place: path });
  writeFileSync(path, Buffer.from('\ufeffid,name\r\n1,é\r\n', 'utf16le'));
  const [utf16] = await readAll({ path, encoding: 'UTF-16', isFirstLineHeader: true });
  assert.deepEqual(utf16?.rows, [['1', 'é']]);
  const [finding] = reader.check?.(readerOptions({ path, encoding: 'gb1803' })) ?? [];
  assert.deepEqual(finding, {
    path: 'encoding',
    message: 'encoding `gb1803` is not known',
    hint: 'Did you mean `gb18030`?',
  });
});

test('meta columns in csv, text and json: name, path, size, time and line, which begins a record', async (t) => {
  const dir = folder(t);
  const meta = (['file', 'path', 'size', 'mtime', 'line'] as const).map((m) => ({ name: `m_${m}`, meta: m }));
  for (const [name, text, options, want] of [
    [
      'a.csv',
      'x,y\n1,"a\nb"\n\n2,c\n',
      { isFirstLineHeader: true },
      [
        ['1', '2'],
        ['2', '5'],
      ],
    ],
    [
      'a.txt',
      '1\n2\n',
      { fileType: 'text' },
      [
        ['1', '1'],
        ['2', '2'],
      ],
    ],
    [
      'a.jsonl',
      '{"x":1,"m_line":7}\n\n{"x":2}\n',
      { fileType: 'json' },
      [
        ['1', '1'],
        ['2', '3'],
      ],
    ],
  ] as const) {
    const path = join(dir, name);
    writeFileSync(path, text);
    utimesSync(path, new Date(0), new Date('2024-03-31T01:30:00.125Z'));
    const [read] = await readAll({ path, ...options, column: [...meta, { name: 'x' }] });
    const facts = [name, path, String(statSync(path).size), '2024-03-31 01:30:00.125000'];
    assert.deepEqual(
      read?.rows,
      want.map(([x, line]) => [...facts, line, x]),
      name,
    );
  }
});

test('the line of a meta column goes on after a resume; without a field of the file no row is dirty', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, 'a\nb,c\n\nd\n');
  const options = { path, column: [{ name: 'n', meta: 'line' as const }] };
  const [whole] = await readAll(options, { bytes: 1 << 20, rows: 1 });
  assert.deepEqual(whole?.rows, [['1'], ['2'], ['4']]);
  const r = await openReader(options);
  const split = await (await r.planner(null)).next(new AbortController().signal);
  assert.ok(split !== 'end');
  const rest = await readSplit(r, split, whole.positions[1]?.position ?? null);
  assert.deepEqual(rest.rows, [['4']]);
});

test('meta columns have the role meta and the type of their kind', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, '1\n');
  const column = [{ name: 's', meta: 'size' as const }, { name: 't', meta: 'mtime' as const }, 'x'];
  const r = await openReader({ path, column });
  const split = await (await r.planner(null)).next(new AbortController().signal);
  assert.ok(split !== 'end');
  const { schema } = await readSplit(r, split);
  assert.deepEqual(
    schema?.columns.map((c) => [c.name, c.type, c.role]),
    [
      ['s', { is: 'int64' }, 'meta'],
      ['t', { is: 'timestamp', fraction: 6 }, 'meta'],
      ['x', { is: 'string' }, 'data'],
    ],
  );
});
