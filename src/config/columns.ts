import type { Node } from 'jsonc-parser';
import { toSyncError, SyncError, type AnyReaderDefinition, type AnyWriterDefinition } from '../plugin-api/index.js';
import type { PluginUse } from '../job/job-spec.js';
import type { Problem } from './problem.js';
import type { SourceText } from './source-text.js';

/**
 * Columns go from reader to writer by position: the counts must agree where both are known before anything runs. `rows`:
 * what comes out of the reader, or of the transforms behind it.
 */
export function checkColumns(
  rows: { readonly columns: readonly string[] | null; readonly transformed: boolean },
  writer: PluginUse<AnyWriterDefinition>,
  source: SourceText,
  writerNode: Node,
  index: number,
): readonly Problem[] {
  const from = rows.columns;
  const to = columnsOf(writer);
  if (from === null || to === null) return [];
  const problem = (level: Problem['level'], message: string, hint: string): Problem => ({
    code: 'COLUMN_MISMATCH',
    level,
    file: source.name,
    ...source.place(writerNode.offset),
    path: `job.content[${String(index)}].writer.parameter`,
    message,
    hint,
  });
  // Columns that the writer names are picked by name, and the others are left out.
  if (from.length > to.length && to.every((name) => from.includes(name))) return [];
  if (from.length !== to.length) {
    const what = rows.transformed ? 'the transforms leave' : 'the reader has';
    const message = `${what} ${plural(from.length)}, the writer ${rows.transformed ? 'has ' : ''}${plural(to.length)}`;
    return [
      problem(
        'error',
        message,
        'give both sides equally many; they go by name where all names are the same, else by position',
      ),
    ];
  }
  const moved = from.findIndex((name, i) => name !== to[i]);
  if (moved >= 0 && sameNames(from, to)) {
    const pair = `${JSON.stringify(from[moved])} stands where ${JSON.stringify(to[moved])} does`;
    return [
      problem(
        'warning',
        `reader and writer name the same columns in another order: ${pair}`,
        'columns of the same names go by name',
      ),
    ];
  }
  return [];
}

/** Null: known only at run time. */
export function columnsOf(
  use: PluginUse<AnyReaderDefinition> | PluginUse<AnyWriterDefinition>,
): readonly string[] | null {
  const d = use.definition;
  try {
    return d.columns?.(use.options) ?? null;
  } catch (e) {
    throw new SyncError('PLUGIN_BROKEN', `the columns of ${d.kind} ${d.name} threw: ${toSyncError(e).message}`, {
      cause: e,
    });
  }
}

function plural(n: number): string {
  return `${String(n)} column${n === 1 ? '' : 's'}`;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
}
