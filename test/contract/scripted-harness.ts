import { mkdtemp, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from 'syncx/plugin-api';
import {
  readerHarness,
  writerHarness,
  type ReaderHarness,
  type SeedKind,
  type WriterHarness,
  type WriterTarget,
} from 'syncx/plugin-testkit';
import { reader, writer } from '../../plugins/scripted/index.js';
import { readTarget, strayFiles } from '../../plugins/scripted/target.js';

const temp = (): Promise<string> => mkdtemp(join(tmpdir(), 'syncx-scripted-'));

function script(kind: SeedKind, rows: number, folder: string): JsonObject {
  const half = Math.ceil(rows / 2);
  switch (kind) {
    case 'plain': {
      const splits = [
        { id: 'a', rows: half },
        { id: 'b', rows: rows - half },
        { id: 'c', rows: 0 },
        { id: 'd', rows: 3, after: ['a', 'b'] },
      ];
      return { batchRows: 4, splits, events: [{ split: 'a', at: 1, do: 'idle' }] };
    }
    case 'large':
      return { splits: [{ id: 'a', rows: 256 }], padding: 1 << 18, batchRows: 1000 };
    case 'transactions':
      return { splits: [{ id: 'a', rows, transaction: 7 }], batchRows: 3 };
    case 'bad-row':
      return { splits: [{ id: 'a', rows: rows + 1 }], events: [{ split: 'a', at: Math.max(1, half), do: 'dirty' }] };
    case 'broken':
      return { splits: [{ id: 'a', rows }], events: [{ split: 'a', at: half, do: 'fail' }], folder };
    case 'missing':
      return {
        splits: [{ id: 'a', rows: 0 }],
        events: [{ split: 'a', at: 1, do: 'fail', code: 'SOURCE_MISSING' }],
        folder,
      };
    case 'endless':
      return { splits: [{ id: 'a', rows, bounded: false }], batchRows: 2 };
  }
}

export function scriptedReader(plugin: ReaderHarness['plugin'] = reader): ReaderHarness {
  return readerHarness({
    plugin,
    seeds: ['plain', 'large', 'transactions', 'bad-row', 'broken', 'missing', 'endless'],
    async seed(kind, rows) {
      const folder = await temp();
      return {
        options: script(kind, rows, folder),
        rows: kind === 'plain' ? rows + 3 : rows,
        transactionOf: (row) => String(Math.ceil(Number(row['n']) / 7)),
        dispose: () => rm(folder, { recursive: true }),
      };
    },
  });
}

async function target(options: JsonObject): Promise<WriterTarget> {
  const path = await temp();
  return {
    options: { path, ...options },
    readBack: async () => (await readTarget(path)).map((r) => r.values),
    leftovers: () => strayFiles(path),
    async damage() {
      for (const file of await strayFiles(path)) await unlink(join(path, 'data', file));
    },
    dispose: () => rm(path, { recursive: true }),
  };
}

const badText = 'refuse me';

/** A harness of the scripted writer, or of one like it, with these options of it. */
export function scriptedWriter(
  prepared: WriterHarness['prepared'],
  options: JsonObject,
  plugin: WriterHarness['plugin'] = writer,
): WriterHarness {
  const all = { rejectColumn: 'text', reject: [badText], ...options };
  return writerHarness({ plugin, prepared, badText, target: () => target(all) });
}
