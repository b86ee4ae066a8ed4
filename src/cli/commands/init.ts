import { writeFile } from 'node:fs/promises';
import { sampleJob, type SamplePlugin } from '../../config/sample-job.js';
import type { SchemaNode } from '../../config/schema.js';
import { SyncError } from '../../plugin-api/index.js';
import { Registry } from '../../registry/registry.js';
import { printNote, printResult } from '../output.js';
import { wrapText } from '../text-table.js';

export interface InitArguments {
  readonly reader: string;
  readonly writer: string;
  /** Path of the file; without it the job goes to stdout. */
  readonly out?: string | undefined;
  readonly force: boolean;
}

/** @returns the exit code. @throws SyncError PLUGIN_UNKNOWN; USAGE where the file is there, or cannot be written. */
export async function initCommand(args: InitArguments): Promise<number> {
  const registry = new Registry(process.env);
  const text = sampleJob(
    await side(registry, 'reader', args.reader),
    await side(registry, 'writer', args.writer),
    wrapText,
  );
  if (args.out === undefined) {
    printResult(text.trimEnd());
    return 0;
  }
  await writeJob(args.out, text, args.force);
  printNote(`${args.out} is written; next: sync validate ${args.out}`);
  return 0;
}

async function side(registry: Registry, kind: SamplePlugin['kind'], asked: string): Promise<SamplePlugin> {
  const definition = kind === 'reader' ? await registry.reader(asked) : await registry.writer(asked);
  // A package that was named in full may share its short name with another.
  const full = asked.toLowerCase().includes('syncx-plugin-');
  const name = full ? asked : `${definition.name}${kind}`;
  return { kind, name, asked, options: definition.options as SchemaNode };
}

async function writeJob(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code ?? String(e);
    const [why, hint] =
      code === 'EEXIST'
        ? ['is there already', '--force overwrites it']
        : [`cannot be written: ${code}`, 'name another file'];
    throw new SyncError('USAGE', `${path} ${why}`, { cause: e, hint });
  }
}
