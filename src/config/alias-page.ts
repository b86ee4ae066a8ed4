/** docs/aliases.md: every name that is accepted beside an option's own, what it means, and where it comes from. */
import { originOf, originOfFlag, originOfKey } from './alias-origins.js';
import { ignoredGroups, knownKeys, useOfKey } from './conf/keys.js';
import { JOB_SCHEMA } from './job-schema.js';
import { optionRows, spelled } from './option-rows.js';
import type { SchemaNode } from './schema.js';

type Kind = 'reader' | 'writer';

/** The registry's; `source` and `sink` came with ChunJun 1.12. */
const SUFFIXES: Readonly<Record<Kind, readonly string[]>> = {
  reader: ['reader', 'source'],
  writer: ['writer', 'sink'],
};

export interface PageSources {
  readonly plugins: readonly {
    readonly name: string;
    readonly aliases: readonly string[];
    readonly kinds: readonly Kind[];
  }[];
  /** `file reader` and its schema. */
  readonly options: readonly (readonly [string, SchemaNode])[];
  /** Flags of launchers, and what they do. */
  readonly flags: readonly (readonly [string, string])[];
}

export interface AliasRow {
  readonly alias: string;
  readonly means: string;
  /** Null: the table of origins lacks it. */
  readonly since: string | null;
}

/** Names of options in a schema; `strip`: what paths begin with. */
export function aliasRows(schema: SchemaNode, strip = ''): readonly AliasRow[] {
  return optionRows(schema, 'asWritten').flatMap(({ path: full, schema: s }): readonly AliasRow[] => {
    const path = full.startsWith(strip) ? full.slice(strip.length) : full;
    const cut = path.lastIndexOf('.') + 1;
    const [parent, name] = [path.slice(0, cut), path.slice(cut)];
    if (s['x-ignored'] !== undefined) {
      return [{ alias: path, means: `no effect: ${s['x-ignored']}`, since: originOf(name, null, path) }];
    }
    return (s['x-aliases'] ?? []).map((a) => ({
      alias: parent + a,
      means: code(path),
      since: originOf(a, name, parent + a),
    }));
  });
}

function valueRows(schema: SchemaNode, strip = ''): readonly (readonly string[])[] {
  return optionRows(schema, 'asWritten').flatMap(({ path, schema: s }) => {
    const option = code(path.startsWith(strip) ? path.slice(strip.length) : path);
    const other = s['x-ignored-values'];
    return [
      ...Object.entries(s['x-values'] ?? {}).map(([from, v]) => [option, code(JSON.stringify(from)), code(spelled(v))]),
      ...(other === undefined ? [] : [[option, `with ${code(other.pattern)}`, `no effect: ${other.why}`]]),
    ];
  });
}

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((c) => c.replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const optionTable = (rows: readonly AliasRow[]): string =>
  table(
    ['name', 'means', 'from'],
    rows.map((r) => [code(r.alias), r.means, r.since ?? '?']),
  );

/** Markdown; prettier lays it out. */
export function aliasPage({ plugins, options, flags }: PageSources): string {
  const names = plugins.flatMap((p) =>
    [p.name, ...p.aliases].flatMap((n) =>
      p.kinds.map((k) => {
        const said = [n, ...SUFFIXES[k].map((suffix) => n + suffix)].map(code).join(', ');
        return [said, `${p.name} ${k}`, originOf(n, 'plugin', n) ?? '?'];
      }),
    ),
  );
  const keys = knownKeys().map((key) => [code(key), meaningOf(key), originOfKey(key)]);
  const groups = ignoredGroups().map(([group, why]) => [code(`${group}…`), `no effect: ${why}`, originOfKey(group)]);
  const plugin = options.map(([name, schema]) => [name, aliasRows(schema), valueRows(schema)] as const);
  return [
    '# Names of FlinkX, ChunJun and DataX',
    '<!-- Made by npm run docs from the schemas; do not edit. -->',
    'Job files of FlinkX 1.5 to 1.12, ChunJun and DataX are taken as they stand. This page lists every name that is accepted beside an option\'s own. What has no effect here is told by a warning. Modes are taken in any letter case, numbers also as text ("3000").',
    'An old job file differs in this: `errorLimit.percentage` is percent, as FlinkX documents it; a value above 0 and below 1 gets a warning, as in DataX it is a fraction. `sliceRecordCount` as a plain number is the count of all rows, where DataX makes so many in each channel. `fileType` of files is csv where nothing is said: fields are quoted only where they must be.',
    '## Plugins',
    '`…source` and `…sink` are names of ChunJun 1.12, the name alone is one of syncx.',
    table(['name in a job file', 'plugin', 'from'], names),
    '## The job file',
    optionTable(aliasRows(JOB_SCHEMA, 'job.')),
    table(['option', 'value', 'means'], valueRows(JOB_SCHEMA, 'job.')),
    ...plugin.flatMap(([name, rows, values]) => [
      ...(rows.length + values.length > 0 ? [`## Options of the ${name}`] : []),
      ...(rows.length > 0 ? [optionTable(rows)] : []),
      ...(values.length > 0 ? [table(['option', 'value', 'means'], values)] : []),
    ]),
    '## Keys of `-confProp` and `--conf`',
    '`--conf key=value` (repeatable) and `-confProp \'{"key": value}\'` (also `--conf-prop`) of `run` and `validate` win over the job file. A key is one of these, or the name of a setting below `job.setting`: `--conf speed.channel=4`. An unknown key is a warning.',
    table(['key', 'means', 'from'], [...keys, ...groups]),
    '## Flags of launchers',
    "A command line of `flinkx` or `start-chunjun` works behind `sync`: `sync -mode local -job job.json -confProp '{…}'` is `sync run job.json --conf-prop '{…}'`. They are taken with one dash or two.",
    table(
      ['flag', 'means', 'from'],
      flags.map(([flag, means]) => [code(`-${flag}`), means, originOfFlag(flag)]),
    ),
    '',
  ].join('\n\n');
}

function meaningOf(key: string): string {
  const use = useOfKey(key);
  if (use === null) return '?';
  if ('to' in use) return code(`setting.${use.to.join('.')}`);
  return 'ignored' in use ? `no effect: ${use.ignored}` : `refused: ${use.refused}`;
}
