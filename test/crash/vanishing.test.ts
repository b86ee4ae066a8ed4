/** Folders that somebody removes while a job runs: told, never made again, never counted as if nothing had happened. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { test } from 'node:test';
import { assertExact, assertFinishes, fileJob } from '../support/crash.js';
import { startSync, until, type SyncResult } from '../support/sync.js';
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
