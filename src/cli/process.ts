/** How the process ends: never with a bare stack trace, never hanging, and with its output written. */
import { writeSync } from 'node:fs';
import type { Redact } from '../job/redact.js';
import { exitCodeOf, reportError, toSyncError, type JsonObject, type SyncError } from '../plugin-api/index.js';
import { renderError } from './output.js';

/** How long the result of a job that was stopped or has failed may wait for a stdout that nobody reads (ms). */
const LAST_WORDS_MS = 2000;

/** Of the job that this process runs; what fails outside of it is told by the same words. */
let redactFailures: Redact = (text) => text;

/** From now on no failure of the process tells these secrets. */
export function keepSecret(redact: Redact): void {
  redactFailures = redact;
}

/** For what is told of a failure. */
export function withoutSecrets(text: string): string {
  return redactFailures(text);
}

/** Makes errors that nobody awaits end the process with one line and exit code 1. */
export function guardProcess(args: readonly string[]): void {
  const die = (thrown: unknown): void => {
    failAtOnce(args, toSyncError(thrown));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  // A closed pipe (`sync … | head`) fails the write that meets it; the stream's event must not end the process too.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
}

/** Ends the process with nothing but the error told. */
export function failAtOnce(args: readonly string[], error: SyncError): void {
  // `--output json` promises a JSON line whatever happens; what was committed is not known here, so no counts.
  if ((args[0] === 'run' || args.some((a) => /^--?job$/.test(a))) && hasOption(args, '--output', 'json')) {
    const nothing: JsonObject = { read: null, written: null, dirty: null, filtered: null, bytesRead: null };
    const rest: JsonObject = { bytesWritten: null, seconds: null, epochs: null, delivery: null };
    const line = { ok: false, state: 'failed', ...nothing, ...rest, error: reportError(error) };
    writeLine(1, redactFailures(JSON.stringify(line)));
  }
  if (hasOption(args, '--log-level', 'debug')) writeLine(2, redactFailures(error.stack ?? ''));
  writeLine(2, redactFailures(renderError(error)));
  process.exit(exitCodeOf(error));
}

/**
 * Ends the process once stdout and stderr have taken all that was written before; unless all is well, or once they had
 * their time.
 * At once, not by running out of work: a plugin's forgotten handle must not keep a finished job alive, and tearing the
 * heap down costs 10 ms.
 */
export function endProcess(code: number): void {
  process.exitCode = code;
  if (code !== 0) setTimeout(() => process.exit(code), LAST_WORDS_MS);
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

/** Looked up by hand: this must work before, and whatever becomes of, the parsing of arguments. */
function hasOption(args: readonly string[], name: string, value: string): boolean {
  return args.some((a, i) => a === `${name}=${value}` || (a === name && args[i + 1] === value));
}

function writeLine(fd: number, text: string): void {
  try {
    writeSync(fd, `${text}\n`);
  } catch {
    // Nobody is listening; the exit code still tells.
  }
}
