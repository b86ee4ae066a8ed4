import { readFile, writeFile } from 'node:fs/promises';
import { jobFileSchema, SCHEMA_TITLE, schemaText } from '../../config/editor-schema/job-file.js';
import { SyncError } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { printNote, printResult } from '../output.js';
import { schemaPlugins } from './schema-plugins.js';

export interface SchemaArguments {
  /** Path of a file; without it the schema goes to stdout. */
  readonly output?: string | undefined;
}

/** @returns the exit code. @throws SyncError USAGE where the file cannot be written. */
export async function schemaCommand(args: SchemaArguments): Promise<number> {
  const { plugins, broken } = await schemaPlugins(new Registry(process.env), () => true);
  for (const b of broken) printNote(`sync: ${b.name} is left out: ${b.error.message.split(/[\r\n]/)[0] ?? ''}`);
  const text = schemaText(jobFileSchema(plugins));
  if (args.output === undefined) printResult(text.trimEnd());
  else await writeSchema(args.output, text);
  return 0;
}

/** What `npm run docs` checks in: the plugins that ship with the tool. */
export async function shippedSchemaText(): Promise<string> {
  const { plugins, broken } = await schemaPlugins(new Registry({}), (at) => at.is === 'builtin');
  for (const b of broken) throw b.error;
  return schemaText(jobFileSchema(plugins));
}

/** An older schema gives way; a file that is none, perhaps the job itself, does not. */
async function writeSchema(path: string, text: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before.trim() !== '' && !before.includes(JSON.stringify(SCHEMA_TITLE))) {
    throw new SyncError('USAGE', `${path} is there and is no schema of job files`, { hint: 'name another file' });
  }
  try {
    await writeFile(path, text);
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code ?? String(e);
    throw new SyncError('USAGE', `${path} cannot be written: ${code}`, { cause: e });
  }
}
