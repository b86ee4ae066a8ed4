/** Folders that somebody removes while a job runs: told, never made again, never counted as if nothing had happened. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertExact, assertFinishes, assertKilled, fileJob, run } from '../support/crash.js';
import { startSync, sync, until, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

/** Runs the job, and `harm` as soon as a first file is published. */
async function harmed(
  ws: Workspace,
  job: { readonly job: string; readonly out: string },
  harm: () => void,
): Promise<SyncResult> {
  const p = startSync(['run', job.job, '--output', 'json'], { cwd: ws.dir });
  await until('a file is published', () => existsSync(job.out) && readdirSync(job.out).some((n) => !n.startsWith('.')));
  harm();
  return p.done;
}

test('the target folder is taken away in mid-run: SINK_IO, and after it is put back the next start goes on', async () => {
  using ws = new Workspace();
  const job = fileJob(ws);
  const away = ws.path('away');
  const r = await harmed(ws, job, () => {
    renameSync(job.out, away);
  });
  assert.equal(r.code, 1, r.stderr);
  assert.equal(r.summary?.error?.code, 'SINK_IO', r.stderr);
  assert.equal(r.summary.error.place, job.out);
  assert.match(r.stderr, /has vanished since the run began/);
  assert.equal(existsSync(job.out), false, 'it was made again');
  renameSync(away, job.out);
  await assertFinishes(ws, job, 'put back');
  assertExact(job);
});

for (const as of ['committed', 'lost'] as const) {
  test(`one of several prepared files is removed before a restart and taken as ${as}: told by name, and true`, async () => {
    using ws = new Workspace();
    const job = fileJob(ws, { maxFileSize: 100 });
    assertKilled(await run(ws, job, 'ckpt.after#2'), 'ckpt.after#2');
    const hidden = readdirSync(job.out).find((n) => n.startsWith('.')) ?? '';
    const staged = readdirSync(join(job.out, hidden)).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    assert.ok(staged.length > 1, staged.join());
    const missing = join(job.out, hidden, staged[0] ?? '');
    const gone = readFileSync(missing, 'utf8').split('\n').slice(0, -1);
    rmSync(missing);
    const r = await run(ws, job);
    assert.equal(r.code, 4, r.stderr);
    const { code, message = '', hint = '' } = (r.summary?.error ?? {}) as Readonly<Record<string, string>>;
    assert.equal(code, 'COMMIT_UNKNOWN');
    const [n, k] = [staged.length, gone.length];
    assert.match(
      message,
      new RegExp(
        `lane 0: ${String(n - 1)} of ${String(n)} pieces of epoch 2 are published; 1 \\(${String(k)} rows\\) cannot be found, neither prepared nor published: ${job.out}/part-[^/]*-000-000002-0000.jsonl$`,
      ),
    );
    const published = readdirSync(job.out)
      .filter((x) => x.includes('-000002-'))
      .sort()
      .map((x) => join(job.out, x));
    const more = published.length > 10 ? ` and ${String(published.length - 10)} more` : '';
    const named = `${published.slice(0, 10).join(', ')}${more}`;
    assert.ok(hint.includes(`first remove what is published of it: ${named}. `), hint);
    if (as === 'lost') for (const path of published) rmSync(path);
    const say = await sync(['state', 'resolve', job.job, '--lane', '0', '--as', as], { cwd: ws.dir });
    assert.equal(say.code, 0, say.stderr);
    await assertFinishes(ws, job, as);
    assertExact(as === 'lost' ? job : { ...job, expected: job.expected.filter((l) => !gone.includes(l)) });
  });
}
