/** State of a newer version, or damaged state, stops the job by name: it is never taken for no state at all. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sealed, unsealed } from '../../src/core/checkpoint/format.js';
import { isSyncError } from '../../src/plugin-api/index.js';
import { StdinPlanner } from '../../plugins/file/planner.js';
import { inPairs } from '../support/crash.js';
import type { SyncResult } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';
import { PREPARED, putStage, removeStaged, STAGES, start, state, STREAM_ROWS, UNDECIDED } from './stages.js';
import { JOB_ID, runFolder, runIds, seal } from './stored.js';

/**
 * A file of a stored stage that the next start must look at. Some only when the epoch in doubt is settled, which is
 * right whatever they say: an earlier start's record tells what is to be swept, and begin is due after recovery.
 */
type Case = readonly [stage: string, file: string];
const settledBefore = (file: string): readonly string[] => (/^(attempt-1|begun)$/.test(file) ? [PREPARED] : []);

/** Every kind of sealed file. */
const SEALED: readonly Case[] = [
  ['undecided', '0.ckpt'],
  ['undecided', 'attempt-1'],
  ['undecided', 'attempt-2'],
  ['undecided', 'begun'],
  ['undecided', '3.ckpt'],
  ['taken-over', '4.ckpt'],
  ['given-up', '1.outcome'],
  ['resolved', '3.resolved-0'],
  ['finished', 'finished'],
  ['abandoned', 'abandoned'],
];

/** Where the one stage that is no fixture comes from: the job was given up and no new run was begun. */
function put(ws: Workspace, stage: string): void {
  if (stage !== 'abandoned') {
    putStage(ws, stage);
    return;
  }
  putStage(ws, 'undecided');
  writeFileSync(join(current(ws), 'abandoned'), seal(JSON.stringify({ format: 1, attempt: 3, at: Date.now() })));
}

function current(ws: Workspace): string {
  return runFolder(ws, runIds(ws).length);
}

/** What says which run it is and what became of it. */
function choice(ws: Workspace): readonly string[] {
  return tree(ws.dir).filter((n) => /\/(current-\d+|finished|abandoned)$/.test(n));
}

/** Exit 4, naming the file; no other run is begun, and the target has no more but `settled`. */
async function assertRefused(
  ws: Workspace,
  stage: string,
  path: string,
  hint: RegExp,
  settled: readonly string[] = [],
): Promise<SyncResult> {
  const before = choice(ws);
  const rows = publishedLines(ws.path('out'));
  const { job } = STAGES[stage] ?? UNDECIDED;
  const r = await start(ws, job);
  const error = r.summary?.error as { readonly code: string; readonly place?: string; readonly hint?: string } | null;
  assert.deepEqual([r.code, error?.code], [4, 'STATE_CORRUPT'], r.stderr);
  assert.equal(error?.place, path);
  assert.match(error?.hint ?? '', hint);
  assert.deepEqual(choice(ws), before);
  assert.deepEqual(publishedLines(ws.path('out')), [...rows, ...settled].sort());
  return r;
}

function edit(path: string, change: (body: string) => string): void {
  const body = readFileSync(path, 'utf8').split('\n')[0] ?? '';
  const changed = change(body);
  assert.notEqual(changed, body, path);
  writeFileSync(path, seal(changed));
}

test('a newer format of any file is refused, and the newer version named as the way on', async (t) => {
  await inPairs(SEALED, async ([stage, file]) => {
    await t.test(`${stage}: ${file}`, async () => {
      using ws = new Workspace();
      put(ws, stage);
      const path = join(current(ws), file);
      edit(path, (body) => body.replace('{"format":1,', '{"format":2,'));
      const r = await assertRefused(ws, stage, path, /newer version/, settledBefore(file));
      assert.match(r.stderr, /has format 2; this version knows up to 1/);
    });
  });
});

test('a file without a format number is refused', async () => {
  using ws = new Workspace();
  put(ws, 'undecided');
  const path = join(current(ws), '3.ckpt');
  edit(path, (body) => body.replace('"format":1,', ''));
  await assertRefused(ws, 'undecided', path, /version/);
});

/** What plugins put into a checkpoint, in another form. `told`: where; a takeover hands on what planner and lanes saved. */
const PLUGINS: readonly {
  readonly what: string;
  readonly stage: string;
  readonly file: string;
  readonly change: readonly [from: string, to: string];
  readonly told: string;
  /** What the epoch in doubt holds, where it is settled before. */
  readonly settled?: readonly string[];
}[] = [
  {
    what: 'plan of the file reader',
    stage: 'taken-over',
    file: '4.ckpt',
    change: ['"planner":{"format":2,', '"planner":{"format":9,'],
    told: '5.ckpt',
  },
  {
    what: 'plan of the file reader with parts',
    stage: 'open-files',
    file: '5.ckpt',
    change: ['"planner":{"format":3,', '"planner":{"format":4,'],
    told: '6.ckpt',
  },
  {
    what: 'plan of the file reader without a part',
    stage: 'open-files',
    file: '5.ckpt',
    change: ['"cutting":{"splitSize":16,"lanes":2},', ''],
    told: '6.ckpt',
  },
  {
    what: 'open files of a lane',
    stage: 'open-files',
    file: '5.ckpt',
    change: ['{"format":1,"open":[', '{"format":2,"open":['],
    told: '6.ckpt',
  },
  {
    what: 'plan of the stream reader',
    stage: 'stream',
    file: '1.ckpt',
    change: ['"planner":{"format":1,', '"planner":{"format":2,'],
    told: '2.ckpt',
    settled: [STREAM_ROWS[0]],
  },
  {
    what: 'staged file',
    stage: 'undecided',
    file: '3.ckpt',
    change: ['"data":{"format":1,', '"data":{"format":2,'],
    told: '3.ckpt',
  },
  {
    what: 'positions of a newer format',
    stage: 'undecided',
    file: '3.ckpt',
    change: ['"positions":1,', '"positions":2,'],
    told: '3.ckpt',
  },
  {
    what: 'position in a file',
    stage: 'taken-over',
    file: '4.ckpt',
    change: ['"position":{"offset":31,', '"position":{"at":31,'],
    told: '5.ckpt',
  },
  {
    what: 'split of a file',
    stage: 'taken-over',
    file: '4.ckpt',
    change: ['"mtimeNs":"1700000001000000000"', '"mtime":1700000001'],
    told: '5.ckpt',
  },
];

test('another form of what a plugin saved is refused, and the file named that holds it', async (t) => {
  await inPairs(PLUGINS, async ({ what, stage, file, change, told, settled }) => {
    await t.test(what, async () => {
      using ws = new Workspace();
      put(ws, stage);
      edit(join(current(ws), file), (body) => body.replaceAll(...change));
      await assertRefused(ws, stage, join(current(ws), told), /version/, settled);
    });
  });
});

type Damage = readonly [what: string, harm: (bytes: Buffer) => Buffer];
const flipped = (bytes: Buffer, at: number): Buffer => {
  const out = Buffer.from(bytes);
  out.writeUInt8(out.readUInt8(at) ^ 1, at);
  return out;
};
const DAMAGE: readonly Damage[] = [
  ['a bit of its document is flipped', (b) => flipped(b, b.indexOf('\n') >> 1)],
  ['a bit of its checksum is flipped', (b) => flipped(b, b.length - 9)],
  ['it is cut to its document', (b) => b.subarray(0, b.indexOf('\n'))],
  ['it is empty', () => Buffer.alloc(0)],
];

test('a damaged file is refused', async (t) => {
  const cases = SEALED.flatMap((c) => DAMAGE.map((d) => [...c, ...d] as const));
  await inPairs(cases, async ([stage, file, what, harm]) => {
    await t.test(`${stage}: ${file}: ${what}`, async () => {
      using ws = new Workspace();
      put(ws, stage);
      const path = join(current(ws), file);
      writeFileSync(path, harm(readFileSync(path)));
      await assertRefused(ws, stage, path, /--fresh/, settledBefore(file));
    });
  });
});

test('a damaged current-1 is refused', async (t) => {
  const harms: readonly Damage[] = [
    ['a bit is flipped', (b) => flipped(b, 3)],
    ['it is cut', (b) => b.subarray(0, 5)],
    ['it is empty', () => Buffer.alloc(0)],
  ];
  await inPairs(harms, async ([what, harm]) => {
    await t.test(what, async () => {
      using ws = new Workspace();
      put(ws, 'undecided');
      const path = ws.path('state', JOB_ID, 'runs/default/current-1');
      writeFileSync(path, harm(readFileSync(path)));
      await assertRefused(ws, 'undecided', path, /backup/);
    });
  });
});

test('`state list` tells which run is damaged; `state show` and `state resolve` refuse it by name', async () => {
  using ws = new Workspace();
  put(ws, 'undecided');
  const path = join(current(ws), '3.ckpt');
  writeFileSync(path, flipped(readFileSync(path), 7));
  const list = await state(ws, 'list');
  assert.equal(list.code, 0, list.stderr);
  assert.deepEqual(
    (JSON.parse(list.stdout) as readonly { readonly state: string; readonly epoch: number }[]).map((l) => [
      l.state,
      l.epoch,
    ]),
    [['damaged', 3]],
  );
  for (const args of [
    ['show', JOB_ID],
    ['resolve', JOB_ID, '--lane', 'all', '--as', 'lost'],
  ]) {
    const r = await state(ws, ...args);
    assert.equal(r.code, 4, r.stderr);
    assert.ok(r.stderr.includes(path), r.stderr);
  }
});

test('every bit and every length of a sealed file counts', () => {
  const doc = { format: 1, name: 'é', n: [1, null] };
  const whole = Buffer.from(sealed(doc));
  const damaged = [
    ...Array.from({ length: whole.length }, (_, n) => whole.subarray(0, n)),
    ...Array.from({ length: whole.length * 8 }, (_, bit) => {
      const out = Buffer.from(whole);
      out.writeUInt8(out.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return out;
    }),
  ];
  assert.deepEqual(unsealed(whole.toString(), 'p'), doc);
  for (const bytes of damaged) {
    assert.throws(
      () => unsealed(bytes.toString(), 'p'),
      (e) => isSyncError(e) && e.code === 'STATE_CORRUPT' && e.place === 'p',
      bytes.toString(),
    );
  }
});

test('prepared data that is not what the checkpoint says is no reason to write it again', async () => {
  using ws = new Workspace();
  put(ws, 'undecided');
  removeStaged(ws);
  const r = await start(ws, UNDECIDED.job);
  assert.deepEqual([r.code, r.summary?.error?.code], [4, 'COMMIT_UNKNOWN'], r.stderr);
});

test('a saved plan of standard input is read in its own format only', () => {
  assert.equal(new StdinPlanner({ format: 1, left: true }).remaining(), 1);
  assert.equal(new StdinPlanner({ format: 1, left: false }).remaining(), 0);
  for (const saved of [{ format: 2, left: true }, { left: true }]) {
    assert.throws(
      () => new StdinPlanner(saved),
      (e) => isSyncError(e) && e.code === 'STATE_CORRUPT',
    );
  }
});
