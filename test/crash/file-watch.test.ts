/** A watching job as a process: killed over and over while files arrive, it reads each once; it stops on SIGTERM. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

function jobFile(ws: Workspace, channel: number): string {
  const watch = { watch: true, watchInterval: 20, watchStable: 1 };
  const reader = { name: 'filereader', parameter: { path: 'in/*.csv', column: ['id'], splitSize: 500, ...watch } };
  const writer = { name: 'filewriter', parameter: { path: 'out', fileType: 'csv', rollOnCheckpoint: true } };
  const setting = { speed: { channel }, checkpoint: { interval: 30 } };
  return ws.job({ job: { content: [{ reader, writer }], setting } });
}

/** Puts files of rows that are like no others in place, whole. */
class Producer {
  readonly #ws: Workspace;
  readonly expected: string[] = [];
  #files = 0;

  constructor(ws: Workspace) {
    this.#ws = ws;
    ws.write('in/.keep', '');
  }

  add(rows: number): void {
    const name = String(this.#files++).padStart(3, '0');
    const lines = Array.from({ length: rows }, (_, i) => `${name}-${String(i)}`);
    this.expected.push(...lines);
    writeFileSync(this.#ws.path('in', `.${name}`), lines.map((l) => `${l}\n`).join(''));
    renameSync(this.#ws.path('in', `.${name}`), this.#ws.path('in', `${name}.csv`));
  }

  get sorted(): readonly string[] {
    return [...this.expected].sort();
  }
}

const start = (ws: Workspace, job: string, failpoint?: string): SyncProcess =>
  startSync(['run', job, '--output', 'json'], { cwd: ws.dir, ...(failpoint === undefined ? {} : { failpoint }) });

const arrived = (ws: Workspace, p: Producer): boolean => publishedLines(ws.path('out')).length >= p.expected.length;

const POINTS = ['ckpt.before', 'ckpt.after#2', 'prepare.after', 'commit.data#2', 'outcome.after', 'planner.after'];

for (const channel of [1, 2]) {
  test(`killed over and over while files arrive, each row arrives once: channel ${String(channel)}`, async () => {
    using ws = new Workspace();
    const job = jobFile(ws, channel);
    const p = new Producer(ws);
    p.add(50);
    for (const point of POINTS) {
      const run = start(ws, job, point);
      // Files arrive until it dies, so that each point is reached.
      await until(`killed at ${point}`, async () => {
        if (run.child.signalCode !== null || run.child.exitCode !== null) return true;
        p.add(1 + (p.expected.length % 7) * 40);
        await new Promise((resolve) => setTimeout(resolve, 30));
        return false;
      });
      const r = await run.done;
      assert.equal(r.signal, 'SIGKILL', `${point}: exit ${String(r.code)}\n${r.stderr}`);
    }
    const last = start(ws, job);
    p.add(10);
    await until('all rows are there', () => arrived(ws, p) || last.child.exitCode !== null);
    last.child.kill('SIGTERM');
    const r = await last.done;
    assert.equal(r.code, 143, r.stderr);
    assert.equal(r.summary?.state, 'stopped');
    assert.deepEqual(publishedLines(ws.path('out')), p.sorted);
    assert.deepEqual(
      tree(ws.path('out')).filter((n) => n.startsWith('.')),
      [],
      'left over',
    );
  });
}

test('stopped while it waits, and started again, it reads only what is new', async () => {
  using ws = new Workspace();
  const job = jobFile(ws, 1);
  const p = new Producer(ws);
  for (let i = 0; i < 3; i++) {
    p.add(20);
    const run = start(ws, job);
    await until('the rows are there', () => arrived(ws, p) || run.child.exitCode !== null);
    run.child.kill('SIGTERM');
    const r = await run.done;
    assert.equal(r.code, 143, r.stderr);
    assert.equal(r.summary?.written, p.expected.length, 'of the whole run');
    assert.deepEqual(publishedLines(ws.path('out')), p.sorted);
  }
});
