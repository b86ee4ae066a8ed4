import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/sync.js';

export interface Usage {
  readonly seconds: number;
  readonly cpu: number;
  /** Peak resident set, MiB. */
  readonly rss: number;
  readonly stdout: string;
  readonly stderr: string;
}

const HOOK = join(ROOT, 'test', 'bench', 'usage-hook.cjs');

/** Runs a node program to its end. @throws Error where it fails. */
export function measureNode(args: readonly string[], cwd: string): Promise<Usage> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--require', HOOK, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let usage = '';
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (d: Buffer) => (stdout += d.toString()));
  child.stderr?.on('data', (d: Buffer) => (stderr += d.toString()));
  child.stdio[3]?.on('data', (d: Buffer) => (usage += d.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = (performance.now() - began) / 1000;
      if (code !== 0) reject(new Error(`${args.join(' ')} ended with ${String(code)}:\n${stderr}`));
      else resolve({ seconds, stdout, stderr, ...(JSON.parse(usage) as { cpu: number; rss: number }) });
    });
  });
}

/** Whole wall time in ms, nothing loaded into the process. */
export function wallMs(command: string, args: readonly string[], cwd: string): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, { cwd, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(performance.now() - began);
      else reject(new Error(`${command} ended with ${String(code)}`));
    });
  });
}

export function median(values: readonly number[]): number {
  const s = [...values].sort((a, b) => a - b);
  return s[s.length >> 1] ?? Number.NaN;
}
