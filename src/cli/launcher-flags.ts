/**
 * Command lines of `flinkx`, `start-chunjun` and `datax.py`: `-mode local -job job.json -confProp '{…}'`. They become
 * those of `sync run`; what means nothing here is told and dropped.
 */
import { SyncError } from '../plugin-api/index.js';
import { nearestName } from '../registry/nearest.js';

export interface Translated {
  readonly args: readonly string[];
  readonly warnings: readonly string[];
}

type Use =
  /** The value is the job file. */
  | 'job'
  /** It becomes this option, with its value. */
  | { readonly option: string }
  /** Told and dropped, with its value. */
  | { readonly ignored: string }
  /** Only some values are what this tool does; they are dropped. */
  | { readonly only: readonly string[]; readonly message: string; readonly hint: string }
  | { readonly refused: string; readonly hint: string };

const CLUSTER = { ignored: 'the job runs in this process' };
const PLUGINS = { ignored: 'plugins ship with the tool or are npm packages; see "sync plugins"' };
const NAME = { ignored: 'it names no state; --job-id does' };
const KERBEROS = { ignored: 'Kerberos is no concern of the command line' };

const MODE: Use = {
  only: ['local', 'standalone'],
  message: 'sync is one process, and runs jobs only by itself',
  hint: 'use -mode local, or leave it out',
};

/** With one dash or two; letter case does not matter. */
export const LAUNCHER_FLAGS: Readonly<Record<string, Use>> = {
  job: 'job',
  mode: MODE,
  m: MODE,
  jobType: { only: ['sync', ''], message: 'SQL jobs of Flink are not run', hint: 'sync runs job files in JSON' },
  runMode: CLUSTER,
  confProp: { option: '--conf-prop' },
  pj: { option: '-p' },
  s: {
    refused: 'a savepoint of Flink cannot be read',
    hint: 'leave it out: an interrupted job goes on from its own last checkpoint, see "sync state show"',
  },
  jobid: NAME,
  jobName: NAME,
  pluginRoot: PLUGINS,
  remotePluginPath: PLUGINS,
  pluginLoadMode: PLUGINS,
  chunjunDistDir: PLUGINS,
  remoteChunJunDistDir: PLUGINS,
  flinkxDistDir: PLUGINS,
  remoteFlinkxDistDir: PLUGINS,
  addjar: PLUGINS,
  addShipfile: PLUGINS,
  flinkconf: CLUSTER,
  flinkConfDir: CLUSTER,
  flinkLibJar: CLUSTER,
  flinkLibDir: CLUSTER,
  yarnconf: CLUSTER,
  hadoopConfDir: CLUSTER,
  queue: CLUSTER,
  priority: CLUSTER,
  parallelism: CLUSTER,
  appId: CLUSTER,
  monitor: { ignored: 'the job is followed on stderr' },
  krb5conf: KERBEROS,
  keytab: KERBEROS,
  principal: KERBEROS,
  jvm: { ignored: 'there is no Java' },
  j: { ignored: 'there is no Java' },
  loglevel: { option: '--log-level' },
};

/** Those that this tool has itself with two dashes or one letter: they are never a launcher's. */
const OWN = /^-(?:p|h)$|^--(?:conf-prop|conf|param)$/;
const TAKES_VALUE = /^(?:-p|--(?:param|conf|conf-prop|job-id|state-dir|output|log-level|log-format|key))$/;
const COMMANDS_OF_JOBS: readonly string[] = ['run', 'validate', 'plan', 'verify'];

/** @throws SyncError USAGE */
export function translateFlags(given: readonly string[]): Translated {
  const [first = '', ...others] = given;
  const command = first.startsWith('-') ? null : first;
  // `datax.py job.json -m standalone` is not known from a command that is not there: it stays a wrong command.
  if (command !== null && !COMMANDS_OF_JOBS.includes(command)) return { args: given, warnings: [] };
  const rest = command === null ? given : others;
  const out: string[] = [];
  const warnings: string[] = [];
  let job: string | null = null;
  for (let i = 0; i < rest.length; i++) {
    const arg = rest[i] ?? '';
    const [flag, written] = splitFlag(arg);
    const use = OWN.test(flag) ? null : useOf(flag);
    if (use === null) {
      out.push(arg);
      // Its value is its own, also where it looks like a flag.
      if (TAKES_VALUE.test(arg) && i + 1 < rest.length) out.push(rest[++i] ?? '');
      continue;
    }
    if (typeof use === 'object' && 'refused' in use) throw new SyncError('USAGE', `${flag}: ${use.refused}`, use);
    const value = written ?? rest[++i];
    if (value === undefined) throw new SyncError('USAGE', `${flag} has no value`, { hint: 'see sync --help' });
    if (use === 'job') {
      if (job !== null) throw new SyncError('USAGE', `${flag} is given twice`, { hint: 'run one job at a time' });
      job = value;
    } else if ('option' in use) out.push(...(use.option === '-p' ? ['-p', value] : [`${use.option}=${value}`]));
    else if ('only' in use) {
      if (use.only.includes(value.trim().toLowerCase())) continue;
      throw new SyncError('USAGE', `${flag} ${value}: ${use.message}`, { hint: use.hint });
    } else warnings.push(`warning: ${flag} has no effect; ${use.ignored}`);
  }
  const positional = job === null ? [] : [job];
  // Without a job there is nothing to run: what was meant is told by the parser.
  if (command === null && job === null) return { args: given, warnings: [] };
  return { args: [command ?? 'run', ...positional, ...out], warnings };
}

function splitFlag(arg: string): readonly [string, string | undefined] {
  const cut = arg.indexOf('=');
  return arg.startsWith('-') && cut > 0 ? [arg.slice(0, cut), arg.slice(cut + 1)] : [arg, undefined];
}

/** Null: it is not a launcher's. @throws SyncError USAGE where it looks like one and is none. */
function useOf(flag: string): Use | null {
  const [, dashes, name] = /^(--?)([A-Za-z]\w*)$/.exec(flag) ?? [];
  if (name === undefined) return null;
  const known = Object.keys(LAUNCHER_FLAGS).find((k) => k.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return LAUNCHER_FLAGS[known] ?? null;
  if (dashes === '--' || name.length === 1) return null;
  const near = nearestName(name, Object.keys(LAUNCHER_FLAGS));
  const hint = near === null ? 'see sync --help' : `did you mean -${near}?`;
  throw new SyncError('USAGE', `there is no option ${flag}`, { hint });
}

/** For the page of aliases. */
export function flagMeanings(): readonly (readonly [string, string])[] {
  return Object.entries(LAUNCHER_FLAGS).map(([flag, use]) => {
    if (use === 'job') return [flag, 'the job file'];
    if ('option' in use) return [flag, `\`${use.option}\``];
    if ('ignored' in use) return [flag, `no effect: ${use.ignored}`];
    if ('refused' in use) return [flag, `refused: ${use.refused}`];
    return [flag, `only ${use.only.filter((v) => v !== '').join(', ')}: ${use.message}`];
  });
}
