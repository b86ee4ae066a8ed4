/** The commands and their options. What a command does is imported only when it is the one that runs. */
import { createRequire } from 'node:module';
import yargs, { type Argv } from 'yargs';
import { SyncError, exitCodeOf, toSyncError } from '../plugin-api/index.js';
import { printNote, renderError } from './output.js';

/** What to do; yargs only chooses it. */
type Action = () => Promise<number>;
type Choose = (action: Action) => void;

/** @returns the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  // Filled by the handlers of yargs, synchronous on purpose: for an asynchronous one yargs lays out its help text
  // in advance (8 ms of every start), and it would take a command's own failure for a wrong usage.
  const chosen: Action[] = [];
  try {
    parser(args, (action) => {
      chosen.push(action);
    }).parseSync();
    return (await chosen[0]?.()) ?? 0;
  } catch (e) {
    const error = toSyncError(e);
    printNote(renderError(error));
    return exitCodeOf(error);
  }
}

function parser(args: readonly string[], choose: Choose): Argv {
  return yargs(args)
    .scriptName('sync')
    .locale('en') // else yargs looks for a language file by LANG; messages must be the same everywhere
    .version(versionFor(args))
    .usage('$0 <command>\n\nCopies data from a reader to a writer, as a job file says.')
    .command(
      'run <job>',
      'Run a job; an interrupted one goes on where it was.',
      (y) =>
        outputOption(stateOptions(jobArgument(y)))
          .option('fresh', { type: 'boolean', default: false, describe: 'Start anew; give up an unfinished run.' })
          .option('allow-replay', {
            type: 'boolean',
            default: false,
            describe: 'Go on although the target holds later epochs than the state; rows may be doubled.',
          })
          .option('take-over', {
            type: 'boolean',
            default: false,
            describe: 'The state folder was moved, and nothing runs from its old place.',
          })
          .option('log-level', { choices: ['error', 'warn', 'info', 'debug'] as const, default: 'info' as const })
          .option('log-format', {
            choices: ['json', 'pretty'] as const,
            describe: 'Form of the log on stderr; default: pretty on a terminal.',
          }),
      (a) => {
        choose(async () => (await import('./commands/run.js')).runCommand(a));
      },
    )
    .command(
      'validate <job>',
      'Check a job file and its options; connects to nothing.',
      (y) => outputOption(jobArgument(y)),
      (a) => {
        choose(async () => (await import('./commands/validate.js')).validateCommand(a));
      },
    )
    .command('state', 'Look at, decide and drop saved state.', (y) => stateCommands(y, choose))
    .demandCommand(1, 'a command is missing')
    .strict()
    .recommendCommands()
    .help()
    .alias('help', 'h')
    .wrap(100)
    .epilogue(
      'Exit codes: 0 done, 1 failed, 2 bad job or usage, 3 too many dirty rows, 4 state locked, unknown or not fitting, 130/143 stopped by a signal after a clean checkpoint.',
    )
    .exitProcess(false)
    .fail((message: string | null, error: unknown) => {
      if (error !== undefined && error !== null) throw toSyncError(error);
      throw new SyncError('USAGE', message ?? 'wrong usage', { hint: 'see sync --help' });
    });
}

function jobArgument<T>(y: Argv<T>) {
  return y.positional('job', { type: 'string', demandOption: true, describe: 'Path of the job file.' });
}

function outputOption<T>(y: Argv<T>) {
  return y.option('output', {
    choices: ['text', 'json'] as const,
    default: 'text' as const,
    describe: 'Form of the result; json: one object as the last line of stdout.',
  });
}

function stateOptions<T>(y: Argv<T>) {
  return y
    .option('job-id', { type: 'string', describe: 'Name of the job; default: the path of its file.' })
    .option('state-dir', {
      type: 'string',
      describe: 'Folder of saved state; also SYNC_STATE_DIR, checkpoint.dir, ~/.local/state/syncx.',
    });
}

function stateCommands(y: Argv, choose: Choose): Argv {
  const which = <T>(a: Argv<T>) =>
    outputOption(
      stateOptions(a.positional('job', { type: 'string', demandOption: true, describe: 'Job file, or a job id.' })),
    );
  return y
    .command(
      'list',
      'All jobs that have state.',
      (a) => outputOption(stateOptions(a)),
      (a) => {
        choose(async () => (await import('./commands/state.js')).listCommand(a));
      },
    )
    .command('show <job>', 'The newest checkpoint of a job.', which, (a) => {
      choose(async () => (await import('./commands/state.js')).showCommand(a));
    })
    .command(
      'resolve <job>',
      'Say what became of an epoch whose outcome is unknown.',
      (a) =>
        which(a)
          .option('as', { choices: ['committed', 'lost'] as const, demandOption: true, describe: 'What became of it.' })
          .option('lane', { type: 'string', default: 'all', describe: 'Number of the lane, or all.' }),
      (a) => {
        choose(async () => (await import('./commands/state.js')).resolveCommand(a));
      },
    )
    .command('reset <job>', 'Sweep what the job left at its target, then drop its state.', which, (a) => {
      choose(async () => (await import('./commands/state.js')).resetCommand(a));
    })
    .demandCommand(1, 'say what to do with the state: list, show, resolve or reset')
    .strict();
}

/** Read only when asked for: it costs a file. */
function versionFor(args: readonly string[]): string {
  if (!args.includes('--version')) return '';
  const { version } = createRequire(import.meta.url)('syncx/package.json') as { readonly version: string };
  return version;
}
