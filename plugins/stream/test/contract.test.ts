import { contractTests, readerHarness, writerHarness } from 'syncx/plugin-testkit';
import { reader, writer } from '../index.js';

const COLUMNS = [
  'id',
  'boolean',
  'byte',
  'short',
  'int',
  'bigint',
  'int unsigned',
  'bigint unsigned',
  'bit(8)',
  'float',
  'double',
  'decimal',
  'decimal(6,6)',
  'decimal(9,0)',
  'char',
  'varchar(3)',
  'string',
  'json',
  'binary',
  'date',
  'time(3)',
  'datetime',
  'timestamp(9)',
  'year',
  'enum',
].map((type) => ({ name: type.replace(/\W/g, '_'), type }));

contractTests(
  readerHarness({
    plugin: reader,
    seeds: ['plain', 'large'],
    waive: {
      'transaction.safe-points': 'made-up rows have no transactions',
      'flow.abort-idle': 'an endless split always has a next row',
      'trouble.bad-row': 'every row that is made up is good',
      'trouble.bad-alone': 'every row that is made up is good',
      'trouble.error': 'there is no source that could fail',
      'trouble.missing': 'there is no source that could be missing',
    },
    seed(kind, rows) {
      const half = Math.ceil(rows / 2);
      const large = {
        column: [
          { name: 'id', type: 'id' },
          { name: 'x', type: 'string', value: 'x'.repeat(1 << 20) },
        ],
      };
      const counts = kind === 'large' ? [64] : [half, rows - half];
      return Promise.resolve({
        options: { ...(kind === 'large' ? large : { column: COLUMNS }), sliceRecordCount: counts.filter((n) => n > 0) },
        rows: kind === 'large' ? 64 : rows,
        dispose: () => Promise.resolve(),
      });
    },
  }),
);

contractTests(
  writerHarness({
    plugin: writer,
    prepared: 'die',
    waive: {
      'values.every-type': 'what is printed cannot be read back; print.test.ts compares the text',
      'values.reused-buffers': 'what is printed cannot be read back; write resolves only when stdout has taken it',
      'values.bad-row': 'stdout takes every row',
    },
    target: () => Promise.resolve({ options: { print: false }, dispose: () => Promise.resolve() }),
  }),
);
