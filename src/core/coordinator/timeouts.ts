/** What is told where an epoch took too long. */
import { SyncError } from '../../plugin-api/index.js';

export function stopTimeout(ms: number): SyncError {
  return new SyncError('STOP_TIMEOUT', `no safe point was found within ${String(ms / 1000)} s of the stop`, {
    hint: 'The last checkpoint is kept; run the job again to go on from it.',
  });
}

export function barrierTimeout(epoch: number, ms: number): SyncError {
  return new SyncError(
    'CHECKPOINT_TIMEOUT',
    `the barrier of epoch ${String(epoch)} did not pass within ${String(ms)} ms`,
    {
      hint: 'A source transaction or the target is too slow: raise setting.checkpoint.timeout or tolerableFailed.',
    },
  );
}

export function prepareTimeout(epoch: number): SyncError {
  return new SyncError(
    'CHECKPOINT_TIMEOUT',
    `prepare of epoch ${String(epoch)} took longer than the checkpoint's timeout`,
    { hint: 'The target is too slow for one epoch: raise setting.checkpoint.timeout or lower its interval.' },
  );
}
