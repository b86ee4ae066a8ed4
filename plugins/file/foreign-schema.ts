/** Options of FlinkX', ChunJun's and DataX' file plugins that are accepted for the sake of old job files. */

/** An option that has no effect, and why. */
export const ignored = (why: string) => ({ description: `Has no effect: ${why}.`, 'x-ignored': why }) as const;

export const LINE_DELIMITER = {
  title: 'Line delimiter',
  description: 'Only a line feed, which is what ends a line; when reading, a carriage return before it belongs to it.',
  type: 'string',
  enum: ['\n', '\\n', '\r\n', '\\r\\n'],
  'x-aliases': ['columnDelimiter'],
  'x-state': 'tuning',
} as const;

export const COMMON_IGNORED = {
  listHiddenFiles: ignored('names that begin with . are never taken'),
  nullIsReplacedWithValue: ignored('NULL stays NULL; say how it looks in files with nullFormat'),
} as const;

/** DataX hands this to its csv parser; foreign-options.ts looks into it. */
export const CSV_READER_CONFIG = {
  title: 'csv rules of DataX',
  description:
    'What DataX tells its csv parser: textQualifier is quoteChar, escapeMode 2 a backslash as escapeChar, useTextQualifier false fileType text; these win. What else it holds has no effect.',
  type: 'object',
  additionalProperties: true,
  examples: [{ textQualifier: "'", safetySwitch: false }],
} as const;

export const READER_COLUMN_IGNORED = {
  splitter: ignored('nothing is split'),
  isPart: ignored('folders are no columns; meta gives the path'),
  notNull: ignored('rows are not refused for NULL'),
} as const;

export const WRITER_COLUMN_IGNORED = {
  index: ignored('columns are written in the order of the list'),
  format: ignored('dates and times are written in their plain form'),
  parseFormat: ignored('nothing is parsed'),
  value: ignored('constants belong to the reader'),
  splitter: ignored('nothing is split'),
  isPart: ignored('folders are told by bucket'),
  notNull: ignored('rows are not refused for NULL'),
} as const;

export const PLAIN_DATES = 'dates and times are written in their plain form, yyyy-MM-dd HH:mm:ss';

export const WRITER_IGNORED = {
  dateFormat: ignored(PLAIN_DATES),
  nextCheckRows: ignored('the size of a file is looked at all the time'),
  sqlTableName: ignored('no file of SQL statements is written'),
} as const;

export const HEADER_NAMES = {
  title: 'Header of DataX',
  description: 'Every csv or text file begins with these names, one for each column.',
  type: 'array',
  items: { type: 'string' },
  examples: [['id', 'name']],
} as const;
