import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sync, until, type SyncResult } from '../../support/sync.js';
import { tree, Workspace } from '../../support/workspace.js';
import { assertGolden } from './golden.js';
import { checkpointed, entry, start, stateDir } from './jobs.js';

const CSV = { fileType: 'csv', isFirstLineHeader: true };

interface Sides {
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly setting?: object;
}

function csvJob(ws: Workspace, { reader = {}, writer = {}, setting = {} }: Sides = {}): string {
  const content = [
    {
      reader: { name: 'file', parameter: { path: 'in/*.csv', ...CSV, ...reader } },
      writer: { name: 'file', parameter: { path: 'out', ...CSV, ...writer } },
    },
  ];
  ws.job({ job: { content, setting } });
  return 'job.json';
}

function sources(ws: Workspace): void {
  ws.write('in/a.csv', 'id,name,born\n1,ann,2000-01-01\n2,bob,\n');
  ws.write('in/b.csv', 'id,name,born\n3,cyd,2001-02-03\n');
  ws.write('in/c.csv', 'id,name,born\n');
}

const content = (ws: Workspace): ReadonlyMap<string, string> =>
  new Map(tree(ws.dir).map((n) => [n, n.endsWith('/') ? '' : readFileSync(ws.path(n), 'latin1')]));

/** A plan, which must leave everything as it was. */
async function plan(
  ws: Workspace,
  args: readonly string[],
  command: readonly string[] = ['plan'],
): Promise<SyncResult> {
  const before = content(ws);
  const r = await sync([...command, ...args], { cwd: ws.dir });
  assert.deepEqual(content(ws), before, 'the plan changed something');
  return r;
}

const told = (ws: Workspace, text: string): string => text.replaceAll(ws.dir, '{{DIR}}');

test('the plan of a job with several splits, as a person reads it', async () => {
  using ws = new Workspace();
  sources(ws);
  const job = csvJob(ws, {
    reader: {
      column: [
        'id',
        { name: 'name' },
        { name: 'born', type: 'date' },
        { name: 'photo', type: 'binary', value: 'eA==' },
        { name: 'src', meta: 'file' },
        { name: 'line', meta: 'line' },
      ],
    },
    writer: {
      column: ['src', 'name', 'born', 'photo'],
      fileType: 'json',
      isFirstLineHeader: false,
      writeMode: 'overwrite',
    },
    setting: { speed: { channel: 2 } },
  });
  const r = await plan(ws, [job]);
  assert.equal(r.code, 0, r.stdout + r.stderr);
  assert.equal(r.stderr, '');
  assertGolden('plan.txt', told(ws, r.stdout));
  const same = await plan(ws, [job, '--dry-run'], ['run']);
  assert.deepEqual([same.code, same.stdout], [0, r.stdout]);
});

test('--output json has the same facts', async () => {
  using ws = new Workspace();
  sources(ws);
  const r = await plan(ws, [csvJob(ws), '--output', 'json']);
  assert.equal(r.code, 0);
  const part = (r.summary?.['parts'] as readonly Record<string, never>[])[0] ?? {};
  assert.deepEqual([part['splits']?.['count'], part['splits']?.['whole'], part['splits']?.['bytes']], [3, true, 80]);
  assert.deepEqual(part['target'], {
    place: ws.path('out'),
    state: 'missing',
    holds: null,
    effect: 'the folder is made',
  });
  assert.deepEqual(part['delivery'], { is: 'exactly-once', why: null });
});

test('more splits than are shown are counted', async () => {
  using ws = new Workspace();
  for (let i = 10; i < 25; i++) ws.write(`in/${String(i)}.csv`, 'id\n1\n');
  const { stdout } = await plan(ws, [csvJob(ws)]);
  assert.match(
    stdout,
    /^ {2}splits +15; about 15 rows, 75 B; one lane; bounded\n(?: +\S+\.csv +5 B\n){10} +and 5 more\n/m,
  );
});

describe('the saved state', () => {
  /** Killed in its first epoch behind a checkpoint. */
  async function unfinished(ws: Workspace): Promise<string> {
    sources(ws);
    const job = csvJob(ws);
    const r = await sync(['run', job], { cwd: ws.dir, failpoint: 'outcome.after' });
    assert.equal(r.signal, 'SIGKILL');
    return job;
  }

  test('an unfinished run is gone on with, or given up', async () => {
    using ws = new Workspace();
    const job = await unfinished(ws);
    const r = await plan(ws, [job]);
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stdout, /^ {2}state +goes on with run \w{12} after epoch 1$/m);
    const fresh = await plan(ws, [job, '--fresh']);
    assert.match(
      fresh.stdout,
      /^ {2}state +a new run; the unfinished run \w{12} is given up, and what it left staged is removed$/m,
    );
  });

  test('a changed job is refused as run does', async () => {
    using ws = new Workspace();
    await unfinished(ws);
    const job = csvJob(ws, { writer: { path: 'elsewhere' } });
    const [planned, run] = [await plan(ws, [job]), await sync(['run', job], { cwd: ws.dir })];
    assert.deepEqual([planned.code, run.code], [4, 4]);
    assert.match(
      planned.stdout,
      /^ {2}errors +STATE_MISFIT: the job has changed since run \w+ began: writer\.parameter\.path/m,
    );
    assert.equal(planned.stderr, run.stderr);
  });

  test('an epoch in doubt is said to be decided first', async () => {
    using ws = new Workspace();
    sources(ws);
    const job = csvJob(ws);
    await sync(['run', job], { cwd: ws.dir, failpoint: 'ckpt.after' });
    const { stdout } = await plan(ws, [job]);
    assert.match(stdout, /after epoch 1; first it decides by the target whether epoch 1 is there$/m);
  });

  test('a job that runs is refused, naming its owner, and is not disturbed', async () => {
    using ws = new Workspace();
    const job = ws.job({ job: { content: [entry('out')], setting: { checkpoint: { interval: 50 } } } });
    const p = start(ws, job);
    await checkpointed(ws);
    const r = await sync(['plan', job], { cwd: ws.dir });
    assert.equal(r.code, 4, r.stdout);
    assert.match(
      r.stderr,
      new RegExp(`^sync: STATE_LOCKED: the job is already running: pid ${String(p.child.pid)} on `),
    );
    p.child.kill('SIGTERM');
    assert.equal((await p.done).code, 143);
    await until('it is over', () => existsSync(join(stateDir(ws), 'owner')));
  });
});

describe('what is in the way', () => {
  test('everything at once, with the exit code of a run', async () => {
    using ws = new Workspace();
    ws.write('in/a.csv', 'id,name\n1,ann\n');
    ws.write('out', 'a file');
    const job = csvJob(ws, { reader: { column: ['id', 'born'] } });
    const r = await plan(ws, [job]);
    assert.equal(r.code, 2);
    const errors = told(ws, r.stdout).split('\n  errors')[1] ?? '';
    assert.match(
      errors,
      /COLUMN_MISMATCH: \{\{DIR\}\}\/in\/a\.csv has no column `born`; Its header names `id`, `name`\./,
    );
    assert.match(errors, /SINK_IO: the target is a file, not a folder \(\{\{DIR\}\}\/out\); Name a folder\./);
  });

  test('a source that is not there', async () => {
    using ws = new Workspace();
    const job = csvJob(ws);
    const r = await plan(ws, [job]);
    assert.equal(r.code, 1);
    assert.match(r.stderr, /^sync: SOURCE_MISSING: /);
    assert.equal(r.stdout.split('SOURCE_MISSING').length, 2, 'told once');
  });

  test('columns that do not meet, by the header of the source', async () => {
    using ws = new Workspace();
    sources(ws);
    const r = await plan(ws, [csvJob(ws, { writer: { column: ['id', 'age'] } })]);
    assert.equal(r.code, 2, r.stdout);
    assert.match(
      r.stderr,
      /^sync: COLUMN_MISMATCH: the writer has 2 columns and the reader 3, and the reader has no column `age`/,
    );
  });

  test('a target that must be empty', async () => {
    using ws = new Workspace();
    sources(ws);
    ws.write('out/old.csv', 'x\n');
    const nonConflict = csvJob(ws, { writer: { writeMode: 'nonConflict' } });
    const r = await plan(ws, [nonConflict]);
    assert.equal(r.code, 1);
    assert.match(r.stdout, /^ {2}target +\S+out holds 1 file: a new run is refused, as the folder must be empty$/m);
    assert.match(r.stderr, /^sync: SINK_CONFLICT: /);
    const overwrite = await plan(ws, [csvJob(ws, { writer: { writeMode: 'overwrite' } })]);
    assert.match(overwrite.stdout, /out holds 1 file: it is removed once all rows are published$/m);
  });

  const root = process.getuid?.() === 0;
  const nobody = root ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  test('rights that are missing', { skip: root && !existsSync('/usr/bin/setpriv') }, async () => {
    using ws = new Workspace();
    sources(ws);
    const job = csvJob(ws);
    chmodSync(ws.dir, 0o755);
    chmodSync(ws.path('in/a.csv'), 0o000);
    chmodSync(ws.dir, 0o555);
    try {
      const r = await sync(['plan', job], { cwd: ws.dir, wrap: nobody });
      assert.equal(r.code, 1, r.stderr);
      const text = told(ws, r.stdout);
      assert.match(text, /SOURCE_IO: \{\{DIR\}\}\/in\/a\.csv cannot be read: EACCES; Give the user/);
      assert.match(text, /SINK_IO: \{\{DIR\}\}\/out cannot be made in \{\{DIR\}\}: EACCES; Give the user/);
      assert.match(text, /STATE_IO: the state folder cannot be used: no right to write \(EACCES\) \(\{\{DIR\}\}\)/);
    } finally {
      chmodSync(ws.dir, 0o755);
    }
  });

  test('a job file with errors is told as run tells it', async () => {
    using ws = new Workspace();
    const r = await plan(ws, [csvJob(ws, { writer: { wrong: 1 } })]);
    assert.equal(r.code, 2);
    assert.match(r.stderr, /^sync: JOB_INVALID: job\.content\[0\]\.writer\.parameter\.wrong: unknown option/);
  });
});

describe('delivery, and why it is not more', () => {
  const socket = { name: 'socket', parameter: { address: 'localhost:1', column: ['a'] } };
  const rows = { name: 'stream', parameter: { column: [{ name: 'id', type: 'id' }], sliceRecordCount: [5, 0] } };
  const input = { name: 'file', parameter: { path: '-', fileType: 'csv' } };
  const file = { name: 'file', parameter: { path: 'out', fileType: 'csv' } };
  const output = { name: 'file', parameter: { path: '-', fileType: 'csv' } };

  for (const [what, reader, writer, expected] of [
    [
      'a socket is not connected to',
      socket,
      file,
      'at-most-once: what was read cannot be read again, so rows under way are lost in a crash',
    ],
    [
      'standard output',
      rows,
      output,
      'at-least-once: what is on standard output cannot be taken back: after a crash rows come again',
    ],
    [
      'rows that are printed',
      rows,
      { name: 'stream', parameter: {} },
      'at-least-once: what is printed cannot be taken back: after a crash rows come again',
    ],
    [
      'standard input is not read',
      input,
      file,
      'at-most-once: what was read cannot be read again, so rows under way are lost in a crash',
    ],
    ['files', rows, file, 'exactly-once'],
  ] as const) {
    test(what, async () => {
      using ws = new Workspace();
      const r = await plan(ws, [ws.job({ job: { content: [{ reader, writer }] } })]);
      assert.equal(r.code, 0, r.stdout + r.stderr);
      assert.equal(/^ {2}delivery +(.*)$/m.exec(r.stdout)?.[1], expected);
    });
  }

  test('an unbounded job says so', async () => {
    using ws = new Workspace();
    const r = await plan(ws, [ws.job({ job: { content: [{ reader: rows, writer: file }] } })]);
    assert.match(
      r.stdout,
      /^ {2}splits +2 now; one lane; unbounded: the job runs until it is stopped\n +slice-0 +5 rows\n +slice-1\n/m,
    );
  });
});

test('of several content entries a later one may read what an earlier one writes', async () => {
  using ws = new Workspace();
  sources(ws);
  const file = (path: string) => ({ name: 'file', parameter: { path, ...CSV } });
  const job = ws.job({
    job: {
      content: [
        { reader: file('in/*.csv'), writer: file('mid') },
        { reader: file('mid/*.csv'), writer: file('out') },
      ],
    },
  });
  const r = await plan(ws, [job]);
  assert.equal(r.code, 0, r.stderr);
  assert.match(r.stdout, /^plan of \S+, part 2 of 2: file → file \(nothing was written\)$/m);
  assert.match(r.stdout, /^ {2}warnings +SOURCE_MISSING: .*: unless an entry before this one writes it/m);
  await sync(['run', job], { cwd: ws.dir, failpoint: 'finished.after' });
  const later = await plan(ws, [job]);
  assert.match(
    later.stdout,
    /part 1 of 2: file → file \(nothing was written\)\n {2}done by an earlier start: not run again\n/,
  );
});
