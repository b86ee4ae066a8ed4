/** Jobs that run until they are stopped, as child processes, for the tests of `sync status` and `sync stop`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobStatus } from '../../../src/core/checkpoint/job-status.js';
import { startSync, sync, until, type SyncProcess } from '../../support/sync.js';
import type { Workspace } from '../../support/workspace.js';

const column = [{ name: 'id', type: 'id' }];

/** A content entry that makes rows, `rows` of them or without end, into a folder. */
export function entry(out: string, rows = 0): object {
  return {
    reader: { name: 'stream', parameter: { column, sliceRecordCount: [rows], permitsPerSecond: rows === 0 ? 200 : 0 } },
    writer: { name: 'file', parameter: { path: out, fileType: 'csv' } },
  };
}

export function jobOf(ws: Workspace, content: readonly object[], setting: object = {}, name = 'job.json'): string {
  return ws.job({ job: { content, setting: { checkpoint: { interval: 50 }, ...setting } } }, name);
}

/** Runs a job; the process does not outlive its test. */
export function start(ws: Workspace, job: string, ...more: readonly string[]): SyncProcess {
  return startSync(['run', job, ...more], { cwd: ws.dir });
}

export async function statusOf(ws: Workspace, ...args: readonly string[]): Promise<readonly JobStatus[]> {
  const r = await sync(['status', ...args, '--output', 'json'], { cwd: ws.dir });
  if (r.code !== 0) throw new Error(r.stderr);
  return JSON.parse(r.stdout) as readonly JobStatus[];
}

/** The folder of the only job, or of the one whose id ends so. */
export function stateDir(ws: Workspace, end = ''): string {
  const root = ws.path('state');
  const found = readdirSync(root).find((n) => n !== 'id' && n.endsWith(end));
  if (found === undefined) throw new Error(`no state folder ends in ${end}`);
  return join(root, found);
}

export function owner(ws: Workspace, end = ''): Record<string, unknown> {
  return JSON.parse(readFileSync(join(stateDir(ws, end), 'owner'), 'utf8')) as Record<string, unknown>;
}

/** The newest checkpoint of the only job. */
export function newestEpoch(ws: Workspace): number {
  const names = readdirSync(stateDir(ws), { recursive: true }).map(String);
  return Math.max(0, ...names.map((n) => Number(/\/(\d+)\.ckpt$/.exec(n)?.[1] ?? 0)));
}

/** Whether the job has made a checkpoint, by its files. */
export async function checkpointed(ws: Workspace, end = ''): Promise<void> {
  await until('a checkpoint', () => {
    try {
      return readdirSync(stateDir(ws, end), { recursive: true }).some((n) => /[1-9]\d*\.outcome$/.test(String(n)));
    } catch {
      return false;
    }
  });
}
