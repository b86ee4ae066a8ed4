import { formatType, type Column, type LogicalType, type RejectedRow, type RowSchema } from 'syncx/plugin-api';
import { chooseColumns, type ByteBuffer } from 'syncx/plugin-kit';
import { mysqlType } from '../../read/rows/canal-changes.js';
import { tableParts, type ChangeMessage, type RowChange } from './change-records.js';
import { RowImages, asText } from './row-images.js';

const DATA = Buffer.from('{"data":[');
const OLD = Buffer.from('"old":[');
const NO_OLD = Buffer.from('"old":null');
const CLOSE = Buffer.from(']');
const TYPES = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const;

/**
 * Flat messages of Canal with one row each. All values are texts, JSON too; bytes are texts of the characters up to U+00FF;
 * `old` has the columns that changed.
 */
export class CanalMessage implements ChangeMessage {
  readonly #images: RowImages;
  /** What stands between `data` and `old`, around the time. */
  readonly #head: readonly [string, string];
  readonly #tail: string;

  /** @throws SyncError COLUMN_MISMATCH */
  constructor(schema: RowSchema, columns: readonly string[] | null) {
    const choice = chooseColumns(schema, columns);
    this.#images = new RowImages(schema, choice, { as: asText, latin1: true, absent: null });
    const [database, table] = tableParts(schema.table);
    const types = Object.fromEntries(
      choice.projection.map((at, i): [string, string] => {
        const column = schema.columns[at];
        return [choice.names[i] ?? '', column === undefined ? '' : mysqlWord(column)];
      }),
    );
    const keys = schema.key.map((k) => choice.names[choice.projection.indexOf(k)]);
    const pkNames = keys.length === 0 || keys.includes(undefined) ? null : keys;
    const more = JSON.stringify({ id: 0, isDdl: false, mysqlType: types }).slice(1, -1);
    this.#head = [`],"database":${JSON.stringify(database)},"es":`, `,${more},`];
    const tail = JSON.stringify({ pkNames, sql: '', sqlType: null, table }).slice(1, -1);
    this.#tail = `,${tail},"ts":`;
  }

  append(out: ByteBuffer, c: RowChange, reject: (r: RejectedRow) => void): boolean {
    const { batch, section, op, row, time } = c;
    out.append(DATA);
    if (!this.#images.append(out, batch, section, op === 'update' ? row + 1 : row, reject)) return false;
    const [head, more] = this.#head;
    out.append(Buffer.from(`${head}${String(time)}${more}`));
    if (op === 'update') {
      out.append(OLD);
      this.#images.appendChanged(out, batch, section, row);
      out.append(CLOSE);
    } else out.append(NO_OLD);
    out.append(Buffer.from(`${this.#tail}${String(time)},"type":"${TYPES[op]}"}`));
    return true;
  }
}

const WORDS: Readonly<Partial<Record<LogicalType['is'], string>>> = {
  int8: 'tinyint',
  int16: 'smallint',
  int32: 'int',
  int64: 'bigint',
  uint8: 'tinyint unsigned',
  uint16: 'smallint unsigned',
  uint32: 'int unsigned',
  uint64: 'bigint unsigned',
  float32: 'float',
  float64: 'double',
  string: 'longtext',
  binary: 'longblob',
};

/** MySQL's word for a column's type: the source's own, where the cells are those that it says. */
function mysqlWord({ rawType, type }: Column): string {
  const own = rawType === null ? null : (mysqlType(rawType) ?? { is: 'string' });
  if (rawType !== null && own !== null && formatType(own) === formatType(type)) return rawType;
  return WORDS[type.is] ?? formatType(type);
}
