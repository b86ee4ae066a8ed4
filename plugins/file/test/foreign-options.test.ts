import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkForeign, ownOptions, type ReaderOptions } from '../foreign-options.js';
import { writer } from '../index.js';

const options = (more: Partial<ReaderOptions>): ReaderOptions => ({
  path: 'in',
  fileType: 'csv',
  fieldDelimiter: ',',
  quoteChar: '"',
  escapeChar: '',
  isFirstLineHeader: false,
  encoding: 'utf-8',
  nullFormat: '\\N',
  compress: 'auto',
  splitSize: 0,
  watch: false,
  watchInterval: 1,
  watchStable: 0,
  column: ['*'],
  ...more,
});

test('a date of DataX keeps its time, and a constant gets a name', () => {
  const { column } = ownOptions(
    options({
      column: [
        { index: 0, type: 'date', format: 'dd.MM.yyyy HH:mm' },
        { index: 1, type: 'Date', format: "yyyyMMdd'Hm'" },
        { type: 'string', value: 'x' },
        { name: 'd', type: 'date', parseFormat: 'yyyyMMdd', format: 'dd/MM' },
        'n',
      ],
    }),
  );
  assert.deepEqual(column, [
    { index: 0, type: 'datetime', format: 'dd.MM.yyyy HH:mm' },
    { index: 1, type: 'Date', format: "yyyyMMdd'Hm'" },
    { type: 'string', value: 'x', name: 'column3' },
    { name: 'd', type: 'date', parseFormat: 'yyyyMMdd', format: 'yyyyMMdd' },
    'n',
  ]);
});

test('a constant date with a time is a datetime, and a field may be taken twice by its index', () => {
  const { column } = ownOptions(
    options({
      column: [
        { type: 'date', value: '2024-02-29 10:00:00' },
        { type: 'date', value: '2024-02-29' },
        { type: 'date', value: 'x' },
        { index: 1, type: 'long' },
        { index: 1 },
        { index: 1, name: 'again' },
        { index: 1 },
      ],
    }),
  );
  assert.deepEqual(column, [
    { type: 'datetime', value: '2024-02-29 10:00:00', name: 'column1' },
    { type: 'date', value: '2024-02-29', name: 'column2' },
    { type: 'date', value: 'x', name: 'column3' },
    { index: 1, type: 'long' },
    { index: 1, name: 'f1_2' },
    { index: 1, name: 'again' },
    { index: 1, name: 'f1_3' },
  ]);
});

test('csvReaderConfig says what the own options say', () => {
  const csvReaderConfig = { textQualifier: "'", escapeMode: '2', useTextQualifier: 'true' };
  const o = ownOptions(options({ csvReaderConfig }));
  assert.deepEqual([o.quoteChar, o.escapeChar, o.fileType], ["'", '\\', 'csv']);
  assert.equal(ownOptions(options({ csvReaderConfig: { useTextQualifier: false } })).fileType, 'text');
  assert.deepEqual(checkForeign(options({ csvReaderConfig })), []);
  assert.deepEqual(
    checkForeign(options({ csvReaderConfig: { textQualifier: 'ab', escapeMode: 3, trimWhitespace: true, other: 1 } })),
    [
      { path: 'csvReaderConfig.textQualifier', message: 'must be one character' },
      { path: 'csvReaderConfig.escapeMode', message: 'must be 1 (a quote inside is doubled) or 2 (a backslash)' },
      {
        path: 'csvReaderConfig.trimWhitespace',
        level: 'warning',
        message: 'has no effect',
        hint: 'spaces belong to their field',
      },
      { path: 'csvReaderConfig.other', level: 'warning', message: 'has no effect' },
    ],
  );
});

test('a header has a name for each column', () => {
  const { fileType, fieldDelimiter, quoteChar, escapeChar, isFirstLineHeader, encoding, nullFormat } = options({});
  const format = { fileType, fieldDelimiter, quoteChar, escapeChar, isFirstLineHeader, encoding, nullFormat };
  const base = { ...format, compress: 'none', writeMode: 'append', successFile: false, bucket: 'none' } as const;
  const more = { maxFileSize: 1, rollInterval: 0, inactivityInterval: 0, rollOnCheckpoint: false, maxOpenBuckets: 1 };
  const o = { ...base, ...more, path: 'out', fileNamePrefix: 'part-', column: ['a', 'b'], header: ['A'] };
  assert.deepEqual(writer.check?.(o), [
    { path: 'header', message: 'the header has 1 names, column 2', hint: 'Give each column one.' },
  ]);
});
