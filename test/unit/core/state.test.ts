import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { createHash } from 'node:crypto';
import { parseFailpoints } from '../../../src/core/failpoints.js';
import { lockJob } from '../../../src/core/checkpoint/job-lock.js';
import { JobStore } from '../../../src/core/checkpoint/job-store.js';
import { listStates } from '../../../src/core/checkpoint/state-admin.js';
import { strayFiles } from '../../../plugins/scripted/target.js';
import { tree, Workspace } from '../../support/workspace.js';
import { assertFails, chain, Scripted, type Script } from './scripted-job.js';

const POINTS = parseFailpoints(undefined);
const FAILS = { failOn: [{ step: 'commit', epoch: 2 }] };

/** A job that failed in the commit of its second epoch. */
async function unfinished(ws: Workspace, more: Partial<Script> = {}): Promise<Scripted> {
  const s = new Scripted(ws, { splits: chain(3, 4, 5), writer: FAILS, ...more });
  assertFails(await s.run(), 'SINK_IO', 1);
  assert.equal((await strayFiles(s.target)).length, 1);
  return s;
}

/** The only file of that name in the state folder. */
function stateFile(s: Scripted, name: string): string {
  const found = tree(s.state).filter((p) => p.endsWith(`/${name}`));
  assert.equal(found.length, 1, `${name}: ${found.join(', ')}`);
  return join(s.state, found[0] ?? '');
}

function reseal(path: string, change: (doc: Record<string, unknown>) => void): void {
  const doc = JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '') as Record<string, unknown>;
  change(doc);
  const body = JSON.stringify(doc);
  writeFileSync(path, `${body}\nsha256:${createHash('sha256').update(body).digest('hex')}\n`);
}

test('a fresh start sweeps the unfinished run and begins its own', async () => {
  using ws = new Workspace();
  const s = await unfinished(ws);
  const r = await s.run({ fresh: true });
  assert.equal(r.error, null);
  assert.equal(r.resumed, false);
  // Epoch 1 of the first run is committed: the target holds it besides the whole second run.
  assert.deepEqual([r.read, r.written], [12, 12]);
  assert.equal((await s.rows()).length, 3 + 12);
  assert.deepEqual(await strayFiles(s.target), []);
});

test('a fresh start sweeps the target that the old run used, not the edited one', async () => {
  using ws = new Workspace();
  const old = await unfinished(ws);
  const moved = new Scripted(ws, { splits: chain(3, 4, 5) }, '-moved');
  assertFails(await moved.run(), 'STATE_MISFIT', 4, 'writer.parameter.path', old.target, moved.target, '--fresh');
  assert.equal((await strayFiles(old.target)).length, 1);
  const r = await moved.run({ fresh: true });
  await moved.assertExact(r);
  assert.deepEqual(await strayFiles(old.target), []);
  assert.equal((await old.rows()).length, 3);
});

test('a changed identity option is named; a changed tuning option is not in the way', async () => {
  using ws = new Workspace();
  const s = await unfinished(ws);
  const edited = s.with({ splits: chain(3, 4, 6) });
  assertFails(await edited.run(), 'STATE_MISFIT', 4, 'reader.parameter.splits');
  const padded = s.with({ reader: { padding: 1 } });
  assertFails(await padded.run(), 'STATE_MISFIT', 4, 'reader.parameter.padding');
  const tuned = s.with({ reader: { batchRows: 2 }, writer: { ...FAILS, writeDelay: 1 } });
  const r = await tuned.run();
  await tuned.assertExact(r);
  assert.equal(r.resumed, true);
});

test('a run that never began gives way to an edited job', async () => {
  using ws = new Workspace();
  const wrong = new Scripted(ws, { splits: chain(3), writer: { failOn: [{ step: 'begin' }] } }, '-wrong');
  assertFails(await wrong.run(), 'SINK_IO', 1);
  const right = new Scripted(ws, { splits: chain(3) });
  const r = await right.run();
  await right.assertExact(r);
  assert.equal(r.resumed, false);
});

test('a checkpoint that is too old is refused, or gives way where begin replaces the target', async () => {
  for (const overwrite of [false, true]) {
    using ws = new Workspace();
    const s = await unfinished(ws, { writer: { ...FAILS, overwrite } });
    const old = s.with({ more: { checkpoint: { resumeMaxAgeMs: 0 } } });
    await new Promise((r) => setTimeout(r, 2));
    const r = await old.run();
    if (overwrite) {
      assert.equal(r.error, null);
      assert.equal(r.resumed, false);
      assert.deepEqual(await old.rows(), old.expected());
      assert.deepEqual(await strayFiles(old.target), []);
    } else {
      assertFails(r, 'STATE_OLD', 4, '--fresh', 'resumeMaxAge');
      await s.assertExact(await s.run());
    }
  }
});

test('checkpoint.resume: false starts anew', async () => {
  using ws = new Workspace();
  const s = (await unfinished(ws)).with({ more: { checkpoint: { resume: false } } });
  const r = await s.run();
  assert.equal(r.resumed, false);
  assert.equal(r.written, 12);
});

test('a finished job runs again as a new run; old runs and checkpoints are pruned', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, {
    splits: chain(1, 1, 1, 1, 1),
    more: { checkpoint: { numRetained: 2, numRetainedRuns: 2 } },
  });
  const ids = new Set<string | null>();
  for (let times = 1; times <= 4; times++) {
    const r = await s.run();
    await s.assertExact(r, times);
    ids.add(r.runId);
  }
  assert.equal(ids.size, 4);
  const names = tree(s.state).map((n) => n.split('/').at(-1) ?? '');
  assert.deepEqual(names.filter((n) => n.endsWith('.ckpt')).sort(), [
    '0.ckpt',
    '0.ckpt',
    '4.ckpt',
    '4.ckpt',
    '5.ckpt',
    '5.ckpt',
  ]);
  assert.equal((await listStates(s.state)).length, 2);
});

test('a run whose folder was half removed when the process died is in nobody’s way', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(2), more: { checkpoint: { numRetainedRuns: 2 } } });
  await s.assertExact(await s.run());
  const first = dirname(stateFile(s, '0.ckpt'));
  await s.assertExact(await s.run(), 2);
  rmSync(join(first, '0.ckpt'));
  await s.assertExact(await s.run(), 3);
  assert.equal(existsSync(first), false);
  assert.deepEqual(
    tree(s.state).filter((n) => n.includes(basename(first))),
    [],
  );
});

test('a finished run is finished, also where old runs cannot be removed', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(2), more: { checkpoint: { numRetainedRuns: 1 } } });
  await s.assertExact(await s.run());
  const first = dirname(stateFile(s, '0.ckpt'));
  // A folder in the way of the name that it gets while it is removed.
  const inTheWay = join(dirname(first), `.removed-${basename(first)}`);
  mkdirSync(join(inTheWay, 'x'), { recursive: true });
  const r = await s.run();
  await s.assertExact(r, 2);
  assert.ok(r.logs.some((l) => l.level === 'warn' && l.message.includes('old runs')));
});

test('a damaged newest checkpoint stops the start; an older one is never used', async () => {
  using ws = new Workspace();
  const s = await unfinished(ws);
  const path = stateFile(s, '2.ckpt');
  const good = readFileSync(path);
  for (const at of [0, 10, Math.floor(good.length / 2), good.length - 10]) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ 1;
    writeFileSync(path, bad);
    assertFails(await s.run(), 'STATE_CORRUPT', 4, '2.ckpt');
  }
  writeFileSync(path, good.subarray(0, good.length - 80));
  assertFails(await s.run(), 'STATE_CORRUPT', 4, '2.ckpt');
  writeFileSync(path, '');
  assertFails(await s.run(), 'STATE_CORRUPT', 4, '2.ckpt');
  assert.equal((await s.rows()).length, 3);
  writeFileSync(path, good);
  await s.assertExact(await s.run());
});

test('a damaged state can be given up with --fresh, as its message says', async () => {
  for (const name of ['0.ckpt', '2.ckpt', 'attempt-1']) {
    using ws = new Workspace();
    const s = await unfinished(ws);
    writeFileSync(stateFile(s, name), 'damaged');
    assertFails(await s.run(), 'STATE_CORRUPT', 4, name, '--fresh');
    const r = await s.run({ fresh: true });
    assert.equal(r.error, null, JSON.stringify(r.error));
    assert.equal(r.written, 12);
    assert.deepEqual(await strayFiles(s.target), []);
  }
});

test('state of a newer version is refused politely', async () => {
  using ws = new Workspace();
  const s = await unfinished(ws);
  reseal(stateFile(s, '2.ckpt'), (d) => (d['format'] = 2));
  assertFails(await s.run(), 'STATE_CORRUPT', 4, '2.ckpt', 'format 2', 'newer version');
});

test('a copied state folder is refused, unless it takes over', async () => {
  using ws = new Workspace();
  const s = await unfinished(ws);
  const copy = ws.path('copy');
  cpSync(s.state, copy, { recursive: true });
  assertFails(await s.run({ stateRoot: copy }), 'STATE_MISFIT', 4, copy, '--take-over');
  // Giving the run up sweeps its target: that is not the copy's to do either.
  assertFails(await s.run({ stateRoot: copy, fresh: true }), 'STATE_MISFIT', 4, copy, '--take-over');
  assert.equal((await strayFiles(s.target)).length, 1);
  await s.assertExact(await s.run({ stateRoot: copy, takeOver: true }));
  assertFails(await s.run(), 'STATE_BEHIND', 4);
});

test('an older copy of the state folder is refused, unless rows may be doubled', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(3, 4, 5), writer: { failOn: [{ step: 'commit', epoch: 3 }] } });
  const running = await s.run();
  assertFails(running, 'SINK_IO', 1);
  for (const name of ['2.ckpt', '2.outcome', '3.ckpt']) rmSync(stateFile(s, name));
  assertFails(await s.run(), 'STATE_BEHIND', 4, 'epoch 2', 'up to 1', '--allow-replay');
  const r = await s.run({ allowReplay: true });
  assert.equal(r.error, null);
  assert.equal(r.state, 'finished');
});

test('a second start is refused and names the owner', async () => {
  using ws = new Workspace();
  const s = new Scripted(ws, { splits: chain(3) });
  const jobs = new JobStore(s.state, 'test-job', POINTS);
  await jobs.open();
  {
    await using lock = await lockJob(jobs.dir, 'test-job');
    void lock;
    assertFails(await s.run(), 'STATE_LOCKED', 4, `pid ${String(process.pid)}`);
  }
  await s.assertExact(await s.run());
});
