/** Options that a plugin gives for another one, read as those of a job file are: aliases, defaults, its own check. */
import { SyncError, type AnyReaderDefinition, type AnyWriterDefinition, type JsonObject } from '../plugin-api/index.js';
import type { PluginUse } from '../job/job-spec.js';
import type { PluginSource } from './job.js';
import { parseJob } from './parse-job.js';
import { usePlugin } from './plugin-options.js';
import { SourceText } from './source-text.js';

type Side = 'reader' | 'writer';
interface Definitions {
  readonly reader: AnyReaderDefinition;
  readonly writer: AnyWriterDefinition;
}

/** @throws SyncError PLUGIN_UNKNOWN, PLUGIN_BROKEN; no value is told, as secrets may be among them. */
export async function givenUse<K extends Side>(
  plugins: PluginSource,
  kind: K,
  name: string,
  options: JsonObject,
): Promise<PluginUse<Definitions[K]>> {
  const source = new SourceText(`${kind} ${name}`, JSON.stringify(options));
  const { root } = parseJob(source);
  if (!root) throw new SyncError('PLUGIN_BROKEN', `the options for ${kind} ${name} are no JSON`);
  const { use, problems } = await usePlugin(
    plugins,
    kind,
    name,
    { index: 0, name: root, parameter: root },
    source,
    null,
  );
  if (use) return use;
  const first = problems.find((p) => p.level === 'error');
  if (first?.code === 'PLUGIN_UNKNOWN') throw new SyncError('PLUGIN_UNKNOWN', first.message);
  const where = first?.path.replace(/^job\.content\[0\]\.(?:reader|writer)\.parameter\.?/, '') ?? '';
  throw new SyncError('PLUGIN_BROKEN', `the options that were made for ${kind} ${name} do not fit it (${where})`);
}
