/** `*` among other columns: all columns of the file, at its place. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { JsonValue, Split } from 'syncx/plugin-api';
import { reader, writer } from '../index.js';
import {
  RUN,
  folder,
  laneOf,
  openReader,
  openWriter,
  readAll,
  readSplit,
  readerOptions,
  writerOptions,
  type ReaderOptions,
  type Rows,
  type SplitRead,
  type WriterOptions,
} from './drive.js';

const signal = new AbortController().signal;
const SRC = { name: 'src', meta: 'file' } as const;
const LINE = { name: 'line', meta: 'line' } as const;
const DAY = { name: 'day', type: 'date', value: '2024-02-29' } as const;

const namesOf = (s: SplitRead | undefined): readonly string[] =>
  (s?.schema?.columns ?? []).map((c) => `${c.name}:${c.type.is}:${c.role}`);

/** Two files whose headers order the columns differently. */
function reordered(t: TestContext): string {
  const dir = folder(t);
  writeFileSync(join(dir, 'a.csv'), 'id,name\n1,"x,y"\n2,\\N\n');
  writeFileSync(join(dir, 'b.csv'), 'name,id\nz,3\n');
  return dir;
}

test('with a header: by name in each file, whatever stands before and behind it', async (t) => {
  const path = reordered(t);
  const column = [SRC, '*', DAY, LINE, { name: 'first', index: 0 }];
  const reads = await readAll({ path, isFirstLineHeader: true, column });
  assert.deepEqual(
    reads.map((r) => r.rows),
    [
      [
        ['a.csv', '1', 'x,y', '2024-02-29', '2', '1'],
        ['a.csv', '2', null, '2024-02-29', '3', '2'],
      ],
      [['b.csv', '3', 'z', '2024-02-29', '2', 'z']],
    ],
  );
  const names = [
    'src:string:meta',
    'id:string:data',
    'name:string:data',
    'day:date:data',
    'line:int64:meta',
    'first:string:data',
  ];
  assert.deepEqual(reads.map(namesOf), [names, names]);
});

test('without a header: all fields by their place; a record of another width is dirty', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, 'a,b\nc\nd,e,f\ng,h\n');
  const column = [{ name: 'x', value: 'c1' }, '*', { name: 'again', index: 1 }, LINE];
  for (const fileType of ['csv', 'text'] as const) {
    const [read] = await readAll({ path, fileType, column });
    assert.deepEqual(read?.rows, [
      ['c1', 'a', 'b', 'b', '1'],
      ['c1', 'g', 'h', 'h', '4'],
    ]);
    assert.deepEqual(
      read.rejected.map((r) => [r.row, r.place]),
      [
        ['c', `${path}:2`],
        ['d,e,f', `${path}:3`],
      ],
    );
    assert.deepEqual(namesOf(read), [
      'x:string:data',
      'f0:string:data',
      'f1:string:data',
      'again:string:data',
      'line:int64:meta',
    ]);
  }
});

test('json: * is the whole line as the column json, beside it constants and meta columns', async (t) => {
  const path = join(folder(t), 'a.jsonl');
  writeFileSync(path, '{"json": 1}\n\n [2]\nnull\n3 4\n');
  const [read] = await readAll({ path, fileType: 'json', column: [LINE, '*', DAY] });
  assert.deepEqual(read?.rows, [
    ['1', '{"json": 1}', '2024-02-29'],
    ['3', '[2]', '2024-02-29'],
    ['4', null, '2024-02-29'],
  ]);
  assert.deepEqual(namesOf(read), ['line:int64:meta', 'json:json:data', 'day:date:data']);
  assert.deepEqual(
    read.rejected.map((r) => r.row),
    ['3 4'],
  );
});

test('what cannot stand beside * is found before the job starts', () => {
  const found = (column: ReaderOptions['column'], o: Partial<ReaderOptions> = {}): readonly (readonly string[])[] =>
    (reader.check?.(readerOptions({ path: 'a', column, ...o })) ?? []).map((f) => [f.path, f.message]);
  assert.deepEqual(found(['*', SRC, DAY, { name: 'c', index: 0 }]), []);
  assert.deepEqual(found(['*', LINE, DAY], { fileType: 'json' }), []);
  assert.deepEqual(found(['id', '*', { name: 'n', type: 'int' }, '*', { index: 1 }, { name: '*' }]), [
    ['column[0]', '`*` delivers the column `id` already'],
    ['column[2]', '`*` delivers the column `n` already'],
    ['column[3]', 'the column `*` stands here twice'],
    ['column[4]', 'a column by index beside `*` has no name of its own'],
    ['column[5]', 'no column can have the name `*`'],
  ]);
  assert.deepEqual(found(['*', 'id', { name: 'b', index: 1 }, { name: 'json', value: 'x' }], { fileType: 'json' }), [
    ['column[1]', '`*` is the whole line as the column `json`: no part of it can be picked beside it'],
    ['column[2]', '`*` is the whole line as the column `json`: no part of it can be picked beside it'],
    ['column[3]', 'the column `json` stands here twice'],
  ]);
  assert.equal(reader.columns?.(readerOptions({ path: 'a', column: ['*', DAY] })), null);
});

test('a file that has a column of a name beside *, or no field of an index, is named', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, 'id,day\n1,2\n');
  const refused = async (o: Partial<ReaderOptions>, message: string): Promise<void> => {
    await assert.rejects(readAll({ path, ...o }), { code: 'COLUMN_MISMATCH', place: path, message });
  };
  const twice = (name: string): string => `${path} has a column \`${name}\`, and one of that name stands beside \`*\``;
  await refused({ isFirstLineHeader: true, column: ['*', DAY] }, twice('day'));
  await refused({ column: ['*', { name: 'f1', value: 'x' }] }, twice('f1'));
  const beyond = `${path} has 2 columns; index 2 is not there`;
  await refused({ isFirstLineHeader: true, column: ['*', { name: 'c', index: 2 }] }, beyond);
  await refused({ column: ['*', { name: 'c', index: 2 }] }, beyond);
  writeFileSync(path, '\ufeff');
  const [empty] = await readAll({ path, column: ['*', DAY, { name: 'c', index: 2 }] });
  assert.deepEqual(empty?.rows, []);
});

test('a copy by index has its own type, and leaves the field alone', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, 'TRUE,007\nno,1\n');
  const column = [{ name: 'b', index: 0, type: 'boolean' }, { name: 'n', index: 1, type: 'int' }, '*'];
  const [read] = await readAll({ path, column });
  assert.deepEqual(read?.rows, [['true', '7', 'TRUE', '007']]);
  assert.deepEqual(
    read.rejected.map((r) => [r.column, r.reason.replace(/ \(.*/, '')]),
    [['b', '`no` is not a valid boolean']],
  );
});

test('a constant without a name has that of its index', async (t) => {
  const path = join(folder(t), 'a.csv');
  writeFileSync(path, 'a\n');
  const column = [{ index: 0 }, { index: 7, value: 'x' }, { index: 8, value: 'y' }];
  const [read] = await readAll({ path, column });
  assert.deepEqual(read?.rows, [['a', 'x', 'y']]);
  assert.deepEqual(namesOf(read), ['f0:string:data', 'f7:string:data', 'f8:string:data']);
  const [twice] = reader.check?.(readerOptions({ path, column: ['f1', { index: 1 }] })) ?? [];
  assert.equal(twice?.message, 'the column `f1` stands here twice');
});

async function splitsOf(
  o: Partial<ReaderOptions>,
  lanes: number,
  saved: JsonValue | null = null,
): Promise<readonly Split[]> {
  const r = await openReader(o);
  const planner = await r.planner(saved, lanes);
  const out: Split[] = [];
  for (let s = await planner.next(signal); s !== 'end'; s = await planner.next(signal)) out.push(s);
  await r.close?.();
  return out;
}

test('byte ranges for two channels: each part knows the columns and the file', async (t) => {
  const dir = reordered(t);
  const lines = Array.from({ length: 40 }, (_, i) => `n${String(i)},${String(i)}`);
  writeFileSync(join(dir, 'c.csv'), `name,id\n${lines.join('\n')}\n`);
  for (const [isFirstLineHeader, skip] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const path = isFirstLineHeader ? dir : join(dir, 'c.csv');
    const o = { path, isFirstLineHeader, splitSize: 40, column: ['*', SRC, LINE] };
    const r = await openReader(o);
    const planner = await r.planner(null, 2);
    const rows: Rows[number][] = [];
    let parts = 0;
    for (let s = await planner.next(signal); s !== 'end'; s = await planner.next(signal)) {
      const read = await readSplit(r, s, null, { bytes: 1 << 16, rows: 3 });
      assert.deepEqual(read.rejected, []);
      if (!s.id.endsWith('c.csv')) continue;
      parts++;
      rows.push(...read.rows);
    }
    await r.close?.();
    assert.ok(parts >= 8, `${String(parts)} parts`);
    const all = ['name,id', ...lines].slice(skip);
    // With a header the first file, a.csv, says the order: id, name.
    const cells = (l: string): readonly string[] => (isFirstLineHeader ? l.split(',').reverse() : l.split(','));
    assert.deepEqual(
      rows,
      all.map((l, i) => [...cells(l), 'c.csv', String(i + 1 + skip)]),
    );
  }
});

test('resumes at every position, in another process, with the columns of the first start', async (t) => {
  const dir = reordered(t);
  writeFileSync(join(dir, 'b.csv'), 'name,id\nz,3\n"a\nb",4\n\ny,5\n');
  const o = { path: dir, isFirstLineHeader: true, column: ['*', LINE, SRC] };
  const first = await openReader(o);
  const planner = await first.planner(null, 1);
  await planner.next(signal);
  const saved = JSON.parse(JSON.stringify(planner.snapshot(1))) as JsonValue;
  await first.close?.();
  const [split] = await splitsOf(o, 1, saved);
  assert.ok(split !== undefined && split.id.endsWith('b.csv'));
  const again = await openReader(o);
  await again.planner(saved, 1);
  const whole = await readSplit(again, split, null, { bytes: 1 << 16, rows: 1 });
  const want = [
    ['3', 'z', '2', 'b.csv'],
    ['4', 'a\nb', '3', 'b.csv'],
    ['5', 'y', '6', 'b.csv'],
  ];
  assert.deepEqual(whole.rows, want);
  assert.deepEqual(
    whole.positions.map((p) => p.rows),
    [1, 2, 3],
  );
  for (const p of whole.positions) {
    const rest = await readSplit(again, split, p.position);
    assert.deepEqual(rest.rows, want.slice(p.rows));
  }
  await again.close?.();
});

test('watched files get the columns of the first one that holds a record', async (t) => {
  const dir = reordered(t);
  const old = new Date('2020-01-01T00:00:00Z');
  for (const n of ['a.csv', 'b.csv']) utimesSync(join(dir, n), old, old);
  const r = await openReader({
    path: dir,
    isFirstLineHeader: true,
    watch: true,
    watchInterval: 1,
    column: [SRC, '*'],
  });
  t.after(() => r.close?.());
  const planner = await r.planner(null);
  const rows: Rows[number][] = [];
  for (let i = 0; i < 2; i++) {
    const split = await planner.next(signal);
    assert.ok(split !== 'end');
    rows.push(...(await readSplit(r, split)).rows);
  }
  assert.deepEqual(rows, [
    ['a.csv', '1', 'x,y'],
    ['a.csv', '2', null],
    ['b.csv', '3', 'z'],
  ]);
});

/** What the writer makes of all that the reader reads, one text for all its files. */
async function copied(t: TestContext, from: Partial<ReaderOptions>, to: Partial<WriterOptions>): Promise<string> {
  const out = folder(t);
  const w = await openWriter({ path: out, isFirstLineHeader: true, ...to });
  await w.begin(RUN);
  await using lane = await w.openLane(laneOf(), null);
  const r = await openReader(from);
  const planner = await r.planner(null);
  for (let split = await planner.next(signal); split !== 'end'; split = await planner.next(signal)) {
    await using reading = await r.openLane(laneOf(), r.shared?.() ?? null);
    reading.assign(split, null);
    for await (const item of reading.read(signal)) {
      if (item.is === 'batch') await lane.write(item, signal);
      if (item.is === 'splitEnd') break;
    }
  }
  await lane.prepare(1);
  await lane.commit(1);
  await w.complete(RUN);
  return readdirSync(out)
    .sort()
    .map((n) => readFileSync(join(out, n), 'utf8'))
    .join('');
}

test('the header of the target shows the names; * of the writer leaves meta columns out unless it names them', async (t) => {
  const from = { path: reordered(t), isFirstLineHeader: true, column: [SRC, '*', { name: 'k', value: 'c' }] };
  assert.equal(await copied(t, from, {}), 'id,name,k\n1,"x,y",c\n2,\\N,c\n3,z,c\n');
  assert.equal(
    await copied(t, from, { column: ['*', 'src'] }),
    'id,name,k,src\n1,"x,y",c,a.csv\n2,\\N,c,a.csv\n3,z,c,b.csv\n',
  );
  assert.equal(
    await copied(t, from, { column: ['src', '*'] }),
    'src,id,name,k\na.csv,1,"x,y",c\na.csv,2,\\N,c\nb.csv,3,z,c\n',
  );
  assert.equal(await copied(t, from, { column: ['src', 'name'] }), 'src,name\na.csv,"x,y"\na.csv,\\N\nb.csv,z\n');
  assert.equal(
    await copied(t, from, { column: ['*', { name: 'src' }], fileType: 'json', isFirstLineHeader: false }),
    '{"id":"1","name":"x,y","k":"c","src":"a.csv"}\n' +
      '{"id":"2","name":null,"k":"c","src":"a.csv"}\n{"id":"3","name":"z","k":"c","src":"b.csv"}\n',
  );
  await assert.rejects(copied(t, from, { column: ['*', 'id'] }), {
    code: 'COLUMN_MISMATCH',
    message: 'the writer names the column `id` beside `*`, which writes it already',
  });
  await assert.rejects(copied(t, from, { column: ['*', 'nope'] }), {
    code: 'COLUMN_MISMATCH',
    message: 'the writer names the column `nope` beside `*`, and the reader does not deliver it',
  });
  assert.equal(writer.columns?.(writerOptions({ path: 'a', column: ['*', 'src'] })), null);
  assert.deepEqual(writer.columns?.(writerOptions({ path: 'a', column: ['id', 'src'] })), ['id', 'src']);
});
