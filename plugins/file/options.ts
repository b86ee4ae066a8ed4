import { ESCAPE_CHAR, FIELD_DELIMITER, NULL_FORMAT, QUOTE_CHAR } from 'syncx/plugin-kit';
import {
  COMMON_IGNORED,
  CSV_READER_CONFIG,
  HEADER_NAMES,
  LINE_DELIMITER,
  PLAIN_DATES,
  READER_COLUMN_IGNORED,
  WRITER_COLUMN_IGNORED,
  WRITER_IGNORED,
} from './foreign-schema.js';
import { FILE_TYPE, HEADER, ENCODING } from './shared-options.js';

/** `format` of DataX' txtfilewriter. */
const DATE_PATTERN = { pattern: 'yyyy|MM|dd|HH|mm|ss', why: PLAIN_DATES } as const;

/** One or many paths. */
export const READER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      title: 'Path',
      'x-path': 'list',
      description:
        'Files, folders (the files in them) or globs to read, as a list or separated by commas; - is standard input.',
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
      ],
      examples: ['data/in', 'data/*.csv.gz', ['a.csv', 'b.csv'], '-'],
    },
    fileType: FILE_TYPE,
    fieldDelimiter: FIELD_DELIMITER,
    quoteChar: QUOTE_CHAR,
    escapeChar: ESCAPE_CHAR,
    isFirstLineHeader: { ...HEADER, 'x-aliases': ['skipHeader'] },
    encoding: {
      ...ENCODING,
      description:
        'Character encoding of the files: utf-8, utf-16 (by its byte order mark), utf-16le, utf-16be, gbk, gb18030, big5, shift_jis, euc-kr, iso-8859-1 …, windows-1250 ….',
      examples: ['utf-8', 'gbk', 'iso-8859-1'],
    },
    nullFormat: NULL_FORMAT,
    compress: {
      title: 'Compression',
      description: 'How the files are compressed; auto goes by the ending of each name (.gz, .zst, .zstd, .bz2).',
      type: 'string',
      enum: ['auto', 'none', 'gzip', 'zstd', 'bzip2'],
      default: 'auto',
      examples: ['gzip', 'zstd'],
      'x-aliases': ['compressType'],
      'x-values': {
        GZIP: 'gzip',
        gz: 'gzip',
        ZSTD: 'zstd',
        zst: 'zstd',
        BZIP2: 'bzip2',
        bz2: 'bzip2',
        NONE: 'none',
        '': 'auto',
      },
    },
    splitSize: {
      title: 'Split size',
      description:
        'With several channels, an uncompressed file of more bytes is cut at borders of records, so that several lanes read it; 0 means never.',
      type: 'integer',
      minimum: 0,
      default: 67108864,
      examples: [268435456],
      'x-aliases': ['maxFetchSize'],
      'x-unit': 'bytes',
      'x-state': 'tuning',
    },
    csvReaderConfig: CSV_READER_CONFIG,
    lineDelimiter: LINE_DELIMITER,
    ...COMMON_IGNORED,
    watch: {
      title: 'Watch for new files',
      description: 'The job does not end: it keeps looking for files that appear, and reads each once.',
      type: 'boolean',
      default: false,
      examples: [true],
      'x-state': 'tuning',
    },
    watchInterval: {
      title: 'Watch interval',
      description: 'With watch, the time between two looks for new files.',
      type: 'integer',
      minimum: 1,
      default: 10000,
      examples: [60000],
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    watchStable: {
      title: 'Time without change',
      description:
        'With watch, a new file is read once its size and time have been the same for so long, over two looks at least; 0 means on sight.',
      type: 'integer',
      minimum: 0,
      default: 5000,
      examples: [0],
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    filterRegex: {
      title: 'Name filter',
      description: 'Only files whose whole base name matches this regular expression are read.',
      type: 'string',
      format: 'regex',
      examples: ['orders_\\d+\\.csv'],
    },
    column: {
      title: 'Columns',
      description:
        'Columns to deliver: names, or objects with name, index (from 0), type, value (a constant), format (a date pattern) and meta; "*" is all columns of the file, alone or with constants, meta columns and copies by index beside it.',
      type: 'array',
      default: ['*'],
      examples: [['id', 'name'], [{ index: 0, name: 'id', type: 'bigint' }]],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            properties: {
              name: {
                type: 'string',
                minLength: 1,
                description: 'Name of the column, in the header line or as a JSON key.',
              },
              index: { type: 'integer', minimum: 0, maximum: 65535, description: 'Place of the field, from 0.' },
              type: { type: 'string', description: 'Type of the column; without it text.' },
              // As text: the config hands over the digits of the job file, which a double could not hold.
              value: { type: ['string', 'null'], description: 'A constant, in place of a field of the file.' },
              format: { type: 'string', description: 'Pattern of dates and times, as dd.MM.yyyy HH:mm.' },
              parseFormat: {
                type: 'string',
                description: 'ChunJun: the pattern to read by; format, which it writes by, then has no effect.',
              },
              ...READER_COLUMN_IGNORED,
              meta: {
                type: 'string',
                enum: ['file', 'path', 'line', 'mtime', 'size'],
                description:
                  'In place of a field: name or path of the file, line where the record begins, time of change or size of the file.',
              },
            },
          },
        ],
      },
    },
  },
} as const;

export const WRITER_OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: {
      title: 'Folder',
      'x-path': 'one',
      description: 'Folder that gets the files; it is made if it is not there; - is standard output.',
      type: 'string',
      minLength: 1,
      examples: ['data/out', '-'],
    },
    fileName: {
      title: 'File name',
      description: 'Begins the names of the files in place of fileNamePrefix.',
      type: 'string',
      minLength: 1,
      pattern: '^[^./_][^/]*$',
      examples: ['orders'],
      'x-aliases': ['ftpFileName'],
    },
    fileType: { ...FILE_TYPE, 'x-ignored-values': DATE_PATTERN },
    fieldDelimiter: FIELD_DELIMITER,
    quoteChar: QUOTE_CHAR,
    escapeChar: ESCAPE_CHAR,
    header: HEADER_NAMES,
    lineDelimiter: { ...LINE_DELIMITER, enum: ['\n', '\\n'] },
    ...COMMON_IGNORED,
    ...WRITER_IGNORED,
    isFirstLineHeader: { ...HEADER, description: 'Every csv or text file begins with a line that names the columns.' },
    encoding: {
      ...ENCODING,
      description:
        'Character encoding of the files: utf-8, utf-16 (little-endian, with a byte order mark), utf-16le, utf-16be, gbk, gb18030, big5, shift_jis, euc-kr, iso-8859-1 …, windows-1250 …. A row with a character that it lacks is dirty.',
      examples: ['utf-8', 'gbk', 'iso-8859-1'],
    },
    nullFormat: NULL_FORMAT,
    compress: {
      title: 'Compression',
      description: 'How the files are compressed.',
      type: 'string',
      enum: ['none', 'gzip', 'zstd'],
      default: 'none',
      examples: ['gzip', 'zstd'],
      'x-aliases': ['compressType'],
      'x-values': { GZIP: 'gzip', gz: 'gzip', ZSTD: 'zstd', zst: 'zstd', NONE: 'none', '': 'none' },
    },
    column: {
      title: 'Columns',
      description:
        'Names of the columns to write, in this order; "*" is all that come but meta columns, which must be named.',
      type: 'array',
      default: ['*'],
      examples: [['id', 'name']],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 1, description: 'Name of the column.' },
              type: { type: 'string', description: 'Has no effect: a column has the type it was read with.' },
              ...WRITER_COLUMN_IGNORED,
            },
          },
        ],
      },
    },
    writeMode: {
      title: 'Write mode',
      description:
        'What happens to files that are there: append leaves them and adds files, overwrite removes them at the end, truncate (of DataX) removes those whose name begins with fileName, nonConflict stops the job (with fileName: only where one begins with it).',
      type: 'string',
      enum: ['append', 'overwrite', 'truncate', 'nonConflict'],
      default: 'append',
      examples: ['append', 'overwrite'],
      'x-aliases': ['mode'],
      'x-values': { insert: 'append' },
    },
    successFile: {
      title: 'Success file',
      description: 'Writes an empty file _SUCCESS into path when all rows are there.',
      type: 'boolean',
      default: false,
      examples: [true],
      'x-state': 'tuning',
    },
    maxFileSize: {
      title: 'Largest file',
      description: 'A file that has grown to this many bytes is closed and a new one begun.',
      type: 'integer',
      minimum: 1,
      default: 1073741824,
      examples: [268435456],
      'x-unit': 'bytes',
      'x-state': 'tuning',
    },
    rollInterval: {
      title: 'Longest time',
      description: 'A file is finished at the first checkpoint that is this long after its first row; 0 means never.',
      type: 'integer',
      minimum: 0,
      default: 60000,
      examples: [300000],
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    inactivityInterval: {
      title: 'Longest pause',
      description: 'A file is finished at the first checkpoint that is this long after its last row; 0 means never.',
      type: 'integer',
      minimum: 0,
      default: 60000,
      examples: [10000],
      'x-unit': 'ms',
      'x-state': 'tuning',
    },
    rollOnCheckpoint: {
      title: 'Files at each checkpoint',
      description:
        'Every checkpoint finishes the files, so that its rows can be read at once. Compressed files always are.',
      type: 'boolean',
      default: false,
      examples: [true],
      'x-state': 'tuning',
    },
    bucket: {
      title: 'Folders',
      description:
        'Puts rows into folders below path: by the time they are written (time), by the event time that the reader gives them (eventTime), or by bucketColumn (column).',
      type: 'string',
      enum: ['none', 'time', 'eventTime', 'column'],
      default: 'none',
      examples: ['time'],
      'x-state': 'tuning',
    },
    bucketColumn: {
      title: 'Folder column',
      description: 'The column whose values name the folders, with `bucket: column`.',
      type: 'string',
      minLength: 1,
      examples: ['country'],
      'x-state': 'tuning',
    },
    bucketFormat: {
      title: 'Folder names',
      description:
        'Pattern of the folders of times; yyyy-MM-dd--HH if not set. With `bucket: column` the column holds dates or times then.',
      type: 'string',
      minLength: 1,
      examples: ['yyyy-MM-dd--HH', 'yyyyMMdd'],
      'x-state': 'tuning',
    },
    maxOpenBuckets: {
      title: 'Open folders',
      description: 'So many files are open at once in a lane; one more, and the least recently used one is finished.',
      type: 'integer',
      minimum: 1,
      maximum: 4096,
      default: 64,
      examples: [16],
      'x-state': 'tuning',
    },
    fileNamePrefix: {
      title: 'Name prefix',
      description: 'Begins the name of every file.',
      type: 'string',
      pattern: '^[^./_][^/]*$|^$',
      default: 'part-',
      examples: ['orders-'],
    },
    fileNameSuffix: {
      title: 'Name suffix',
      'x-aliases': ['suffix', 'suffixName'],
      description: 'Ends the name of every file; by default it follows from fileType and compress (.csv, .jsonl.gz …).',
      type: 'string',
      pattern: '^[^/]*$',
      examples: ['.csv'],
    },
  },
} as const;
