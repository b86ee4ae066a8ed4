/** The table of commands: names, arguments, options, and where the code is. */
import { SyncError } from '../plugin-api/index.js';
import type { Argv } from 'yargs';

/** What a command does, to its exit code. */
export type Action = () => Promise<number>;
export type Choose = (action: Action) => void;

export interface CommandSpec {
  /** One or two words. */
  readonly name: string;
  /** `<job>` or nothing. */
  readonly positional: string;
  readonly describe: string;
  /** Adds its options to a parser. */
  build(y: Argv): Argv;
  /** Adds the command to a parser under a yargs command text. */
  register(y: Argv, command: string, choose: Choose): Argv;
}

function command<T>(
  name: string,
  positional: string,
  describe: string,
  options: (y: Argv) => Argv<T>,
  run: (args: Awaited<ReturnType<Argv<T>['parseAsync']>>) => Promise<number>,
): CommandSpec {
  return {
    name,
    positional,
    describe,
    build: (y) => options(y),
    register: (y, text, choose) =>
      y.command(text, describe, options, (args) => {
        choose(() => run(args as Awaited<ReturnType<Argv<T>['parseAsync']>>));
      }),
  };
}

const jobArgument = <T>(y: Argv<T>) =>
  y.positional('job', { type: 'string', demandOption: true, describe: 'Path of the job file.' });

/** Of a repeated option yargs makes a list, of one that stands alone none. */
const asList = (v: string | readonly string[] | undefined): readonly string[] =>
  typeof v === 'string' ? [v] : (v ?? []);

const paramOption = <T>(y: Argv<T>) =>
  y.option('param', {
    alias: 'p',
    type: 'string',
    nargs: 1,
    describe: 'name=value for ${name} in the job file; repeat it, or give JSON: \'{"name": 1}\'.',
    coerce: asList,
  });

const confOption = <T>(y: Argv<T>) =>
  y
    .option('conf', {
      type: 'string',
      nargs: 1,
      describe: 'key=value for job.setting, or a key of Flink; wins over the job file; repeat it.',
      coerce: asList,
    })
    .option('conf-prop', {
      type: 'string',
      nargs: 1,
      describe: 'The same as JSON: \'{"execution.checkpointing.interval": 60000}\'; also -confProp.',
      coerce: asList,
    });

const outputOption = <T>(y: Argv<T>) =>
  y.option('output', {
    choices: ['text', 'json'] as const,
    default: 'text' as const,
    describe: 'Form of the result; json: one object as the last line of stdout.',
  });

/** Of a repeated option yargs makes a list, and of one without a value an empty text: neither is what anybody means. */
const oneText =
  (option: string) =>
  (value: string | readonly string[] | undefined): string | undefined => {
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw new SyncError('USAGE', `--${option} is given more than once`);
    if (value.trim() === '') throw new SyncError('USAGE', `--${option} has no value`);
    return value;
  };

const stateOptions = <T>(y: Argv<T>) =>
  y
    .option('job-id', {
      type: 'string',
      describe: 'Name of the job; default: the path of its file.',
      coerce: oneText('job-id'),
    })
    .option('state-dir', {
      type: 'string',
      describe: 'Folder of saved state; also SYNC_STATE_DIR, checkpoint.dir, ~/.local/state/syncx.',
      coerce: oneText('state-dir'),
    });

const whichState = (y: Argv) =>
  outputOption(
    stateOptions(
      paramOption(y.positional('job', { type: 'string', demandOption: true, describe: 'Job file, or a job id.' })),
    ),
  );

const cursorOption = <T>(y: Argv<T>, describe: string) =>
  y.option('cursor', { type: 'boolean', default: false, describe });

const runOption = <T>(y: Argv<T>) =>
  y.option('run', {
    type: 'string',
    describe: 'Id of the run; default: the unfinished one, else the last.',
    coerce: oneText('run'),
  });

const runOptions = <T>(y: Argv<T>) =>
  outputOption(stateOptions(confOption(paramOption(jobArgument(y)))))
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
    });

export const COMMANDS: readonly CommandSpec[] = [
  command(
    'run',
    '<job>',
    'Run a job; an interrupted one goes on where it was.',
    (y) =>
      runOptions(y)
        .option('dry-run', { type: 'boolean', default: false, describe: 'Only tell what would be done: sync plan.' })
        .option('log-level', {
          choices: ['error', 'warn', 'info', 'debug'] as const,
          default: 'info' as const,
          describe: 'Least level of what is logged.',
        })
        .option('log-format', {
          choices: ['json', 'pretty'] as const,
          describe: 'Form of the log on stderr; default: pretty on a terminal.',
        }),
    async (a) =>
      a.dryRun
        ? (await import('./commands/plan.js')).planCommand(a)
        : (await import('./commands/run.js')).runCommand(a),
  ),
  command(
    'plan',
    '<job>',
    'Connect, and tell what a run would do; writes nothing.',
    (y) => runOptions(y),
    async (a) => (await import('./commands/plan.js')).planCommand(a),
  ),
  command(
    'validate',
    '<job>',
    'Check a job file and its options; connects to nothing.',
    (y) => outputOption(confOption(paramOption(jobArgument(y)))),
    async (a) => (await import('./commands/validate.js')).validateCommand(a),
  ),
  command(
    'verify',
    '<job>',
    'Compare source and target of a job; writes nothing without --repair.',
    (y) =>
      outputOption(stateOptions(confOption(paramOption(jobArgument(y)))))
        .option('key', {
          type: 'string',
          describe: 'Columns of the target that tell rows apart, with commas between them; default: a known key.',
          coerce: oneText('key'),
        })
        .option('repair', {
          type: 'boolean',
          default: false,
          describe: 'Put right what differs: write rows of the source, delete those that it does not have.',
        }),
    async (a) => (await import('./commands/verify.js')).verifyCommand(a),
  ),
  command(
    'describe',
    '<plugin>',
    'The options of a plugin, and what it promises.',
    (y) =>
      y
        .positional('plugin', { type: 'string', demandOption: true, describe: 'Its name, as in a job file.' })
        .option('reader', { type: 'boolean', describe: 'Only its reader.' })
        .option('writer', { type: 'boolean', describe: 'Only its writer.' })
        .option('json', { type: 'boolean', describe: 'As JSON, with the JSON Schema of the options.' })
        .option('md', { type: 'boolean', describe: 'The options as a table in Markdown.' })
        .conflicts('reader', 'writer')
        .conflicts('json', 'md'),
    async (a) => (await import('./commands/describe.js')).describeCommand(a),
  ),
  command(
    'schema',
    '',
    'The JSON Schema of job files, for your editor; with the plugins that are installed.',
    (y) =>
      y.option('output', {
        alias: 'o',
        type: 'string',
        describe: 'File to write; default: stdout.',
        coerce: oneText('output'),
      }),
    async (a) => (await import('./commands/schema.js')).schemaCommand(a),
  ),
  command(
    'init',
    '<reader> <writer>',
    'Begin a job file: what must be said, and the options that are most used, as comments.',
    (y) =>
      y
        .positional('reader', {
          type: 'string',
          demandOption: true,
          describe: 'Where rows come from: see sync plugins.',
        })
        .positional('writer', { type: 'string', demandOption: true, describe: 'Where they go.' })
        .option('out', { type: 'string', describe: 'File to write; default: stdout.', coerce: oneText('out') })
        .option('force', { type: 'boolean', default: false, describe: 'Overwrite the file that is there.' }),
    async (a) => (await import('./commands/init.js')).initCommand(a),
  ),
  command(
    'plugins',
    '',
    'All plugins that are there, and what they promise.',
    (y) => outputOption(y),
    async (a) => (await import('./commands/plugins.js')).pluginsCommand(a),
  ),
  command(
    'status',
    '[job]',
    'Which jobs run, and how the others ended.',
    (y) => outputOption(stateOptions(y.positional('job', { type: 'string', describe: 'Job file, or a job id.' }))),
    async (a) => (await import('./commands/status.js')).statusCommand(a),
  ),
  command(
    'stop',
    '<job>',
    'Stop a running job at a checkpoint, and wait for it.',
    (y) =>
      whichState(y)
        .option('timeout', {
          type: 'string',
          default: '60s',
          describe: 'How long to wait for it; it is never killed.',
          coerce: (value: string | readonly string[]) => oneText('timeout')(value) ?? '60s',
        })
        .option('savepoint', {
          type: 'boolean',
          default: false,
          describe: 'Changes nothing: the last checkpoint is the savepoint.',
        }),
    async (a) => (await import('./commands/stop.js')).stopCommand(a),
  ),
  command(
    'state list',
    '',
    'All jobs that have state.',
    (y) => cursorOption(outputOption(stateOptions(y)), 'Where the next runs of incremental jobs go on.'),
    async (a) => (await import('./commands/state.js')).listCommand(a),
  ),
  command(
    'state show',
    '<job>',
    'The newest checkpoint of a job.',
    (y) => cursorOption(runOption(whichState(y)), 'Only where the next run of an incremental job goes on.'),
    async (a) => (await import('./commands/state.js')).showCommand(a),
  ),
  command(
    'state resolve',
    '<job>',
    'Say what became of an epoch whose outcome is unknown.',
    (y) =>
      runOption(whichState(y))
        .option('as', { choices: ['committed', 'lost'] as const, demandOption: true, describe: 'What became of it.' })
        .option('lane', { type: 'string', default: 'all', describe: 'Number of the lane, or all.' }),
    async (a) => (await import('./commands/state.js')).resolveCommand(a),
  ),
  command(
    'state reset',
    '<job>',
    'Sweep what the job left at its target, then drop its state; an incremental job keeps its cursor.',
    (y) => cursorOption(whichState(y), 'Drop the cursor too: the next run reads everything.'),
    async (a) => (await import('./commands/state.js')).resetCommand(a),
  ),
  command(
    'xa list',
    '<job>',
    "Transactions that are prepared at the job's target and wait to be committed.",
    (y) => outputOption(confOption(paramOption(jobArgument(y)))),
    async (a) => (await import('./commands/xa.js')).xaListCommand(a),
  ),
  command(
    'xa rollback',
    '<job> [ids..]',
    'Roll back prepared transactions; a run that goes on writes their rows again.',
    (y) =>
      outputOption(confOption(paramOption(jobArgument(y))))
        .positional('ids', { type: 'string', array: true, default: [], describe: 'As sync xa list names them.' })
        .option('run', { type: 'string', describe: 'All of this run.', coerce: oneText('run') }),
    async (a) => (await import('./commands/xa.js')).xaRollbackCommand(a),
  ),
  command(
    'completion',
    '<shell>',
    'Print what makes a shell complete the words of sync.',
    (y) => y.positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, demandOption: true }),
    async (a) => (await import('./commands/completion.js')).completionCommand(a.shell),
  ),
];
