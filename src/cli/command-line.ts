/** The commands and their options. What a command does is imported only when it is the one that runs. */
import { createRequire } from 'node:module';
import yargs, { type Argv } from 'yargs';
import { SyncError, exitCodeOf, toSyncError } from '../plugin-api/index.js';
import { COMMANDS, type Action, type Choose, type CommandSpec } from './commands.js';
import { nearestName } from '../registry/nearest.js';
import { printNote, renderError } from './output.js';
import { withoutSecrets } from './process.js';

const EXIT_CODES =
  'Exit codes: 0 done, 1 failed, 2 bad job or usage, 3 too many dirty rows, 4 state locked, unknown or not fitting, ' +
  '130/143 stopped by a signal after a clean checkpoint.';

const FIRST_STEPS =
  'To begin: sync init file file > job.json writes a job to edit (sync plugins lists what stands for file); then ' +
  'sync validate job.json and sync run job.json. What an option means: sync describe file.';

/** @returns the exit code. */
export async function runCommandLine(given: readonly string[]): Promise<number> {
  // Filled by the handlers of yargs, which only choose: for an asynchronous handler, or one that fails, yargs would take
  // a command's own failure for a wrong usage.
  const chosen: Action[] = [];
  const choose: Choose = (action) => {
    chosen.push(action);
  };
  try {
    const args = joinParameters(LAUNCHER.test(given.join('\n')) ? await fromLauncher(given) : given);
    checkSwitches(args);
    const found = findCommand(args);
    const parser = found ? oneCommand(found.command, found.rest, choose) : allCommands(args);
    if (found && asksForHelp(found.rest)) await showExamples(parser, found.command);
    parser.parseSync();
    return (await chosen[0]?.()) ?? 0;
  } catch (e) {
    const error = toSyncError(e);
    printNote(withoutSecrets(renderError(error)));
    return exitCodeOf(error);
  }
}

/** A flag of a launcher of FlinkX, ChunJun or DataX: one dash and a word, or `--job`. What it says is loaded only then. */
const LAUNCHER = /^(?:-[A-Za-z][A-Za-z]+|-s|-[jm]|--(?:job|mode|jobid|jvm|loglevel))(?:=|$)/m;

async function fromLauncher(given: readonly string[]): Promise<readonly string[]> {
  const { args, warnings } = (await import('./launcher-flags.js')).translateFlags(given);
  for (const w of warnings) printNote(w);
  return args;
}

/** A value may begin with a dash (DataX's `-p "-Dday=1"`), which yargs would take for the next option. */
function joinParameters(args: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const value = args[i + 1];
    if (arg !== '-p' && arg !== '--param') out.push(arg);
    else if (value === undefined) throw new SyncError('USAGE', `${arg} has no value`, { hint: '-p name=value' });
    else {
      out.push(`--param=${value}`);
      i++;
    }
  }
  return out;
}

/** yargs takes any other value of a switch for false: `--fresh=yes` would quietly resume. */
function checkSwitches(args: readonly string[]): void {
  for (const arg of args) {
    const [, name, value] =
      /^--(fresh|allow-replay|take-over|cursor|force|json|md|reader|writer|dry-run|savepoint)=(.*)$/s.exec(arg) ?? [];
    if (name === undefined || value === 'true' || value === 'false') continue;
    throw new SyncError('USAGE', `--${name} takes no value, or true or false; not ${JSON.stringify(value)}`);
  }
}

const asksForHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h');

async function showExamples(y: Argv, c: CommandSpec): Promise<void> {
  const { EXAMPLES } = await import('./examples.js');
  for (const [line, what] of EXAMPLES[c.name] ?? []) y.example(line, what);
  y.epilogue(EXIT_CODES);
}

/** The command that the first words name, and what is left of the words. */
function findCommand(args: readonly string[]): { command: CommandSpec; rest: readonly string[] } | null {
  for (const command of COMMANDS) {
    const words = command.name.split(' ');
    if (words.every((w, i) => args[i] === w)) return { command, rest: args.slice(words.length) };
  }
  return null;
}

/**
 * A parser of one command, as yargs' default command: for a named one yargs lays out the help text before it calls the
 * handler, which costs 5 ms of every start.
 */
function oneCommand(c: CommandSpec, args: readonly string[], choose: Choose): Argv {
  const y = base(args).scriptName(`sync ${c.name}`);
  return c.register(y, `$0${c.positional === '' ? '' : ` ${c.positional}`}`, choose);
}

const GROUPS: Readonly<Record<string, string>> = {
  state: 'Look at, decide and drop saved state.',
  xa: 'Look at and roll back transactions that are prepared at a target.',
};
const GROUP_NOUNS: Readonly<Record<string, string>> = { xa: 'prepared transactions' };

/** No command, or none that there is: for the help text and for the hint at the nearest one. */
function allCommands(args: readonly string[]): Argv {
  const [first] = args;
  const group = COMMANDS.filter((c) => c.name.startsWith(`${first ?? ''} `));
  const inGroup = first !== undefined && group.length > 0;
  const word = inGroup ? args[1] : first;
  if (word !== undefined && !word.startsWith('-')) throw unknownCommand(inGroup ? `${first} ` : '', word);
  const y = base(inGroup ? args.slice(1) : args).scriptName(inGroup ? `sync ${first}` : 'sync');
  for (const c of inGroup ? group : COMMANDS) {
    const name = inGroup ? c.name.slice(first.length + 1) : c.name;
    // Words after the first are positionals to yargs; they are never parsed here, only shown.
    y.command(`${name} ${c.positional}`.trim(), c.describe, {}, () => {
      throw new SyncError('USAGE', 'a command is missing', { hint: 'see sync --help' });
    });
  }
  const names = group.map((c) => c.name.slice(c.name.indexOf(' ') + 1)).join(', ');
  return y
    .usage(
      `$0 <command>\n\n${(inGroup ? GROUPS[first] : undefined) ?? 'Copies data from a reader to a writer, as a job file says.'}`,
    )
    .demandCommand(
      1,
      inGroup ? `say what to do with the ${GROUP_NOUNS[first] ?? first}: ${names}` : 'a command is missing',
    )
    .epilogue(inGroup ? EXIT_CODES : `${FIRST_STEPS}\n\n${EXIT_CODES}`);
}

/** `group` is the first word of a command of two, with a space behind it, or nothing. */
function unknownCommand(group: string, word: string): SyncError {
  const known = COMMANDS.filter((c) => c.name.startsWith(group)).map((c) => c.name.slice(group.length).split(' ')[0]);
  const near = nearestName(
    word,
    [...new Set(known)].flatMap((n) => n ?? []),
  );
  return new SyncError('USAGE', `there is no command "${group}${word}"`, {
    hint: near === null ? 'see sync --help' : `did you mean ${group}${near}? see sync --help`,
  });
}

function base(args: readonly string[]): Argv {
  return yargs(args)
    .locale('en') // else yargs looks for a language file by LANG; messages must be the same everywhere
    .version(versionFor(args))
    .strict()
    .help()
    .alias('help', 'h')
    .wrap(100)
    .updateStrings({
      'Not enough non-option arguments: got %s, need at least %s': {
        one: 'an argument is missing: got %s, need at least %s',
        other: 'arguments are missing: got %s, need at least %s',
      } as unknown as string,
    })
    .exitProcess(false)
    .fail((message: string | null, error: unknown) => {
      // What a coercion throws comes as yargs' own error, with the message of the first.
      const own = error instanceof Error && error.name === 'YError' ? error.message : null;
      if (error !== undefined && error !== null && own === null) throw toSyncError(error);
      const text = (own ?? message ?? 'wrong usage').replace(/\s*\n\s*/g, ' ');
      throw new SyncError('USAGE', text, { hint: 'see sync --help' });
    });
}

/** Read only when asked for: it costs a file. */
function versionFor(args: readonly string[]): string {
  if (!args.includes('--version')) return '';
  const { version } = createRequire(import.meta.url)('syncx/package.json') as { readonly version: string };
  return version;
}
