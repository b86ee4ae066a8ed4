import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatType, parseType, type LogicalType } from '../../../src/plugin-api/index.js';

test('parseType reads the names that job files use', () => {
  const table: readonly (readonly [string, LogicalType | null])[] = [
    ['INT', { is: 'int32' }],
    ['int(11)', { is: 'int32' }],
    [' BigInt ', { is: 'int64' }],
    ['int unsigned', { is: 'uint32' }],
    ['MEDIUMINT  UNSIGNED', { is: 'uint32' }],
    ['tinyint(1)', { is: 'int8' }],
    ['varchar(255)', { is: 'string' }],
    ['decimal', { is: 'decimal', precision: 65, scale: 30 }],
    ['decimal(20)', { is: 'decimal', precision: 20, scale: 0 }],
    ['decimal( 20 , 4 )', { is: 'decimal', precision: 20, scale: 4 }],
    ['numeric(5,2)', { is: 'decimal', precision: 5, scale: 2 }],
    ['time', { is: 'time', fraction: 0 }],
    ['timestamp', { is: 'timestamp', fraction: 6 }],
    ['timestamp(3)', { is: 'timestamp', fraction: 3 }],
    ['DATETIME(0)', { is: 'datetime', fraction: 0 }],
    ['bit', { is: 'bit', length: 1 }],
    ['bit(64)', { is: 'bit', length: 64 }],
    ['double', { is: 'float64' }],
    ['float', { is: 'float32' }],
    ['bool', { is: 'boolean' }],
    ['json', { is: 'json' }],
    ['blob', { is: 'binary' }],
    ['year', { is: 'year' }],
    ['geometry', { is: 'geometry' }],
    ['constructor', null],
    ['', null],
    ['strin', null],
    ['timestamp(12)', null],
  ];
  for (const [name, type] of table) assert.deepEqual(parseType(name), type, name);
});

test('parseType is the inverse of formatType, but for labels', () => {
  const types: readonly LogicalType[] = [
    { is: 'boolean' },
    ...(['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const).map((is) => ({ is })),
    { is: 'decimal', precision: 38, scale: 9 },
    { is: 'float32' },
    { is: 'float64' },
    { is: 'string' },
    { is: 'json' },
    { is: 'binary' },
    { is: 'date' },
    { is: 'year' },
    { is: 'time', fraction: 3 },
    { is: 'datetime', fraction: 6 },
    { is: 'timestamp', fraction: 0 },
    { is: 'bit', length: 8 },
    { is: 'enum', labels: null },
    { is: 'set', labels: null },
    { is: 'geometry' },
  ];
  for (const t of types) assert.deepEqual(parseType(formatType(t)), t);
});
