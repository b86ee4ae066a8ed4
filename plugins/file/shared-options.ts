/** Options that reader and writer have alike. */

export const FILE_TYPE = {
  title: 'File type',
  description:
    'Format of the files: csv (quoted fields), json (one JSON value a line) or text (fields without quoting).',
  type: 'string',
  enum: ['csv', 'json', 'text'],
  default: 'csv',
  examples: ['csv', 'json'],
  'x-aliases': ['format', 'fileFormat'],
  'x-values': { CSV: 'csv', JSON: 'json', jsonl: 'json', JSONL: 'json', TEXT: 'text', txt: 'text', TXT: 'text' },
} as const;

export const FIELD_DELIMITER = {
  title: 'Field delimiter',
  description: 'Stands between two fields; one or several characters, also spelled out as \\t, \\u0001 or \\x01.',
  type: 'string',
  minLength: 1,
  default: ',',
  examples: [',', '\\t', '\\u0001', '||'],
} as const;

export const QUOTE_CHAR = {
  title: 'Quote character',
  description: 'Encloses csv fields that hold delimiters, quotes or line ends; inside, it is doubled.',
  type: 'string',
  minLength: 1,
  maxLength: 1,
  default: '"',
  examples: ['"', "'"],
} as const;

export const ESCAPE_CHAR = {
  title: 'Escape character',
  description: 'In csv, takes the character behind it literally, inside and outside of quotes; empty means none.',
  type: 'string',
  maxLength: 1,
  default: '',
  examples: ['\\'],
} as const;

export const HEADER = {
  title: 'Header line',
  description: 'The first line of every csv or text file names the columns.',
  type: 'boolean',
  default: false,
  examples: [true],
} as const;

export const ENCODING = {
  title: 'Encoding',
  description: 'Character encoding of the files; utf-8 is the one that is known so far.',
  type: 'string',
  default: 'utf-8',
  examples: ['utf-8'],
  'x-aliases': ['charset'],
} as const;

export const NULL_FORMAT = {
  title: 'NULL format',
  description: 'The unquoted text that stands for NULL in csv and text files; a quoted field is never NULL.',
  type: 'string',
  default: '\\N',
  examples: ['\\N', '', 'null'],
} as const;
