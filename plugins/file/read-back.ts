/** How `sync verify` reads the files again that the writer has published. */
import { resolve } from 'node:path';
import {
  formatType,
  type JsonObject,
  type JsonValue,
  type OptionsOf,
  type ReadBack,
  type RowSchema,
} from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import type { WRITER_OPTIONS } from './options.js';

type Options = OptionsOf<typeof WRITER_OPTIONS>;

export interface WrittenAs {
  /** Null: all that come. */
  readonly columns: readonly string[] | null;
  readonly prefix: string;
  readonly suffix: string;
}

/** `<prefix><runId>-<lane>-<epoch>-<seq><suffix>`, of any run: published names, and no others in the folder. */
function namesOf({ prefix, suffix }: WrittenAs): string {
  const plain = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `${plain(prefix)}[a-z0-9]+-\\d{3,}-\\d{6,}-\\d{4,}${plain(suffix)}`;
}

/** Characters of patterns stand for themselves. */
const inPattern = (path: string): string => path.replace(/[\\*?[\]{}()!+@]/g, '\\$&');

export function readBackFiles(o: Options, rows: RowSchema, as: WrittenAs): ReadBack {
  const none = rows.columns.length === 0;
  const { projection, names } = none ? { projection: [], names: [] } : chooseColumns(rows, as.columns);
  const named = o.fileType === 'json' || (o.isFirstLineHeader && o.header === undefined);
  const columns = projection.map((p, i): JsonObject => {
    const type = rows.columns[p]?.type ?? { is: 'string' };
    const name = names[i] ?? '';
    // Without names in the file its fields go by their place.
    return { name, type: formatType(type), ...(named ? {} : { index: i }) };
  });
  const { fileType, fieldDelimiter, quoteChar, escapeChar, nullFormat, encoding, compress } = o;
  const options: Record<string, JsonValue> = {
    path: [o.bucket === 'none' ? resolve(o.path) : `${inPattern(resolve(o.path))}/**`],
    filterRegex: namesOf(as),
    fileType,
    fieldDelimiter,
    quoteChar,
    escapeChar,
    nullFormat,
    encoding,
    compress,
    isFirstLineHeader: fileType !== 'json' && (o.isFirstLineHeader || o.header !== undefined),
    ...(none ? {} : { column: columns }),
  };
  return {
    reader: 'file',
    options,
    columns: projection.map((p, i) => ({ from: rows.columns[p]?.name ?? '', to: names[i] ?? '' })),
    changes: null,
  };
}
