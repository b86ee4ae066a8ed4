import yargs from 'yargs';
import { COMMANDS, type CommandSpec } from '../commands.js';
import { printResult } from '../output.js';

export type Shell = 'bash' | 'zsh' | 'fish';

interface Flag {
  /** With its dashes. */
  readonly name: string;
  readonly describe: string;
  /** Words that it takes; null: any, or none. */
  readonly choices: readonly string[] | null;
  readonly takesValue: boolean;
}

interface Completed {
  readonly name: string;
  readonly describe: string;
  readonly flags: readonly Flag[];
  /** What its argument is. */
  readonly argument: 'file' | 'none' | readonly string[];
}

/** What yargs knows of the options that a builder added: not in its types, and the same since yargs 3. */
interface YargsOptions {
  readonly key: Readonly<Record<string, unknown>>;
  readonly boolean: readonly string[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}
interface Inside {
  getOptions(): YargsOptions;
  getGroups(): Readonly<Record<string, readonly string[]>>;
  getInternalMethods(): { getUsageInstance(): { getDescriptions(): Readonly<Record<string, string>> } };
}

/** A script that completes by itself: it starts no `sync` at a press of the key. */
export function completionCommand(shell: Shell): Promise<number> {
  const commands = COMMANDS.map(completed);
  printResult({ bash, zsh, fish }[shell](commands));
  return Promise.resolve(0);
}

function completed(c: CommandSpec): Completed {
  const y = c.build(yargs([]).help(false).version(false)) as unknown as Inside;
  const { key, boolean, choices } = y.getOptions();
  const said = y.getInternalMethods().getUsageInstance().getDescriptions();
  const positional = /^[<[](\w+)/.exec(c.positional)?.[1] ?? '';
  const flags = Object.keys(key)
    .filter((k) => k !== positional)
    .map((k): Flag => ({
      name: `--${k}`,
      describe: (said[k] ?? '').replace(/^__yargsString__:/, ''),
      choices: choices[k] ?? null,
      takesValue: !boolean.includes(k),
    }));
  const argument = choices[positional] ?? (positional === 'job' ? 'file' : 'none');
  return { name: c.name, describe: c.describe, flags: [...flags, HELP], argument };
}

const HELP: Flag = { name: '--help', describe: 'Show help.', choices: null, takesValue: false };

const firstWords = (all: readonly Completed[]): readonly string[] => [
  ...new Set(all.map((c) => c.name.split(' ')[0] ?? '')),
];
const groupsOf = (all: readonly Completed[]): readonly string[] =>
  firstWords(all).filter((w) => all.some((c) => c.name.startsWith(`${w} `)));
const secondWords = (all: readonly Completed[], group: string): readonly string[] =>
  all.filter((c) => c.name.startsWith(`${group} `)).map((c) => c.name.slice(group.length + 1));

/** The command's words as one, for a case. */
function bash(all: readonly Completed[]): string {
  const groups = groupsOf(all);
  const cases = all.map((c) => {
    const values = c.flags
      .filter((f) => f.choices !== null)
      .map((f) => `      ${f.name}) COMPREPLY=($(compgen -W '${(f.choices ?? []).join(' ')}' -- "$cur")); return ;;`);
    const files = c.flags.filter((f) => f.takesValue && f.choices === null).map((f) => f.name);
    if (files.length > 0) values.push(`      ${files.join('|')}) _sync_files; return ;;`);
    const words = c.flags.map((f) => f.name).join(' ');
    const argument =
      c.argument === 'file'
        ? '_sync_files'
        : c.argument === 'none'
          ? 'COMPREPLY=()'
          : `COMPREPLY=($(compgen -W '${c.argument.join(' ')}' -- "$cur"))`;
    return [
      `    '${c.name}')`,
      '      case "$prev" in',
      ...values,
      '      esac',
      `      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '${words}' -- "$cur")); else ${argument}; fi ;;`,
    ].join('\n');
  });
  const seconds = groups.map(
    (g) => `      ${g}) words='${secondWords(all, g).join(' ')}'; command="${g} \${COMP_WORDS[2]}"; at=3 ;;`,
  );
  return `# bash completion of sync and syncx
_sync_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}
_sync_complete() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words='' command=\${COMP_WORDS[1]} at=2
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${firstWords(all).join(' ')} --help --version' -- "$cur"))
    return
  fi
  case "$command" in
${seconds.join('\n')}
  esac
  if (( COMP_CWORD < at )); then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
}
complete -o filenames -F _sync_complete sync syncx`;
}

/** For single quotes of zsh and fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function zsh(all: readonly Completed[]): string {
  const escaped = (text: string): string => text.replace(/[[\]:\\]/g, (c) => `\\${c}`);
  const spec = (f: Flag): string => {
    const value = f.takesValue ? `:value:${f.choices === null ? '_files' : `(${f.choices.join(' ')})`}` : '';
    return quoted(`${f.name}${f.takesValue ? '=' : ''}[${escaped(f.describe)}]${value}`);
  };
  const cases = all.map((c) => {
    const argument =
      c.argument === 'file'
        ? [quoted('1:job:_files')]
        : c.argument === 'none'
          ? []
          : [quoted(`1:which:(${c.argument.join(' ')})`)];
    return `    ${quoted(c.name)}) _arguments ${[...c.flags.map(spec), ...argument].join(' ')} ;;`;
  });
  const list = (names: readonly (readonly [string, string])[]): string =>
    names.map(([name, what]) => quoted(`${name}:${escaped(what)}`)).join(' ');
  const describe = (w: string): string =>
    all.find((c) => c.name === w)?.describe ?? `${secondWords(all, w).join(', ')}.`;
  const groups = groupsOf(all).map((g) => {
    const seconds = all.filter((c) => c.name.startsWith(`${g} `));
    const names = list(seconds.map((c) => [c.name.slice(g.length + 1), c.describe]));
    return `    ${g})
      if (( CURRENT == 3 )); then local -a seconds=(${names}); _describe command seconds; return; fi
      command="${g} $words[3]"; shift 2 words; (( CURRENT -= 2 )) ;;`;
  });
  return `#compdef sync syncx
_sync() {
  local command=$words[2]
  if (( CURRENT == 2 )); then
    local -a firsts=(${list(firstWords(all).map((w) => [w, describe(w)]))})
    _describe command firsts
    return
  fi
  case "$command" in
${groups.join('\n')}
    *) shift words; (( CURRENT -= 1 )) ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _sync ]]; then _sync "$@"; else compdef _sync sync syncx; fi`;
}

function fish(all: readonly Completed[]): string {
  const lines: string[] = ['# fish completion of sync and syncx'];
  const groups = groupsOf(all);
  for (const program of ['sync', 'syncx']) {
    lines.push(`complete -c ${program} -f`);
    for (const w of firstWords(all)) {
      const c = all.find((x) => x.name === w);
      const what = c?.describe ?? `${secondWords(all, w).join(', ')}.`;
      lines.push(`complete -c ${program} -n __fish_use_subcommand -a ${w} -d ${fishQuoted(what)}`);
    }
    for (const g of groups) {
      const seconds = secondWords(all, g).join(' ');
      const when = `__fish_seen_subcommand_from ${g}; and not __fish_seen_subcommand_from ${seconds}`;
      for (const c of all.filter((x) => x.name.startsWith(`${g} `))) {
        lines.push(
          `complete -c ${program} -n ${fishQuoted(when)} -a ${c.name.slice(g.length + 1)} -d ${fishQuoted(c.describe)}`,
        );
      }
    }
    for (const c of all) {
      const when = c.name
        .split(' ')
        .map((w) => `__fish_seen_subcommand_from ${w}`)
        .join('; and ');
      const base = `complete -c ${program} -n ${fishQuoted(when)}`;
      if (c.argument === 'file') lines.push(`${base} -F`);
      else if (c.argument !== 'none') lines.push(`${base} -a ${fishQuoted(c.argument.join(' '))}`);
      for (const f of c.flags) {
        const value = f.choices !== null ? ` -x -a ${fishQuoted(f.choices.join(' '))}` : f.takesValue ? ' -r -F' : '';
        lines.push(`${base} -l ${f.name.slice(2)} -d ${fishQuoted(f.describe)}${value}`);
      }
    }
  }
  return lines.join('\n');
}
