import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { BatchBuilder, internSchema, type Writer } from 'syncx/plugin-api';
import { RUN, folder, laneOf, openWriter, type WriterOptions } from './drive.js';

const A = internSchema([{ name: 'a', type: { is: 'string' } }]);
const signal = new AbortController().signal;
const OWN = 'part-run0run0run0-000-000001-0000.csv';

function seeded(t: TestContext, ...names: readonly string[]): string {
  const dir = folder(t);
  for (const n of names) {
    mkdirSync(join(dir, n, '..'), { recursive: true });
    writeFileSync(join(dir, n), 'old');
  }
  return dir;
}

async function writeOne(w: Writer): Promise<void> {
  const lane = await w.openLane(laneOf(), null);
  const b = new BatchBuilder(A);
  b.appendText('x');
  b.endRow();
  await lane.write(b.finish('s', null, 0), signal);
  await lane.prepare(1);
  await lane.commit(1);
  await lane[Symbol.asyncDispose]();
}

const names = (dir: string): readonly string[] => readdirSync(dir, { recursive: true }).map(String).sort();

test('overwrite removes what was there at begin, when all is published', async (t) => {
  const dir = seeded(t, 'a.csv', 'b.csv', '.hidden', '_SUCCESS', '_tmp/x.csv', 'sub/c.csv');
  symlinkSync(join(dir, 'sub/c.csv'), join(dir, 'link.csv'));
  const w = await openWriter({ path: dir, writeMode: 'overwrite', successFile: true });
  assert.equal(w.replacesTarget, true);
  await w.begin(RUN);
  await w.begin(RUN);
  assert.equal(existsSync(join(dir, '_SUCCESS')), false);
  await writeOne(w);
  await w.begin(RUN); // a kill may have come before it was noted
  writeFileSync(join(dir, 'late.csv'), 'later');
  assert.ok(names(dir).includes('a.csv') && names(dir).includes(OWN));
  await w.committer?.sweep([{ runId: RUN.runId, attempts: [1], lanes: 1, givenUp: false }]);
  for (let i = 0; i < 2; i++) {
    await w.complete(RUN);
    assert.deepEqual(
      names(dir),
      ['.hidden', '_SUCCESS', '_tmp', '_tmp/x.csv', 'late.csv', 'link.csv', OWN, 'sub', 'sub/c.csv'].sort(),
    );
  }
});

test('overwrite with buckets looks into the folders that are there', async (t) => {
  const dir = seeded(t, 'x/old.csv', 'y/old.csv', '__NULL__/old.csv', '_tmp/old.csv', 'x/deep/old.csv', 'x/_marker');
  const w = await openWriter({ path: dir, writeMode: 'overwrite', bucket: 'column', bucketColumn: 'a' });
  await w.begin(RUN);
  await writeOne(w);
  mkdirSync(join(dir, 'new'));
  writeFileSync(join(dir, 'new/late.csv'), '');
  await w.complete(RUN);
  assert.deepEqual(
    names(dir),
    [
      ...['__NULL__', '_tmp', '_tmp/old.csv', 'new', 'new/late.csv', 'x', `x/${OWN}`],
      ...['x/_marker', 'x/deep', 'x/deep/old.csv', 'y'],
    ].sort(),
  );
});

test('a listed file that was changed, or that another has taken the place of, stays and is told', async (t) => {
  for (const change of ['append', 'replace'] as const) {
    const dir = seeded(t, 'a.csv', 'b.csv');
    const w = await openWriter({ path: dir, writeMode: 'overwrite', successFile: true });
    await w.begin(RUN);
    await writeOne(w);
    const path = join(dir, 'a.csv');
    if (change === 'append') writeFileSync(path, 'more', { flag: 'a' });
    else {
      writeFileSync(join(dir, 'a.new'), 'old');
      rmSync(path);
      writeFileSync(path, 'new');
      rmSync(join(dir, 'a.new'));
    }
    for (let i = 0; i < 2; i++) await assert.rejects(w.complete(RUN), { code: 'SINK_CONFLICT', place: path });
    assert.deepEqual(
      readdirSync(dir).filter((n) => !n.startsWith('.')),
      ['a.csv', OWN],
    );
    rmSync(path);
    await w.complete(RUN);
    assert.deepEqual(readdirSync(dir).sort(), [OWN, '_SUCCESS'].sort());
  }
});

test('a list that is damaged or gone', async (t) => {
  const dir = seeded(t, 'a.csv');
  const warnings: string[] = [];
  const quiet = (): void => undefined;
  const warn = (_fields: unknown, message: string): void => void warnings.push(message);
  const log = { debug: quiet, info: quiet, warn, error: quiet };
  const w = await openWriter({ path: dir, writeMode: 'overwrite' }, { log });
  await w.begin(RUN);
  const list = join(dir, '.syncx-run0run0run0', 'replaced.keep');
  writeFileSync(list, '{');
  await assert.rejects(w.complete(RUN), { code: 'STATE_CORRUPT', place: list });
  rmSync(list);
  await w.complete(RUN);
  assert.match(warnings.join(), /^no list of the files/);
  assert.deepEqual(readdirSync(dir), ['a.csv']);
});

test('a run that is given up leaves no list', async (t) => {
  const dir = seeded(t, 'a.csv');
  const w = await openWriter({ path: dir, writeMode: 'overwrite' });
  await w.begin(RUN);
  await w.committer?.sweep([{ runId: RUN.runId, attempts: [1], lanes: 1, givenUp: true }]);
  assert.deepEqual(readdirSync(dir), ['a.csv']);
});

test('nonConflict wants a folder without data', async (t) => {
  const refused = async (o: Partial<WriterOptions>): Promise<void> =>
    assert.rejects((await openWriter({ writeMode: 'nonConflict', ...o })).begin(RUN), { code: 'SINK_CONFLICT' });
  const one = seeded(t, 'a.csv');
  await refused({ path: one });
  assert.deepEqual(readdirSync(one), ['a.csv']);
  const deep = seeded(t, 'x/a.csv', '.hidden', '_SUCCESS');
  await refused({ path: deep, bucket: 'time' });
  const w = await openWriter({ path: deep, writeMode: 'nonConflict' });
  await w.begin(RUN);
  await writeOne(w);
  await w.begin(RUN);
  await w.complete(RUN);
  assert.deepEqual(readdirSync(deep).sort(), ['.hidden', '_SUCCESS', OWN, 'x']);
});

test('append with a success file', async (t) => {
  const dir = seeded(t, 'a.csv');
  const w = await openWriter({ path: dir, successFile: true });
  await w.begin(RUN);
  await writeOne(w);
  assert.equal(existsSync(join(dir, '_SUCCESS')), false);
  await w.complete(RUN);
  assert.deepEqual(readdirSync(dir).sort(), ['_SUCCESS', 'a.csv', OWN].sort());
});
