import type { JsonObject } from 'syncx/plugin-api';
import { contractTests, readerHarness, writerHarness, type SeedKind } from 'syncx/plugin-testkit';
import { reader, writer } from '../../plugins/stream/index.js';

const COLUMN = [
  { name: 'id', type: 'id' },
  { name: 'n', type: 'bigint' },
  { name: 'price', type: 'decimal(10,2)' },
  { name: 'f', type: 'float' },
  { name: 'd', type: 'double' },
  { name: 'at', type: 'timestamp(3)' },
  { name: 'day', type: 'date' },
  { name: 'ok', type: 'boolean' },
  { name: 'text', type: 'string' },
];

function options(kind: SeedKind, rows: number): JsonObject {
  if (kind === 'large') {
    return { column: [{ name: 'text', type: 'string', value: 'x'.repeat(1 << 16) }], sliceRecordCount: [1024] };
  }
  if (kind === 'endless') return { column: COLUMN, sliceRecordCount: 0, permitsPerSecond: 100 };
  return { column: COLUMN, sliceRecordCount: [rows - 7, 7] };
}

const nothing = 'rows are made up: there is no source that could be bad, broken or missing';

contractTests(
  readerHarness({
    plugin: reader,
    seeds: ['large', 'endless'],
    seed: (kind, rows) =>
      Promise.resolve({
        options: options(kind, Math.max(rows, 8)),
        rows: Math.max(rows, 8),
        dispose: () => Promise.resolve(),
      }),
    waive: {
      'batch.size': 'fullness is asked for once a stretch of cells, so wide columns make batches of 64 MiB',
      'flow.slow-consumer': 'the first batch of wide columns is 64 MiB by itself, see batch.size',
      'transaction.safe-points': 'made-up rows have no transactions',
      'trouble.bad-row': nothing,
      'trouble.error': nothing,
      'trouble.missing': nothing,
    },
  }),
);

const stdout = 'it prints to standard output, which belongs to the test runner here';

contractTests(
  writerHarness({
    plugin: writer,
    prepared: 'die',
    target: () => Promise.resolve({ options: { print: false }, dispose: () => Promise.resolve() }),
    waive: {
      'descriptor.descriptions': 'the description of format does not begin with a capital letter',
      'values.every-type': stdout,
      'values.reused-buffers': stdout,
      'values.bad-row': stdout,
    },
  }),
);
