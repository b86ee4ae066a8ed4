/** sync verify between files: what differs is found, named and counted; what only looks different is not. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sync, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';
import { assertGolden } from '../unit/cli/golden.js';

interface JobParts {
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly transform?: readonly unknown[];
  readonly setting?: Readonly<Record<string, unknown>>;
}

const TYPED = [
  { name: 'id', type: 'bigint' },
  { name: 'name' },
  { name: 'amount', type: 'decimal(10,2)' },
  { name: 'born', type: 'date' },
];

function fileJob(ws: Workspace, { reader, writer, transform, setting }: JobParts = {}): string {
  const from = { path: 'in', fileType: 'csv', isFirstLineHeader: true, column: TYPED, ...reader };
  const content = {
    reader: { name: 'filereader', parameter: from },
    writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json', ...writer } },
    ...(transform ? { transform } : {}),
  };
  return ws.job({ job: { content: [content], setting: setting ?? {} } });
}

const ROWS = ['1,Ada,1.50,1815-12-10', '2,Linus,\\N,1969-12-28', '3,"a ""b"", c",7.00,\\N', '4,,0.10,2001-01-01'];

function writeRows(ws: Workspace, rows: readonly string[] = ROWS): void {
  ws.write('in/rows.csv', `id,name,amount,born\n${rows.join('\n')}\n`);
}

const run = (ws: Workspace, ...args: readonly string[]): Promise<SyncResult> => sync(args, { cwd: ws.dir });

interface Told {
  readonly equal: boolean | null;
  readonly exitCode: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly parts: readonly {
    readonly equal: boolean;
    readonly key: readonly string[];
    readonly notes: readonly string[];
    readonly source: { readonly rows: number; readonly unreadable: number; readonly filtered: number };
    readonly target: { readonly rows: number; readonly unreadable: number };
    readonly differences: {
      readonly missing: number;
      readonly extra: number;
      readonly different: number;
      readonly complete: boolean;
      readonly first: readonly unknown[];
    };
  }[];
}

async function verify(ws: Workspace, job: string, ...args: readonly string[]): Promise<Told> {
  const r = await run(ws, 'verify', job, '--output', 'json', ...args);
  const told = r.summary as unknown as Told;
  assert.equal(told.exitCode, r.code, r.stderr);
  return told;
}

async function copied(ws: Workspace, parts: JobParts = {}): Promise<string> {
  writeRows(ws);
  const job = fileJob(ws, parts);
  const r = await run(ws, 'run', job);
  assert.equal(r.code, 0, r.stderr);
  return job;
}

const only = (dir: string): string => {
  const [name, ...more] = readdirSync(dir);
  assert.deepEqual(more, []);
  return join(dir, name ?? '');
};

/** The one file of the target, its lines changed. */
function change(ws: Workspace, edit: (lines: string[]) => readonly string[]): void {
  const path = only(ws.path('out'));
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(path, `${edit(lines).join('\n')}\n`);
}

function counts(t: Told): readonly unknown[] {
  const [p] = t.parts;
  return [t.equal, t.exitCode, p?.differences.missing, p?.differences.extra, p?.differences.different];
}

const LAYOUTS: readonly Readonly<Record<string, unknown>>[] = [
  { fileType: 'json' },
  { fileType: 'csv' },
  { fileType: 'csv', isFirstLineHeader: true },
  { fileType: 'csv', header: ['a', 'b', 'c', 'd'], nullFormat: '', compress: 'gzip' },
  { fileType: 'csv', fieldDelimiter: '\\u0001', encoding: 'utf-16', nullFormat: 'NULL' },
  { fileType: 'text', fieldDelimiter: '|', compress: 'zstd' },
  { fileType: 'json', column: ['born', 'id'] },
  { fileType: 'csv', column: ['w', 'x', 'y', 'z'], isFirstLineHeader: true },
  { fileType: 'csv', bucket: 'column', bucketColumn: 'id' },
  { fileType: 'json', fileNamePrefix: 'a+(b)-', fileNameSuffix: '.x.jsonl', path: 'out [1]' },
];

for (const layout of LAYOUTS) {
  test(`what was copied is equal, and a lost row is missing: ${JSON.stringify(layout)}`, async () => {
    using ws = new Workspace();
    const job = await copied(ws, { writer: layout });
    ws.write(`${String(layout['path'] ?? 'out')}/someone-elses.csv`, 'is not read\n');
    assert.deepEqual(counts(await verify(ws, job)), [true, 0, 0, 0, 0]);
    writeRows(ws, [...ROWS, '5,Grace,2.00,1906-12-09']);
    assert.deepEqual(counts(await verify(ws, job)), [false, 1, 1, 0, 0]);
  });
}

test('without a key whole rows are compared; with --key the column that differs is named', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  change(ws, (lines) => lines.map((l) => l.replace('Linus', 'Linux')));
  assert.deepEqual(counts(await verify(ws, job)), [false, 1, 1, 1, 0]);
  const told = await verify(ws, job, '--key', 'id');
  assert.deepEqual(counts(told), [false, 1, 0, 0, 1]);
  assert.deepEqual(told.parts[0]?.differences.first, [
    { is: 'different', key: { id: '2' }, columns: [{ name: 'name', source: 'Linus', target: 'Linux' }] },
  ]);
});

test('NULL is not an empty text, and trailing zeros are no difference', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  change(ws, (lines) => lines.map((l) => l.replace('1.50', '1.5').replace('7.00', '7')));
  assert.deepEqual(counts(await verify(ws, job)), [true, 0, 0, 0, 0]);
  change(ws, (lines) => lines.map((l) => l.replace('"name":""', '"name":null')));
  const told = await verify(ws, job, '--key', 'id');
  assert.deepEqual(told.parts[0]?.differences.first, [
    { is: 'different', key: { id: '4' }, columns: [{ name: 'name', source: '', target: null }] },
  ]);
});

test('values that changed places between two rows, rows twice, and a pair for a pair are found', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  const path = only(ws.path('out'));
  const before = readFileSync(path, 'utf8');
  change(ws, (lines) => lines.map((l) => l.replace(/Ada|Linus/, (m) => (m === 'Ada' ? 'Linus' : 'Ada'))));
  assert.deepEqual(counts(await verify(ws, job, '--key', 'id')), [false, 1, 0, 0, 2], 'changed places');
  writeFileSync(path, before);
  change(ws, (lines) => [...lines, lines[0] ?? '', lines[0] ?? '']);
  assert.deepEqual(counts(await verify(ws, job)), [false, 1, 0, 2, 0], 'a row three times');
  assert.deepEqual(counts(await verify(ws, job, '--key', 'id')), [false, 1, 0, 2, 0], 'three times, by key');
  writeFileSync(path, before);
  writeRows(ws, [ROWS[0] ?? '', ROWS[0] ?? '']);
  change(ws, (lines) => [lines[1] ?? '', lines[1] ?? '']);
  assert.deepEqual(counts(await verify(ws, job)), [false, 1, 2, 2, 0], 'a pair for a pair');
});

test('an empty source and an empty target', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  writeRows(ws, []);
  assert.deepEqual(counts(await verify(ws, job)), [false, 1, 0, 4, 0]);
  rmSync(only(ws.path('out')));
  assert.deepEqual(counts(await verify(ws, job)), [true, 0, 0, 0, 0]);
  writeRows(ws);
  assert.deepEqual(counts(await verify(ws, job)), [false, 1, 4, 0, 0]);
  rmSync(ws.path('out'), { recursive: true });
  const told = await verify(ws, job);
  assert.deepEqual(counts(told), [false, 1, 4, 0, 0]);
  assert.match(told.parts[0]?.notes.join() ?? '', /^The target is not there, which counts as an empty one: /);
});

test('transforms are applied to the source: what they filter is not missing', async () => {
  using ws = new Workspace();
  const transform = [
    { op: 'filter', where: 'id > 1' },
    { op: 'mask', columns: ['name'], method: 'sha256' },
    { op: 'rename', columns: { amount: 'eur' } },
  ];
  const job = await copied(ws, { transform });
  const told = await verify(ws, job);
  assert.deepEqual(counts(told), [true, 0, 0, 0, 0]);
  assert.deepEqual(
    [told.parts[0]?.source, told.parts[0]?.target.rows],
    [{ rows: 3, unreadable: 0, why: null, filtered: 1 }, 3],
  );
});

test('rows that a run refuses are told and not compared; rows of the target that cannot be read are a difference', async () => {
  using ws = new Workspace();
  const job = await copied(ws, { setting: { errorLimit: { record: 1 } } });
  writeRows(ws, [...ROWS, 'x,no number,1.00,2000-01-01']);
  const told = await verify(ws, job);
  assert.deepEqual(counts(told), [true, 0, 0, 0, 0]);
  assert.match(
    told.parts[0]?.notes.join() ?? '',
    /^1 row of the source cannot be read, as in a run, and is not compared: .*rows\.csv:6/,
  );
  appendFileSync(only(ws.path('out')), '{"id":"y"}\n');
  const after = await verify(ws, job);
  assert.deepEqual([...counts(after), after.parts[0]?.target.unreadable], [false, 1, 0, 0, 0, 1]);
});

test('a text source without types is compared with what the target has', async () => {
  using ws = new Workspace();
  const job = await copied(ws, { reader: { column: ['*'] }, writer: { fileType: 'csv' } });
  assert.deepEqual(counts(await verify(ws, job)), [true, 0, 0, 0, 0]);
});

test('refused: standard input, a job without an end, a target that is gone, a key that is none, repair of files', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  const refusal = async (parts: JobParts, ...args: readonly string[]): Promise<string> => {
    const told = await verify(ws, fileJob(ws, parts), ...args);
    assert.deepEqual([told.equal, told.exitCode], [null, 2]);
    return `${told.error?.code ?? ''}: ${told.error?.message ?? ''}`;
  };
  assert.equal(
    await refusal({ reader: { path: '-' } }),
    'JOB_INVALID: the rows of the file reader cannot be read again, so there is nothing to compare with',
  );
  assert.match(await refusal({ reader: { watch: true } }), /^JOB_INVALID: the job does not end by itself/);
  assert.match(
    await refusal({ writer: { path: '-' } }),
    /^JOB_INVALID: what the file writer has written cannot be read again/,
  );
  assert.match(await refusal({}, '--key', 'nope'), /^USAGE: --key names the column `nope`, which is not compared/);
  writeRows(ws, ROWS.slice(1));
  assert.match(await refusal({}, '--repair'), /^JOB_INVALID: nothing was repaired: the file writer can only add rows/);
  assert.equal(readFileSync(only(ws.path('out')), 'utf8').split('\n').length, 5, job);
});

test('many rows, of which few differ: all of these are named', async () => {
  using ws = new Workspace();
  const rows = Array.from({ length: 50_000 }, (_, i) => `${String(i)},name ${String(i)},${String(i)}.25,2001-01-01`);
  writeRows(ws, rows);
  const job = fileJob(ws, { setting: { speed: { channel: 2 } } });
  assert.equal((await run(ws, 'run', job)).code, 0);
  assert.deepEqual(counts(await verify(ws, job, '--key', 'id')), [true, 0, 0, 0, 0]);
  writeRows(
    ws,
    rows.map((r, i) => (i % 10_000 === 7 ? r.replace('.25', '.26') : r)).filter((_, i) => i !== 123),
  );
  assert.deepEqual(counts(await verify(ws, job, '--key', 'id')), [false, 1, 0, 1, 5]);
});

test('setting.verify: a run whose target differs ends with 1 and says so; one that could not be compared does not begin', async () => {
  using ws = new Workspace();
  const setting = { verify: true };
  const job = await copied(ws, { setting });
  // The second run adds the rows once more.
  const twice = await run(ws, 'run', job, '--output', 'json');
  assert.equal(twice.code, 1);
  assert.deepEqual([twice.summary?.state, twice.summary?.error?.code], ['finished', 'TARGET_DIFFERS']);
  assert.match(twice.stderr, /^sync: TARGET_DIFFERS: source and target differ: 4 rows differ: 4 only in the target/m);
  const overwriting = fileJob(ws, { setting, writer: { writeMode: 'overwrite' } });
  const good = await run(ws, 'run', overwriting, '--fresh', '--job-id', 'other');
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, /^verified {2}equal$/m);
  for (const parts of [{ reader: { watch: true } }, { reader: { path: '-' } }, { writer: { path: '-' } }]) {
    const r = await run(ws, 'run', fileJob(ws, { setting, ...parts }), '--job-id', 'third');
    assert.equal(r.code, 2, r.stderr);
    assert.match(r.stderr, /JOB_INVALID/);
  }
});

test('secrets that a plugin tells are kept back', async () => {
  using ws = new Workspace();
  const secret = 'canary-of-verify';
  const parameter = { splits: [{ id: 'a', rows: 5 }], password: secret, leak: true };
  const writer = { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } };
  const job = ws.job({ job: { content: [{ reader: { name: 'scripted', parameter }, writer }] } });
  assert.equal((await run(ws, 'run', job)).code, 0);
  rmSync(only(ws.path('out')));
  const told = [await run(ws, 'verify', job), await run(ws, 'verify', job, '--output', 'json')];
  for (const r of told) {
    assert.equal(r.code, 1, r.stderr);
    assert.match(r.stderr, /\*\*\*/, 'it was told, and kept back');
    assert.ok(!`${r.stdout}${r.stderr}`.includes(secret));
  }
});

test('the text that people get', async () => {
  using ws = new Workspace();
  const job = await copied(ws);
  change(ws, (lines) => [...lines.slice(1).map((l) => l.replace('Linus', 'Linux')), '{"id":9,"name":"new"}']);
  const r = await run(ws, 'verify', job, '--key', 'id');
  assert.equal(r.code, 1);
  const text = r.stdout.replaceAll(`${ws.dir}/`, '').replace(/\d+\.\d{3} s/, 'TIME');
  assertGolden('verify.txt', text);
});
