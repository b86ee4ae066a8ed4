import { ESCAPE_CHAR, FIELD_DELIMITER, NULL_FORMAT, QUOTE_CHAR } from 'syncx/plugin-kit';

/** With codec csv: the same names as in files, and Flink's. */
export const CSV_OPTIONS = {
  fieldDelimiter: { ...FIELD_DELIMITER, 'x-aliases': ['csv.field-delimiter'] },
  quoteChar: { ...QUOTE_CHAR, 'x-aliases': ['csv.quote-character'] },
  escapeChar: { ...ESCAPE_CHAR, 'x-aliases': ['csv.escape-character'] },
  nullFormat: {
    ...NULL_FORMAT,
    description: 'In csv, the unquoted text that stands for NULL; a quoted field is never NULL.',
    'x-aliases': ['csv.null-literal'],
  },
} as const;
