import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Committable, RunIdentity } from 'syncx/plugin-api';
import {
  StagedLane,
  epochOfName,
  localStorage,
  publishedName,
  sinkError,
  stagedCommitter,
  stagedFileOf,
  type OpenStaged,
  type StagedTarget,
} from 'syncx/plugin-kit';

const RUN: RunIdentity = { jobId: 'j', runId: 'run0run0run0', attempt: 2 };

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'staged-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

function targetIn(dir: string, failpoint: (step: string) => void = () => undefined): StagedTarget {
  return { storage: localStorage, folder: dir, prefix: 'part-', suffix: '.csv', buckets: false, failpoint };
}

async function put(lane: StagedLane, text: string): Promise<void> {
  const file = await lane.open();
  await file.sink.write(Buffer.from(text));
  await lane.close(file, text.length, 1);
}

const NAME1 = 'part-run0run0run0-000-000001-0000.csv';
const NAME2 = 'part-run0run0run0-000-000001-0001.csv';
const STAGING = '.syncx-run0run0run0';

test('nothing is visible before commit; after it the files stand under names of run, lane, epoch and number', async (t) => {
  const dir = folder(t);
  const steps: string[] = [];
  const lane = new StagedLane(
    targetIn(dir, (s) => steps.push(s)),
    RUN,
    0,
  );
  await put(lane, 'one');
  await put(lane, 'two!');
  assert.deepEqual(readdirSync(dir), [STAGING]);
  const committables = await lane.prepare(1);
  assert.deepEqual(
    committables.map((c) => c.data),
    [
      { format: 1, staged: join(dir, STAGING, '2-0-0.part'), target: join(dir, NAME1), size: 3 },
      { format: 1, staged: join(dir, STAGING, '2-0-1.part'), target: join(dir, NAME2), size: 4 },
    ],
  );
  assert.deepEqual(readdirSync(dir), [STAGING]);
  await lane.commit(1);
  await lane.commit(1);
  assert.deepEqual(readdirSync(dir).sort(), [STAGING, NAME1, NAME2]);
  assert.equal(readFileSync(join(dir, NAME2), 'utf8'), 'two!');
  assert.deepEqual(readdirSync(join(dir, STAGING)), []);
  assert.deepEqual(steps, ['file.commit.next', 'file.commit.between', 'file.commit.between']);
});

test('abort removes what was written and prepared; dispose leaves prepared files to recovery', async (t) => {
  const dir = folder(t);
  const lane = new StagedLane(targetIn(dir), RUN, 0);
  await put(lane, 'prepared');
  await lane.prepare(1);
  await put(lane, 'closed');
  await (await lane.open()).sink.write(Buffer.from('open'));
  await lane.dispose();
  await lane.dispose();
  assert.deepEqual(readdirSync(join(dir, STAGING)), ['2-0-0.part']);
  await lane.abort(1);
  assert.deepEqual(readdirSync(dir), []);
  await lane.commit(1);
  assert.deepEqual(readdirSync(dir), []);
});

test('a prepared file that was cut is not published', async (t) => {
  const dir = folder(t);
  const lane = new StagedLane(targetIn(dir), RUN, 0);
  await put(lane, 'rows');
  await lane.prepare(1);
  writeFileSync(join(dir, STAGING, '2-0-0.part'), 'ro');
  await assert.rejects(lane.commit(1), { code: 'SINK_CONFLICT', message: /no longer has its 4 bytes/ });
  assert.deepEqual(readdirSync(dir), [STAGING]);
});

test('a staged name that is taken is an error, as another process must have the same attempt', async (t) => {
  const dir = folder(t);
  mkdirSync(join(dir, STAGING));
  writeFileSync(join(dir, STAGING, '2-0-0.part'), 'theirs');
  await assert.rejects(new StagedLane(targetIn(dir), RUN, 0).open(), { code: 'SINK_IO' });
  assert.equal(readFileSync(join(dir, STAGING, '2-0-0.part'), 'utf8'), 'theirs');
});

async function prepared(dir: string): Promise<readonly Committable[]> {
  const lane = new StagedLane(targetIn(dir), RUN, 0);
  await put(lane, 'rows');
  return lane.prepare(1);
}

const recover = (dir: string, c: readonly Committable[]): Promise<readonly string[]> =>
  stagedCommitter(targetIn(dir)).recover(RUN, c);

test('recover publishes what is staged, and says committed again when asked again', async (t) => {
  const dir = folder(t);
  const c = await prepared(dir);
  assert.deepEqual(await recover(dir, c), ['committed']);
  assert.deepEqual(await recover(dir, c), ['committed']);
  assert.equal(readFileSync(join(dir, NAME1), 'utf8'), 'rows');
  assert.deepEqual(readdirSync(join(dir, STAGING)), []);
});

test('recover after a crash between link and unlink removes the staged name', async (t) => {
  const dir = folder(t);
  const stop = new Error('crash');
  const lane = new StagedLane(
    targetIn(dir, () => {
      throw stop;
    }),
    RUN,
    0,
  );
  await put(lane, 'rows');
  const c = await lane.prepare(1);
  await assert.rejects(lane.commit(1), stop);
  assert.equal(existsSync(join(dir, NAME1)), true);
  assert.deepEqual(readdirSync(join(dir, STAGING)), ['2-0-0.part']);
  assert.deepEqual(await recover(dir, c), ['committed']);
  assert.deepEqual(readdirSync(join(dir, STAGING)), []);
});

test('recover never says lost: neither there, and other sizes, are unknown', async (t) => {
  const gone = folder(t);
  const c = await prepared(gone);
  rmSync(join(gone, STAGING), { recursive: true });
  assert.deepEqual(await recover(gone, c), ['unknown']);

  const other = folder(t);
  const d = await prepared(other);
  writeFileSync(join(other, NAME1), 'something else');
  assert.deepEqual(await recover(other, d), ['unknown']);
  assert.equal(readFileSync(join(other, NAME1), 'utf8'), 'something else');
  assert.deepEqual(readdirSync(join(other, STAGING)), ['2-0-0.part']);

  const cut = folder(t);
  const e = await prepared(cut);
  writeFileSync(join(cut, STAGING, '2-0-0.part'), 'ro');
  assert.deepEqual(await recover(cut, e), ['unknown']);
  assert.equal(existsSync(join(cut, NAME1)), false);
});

test('commit never replaces a file that is there', async (t) => {
  const dir = folder(t);
  const lane = new StagedLane(targetIn(dir), RUN, 0);
  await put(lane, 'rows');
  await lane.prepare(1);
  writeFileSync(join(dir, NAME1), 'theirs, not ours');
  await assert.rejects(lane.commit(1), { code: 'SINK_CONFLICT', place: join(dir, NAME1) });
  assert.equal(readFileSync(join(dir, NAME1), 'utf8'), 'theirs, not ours');
});

test('sweep removes the staging folders of the named runs and nothing else', async (t) => {
  const dir = folder(t);
  await put(new StagedLane(targetIn(dir), RUN, 0), 'left over');
  await put(new StagedLane(targetIn(dir), { ...RUN, attempt: 3 }, 1), 'left over');
  await put(new StagedLane(targetIn(dir), { ...RUN, runId: 'other0other0' }, 0), 'of another run');
  writeFileSync(join(dir, NAME1), 'published');
  const runs = [{ runId: RUN.runId, attempts: [2, 3], lanes: 2, givenUp: false }];
  assert.deepEqual(await stagedCommitter(targetIn(dir)).sweep(runs), { removed: 2 });
  assert.deepEqual(await stagedCommitter(targetIn(dir)).sweep(runs), { removed: 0 });
  assert.deepEqual(readdirSync(dir).sort(), ['.syncx-other0other0', NAME1]);
  assert.deepEqual(readdirSync(join(dir, '.syncx-other0other0')), ['2-0-0.part']);
  assert.deepEqual(await stagedCommitter(targetIn(join(dir, 'none'))).sweep(runs), { removed: 0 });
});

test('a late sweep leaves alone what a newer start has staged', async (t) => {
  const dir = folder(t);
  await put(new StagedLane(targetIn(dir), RUN, 0), 'old');
  await put(new StagedLane(targetIn(dir), { ...RUN, attempt: 12 }, 0), 'alive');
  const runs = [{ runId: RUN.runId, attempts: [1, 2, 11], lanes: 1, givenUp: false }];
  assert.deepEqual(await stagedCommitter(targetIn(dir)).sweep(runs), { removed: 1 });
  assert.deepEqual(readdirSync(join(dir, STAGING)), ['12-0-0.part']);
});

test('highWater is the highest published epoch of the run, whatever prefix and lane', async (t) => {
  const dir = folder(t);
  const committer = stagedCommitter(targetIn(dir));
  assert.equal(await committer.highWater(RUN.runId), 0);
  assert.equal(await stagedCommitter(targetIn(join(dir, 'none'))).highWater(RUN.runId), 0);
  for (const [prefix, run, lane, epoch] of [
    ['part-', RUN.runId, 0, 3],
    ['old-', RUN.runId, 12, 1_000_001],
    ['part-', 'other0other0', 0, 2_000_000],
  ] as const) {
    writeFileSync(join(dir, publishedName(prefix, run, lane, epoch, 0, '.csv')), '');
  }
  writeFileSync(join(dir, `notes-${RUN.runId}-9.txt`), '');
  assert.equal(await committer.highWater(RUN.runId), 1_000_001);
  assert.equal(epochOfName('part-run0run0run0-000-000007-0000.jsonl.gz', RUN.runId), 7);
  assert.equal(epochOfName('part-run0run0run0-0-7-0.jsonl.gz', RUN.runId), null);
});

test('a committable of another form is STATE_CORRUPT', () => {
  for (const data of [null, 'x', { format: 2 }, { format: 1, staged: 'a', target: 'b', size: '3' }]) {
    assert.throws(() => stagedFileOf(data), { code: 'STATE_CORRUPT' });
  }
});

test('a full disk and a folder that may not be written are told apart and name the path', async (t) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  assert.equal(sinkError(full, '/out/x').code, 'SINK_FULL');
  assert.equal(sinkError(full, '/out/x').message, 'cannot write /out/x: ENOSPC: no space left on device, write');
  const dir = folder(t);
  writeFileSync(join(dir, 'file'), '');
  chmodSync(join(dir, 'file'), 0o400);
  const lane = new StagedLane(targetIn(join(dir, 'file')), RUN, 0);
  await assert.rejects(lane.open(), (e: Error) => e.message.includes(join(dir, 'file')));
});

test('a target folder that is removed or replaced in mid-run is told at the next step and never made again', async (t) => {
  const steps: Readonly<Record<string, (lane: StagedLane, file: OpenStaged) => Promise<unknown>>> = {
    open: (lane) => lane.open(),
    prepare: async (lane, file) => {
      await lane.close(file, 4, 1);
      await lane.prepare(1);
    },
    commit: async (lane) => lane.commit(0),
  };
  for (const [step, call] of Object.entries(steps)) {
    for (const put of ['nothing', 'another'] as const) {
      const dir = join(folder(t), 'out');
      mkdirSync(dir);
      const lane = new StagedLane(targetIn(dir), RUN, 0);
      const first = await lane.open();
      await first.sink.write(Buffer.from('zero'));
      await lane.close(first, 4, 1);
      await lane.prepare(0);
      const file = await lane.open();
      await file.sink.write(Buffer.from('rows'));
      // Renamed, not removed: a file system may give a removed folder's number to the next one.
      renameSync(dir, `${dir}-gone`);
      if (put === 'another') mkdirSync(dir);
      await assert.rejects(
        call(lane, file),
        { code: 'SINK_IO', place: dir, retry: 'never', message: put === 'nothing' ? /has vanished/ : /is not the one/ },
        `${step}, ${put}`,
      );
      await lane.dispose();
      assert.deepEqual(existsSync(dir) ? readdirSync(dir) : null, put === 'another' ? [] : null, `${step}, ${put}`);
    }
  }
});

test('a target folder that is gone before the first file is not made by the lane', async (t) => {
  const dir = join(folder(t), 'out');
  await assert.rejects(new StagedLane(targetIn(dir), RUN, 0).open(), { code: 'SINK_IO', place: dir });
  await assert.rejects(localStorage.create(join(dir, STAGING, 'x')), { code: 'SINK_IO' });
  assert.equal(existsSync(dir), false);
});

test('published files may be taken away in mid-run', async (t) => {
  const dir = folder(t);
  const lane = new StagedLane(targetIn(dir), RUN, 0);
  await put(lane, 'rows');
  await lane.prepare(1);
  await lane.commit(1);
  rmSync(join(dir, NAME1));
  await put(lane, 'more');
  await lane.prepare(2);
  await lane.commit(2);
  assert.deepEqual(readdirSync(dir).sort(), [STAGING, NAME1.replace('-000001-', '-000002-')]);
});

test('a staged file that somebody removes or cuts is found at prepare, where the epoch can still be undone', async (t) => {
  const harm: readonly (readonly [(path: string) => void, RegExp])[] = [
    [(p) => rmSync(p), /2-0-0\.part has vanished/],
    [(p) => rmSync(dirname(p), { recursive: true }), /2-0-0\.part has vanished/],
    [(p) => truncateSync(p, 1), /2-0-0\.part has 1 bytes instead of 4/],
  ];
  for (const [spoil, message] of harm) {
    for (const when of ['open', 'closed']) {
      const dir = folder(t);
      const lane = new StagedLane(targetIn(dir), RUN, 0);
      const file = await lane.open();
      await file.sink.write(Buffer.from('rows'));
      if (when === 'open') spoil(file.path);
      await lane.close(file, 4, 1);
      if (when === 'closed') spoil(file.path);
      await assert.rejects(lane.prepare(1), { code: 'SINK_IO', place: file.path, message });
      await lane.abort(1);
      assert.deepEqual(readdirSync(dir), []);
    }
  }
});

test('recovery does not judge without the target folder', async (t) => {
  const dir = join(folder(t), 'out');
  mkdirSync(dir);
  const c = await prepared(dir);
  renameSync(dir, `${dir}-unmounted`);
  await assert.rejects(recover(dir, c), { code: 'SINK_IO', place: dir });
  renameSync(`${dir}-unmounted`, dir);
  assert.deepEqual(await recover(dir, c), ['committed']);
});

test('whatever the file system refuses is the target’s, names the path and says what to do', async (t) => {
  const dir = folder(t);
  const gone = join(dir, 'gone', 'staging', 'x');
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const calls: readonly (readonly [string, () => Promise<unknown>, string, string])[] = [
    ['syncFolder', () => localStorage.syncFolder(gone), 'SINK_IO', gone],
    ['create', () => localStorage.create(gone), 'SINK_IO', gone],
    ['makeFolder in place of a file', () => localStorage.makeFolder(file), 'SINK_CONFLICT', file],
    ['makeFolder below a file', () => localStorage.makeFolder(join(file, 'a', 'b')), 'SINK_CONFLICT', file],
    ['create below a file', () => localStorage.create(join(file, 'x')), 'SINK_CONFLICT', file],
    ['remove below a file', () => localStorage.remove(join(file, 'x')), 'SINK_CONFLICT', file],
    ['publish below a file', () => localStorage.publish(file, join(file, 'x'), 0), 'SINK_CONFLICT', file],
    ['syncFolder of a file', () => localStorage.syncFolder(file), 'SINK_CONFLICT', file],
    ['identity of a file', () => localStorage.identity(file), 'SINK_CONFLICT', file],
    ['remove of a folder', () => localStorage.remove(dir), 'SINK_IO', dir],
  ];
  for (const [what, call, code, place] of calls) {
    await assert.rejects(call(), (e: { code?: string; place?: string; hint?: string; message: string }) => {
      assert.deepEqual([what, e.code, e.place], [what, code, place]);
      assert.ok(e.message.includes(place), e.message);
      if (what !== 'remove of a folder') assert.ok((e.hint ?? '') !== '', `${what} has no hint`);
      if (code === 'SINK_CONFLICT') assert.equal(e.message, `${place} is a file, not a folder`);
      return true;
    });
  }
});
