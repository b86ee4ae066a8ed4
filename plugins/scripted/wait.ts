import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 15;

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Resolves once there is something at `path`. A poll, not a watch: the folder itself may not be there yet.
 * Rejects when the signal aborts. `keepAlive` false: does not keep the process running.
 */
export async function fileExists(path: string, signal: AbortSignal | undefined, keepAlive = true): Promise<void> {
  while (!(await exists(path))) await sleep(POLL_MS, undefined, { ref: keepAlive, ...(signal ? { signal } : {}) });
}
