import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { JsonValue } from 'syncx/plugin-api';
import { reader } from '../index.js';
import {
  folder,
  laneOf,
  nextItem,
  openReader,
  readAll,
  readSplit,
  readerOptions,
  type ReaderOptions,
} from './drive.js';

const signal = new AbortController().signal;

async function readRows(o: Partial<ReaderOptions>): Promise<readonly (readonly (string | null)[])[]> {
  return (await readAll(o)).flatMap((s) => s.rows);
}

test('files of a folder in the order of their names; hidden ones and folders left out', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'b.csv'), '2,b\n');
  writeFileSync(join(dir, 'a.csv'), '1,a\n');
  writeFileSync(join(dir, '_SUCCESS'), 'x,y\n');
  writeFileSync(join(dir, '.part'), 'x,y\n');
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'sub', 'c.csv'), '3,c\n');
  const read = await readAll({ path: dir });
  assert.deepEqual(
    read.map((s) => [s.split.id, s.split.weight, s.rows, s.end]),
    [
      [`file:${join(dir, 'a.csv')}`, 4, [['1', 'a']], { offset: 4, line: 2 }],
      [`file:${join(dir, 'b.csv')}`, 4, [['2', 'b']], { offset: 4, line: 2 }],
    ],
  );
  assert.deepEqual(await readRows({ path: `${dir}/**/*.csv` }), [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ]);
  const here = relative(process.cwd(), join(dir, 'b.csv'));
  assert.deepEqual(await readRows({ path: `${here}, ${join(dir, 'a.csv')}` }), [
    ['1', 'a'],
    ['2', 'b'],
  ]);
  assert.deepEqual(await readRows({ path: [dir, join(dir, 'a.csv')], filterRegex: '[ac]\\.csv' }), [['1', 'a']]);
});

test('a name with brackets is that file, not a glob', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a[1].csv'), '1,a\n');
  writeFileSync(join(dir, 'a1.csv'), '2,b\n');
  assert.deepEqual(await readRows({ path: join(dir, 'a[1].csv') }), [['1', 'a']]);
});

test('a path that means no file is loud and names it', async (t) => {
  const dir = folder(t);
  for (const path of [join(dir, 'none.csv'), `${dir}/*.csv`, dir]) {
    await assert.rejects(readAll({ path }), { code: 'SOURCE_MISSING', place: path });
  }
  writeFileSync(join(dir, 'a.csv'), '');
  await assert.rejects(readAll({ path: dir, filterRegex: 'b' }), {
    code: 'SOURCE_MISSING',
    message: `none of 1 files passes filterRegex: ${dir}`,
  });
});

test('headers in another order are read by name; a column too few or too many, or twice, is loud', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.csv'), 'id,name,age\n1,ann,30\n');
  writeFileSync(join(dir, 'b.csv'), 'age,id,name\n50,4,dan\n');
  writeFileSync(join(dir, 'c.csv'), '');
  writeFileSync(join(dir, 'd.csv'), 'id,name,age\n');
  const want = [
    ['1', 'ann', '30'],
    ['4', 'dan', '50'],
  ];
  assert.deepEqual(await readRows({ path: dir, isFirstLineHeader: true }), want);
  assert.deepEqual(await readRows({ path: dir, isFirstLineHeader: true, column: ['id', 'name', 'age'] }), want);
  for (const [header, code] of [
    ['id,id,age', 'SOURCE_FORMAT'],
    ['id,name', 'COLUMN_MISMATCH'],
    ['id,name,age,more', 'COLUMN_MISMATCH'],
  ] as const) {
    writeFileSync(join(dir, 'e.csv'), `${header}\n`);
    await assert.rejects(readAll({ path: dir, isFirstLineHeader: true }), (e: Error & { code?: string }) => {
      assert.equal(e.code, code);
      assert.ok(e.message.includes(join(dir, 'e.csv')), e.message);
      return true;
    });
  }
});

/** Enough rows for several chunks of the source and many batches. */
function manyRows(n: number): string {
  return Array.from({ length: n }, (_, i) => `${String(i)},"row ""${String(i)}""\n${'x'.repeat(i % 90)}"\n`).join('');
}

for (const gzip of [false, true]) {
  test(`${gzip ? 'gzip' : 'plain'}: resumes at every position that was given out`, async (t) => {
    const dir = folder(t);
    const text = `id,text\n${manyRows(25_000)}`;
    const file = join(dir, gzip ? 'a.csv.gz' : 'a.csv');
    writeFileSync(file, gzip ? gzipSync(text) : text);
    const o = { path: file, isFirstLineHeader: true };
    const r = await openReader(o);
    const split = await (await r.planner(null)).next(signal);
    assert.ok(split !== 'end');
    const batch = { bytes: 1 << 20, rows: 4000 };
    const whole = await readSplit(r, split, null, batch);
    assert.equal(whole.rows.length, 25_000);
    assert.deepEqual(whole.rows[24_999], ['24999', `row "24999"\n${'x'.repeat(24_999 % 90)}`]);
    assert.deepEqual(whole.end, { offset: Buffer.byteLength(text), line: text.split('\n').length });
    assert.ok(whole.positions.length >= 7);
    assert.equal(whole.sourceBytes, readFileSync(file).length);
    for (const p of whole.positions) {
      const rest = await readSplit(r, split, p.position, batch);
      assert.deepEqual(rest.rows, whole.rows.slice(p.rows));
      assert.deepEqual(rest.end, whole.end);
      const { offset } = p.position as { readonly offset: number };
      if (!gzip) assert.equal(rest.sourceBytes, Buffer.byteLength(text) - offset);
    }
    for (let i = 1; i < whole.positions.length; i++) {
      assert.equal(r.positions.compare(whole.positions[i - 1]?.position ?? 0, whole.positions[i]?.position ?? 0), -1);
    }
  });
}

test('a file that changed since it was planned is loud, whether begun or not', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  const changes: readonly (readonly [string, () => void])[] = [
    ['has 12 bytes, not 8', () => appendFileSync(file, '5,6\n')],
    ['has 3 bytes, not 8', () => truncateSync(file, 3)],
    ['was written to', () => utimesSync(file, 1, 1)],
    [
      'was replaced by another file',
      () => {
        writeFileSync(join(dir, 'new'), '1,2\n3,4\n');
        renameSync(join(dir, 'new'), file);
      },
    ],
  ];
  for (const [what, change] of changes) {
    writeFileSync(file, '1,2\n3,4\n');
    const r = await openReader({ path: file });
    const split = await (await r.planner(null)).next(signal);
    assert.ok(split !== 'end');
    change();
    for (const from of [null, { offset: 4, line: 2 }]) {
      await assert.rejects(readSplit(r, split, from), {
        code: 'SOURCE_CHANGED',
        message: `${file} ${what} since the job planned to read it`,
      });
    }
  }
});

test('a file that changes while it is read is loud before its last rows are given out', async (t) => {
  const dir = folder(t);
  const text = Buffer.from('1,abcdefgh\n'.repeat(600_000));
  const replace = (file: string, bytes: Uint8Array): void => {
    const { atime, mtime } = statSync(file);
    writeFileSync(`${file}.new`, bytes);
    utimesSync(`${file}.new`, atime, mtime);
    renameSync(`${file}.new`, file);
  };
  const changes: readonly (readonly [RegExp, (file: string, bytes: Uint8Array) => void])[] = [
    [/ has \d+ bytes, not \d+ /, (file) => appendFileSync(file, '2,half a li')],
    [/ has \d+ bytes, not \d+ /, (file, bytes) => truncateSync(file, bytes.length >> 1)],
    [/ was replaced by another file /, replace],
    [/ was removed /, (file) => rmSync(file)],
  ];
  for (const gzip of [false, true]) {
    for (const [message, change] of changes) {
      const bytes = gzip ? gzipSync(text) : text;
      const file = join(dir, gzip ? 'a.csv.gz' : 'a.csv');
      writeFileSync(file, bytes);
      const r = await openReader({ path: file });
      const split = await (await r.planner(null)).next(signal);
      assert.ok(split !== 'end');
      const lane = await r.openLane(laneOf({ bytes: 1 << 20, rows: 1000 }), r.shared?.() ?? null);
      lane.assign(split, null);
      const items = lane.read(signal)[Symbol.asyncIterator]();
      let rows = 0;
      const first = await nextItem(items);
      rows += first.is === 'batch' ? first.rows : 0;
      change(file, bytes);
      await assert.rejects(
        async () => {
          for (;;) {
            const item = await nextItem(items);
            assert.equal(item.is, 'batch');
            rows += item.is === 'batch' ? item.rows : 0;
          }
        },
        { code: 'SOURCE_CHANGED', message },
      );
      // The last chunk holds more than 4,000 rows, and none of them was given out.
      assert.ok(rows > 0 && rows < 596_000, String(rows));
      await lane[Symbol.asyncDispose]();
      rmSync(file, { force: true });
    }
  }
});

test('gzip: members behind one another are one file; a cut file and foreign bytes behind it are loud', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv.gz');
  const two = Buffer.concat([gzipSync('1,a\n'), gzipSync('2,b\n')]);
  writeFileSync(file, two);
  assert.deepEqual(await readRows({ path: file }), [
    ['1', 'a'],
    ['2', 'b'],
  ]);
  const noise = Buffer.from(Array.from({ length: 400_000 }, (_, i) => String((i * 7919) % 100_003)).join('\n'));
  const whole = gzipSync(noise);
  writeFileSync(file, whole.subarray(0, whole.length - 9));
  await assert.rejects(readAll({ path: file }), (e: Error & { code?: string; place?: string }) => {
    assert.equal(e.code, 'SOURCE_FORMAT');
    assert.match(e.place ?? '', /a\.csv\.gz, at about compressed byte \d+$/);
    assert.match(e.message, /a\.csv\.gz is a gzip file that was cut: it ends in the middle, at about compressed byte/);
    return true;
  });
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, whole.length >> 1, (whole.length >> 1) + 64);
  writeFileSync(file, damaged);
  await assert.rejects(readAll({ path: file }), (e: Error & { code?: string }) => {
    assert.equal(e.code, 'SOURCE_FORMAT');
    const at = Number(/a\.csv\.gz is a damaged gzip file, at about compressed byte (\d+)/.exec(e.message)?.[1]);
    assert.ok(at > whole.length / 8 && at < whole.length, e.message);
    return true;
  });
  writeFileSync(file, Buffer.concat([two, Buffer.from('garbage')]));
  await assert.rejects(readAll({ path: file }), { code: 'SOURCE_FORMAT' });
  writeFileSync(file, Buffer.concat([two, Buffer.from('\0\0'), gzipSync('3,c\n')]));
  await assert.rejects(readAll({ path: file }), {
    code: 'SOURCE_FORMAT',
    place: `${file}, behind compressed byte ${String(two.length)}`,
  });
  writeFileSync(file, 'no gzip');
  await assert.rejects(readAll({ path: file }), {
    code: 'SOURCE_FORMAT',
    message: `${file} is not a gzip file: it begins with the bytes 6e 6f, not 1f 8b`,
    place: file,
    hint: 'Check compress: set it to none if the file is not compressed. With auto, names that end in .gz are taken for gzip.',
  });
  writeFileSync(file, 'x');
  await assert.rejects(readAll({ path: file }), {
    message: `${file} is not a gzip file: it begins with the bytes 78, not 1f 8b`,
  });
  writeFileSync(file, Buffer.from([0x1f]));
  await assert.rejects(readAll({ path: file }), { message: new RegExp('is a gzip file that was cut') });
  writeFileSync(file, 'no gzip');
  assert.deepEqual(await readRows({ path: file, compress: 'none' }), [['no gzip']]);
});

test('a small file makes small buffers, and what constants add to it is delivered all the same', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  writeFileSync(file, '1\n2\n3\n');
  const r = await openReader({ path: file });
  const split = await (await r.planner(null)).next(signal);
  assert.ok(split !== 'end');
  const lane = await r.openLane(laneOf(), r.shared?.() ?? null);
  lane.assign(split, null);
  const batch = await nextItem(lane.read(signal)[Symbol.asyncIterator]());
  assert.ok(batch.is === 'batch' && batch.rows === 3);
  assert.ok(batch.data.buffer.byteLength < 1 << 16, String(batch.data.buffer.byteLength));
  await lane[Symbol.asyncDispose]();
  const value = 'x'.repeat(100_000);
  assert.deepEqual(await readRows({ path: file, column: ['id', { name: 'c', type: 'string', value }] }), [
    ['1', value],
    ['2', value],
    ['3', value],
  ]);
});

test('the plan goes on after a restart: what is left, and what * means', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.csv'), 'id,name\n1,ann\n');
  writeFileSync(join(dir, 'b.csv'), 'name,id\nbob,2\n');
  const o = { path: dir, isFirstLineHeader: true };
  const first = await openReader(o);
  const planner = await first.planner(null);
  await planner.next(signal);
  const saved = JSON.parse(JSON.stringify(planner.snapshot(1))) as JsonValue;
  writeFileSync(join(dir, 'c.csv'), 'name,id\nnew,3\n');
  const second = await openReader(o);
  const again = await second.planner(saved);
  const split = await again.next(signal);
  assert.ok(split !== 'end');
  assert.deepEqual((await readSplit(second, split)).rows, [['2', 'bob']]);
  assert.equal(await again.next(signal), 'end');
  await assert.rejects((await openReader(o)).planner({ format: 9 }), { code: 'STATE_CORRUPT' });
});

test('a held split gives nothing until it is released; an abort ends the lane', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'a.csv');
  writeFileSync(file, '1,a\n2,b\n');
  const r = await openReader({ path: file });
  const split = await (await r.planner(null)).next(signal);
  assert.ok(split !== 'end');
  const stop = new AbortController();
  const lane = await r.openLane(laneOf({ bytes: 1 << 20, rows: 1 }), r.shared?.() ?? null);
  const items = lane.read(stop.signal)[Symbol.asyncIterator]();
  lane.hold([split.id]);
  lane.assign(split, null);
  let got = false;
  const first = nextItem(items).then((i) => {
    got = true;
    return i;
  });
  await readRows({ path: file }); // as long as a whole read of the same file takes
  assert.equal(got, false);
  lane.release([split.id]);
  assert.equal((await first).is, 'batch');
  lane.hold([split.id]);
  got = false;
  const second = nextItem(items).then((i) => {
    got = true;
    return i;
  });
  await readRows({ path: file });
  assert.equal(got, false);
  lane.release([split.id]);
  assert.equal((await second).is, 'batch');
  const waiting = items.next();
  lane.hold([split.id]);
  stop.abort();
  const last = await waiting;
  assert.equal(last.done === true || last.value.is === 'splitEnd', true);
  assert.equal((await items.next()).done, true);
  await lane[Symbol.asyncDispose]();
  await lane[Symbol.asyncDispose]();
});

test('options that do not fit together are found, each with its path', () => {
  const paths = (o: Partial<ReaderOptions>): readonly string[] =>
    (reader.check?.(readerOptions({ path: 'a', ...o })) ?? []).map((f) => f.path);
  assert.deepEqual(paths({}), []);
  assert.deepEqual(paths({ encoding: 'UTF-8', fieldDelimiter: '\\u0001', escapeChar: '\\' }), []);
  assert.deepEqual(paths({ encoding: 'GBK' }), []);
  assert.deepEqual(paths({ encoding: 'gbkk' }), ['encoding']);
  assert.deepEqual(
    paths({
      column: [
        { name: 'a', meta: 'line', type: 'bigint' },
        { name: 'b', meta: 'mtime', type: 'timestamp' },
        { name: 'c', meta: 'size', type: 'int' },
        { name: 'd', meta: 'file', index: 1, value: 'x', format: 'yyyy' },
        { meta: 'path' },
      ],
    }),
    ['column[2].type', 'column[3].index', 'column[3].value', 'column[3].format', 'column[4]'],
  );
  assert.deepEqual(paths({ fieldDelimiter: '"' }), ['fieldDelimiter']);
  assert.deepEqual(paths({ fieldDelimiter: '\\n' }), ['fieldDelimiter']);
  assert.deepEqual(paths({ nullFormat: 'a,b' }), ['nullFormat']);
  assert.deepEqual(paths({ quoteChar: 'é' }), ['quoteChar']);
  assert.deepEqual(paths({ path: 'a,-' }), ['path']);
  assert.deepEqual(paths({ path: ' , ' }), ['path']);
  assert.deepEqual(paths({ filterRegex: 'a(b' }), ['filterRegex']);
  assert.deepEqual(
    paths({
      column: [
        '*',
        { type: 'int' },
        { name: 'a', type: 'nope' },
        { name: 'b', type: 'int', value: 'x' },
        { name: 'b', format: 'yyyy' },
      ],
    }),
    ['column[1]', 'column[2]', 'column[2].type', 'column[3].value', 'column[4]', 'column[4].format'],
  );
  const mixed = ['a', { index: 4 }, { name: 'k', value: 'v' }];
  assert.deepEqual(paths({ column: mixed, fileType: 'json' }), ['column[1]']);
  assert.deepEqual(paths({ column: mixed }), []);
  assert.deepEqual(paths({ column: [{ name: 'a', index: 0 }, { index: 4 }], fileType: 'json' }), []);
  assert.deepEqual(paths({ column: ['a', { name: 'b', index: 4 }], fileType: 'json' }), []);
  assert.deepEqual(reader.columns?.(readerOptions({ column: ['a', { index: 4 }] })), ['a', 'f4']);
  assert.equal(reader.columns?.(readerOptions({ column: ['a', { name: 'n', meta: 'line' }] })), null);
  assert.equal(reader.columns?.(readerOptions({})), null);
});
