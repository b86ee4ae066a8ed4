import type { Node } from 'jsonc-parser';
import {
  SyncError,
  toSyncError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
  type Finding,
} from '../plugin-api/index.js';
import type { PluginSource } from './job.js';
import type { PluginUse } from '../job/job-spec.js';
import { redactor, type Redact } from '../job/redact.js';
import { formatPath, formatPointer, parsePath } from './json-path.js';
import { OptionWalk, type WalkedUse } from './option-walk.js';
import type { Parameters } from './parameters/parameters.js';
import type { Problem } from './problem.js';
import { deepFreeze, identityOptions, publicOptions } from './project-options.js';
import type { SchemaNode } from './schema.js';
import type { SourceText } from './source-text.js';
import { compileSchema, validateWalked } from './validate-options.js';

export interface PluginOutcome<D> {
  /** Null where an option is wrong. */
  readonly use: PluginUse<D> | null;
  readonly problems: readonly Problem[];
  /** Parameters in its options. */
  readonly uses: readonly WalkedUse[];
  /** Values that must not be told. */
  readonly secrets: readonly string[];
}

export interface PluginNodes {
  /** Of the content entry, from 0. */
  readonly index: number;
  readonly name: Node;
  /** The options; null where they are missing or no object, which the frame's schema has told already. */
  readonly parameter: Node | null;
}

type Side = 'reader' | 'writer';
interface Definitions {
  readonly reader: AnyReaderDefinition;
  readonly writer: AnyWriterDefinition;
}

/** Finds a plugin by name and reads its options by its own schema and its own check. */
export async function usePlugin<K extends Side>(
  plugins: PluginSource,
  kind: K,
  name: string,
  nodes: PluginNodes,
  source: SourceText,
  parameters: Parameters | null,
): Promise<PluginOutcome<Definitions[K]>> {
  const walk = new OptionWalk(source, parameters);
  const base = ['job', 'content', nodes.index, kind];
  let definition: Definitions[K];
  try {
    definition = (await (kind === 'reader' ? plugins.reader(name) : plugins.writer(name))) as Definitions[K];
  } catch (e) {
    const err = toSyncError(e, 'PLUGIN_BROKEN');
    const place = source.place(nodes.name.offset);
    const path = formatPath([...base, 'name']);
    const { code, message } = err;
    const hint = err.hint ?? null;
    return {
      use: null,
      problems: [{ code, level: 'error', file: source.name, ...place, path, message, hint }],
      uses: [],
      secrets: [],
    };
  }
  if (!nodes.parameter) return { use: null, problems: [], uses: [], secrets: [] };
  const schema = definition.options as SchemaNode;
  const options = walk.run(schema, nodes.parameter, [...base, 'parameter']) as Record<string, unknown>;
  const validate =
    (await plugins.validator(`${kind}.${definition.name}`)) ??
    (await compileSchema(schema, `${kind} ${definition.name}`));
  const valid = validateWalked(validate, schema, options, walk, source);
  const hasError = (): boolean => walk.problems.some((p) => p.level === 'error');
  if (valid && !hasError()) {
    deepFreeze(options);
    const redact = redactor([...walk.secrets]);
    for (const f of pluginFindings(definition, options, redact)) reportFinding(walk, f, redact);
  }
  if (!valid || hasError()) return { use: null, problems: walk.problems, uses: [], secrets: [...walk.secrets] };
  const use = {
    definition,
    options,
    publicOptions: publicOptions(schema, options),
    identity: identityOptions(schema, options),
  };
  return { use, problems: walk.problems, uses: walk.uses, secrets: [...walk.secrets] };
}

function pluginFindings(
  d: AnyReaderDefinition | AnyWriterDefinition,
  options: Record<string, unknown>,
  redact: Redact,
) {
  try {
    return d.check?.(options) ?? [];
  } catch (e) {
    throw new SyncError('PLUGIN_BROKEN', redact(`the check of ${d.kind} ${d.name} threw: ${toSyncError(e).message}`), {
      cause: e,
    });
  }
}

function reportFinding(walk: OptionWalk, f: Finding, redact: Redact): void {
  const at = parsePath(f.path);
  for (let n = at.length; n >= 0; n--) {
    const spot = walk.spots.get(formatPointer(at.slice(0, n)));
    if (!spot) continue;
    walk.report(f.level ?? 'error', spot.node, [...spot.path, ...at.slice(n)], redact(f.message), f.hint ?? null);
    return;
  }
}
