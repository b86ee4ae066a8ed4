/** Runs the installed command line as a child process, as a user would. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithTest } from './children.js';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
export const SYNC = join(ROOT, 'bin', 'sync');

export interface SyncResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The JSON object in the last line of stdout; null where there is none. */
  readonly summary: Summary | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface Summary {
  readonly state: string;
  readonly read: number;
  readonly written: number;
  readonly dirty: number;
  readonly epochs: number;
  readonly delivery: string;
  readonly error: { readonly code: string; readonly message: string; readonly place?: string } | null;
  readonly [key: string]: unknown;
}

export interface SyncProcess {
  readonly child: ChildProcess;
  readonly done: Promise<SyncResult>;
}

export interface SyncOptions {
  readonly cwd: string;
  readonly failpoint?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  readonly wrap?: readonly string[];
}

export function startSync(args: readonly string[], options: SyncOptions): SyncProcess {
  const began = performance.now();
  const [command, ...rest] = [...(options.wrap ?? []), process.execPath, SYNC, ...args];
  const child = spawn(command ?? '', rest, {
    cwd: options.cwd,
    env: {
      ...process.env,
      SYNC_STATE_DIR: join(options.cwd, 'state'),
      SYNC_TEST_PLUGINS: '1',
      ...(options.failpoint === undefined ? {} : { SYNC_FAILPOINT: options.failpoint }),
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endsWithTest(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (s: string) => (stdout += s));
  child.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  child.stdin.on('error', () => undefined); // a killed child closes it
  child.stdin.end(options.input ?? '');
  const done = new Promise<SyncResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code, signal, summary: lastJson(stdout), stdout, stderr, ms: performance.now() - began });
    });
  });
  return { child, done };
}

/** `sync run <job> --output json` and more arguments, to its end. */
export function sync(args: readonly string[], options: SyncOptions): Promise<SyncResult> {
  return startSync(args, options).done;
}

function lastJson(stdout: string): Summary | null {
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Summary;
  } catch {
    return null;
  }
}

/** Waits until a condition holds; fails after `ms`, naming it. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${String(ms)} ms in vain: ${what}`);
    await sleep(5);
  }
}

/** Linux: whether the process is stopped by a signal. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false;
  }
}
