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
