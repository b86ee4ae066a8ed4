import { reportError, toSyncError, type SyncError } from '../../plugin-api/index.js';
import { Registry, type Located } from '../../registry/registry.js';
import { printResult, type OutputForm } from '../output.js';
import { outputWidth, textTable } from '../text-table.js';
import { loadDescribed, originOf, type Origin, type PluginFacts } from './plugin-facts.js';

export interface PluginsArguments {
  readonly output: OutputForm;
}

type Listed =
  | { readonly origin: Origin; readonly facts: readonly PluginFacts[] }
  | { readonly origin: Origin; readonly error: SyncError };

/** A package that cannot be used is a line of the list. @returns the exit code. */
export async function pluginsCommand(args: PluginsArguments): Promise<number> {
  const registry = new Registry(process.env);
  const all = await Promise.all((await registry.everything()).map((at) => listed(registry, at)));
  if (args.output === 'json') printResult(JSON.stringify(all.flatMap(listedJson)));
  else for (const line of listedText(all, outputWidth(Infinity))) printResult(line);
  return 0;
}

async function listed(registry: Registry, at: Located): Promise<Listed> {
  const origin = await originOf(at);
  try {
    return { origin, facts: (await loadDescribed(registry, at, origin)).map((d) => d.facts) };
  } catch (e) {
    return { origin, error: toSyncError(e, 'PLUGIN_BROKEN') };
  }
}

function listedJson(l: Listed): readonly object[] {
  if ('facts' in l) return l.facts.map((f) => ({ ...f, error: null }));
  return [
    {
      name: l.origin.name,
      kind: null,
      version: l.origin.version,
      package: l.origin.package,
      error: reportError(l.error),
    },
  ];
}

function listedText(all: readonly Listed[], width: number): readonly string[] {
  return textTable({
    head: ['NAME', 'KIND', 'VERSION', 'INPUT', 'REPLAYABLE', 'DELIVERY', 'PACKAGE', 'NOTES'],
    rows: all.flatMap((l) => ('facts' in l ? l.facts.map(factCells) : [brokenCells(l.origin, l.error)])),
    width,
    most: [Infinity, Infinity, Infinity, Infinity, Infinity, width < 140 ? 14 : Infinity],
  });
}

function factCells(f: PluginFacts): readonly string[] {
  const promises =
    f.kind === 'writer'
      ? ['-', '-', f.delivery?.join(', ') ?? '?']
      : [
          optional(f.boundedness),
          f.replayable === true ? 'yes' : f.replayable === false ? 'no' : optional(f.replayable),
          '-',
        ];
  const notes = f.aliases.length > 0 ? `also ${f.aliases.join(', ')}` : '';
  return [f.name, f.kind, f.version ?? '?', ...promises, f.package, notes];
}

const optional = (word: string | null): string => (word ?? '?').replace('-', ' ');

function brokenCells(o: Origin, error: SyncError): readonly string[] {
  const [first = ''] = error.message.split(/[\r\n]/);
  const hint = error.hint === undefined ? '' : `; ${error.hint}`;
  return [o.name, '-', o.version ?? '?', '-', '-', '-', o.package, `${error.code}: ${first}${hint}`];
}
