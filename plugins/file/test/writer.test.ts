import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { BatchBuilder, OP_DELETE, internSchema, type RowBatch, type RowSchema, type Writer } from 'syncx/plugin-api';
import { writer } from '../index.js';
import { RUN, folder, laneOf, openWriter, readAll, writerOptions, type Rows, type WriterOptions } from './drive.js';

const schemaOf = (...names: readonly string[]): RowSchema =>
  internSchema(names.map((name) => ({ name, type: { is: 'string' } as const })));
const AB = schemaOf('a', 'b');

function batchOf(schema: RowSchema, rows: Rows): RowBatch {
  const b = new BatchBuilder(schema);
  for (const row of rows) {
    for (const cell of row) {
      if (cell === null) b.appendNull();
      else b.appendText(cell);
    }
    b.endRow();
  }
  return b.finish('s', null, 0);
}

const signal = new AbortController().signal;

/** Writes the batches as one epoch and commits it. */
async function writeEpoch(w: Writer, ...batches: readonly RowBatch[]): Promise<readonly unknown[]> {
  await w.begin(RUN);
  const lane = await w.openLane(laneOf(), null);
  const rejected: unknown[] = [];
  let bytes = 0;
  for (const b of batches) {
    const r = await lane.write(b, signal);
    rejected.push(...(r.rejected ?? []));
    bytes += r.bytes;
  }
  const prepared = await lane.prepare(1);
  bytes += prepared.bytes;
  const sizes = prepared.committables.map((c) => (c.data as { size: number }).size);
  assert.equal(
    bytes,
    sizes.reduce((sum, n) => sum + n, 0),
  );
  await lane.commit(1);
  await w.complete(RUN);
  await w.complete(RUN);
  await lane[Symbol.asyncDispose]();
  return rejected;
}

const contents = (dir: string): readonly string[] =>
  readdirSync(dir)
    .sort()
    .map((n) => readFileSync(join(dir, n), 'utf8'));

test('the formats, and the names that follow from them', async (t) => {
  const rows = batchOf(AB, [
    ['1', 'x,"y"'],
    [null, 'é'],
  ]);
  const cases: readonly (readonly [Partial<WriterOptions>, string, string])[] = [
    [{}, '.csv', '1,"x,""y"""\n\\N,é\n'],
    [{ isFirstLineHeader: true, fieldDelimiter: '\\t', nullFormat: '' }, '.csv', 'a\tb\n1\t"x,""y"""\n\té\n'],
    [{ fileType: 'json' }, '.jsonl', '{"a":"1","b":"x,\\"y\\""}\n{"a":null,"b":"é"}\n'],
    [{ fileType: 'text', fieldDelimiter: '\\u0001' }, '.txt', '1\u0001x,"y"\n\\N\u0001é\n'],
    [{ column: ['b', 'a'] }, '.csv', '"x,""y""",1\né,\\N\n'],
  ];
  for (const [o, suffix, want] of cases) {
    const dir = join(folder(t), 'out');
    await writeEpoch(await openWriter({ path: dir, ...o }), rows);
    assert.deepEqual(readdirSync(dir), [`part-run0run0run0-000-000001-0000${suffix}`]);
    assert.deepEqual(contents(dir), [want]);
  }
});

test('prefix, suffix and file name', async (t) => {
  for (const [o, want] of [
    [{ fileNamePrefix: 'x-', fileNameSuffix: '.dat' }, 'x-run0run0run0-000-000001-0000.dat'],
    [{ fileName: 'orders', compress: 'gzip' }, 'orders-run0run0run0-000-000001-0000.csv.gz'],
  ] as const) {
    const dir = folder(t);
    await writeEpoch(await openWriter({ path: dir, ...o }), batchOf(AB, [['1', '2']]));
    assert.deepEqual(readdirSync(dir), [want]);
  }
});

test('a prefix or suffix that no file name takes is found before any row is read', () => {
  const found = (o: Partial<WriterOptions>): readonly string[] =>
    (writer.check?.(writerOptions({ path: 'a', ...o })) ?? []).map((f) => f.path);
  assert.deepEqual(found({ fileNamePrefix: 'x'.repeat(100), fileNameSuffix: 'é'.repeat(50) }), []);
  assert.deepEqual(found({ fileNamePrefix: 'x'.repeat(101), fileNameSuffix: 'é'.repeat(51) }), [
    'fileNamePrefix',
    'fileNameSuffix',
  ]);
  assert.deepEqual(found({ fileName: 'x'.repeat(100) }), ['fileName']);
  assert.deepEqual(found({ fileNamePrefix: 'a\0' }), ['fileNamePrefix']);
});

test('gzip files are whole and read back', async (t) => {
  const dir = folder(t);
  const rows = Array.from({ length: 60_000 }, (_, i) => [String(i), `text ${String(i * 7919)}`]);
  await writeEpoch(await openWriter({ path: dir, compress: 'gzip' }), batchOf(AB, rows), batchOf(AB, rows));
  const [name = ''] = readdirSync(dir);
  assert.equal(
    gunzipSync(readFileSync(join(dir, name)))
      .toString()
      .split('\n').length,
    120_001,
  );
  assert.deepEqual((await readAll({ path: dir }))[0]?.rows, [...rows, ...rows]);
});

test('an epoch without rows makes no file and leaves no folder behind', async (t) => {
  const dir = folder(t);
  await writeEpoch(await openWriter({ path: dir, isFirstLineHeader: true }), batchOf(AB, []));
  assert.deepEqual(readdirSync(dir), []);
});

test('rows that are all refused make no file; the others are written', async (t) => {
  const dir = folder(t);
  const w = await openWriter({ path: dir, fileType: 'text' });
  assert.equal((await writeEpoch(w, batchOf(AB, [['x,y', 'z']]))).length, 1);
  assert.deepEqual(readdirSync(dir), []);
});

test('a file that is large enough is closed; none is cut inside a row, and each has its header', async (t) => {
  const dir = folder(t);
  const rows = Array.from({ length: 50 }, (_, i) => [String(i), 'x'.repeat(100_000)]);
  await writeEpoch(await openWriter({ path: dir, maxFileSize: 1_500_000, isFirstLineHeader: true }), batchOf(AB, rows));
  const files = contents(dir);
  assert.equal(files.length, 3);
  assert.equal(
    files.every((f) => f.startsWith('a,b\n') && f.endsWith('x\n')),
    true,
  );
  assert.deepEqual(
    (await readAll({ path: dir, isFirstLineHeader: true })).flatMap((s) => s.rows),
    rows,
  );
});

test('each epoch has files of its own; abort leaves nothing of its own and keeps what is committed', async (t) => {
  const dir = folder(t);
  const w = await openWriter({ path: dir });
  await w.begin(RUN);
  const lane = await w.openLane(laneOf(), null);
  await lane.write(batchOf(AB, [['1', 'a']]), signal);
  await lane.prepare(1);
  await lane.commit(1);
  await lane.write(batchOf(AB, [['2', 'b']]), signal);
  await lane.abort(2);
  await lane.write(batchOf(AB, [['3', 'c']]), signal);
  await lane.prepare(2);
  await lane.abort(2);
  await lane.write(batchOf(AB, [['4', 'd']]), signal);
  await lane.prepare(2);
  assert.deepEqual(readdirSync(join(dir, '.syncx-run0run0run0')).length, 1);
  await lane.commit(2);
  await lane.write(batchOf(AB, [['5', 'e']]), signal);
  await lane[Symbol.asyncDispose]();
  await w.complete(RUN);
  assert.deepEqual(contents(dir), ['1,a\n', '4,d\n']);
});

test('a column that the reader does not deliver is an error before anything is written', async (t) => {
  const dir = join(folder(t), 'out');
  const w = await openWriter({ path: dir, column: ['a', 'b', 'nope'] });
  const lane = await w.openLane(laneOf(), null);
  await assert.rejects(lane.write(batchOf(AB, [['1', '2']]), signal), {
    code: 'COLUMN_MISMATCH',
    hint: 'The reader delivers `a`, `b`. Name some of these, or as many as there are.',
  });
  assert.equal(existsSync(dir), false);
});

test('rows of other columns: a file of their own with a header, an error without, no matter in JSON', async (t) => {
  const other = batchOf(schemaOf('a', 'c'), [['3', '4']]);
  const first = batchOf(AB, [['1', '2']]);
  const csv = folder(t);
  await writeEpoch(await openWriter({ path: csv, isFirstLineHeader: true }), first, other);
  assert.deepEqual(contents(csv), ['a,b\n1,2\n', 'a,c\n3,4\n']);
  const json = folder(t);
  await writeEpoch(await openWriter({ path: json, fileType: 'json' }), first, other);
  assert.deepEqual(contents(json), ['{"a":"1","b":"2"}\n{"a":"3","c":"4"}\n']);
  const lane = await (await openWriter({ path: folder(t) })).openLane(laneOf(), null);
  await lane.write(first, signal);
  await assert.rejects(lane.write(other, signal), { code: 'COLUMN_MISMATCH' });
  await lane[Symbol.asyncDispose]();
});

test('updates and deletes are refused: a file can only grow', async (t) => {
  const b = new BatchBuilder(AB);
  b.appendText('1');
  b.appendText('2');
  b.endRow(OP_DELETE);
  const lane = await (await openWriter({ path: folder(t) })).openLane(laneOf(), null);
  await assert.rejects(lane.write(b.finish('s', null, 0), signal), { code: 'JOB_INVALID' });
});

test('what standard output cannot do, double columns and unknown encodings are found, each with its path', () => {
  const paths = (o: Partial<WriterOptions>): readonly string[] =>
    (writer.check?.(writerOptions({ path: 'a', ...o })) ?? []).map((f) => f.path);
  assert.deepEqual(paths({}), []);
  assert.deepEqual(paths({ writeMode: 'overwrite' }), []);
  assert.deepEqual(paths({ writeMode: 'overwrite', successFile: true, path: '-' }), ['writeMode', 'successFile']);
  assert.deepEqual(paths({ column: ['a', 'a', '*', '*'] }), ['column[1]', 'column[3]']);
  assert.deepEqual(paths({ encoding: 'gbk' }), []);
  assert.deepEqual(paths({ encoding: 'klingon' }), ['encoding']);
});

for (const fileType of ['csv', 'json', 'text'] as const) {
  test(`parts smaller than a header or a row hold one row each (${fileType})`, { timeout: 10_000 }, async (t) => {
    const dir = folder(t);
    const w = await openWriter({ path: dir, fileType, isFirstLineHeader: true, maxFileSize: 1 });
    await writeEpoch(
      w,
      batchOf(AB, [
        ['1', '2'],
        ['3', '4'],
      ]),
    );
    assert.equal(contents(dir).length, 2);
    assert.ok(contents(dir).every((c) => c.split('\n').length === (fileType === 'json' ? 2 : 3)));
  });
}

test('a `path` that is a file, or lies below one, is told as such', async (t) => {
  const file = join(folder(t), 'file');
  writeFileSync(file, 'theirs');
  for (const path of [file, join(file, 'out')]) {
    await assert.rejects((await openWriter({ path })).begin(RUN), {
      code: 'SINK_CONFLICT',
      place: file,
      message: `${file} is a file, not a folder`,
    });
  }
  assert.equal(readFileSync(file, 'utf8'), 'theirs');
});

test('a target folder that is gone at the end is an error; published files that were taken are not', async (t) => {
  for (const gone of ['files', 'folder'] as const) {
    const dir = join(folder(t), 'out');
    const w = await openWriter({ path: dir });
    await w.begin(RUN);
    const lane = await w.openLane(laneOf(), null);
    await lane.write(batchOf(AB, [['1', 'a']]), signal);
    await lane.prepare(1);
    await lane.commit(1);
    if (gone === 'files') for (const n of readdirSync(dir)) if (!n.startsWith('.')) rmSync(join(dir, n));
    if (gone === 'folder') rmSync(dir, { recursive: true });
    if (gone === 'files') await w.complete(RUN);
    else await assert.rejects(w.complete(RUN), { code: 'SINK_IO', place: dir, message: /has vanished/ });
    assert.equal(existsSync(dir), gone === 'files');
    await lane[Symbol.asyncDispose]();
  }
});

test('staged files of another run are named in a warning and left alone', async (t) => {
  const dir = folder(t);
  mkdirSync(join(dir, '.syncx-other0other0'));
  mkdirSync(join(dir, '.syncx-empty0empty0'));
  mkdirSync(join(dir, '.syncx-run0run0run0'));
  for (const run of ['other0other0', 'run0run0run0']) writeFileSync(join(dir, `.syncx-${run}`, '1-0-0.part'), 'x');
  const warnings: string[] = [];
  const quiet = (): void => undefined;
  const warn = (_fields: unknown, message: string): void => void warnings.push(message);
  const w = await openWriter({ path: dir }, { log: { debug: quiet, info: quiet, warn, error: quiet } });
  await w.begin(RUN);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /1 staged file\(s\) of run other0other0.* remove .*\/\.syncx-other0other0$/);
  assert.deepEqual(readdirSync(join(dir, '.syncx-other0other0')), ['1-0-0.part']);
});
