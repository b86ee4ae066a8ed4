/**
 * How the engine may go on after an error: `never` (a person must act), `retry` (the same call may succeed later),
 * `reconnect` (open the lane anew first). Restart strategies decide by this word, never by a message's text.
 */
export type RetryClass = 'never' | 'retry' | 'reconnect';

/** Whose fault it is, for the reader of the message. */
export type Blame = 'config' | 'source' | 'sink' | 'data' | 'state' | 'internal';

interface CodeFacts {
  readonly retry: RetryClass;
  readonly blame: Blame;
  /** 1 failed, 2 bad job or usage, 3 dirty limit, 4 state locked, unknown or not fitting. */
  readonly exit: 1 | 2 | 3 | 4;
  readonly what: string;
}

const code = (exit: 1 | 2 | 3 | 4, retry: RetryClass, blame: Blame, what: string): CodeFacts => ({
  exit,
  retry,
  blame,
  what,
});

/** The closed list of error codes. A new kind of failure is a new row here, not a new sentence somewhere. */
export const ERROR_CODES = {
  JOB_FILE: code(2, 'never', 'config', 'The job file cannot be read or is not JSON.'),
  JOB_INVALID: code(2, 'never', 'config', 'The job file has options that are unknown, wrong or do not fit together.'),
  PLUGIN_UNKNOWN: code(2, 'never', 'config', 'No installed plugin has that name.'),
  PLUGIN_BROKEN: code(1, 'never', 'internal', 'A plugin broke its contract.'),
  USAGE: code(2, 'never', 'config', 'The command line is wrong.'),
  COLUMN_MISMATCH: code(2, 'never', 'config', "Reader and writer columns don't fit together."),
  SOURCE_MISSING: code(1, 'never', 'source', 'What the reader should read does not exist.'),
  SOURCE_CHANGED: code(4, 'never', 'source', 'The source changed since the checkpoint that would be resumed.'),
  SOURCE_IO: code(1, 'retry', 'source', 'Reading from the source failed.'),
  SOURCE_FORMAT: code(1, 'never', 'data', 'The source holds bytes that are not of the stated format.'),
  ROW_INVALID: code(3, 'never', 'data', 'A row could not be read or written (a dirty row).'),
  ROW_TOO_LARGE: code(1, 'never', 'data', 'A cell or row is larger than a batch can hold.'),
  TRANSACTION_TOO_LARGE: code(1, 'never', 'data', 'A source transaction is longer than an epoch of the target may be.'),
  DIRTY_LIMIT: code(3, 'never', 'data', 'More dirty rows than errorLimit allows.'),
  DIRTY_IO: code(1, 'retry', 'sink', 'The files of dirty rows cannot be written.'),
  SINK_IO: code(1, 'retry', 'sink', 'Writing to the target failed.'),
  SINK_FULL: code(1, 'never', 'sink', 'The target has no space left.'),
  SINK_CONFLICT: code(1, 'never', 'sink', 'The target holds something that must not be replaced.'),
  TARGET_DIFFERS: code(1, 'never', 'data', 'The target does not hold the rows of the source (setting.verify).'),
  STATE_IO: code(1, 'retry', 'state', 'The state folder cannot be read or written.'),
  STATE_CORRUPT: code(4, 'never', 'state', 'A state file is damaged or from a newer version.'),
  STATE_LOCKED: code(4, 'never', 'state', 'Another process runs this job.'),
  STATE_MISFIT: code(4, 'never', 'state', 'The saved state belongs to a job that differs from this one.'),
  STATE_OLD: code(4, 'never', 'state', 'The last checkpoint is older than checkpoint.resumeMaxAge.'),
  STATE_BEHIND: code(4, 'never', 'state', 'The target holds later epochs of this run than the state folder knows.'),
  COMMIT_UNKNOWN: code(4, 'never', 'state', 'Whether a prepared epoch was committed cannot be told.'),
  FENCED: code(4, 'never', 'state', 'A newer start of this job has taken over.'),
  STOPPED: code(1, 'never', 'internal', 'The job was told to stop a second time and ended without a checkpoint.'),
  STOP_TIMEOUT: code(1, 'never', 'internal', 'The job was asked to stop and found no safe point in time.'),
  CHECKPOINT_TIMEOUT: code(1, 'retry', 'internal', 'Checkpoints timed out more often than checkpoint.tolerableFailed.'),
  LANE_DIED: code(1, 'retry', 'internal', 'The worker thread of a lane ended: out of memory, or a crash.'),
  LANE_STUCK: code(1, 'never', 'internal', 'A lane did not end when it was told to.'),
  INTERNAL: code(1, 'never', 'internal', 'A defect in the tool or in a plugin.'),
} as const satisfies Record<string, CodeFacts>;

export type ErrorCode = keyof typeof ERROR_CODES;
