/**
 * Job files as they are written for FlinkX, ChunJun and DataX, of every version whose names differ: all are accepted as
 * they stand, with exactly the words of `expected.txt`, and those whose plugins are here run.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadJob } from '../../src/config/load-job.js';
import { renderProblem } from '../../src/config/problem.js';
import { Registry } from '../../src/registry/registry.js';
import { ROOT, sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const FOLDER = join(ROOT, 'test/fixtures/jobs');
const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((e) => e.isDirectory())
  .flatMap((d) => readdirSync(join(FOLDER, d.name)).map((n) => `${d.name}/${n}`))
  .sort();

/** By the name of the job file: the lines that are told of it. */
const expected = new Map<string, readonly string[]>(
  readFileSync(join(FOLDER, 'expected.txt'), 'utf8')
    .split(/^== /m)
    .slice(1)
    .map((block) => {
      const [name = '', ...lines] = block.trimEnd().split('\n');
      return [name, lines];
    }),
);

/** Those that are run, and the rows that come through. A job that another plugin is missing for is only validated. */
const RUNS: Readonly<Record<string, number>> = {
  'chunjun-1.12/file-file.json': 3,
  'chunjun-1.12/stream-stream.json': 30,
  'chunjun-1.16/stream-file.json': 5,
  'chunjun-1.16/stream-stream.json': 25,
  'datax/job.json': 10,
  'datax/stream-stream.json': 10,
  'datax/txtfile-format.json': 3,
  'datax/txtfile-stream.json': 3,
  'datax/txtfile-txtfile.json': 3,
  'flinkx-1.10/stream-file.json': 20,
  'flinkx-1.10/stream-stream.json': 20,
  'flinkx-1.8/restart-and-test.json': 20,
  'flinkx-1.8/stream-stream.json': 20,
};

test('every job file has its expectation, and no expectation is left over', () => {
  assert.deepEqual([...expected.keys()].sort(), names);
  assert.ok(names.length >= 20, String(names.length));
});

for (const name of names) {
  test(`${name} is accepted as it stands`, async () => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    const r = await loadJob({ text, name: 'job', defaultJobId: '/job' }, new Registry({}));
    assert.deepEqual(r.problems.map(renderProblem), expected.get(name));
    // A plugin that is not there is all that may be wrong: frame and settings are right already.
    const wrong = r.problems.filter((p) => p.level === 'error' && p.code !== 'PLUGIN_UNKNOWN');
    assert.deepEqual(wrong, []);
    if (Object.hasOwn(RUNS, name)) assert.ok(r.ok);
  });
}

for (const [name, rows] of Object.entries(RUNS)) {
  test(`${name} runs`, async () => {
    using ws = new Workspace();
    cpSync(join(FOLDER, name), ws.path('job.json'));
    ws.write('in/a.csv', 'id,name,born\n1,Ada,10.12.1815\n2,"Ly, Ana",01.02.1990\n3,\\N,29.02.2024\n');
    ws.write('out/other-job.csv', 'of another job\n');
    const r = await sync(['run', 'job.json', '--output', 'json'], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stderr);
    assert.deepEqual([r.summary?.read, r.summary?.written, r.summary?.dirty], [rows, rows, 0]);
    const warnings = (expected.get(name) ?? []).map((l) => l.replace(/^job/, 'job.json'));
    const told = r.stderr.split('\n').filter((l) => /^job\.json:\d/.test(l));
    assert.deepEqual(told, warnings);
    if (name === 'datax/txtfile-txtfile.json') {
      assert.deepEqual(publishedLines(ws.path('out')), [
        '1,Ada,1815-12-10,shop',
        '2,"Ly, Ana",1990-02-01,shop',
        '3,\\N,2024-02-29,shop',
        'id,name,born,src',
        'of another job',
      ]);
    }
    if (name === 'datax/txtfile-format.json')
      assert.equal(publishedLines(ws.path('out'))[0], '1,1815-12-10,2024-01-01 10:00:00');
    if (name === 'chunjun-1.12/file-file.json') {
      assert.deepEqual(publishedLines(ws.path('out'))[1], '{"id":1,"name":"Ada","born":"1815-12-10"}');
    }
  });
}

test('truncate takes only the files of its own name, and leaves those of another job', async () => {
  using ws = new Workspace();
  cpSync(join(FOLDER, 'datax/txtfile-txtfile.json'), ws.path('job.json'));
  ws.write('in/a.csv', 'id,name,born\n1,Ada,10.12.1815\n');
  ws.write('out/people_old.csv', 'old\n');
  ws.write('out/orders_1.csv', 'kept\n');
  for (let i = 0; i < 2; i++) {
    const r = await sync(['run', 'job.json', '--output', 'json'], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stderr);
  }
  assert.deepEqual(publishedLines(ws.path('out')), ['1,Ada,1815-12-10,shop', 'id,name,born,src', 'kept']);
});
