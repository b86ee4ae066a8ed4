/** Transforms through the command line: DataX's sample, secrets, rows that do not fit, start-up. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { ROOT, sync, type SyncResult } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

interface Parts {
  readonly transform?: readonly unknown[];
  readonly transformer?: unknown;
  readonly setting?: object;
}

const COLUMNS = [
  { name: 'a', type: 'string' },
  { name: 'b', type: 'long' },
  { name: 'c', type: 'date' },
  { name: 'd', type: 'string' },
];

function runJob(ws: Workspace, parts: Parts): Promise<SyncResult> {
  ws.write('in.csv', 'dataxTest,19491001,1949-10-01,xyz\nx,9007199254740993,2024-02-29,\n');
  const { setting = {}, ...steps } = parts;
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path: 'in.csv', fileType: 'csv', column: COLUMNS } },
          ...steps,
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json' } },
        },
      ],
      setting,
    },
  });
  return sync(['run', job, '--output', 'json'], { cwd: ws.dir });
}

test("DataX's own sample of transformers", async () => {
  using ws = new Workspace();
  const r = await runJob(ws, {
    transformer: [
      { name: 'dx_substr', parameter: { columnIndex: 3, paras: ['1', '3'] } },
      { name: 'dx_replace', parameter: { columnIndex: 2, paras: ['3', '4', '****'] } },
      { name: 'dx_digest', parameter: { columnIndex: 1, paras: ['md5', 'toLowerCase'] } },
      { name: 'dx_pad', parameter: { columnIndex: 0, paras: ['l', '12', '-'] } },
      { name: 'dx_filter', parameter: { columnIndex: 3, paras: ['like', ''.padEnd(3, '.')] } },
    ],
    setting: { errorLimit: { record: 1 } },
  });
  assert.equal(r.code, 0, r.stderr);
  // The second row's empty text begins before the position 1.
  assert.deepEqual([r.summary?.read, r.summary?.written, r.summary?.dirty, r.summary?.['filtered']], [2, 1, 1, 0]);
  assert.deepEqual(publishedLines(ws.path('out')), [
    JSON.stringify({ a: '---dataxTest', b: '6253ae5ff176f06937f80ed7ba47df32', c: '194****-01', d: 'yz' }),
  ]);
});

test('dx_filter takes out what it is true of, exactly', async () => {
  using ws = new Workspace();
  const paras = ['>=', '9007199254740992.5'];
  const r = await runJob(ws, { transformer: [{ name: 'dx_filter', parameter: { columnIndex: 1, paras } }] });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual([r.summary?.written, r.summary?.['filtered']], [1, 1]);
  assert.equal((JSON.parse(publishedLines(ws.path('out'))[0] ?? '') as { b: number }).b, 19491001);
});

test('the salt of a mask is in no file and no output of a run', async () => {
  using ws = new Workspace();
  const transform = [
    { op: 'mask', columns: ['a'], method: 'sha256', salt: 'canary-4711' },
    { op: 'cast', column: 'd', type: 'int' },
  ];
  const r = await runJob(ws, { transform, setting: { errorLimit: { record: 5 } } });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.dirty, 2);
  const texts = [r.stdout, r.stderr];
  for (const name of tree(ws.dir))
    if (!name.endsWith('/') && name !== 'job.json') texts.push(readFileSync(ws.path(name), 'latin1'));
  assert.ok(texts.length > 6);
  assert.ok(
    texts.some((t) => t.includes('"op":"mask"')),
    'the run record knows the steps',
  );
  for (const t of texts) assert.ok(!t.includes('canary-4711'));
});

test('rows that do not fit the steps end the job and name the step', async () => {
  using ws = new Workspace();
  const r = await runJob(ws, { transform: [{ op: 'filter', where: 'b > a' }] });
  assert.equal(r.code, 2, r.stderr);
  assert.equal(r.summary?.error?.code, 'COLUMN_MISMATCH');
  assert.equal(r.summary.error.place, 'transform[0].where');
  assert.match(r.summary.error.message, /^an integer cannot be compared with a text \(at "> a", character 3\)$/);
  assert.deepEqual(tree(ws.path('out')), []);
});

test('a limit of dirty rows counts those of the steps', async () => {
  using ws = new Workspace();
  const r = await runJob(ws, {
    transform: [{ op: 'cast', column: 'd', type: 'int' }],
    setting: { errorLimit: { record: 1 } },
  });
  assert.equal(r.code, 3, r.stderr);
  assert.equal(r.summary?.error?.code, 'DIRTY_LIMIT');
});

/** Files that a module loads at once: its static imports, and theirs. */
function loaded(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const m of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*?from '(\.[^']+)'/gm)) {
    loaded(join(dirname(file), m[1] ?? ''), seen);
  }
  return seen;
}

test('no start loads the code of transforms that has none', () => {
  const dist = join(ROOT, 'dist/src');
  for (const entry of ['cli/main.js', 'config/load-job.js', 'core/job/run-job.js', 'worker/lane-worker.js']) {
    const files = [...loaded(join(dist, entry))].map((f) => relative(dist, f));
    assert.ok(files.length > 5);
    assert.deepEqual(
      files.filter((f) => /^(expr|cells|core\/transform)\/|config\/(transform|datax)/.test(f)),
      [],
      entry,
    );
  }
  assert.ok(loaded(join(dist, 'core/transform/row-transform.js')).has(join(dist, 'expr/parse.js')));
});
