/** A table that fits rows of a schema, for `createTable: auto`. */
import { formatType, type Column, type LogicalType, type RowSchema } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import { typeOf } from '../catalog/columns.js';
import type { ServerFacts } from '../connect/session-setup.js';
import { atLeast } from '../connect/session-setup.js';
import { quoteName, quoteTable, quoteText, type TableName } from '../sql/names.js';

/** Characters of a text in a key: MySQL 5.5 takes 767 bytes, four for a character. */
const KEY_CHARACTERS = 191;
const RAW_TEXT = /^(?:(?:var)?char\(\d+\)|(?:tiny|medium|long)?text)$/i;
const RAW_BYTES = /^(?:(?:var)?binary\(\d+\)|(?:tiny|medium|long)?blob)$/i;

export interface NewColumn {
  readonly name: string;
  readonly sql: string;
  readonly type: LogicalType;
}

export function newColumns(
  schema: RowSchema,
  wanted: readonly string[] | null,
  server: ServerFacts,
): readonly NewColumn[] {
  const { projection, names } = chooseColumns(schema, wanted);
  return projection.map((at, i) => {
    const column = schema.columns[at] as Column;
    return { name: names[i] ?? '', type: column.type, sql: columnSql(column, schema.key.includes(at), server) };
  });
}

/** The statement; existing tables stay as they are. */
export function createTableSql(
  table: TableName,
  schema: RowSchema,
  wanted: readonly string[] | null,
  server: ServerFacts,
): string {
  const columns = newColumns(schema, wanted, server);
  const { projection } = chooseColumns(schema, wanted);
  const key = schema.key.flatMap((k) => columns[projection.indexOf(k)]?.name ?? []);
  const lines = columns.map((c) => `  ${quoteName(c.name)} ${c.sql}`);
  const whole = key.length > 0 && key.length === schema.key.length;
  if (whole) lines.push(`  primary key (${key.map(quoteName).join(', ')})`);
  return `create table if not exists ${quoteTable(table)} (\n${lines.join(',\n')}\n) engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin`;
}

function columnSql(column: Column, inKey: boolean, server: ServerFacts): string {
  const type = typeSql(column, inKey, server);
  if (inKey) return `${type} not null`;
  // A first TIMESTAMP without NULL would be set to the time of each change.
  const nullable = column.nullable || type.startsWith('timestamp');
  return nullable ? `${type} null` : `${type} not null`;
}

function typeSql(column: Column, inKey: boolean, server: ServerFacts): string {
  const raw = column.rawType;
  const { type } = column;
  const fits =
    raw !== null && (typeOf(raw) === null ? type.is === 'string' && RAW_TEXT.test(raw) : sameType(raw, type));
  if (fits && !(inKey && /text$|blob$/i.test(raw)) && fractionFits(type, server)) return raw;
  if (raw !== null && type.is === 'binary' && RAW_BYTES.test(raw) && !(inKey && /blob$/i.test(raw))) return raw;
  if (!fractionFits(type, server)) return 'varchar(32)'; // the server would cut the fraction without a word
  switch (type.is) {
    case 'boolean':
      return 'tinyint(1)';
    case 'int8':
      return 'tinyint';
    case 'int16':
      return 'smallint';
    case 'int32':
      return 'int';
    case 'int64':
      return 'bigint';
    case 'uint8':
      return 'tinyint unsigned';
    case 'uint16':
      return 'smallint unsigned';
    case 'uint32':
      return 'int unsigned';
    case 'uint64':
      return 'bigint unsigned';
    case 'decimal':
      return type.precision <= 65 && type.scale <= 30 ? formatType(type) : 'longtext';
    case 'float32':
      return 'float';
    case 'float64':
      return 'double';
    case 'date':
      return 'date';
    case 'year':
      return 'year';
    case 'time':
    case 'datetime':
    case 'timestamp':
      return type.fraction === 0 ? type.is : `${type.is}(${String(type.fraction)})`;
    case 'bit':
      return `bit(${String(type.length)})`;
    case 'enum':
    case 'set':
      return type.labels === null ? 'longtext' : `${type.is}(${type.labels.map(quoteText).join(',')})`;
    case 'geometry':
      return 'geometry';
    case 'json':
      return hasJson(server) ? 'json' : 'longtext';
    case 'binary':
      return inKey ? 'varbinary(255)' : 'longblob';
    default:
      return inKey ? `varchar(${String(KEY_CHARACTERS)})` : 'longtext';
  }
}

const sameType = (raw: string, type: LogicalType): boolean => {
  const known = typeOf(raw)?.type;
  return known !== undefined && JSON.stringify(known) === JSON.stringify(type);
};

function fractionFits(type: LogicalType, server: ServerFacts): boolean {
  const fraction = 'fraction' in type ? type.fraction : 0;
  return fraction === 0 || server.mariadb || atLeast(server, 5, 6, 4);
}

const hasJson = (server: ServerFacts): boolean =>
  server.mariadb ? atLeast(server, 10, 2, 7) : atLeast(server, 5, 7, 8);
