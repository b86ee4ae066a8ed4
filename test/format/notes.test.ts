/** What newer features put into the state folder: fields that are there only where a job uses them, in format 1. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sync } from '../support/sync.js';
import { tree, Workspace } from '../support/workspace.js';
import { documentOf } from './stored.js';

type Document = Readonly<Record<string, unknown>>;

const CSV_TO_CSV = {
  reader: { name: 'file', parameter: { path: 'in.csv' } },
  writer: { name: 'file', parameter: { path: 'out' } },
};

async function killedAt(ws: Workspace, job: object, failpoint: string): Promise<void> {
  const r = await sync(['run', ws.job(job), '-p', 'day=1'], { cwd: ws.dir, failpoint });
  assert.equal(r.signal, 'SIGKILL', r.stderr);
}

/** The documents of a name, by the job's folder. */
function documents(ws: Workspace, name: RegExp): readonly Document[] {
  return tree(ws.path('state'))
    .filter((n) => name.test(n))
    .map((n) => documentOf<Document>(ws.path('state', n)));
}

test('a round, and the note of an entry that is done in it', async () => {
  using ws = new Workspace();
  ws.write('in.csv', 'a\n');
  await killedAt(ws, { job: { content: [CSV_TO_CSV, CSV_TO_CSV] } }, 'begun.after#2');
  const [round, ...others] = documents(ws, /\/round-[0-9a-f]{16}$/);
  assert.deepEqual(others, []);
  assert.deepEqual(Object.keys(round ?? {}), ['format', 'id']);
  const [finished] = documents(ws, /\/finished$/);
  assert.deepEqual(Object.keys(finished ?? {}), ['format', 'attempt', 'at', 'round']);
  assert.equal(finished?.['round'], round?.['id']);
});

test('a cursor: the bounds of a run, where it ended, and what a reset keeps', async () => {
  using ws = new Workspace();
  ws.write('source', '7');
  const reader = { name: 'scripted', parameter: { splits: [], increColumn: 'n', sourceFile: 'source' } };
  const job = ws.job({ job: { content: [{ reader, writer: { name: 'scripted', parameter: { path: 'target' } } }] } });
  for (const args of [
    ['run', job],
    ['run', job],
  ])
    assert.equal((await sync(args, { cwd: ws.dir })).code, 0);
  const bounds = documents(ws, /\/0\.ckpt$/).map((d) => d['cursor']);
  assert.deepEqual(
    new Set(bounds.map((b) => JSON.stringify(b))),
    new Set(['{"lower":null,"upper":7}', '{"lower":7,"upper":7}']),
  );
  assert.deepEqual(
    documents(ws, /\/finished$/).map((d) => [Object.keys(d).join(), d['cursor']]),
    [
      ['format,attempt,at,cursor', 7],
      ['format,attempt,at,cursor', 7],
    ],
  );
  assert.equal((await sync(['state', 'reset', job], { cwd: ws.dir })).code, 0);
  assert.deepEqual(documents(ws, /\/cursor$/), [{ format: 1, cursor: 7 }]);
});

test('parameters in the name of a run, and the clock of its first start', async () => {
  using ws = new Workspace();
  ws.write('in.csv', 'a\n');
  const content = [{ ...CSV_TO_CSV, writer: { name: 'file', parameter: { path: 'out-${day}-${now:HH}' } } }];
  await killedAt(ws, { job: { content } }, 'begun.after');
  const [runs] = readdirSync(ws.path('state')).filter((n) => n !== 'id');
  assert.deepEqual(readdirSync(join(ws.path('state', runs ?? ''), 'runs')), ['day=1']);
  const [info] = documents(ws, /\/0\.ckpt$/);
  assert.equal(info?.['runName'], 'day=1');
  assert.equal(typeof info['clock'], 'number');
});

test('jobs that use none of it have none of it', async () => {
  using ws = new Workspace();
  ws.write('in.csv', 'a\n');
  assert.equal((await sync(['run', ws.job({ job: { content: [CSV_TO_CSV] } })], { cwd: ws.dir })).code, 0);
  const all = tree(ws.path('state')).filter((n) => !n.endsWith('/'));
  for (const n of all) {
    const text = readFileSync(ws.path('state', n), 'utf8');
    for (const word of ['"round"', '"cursor"', '"clock"', '"transform"'])
      assert.ok(!text.includes(word), `${n}: ${word}`);
  }
});
