/** Columns of a table as the server's catalog has them, and how each is read as a canonical cell (docs/specs/cells.md). */
import { type LogicalType } from 'syncx/plugin-api';
import type { Session } from '../connect/session.js';
import { quoteName, quoteText, showTable, type TableName } from '../sql/names.js';

export type ZeroDate = 'keep' | 'null' | 'error';

/** How the text of the server becomes a cell. `plain`: it is one already. */
export type CellFix = 'plain' | 'float32' | 'float64';

export interface MysqlColumn {
  readonly name: string;
  /** `bigint(20) unsigned` */
  readonly rawType: string;
  readonly type: LogicalType;
  readonly nullable: boolean;
  readonly fix: CellFix;
  /** The SQL that gives the text to be fixed, from a column reference. */
  readonly select: (reference: string) => string;
  /** Null for binary and numbers. */
  readonly charset: string | null;
  readonly collation: string | null;
  readonly hasDefault: boolean;
  readonly autoIncrement: boolean;
  /** Its value is computed by the server, so that it cannot be written. */
  readonly generated: boolean;
  readonly invisible: boolean;
}

const plain = (ref: string): string => ref;
/** ZEROFILL columns and BIT come as text of another form; as numbers they do not. */
const asNumber = (ref: string): string => `${ref}+0`;
/** The text of a FLOAT has six digits; the double it becomes here is exact, and minus zero stays (which `+0e0` would lose). */
const asDouble = (ref: string): string => `${ref}*1e0`;
/** YEAR(2), of MySQL 5.5: 70 to 99 are of the last century. */
const asYear = (ref: string): string =>
  `if(${ref}+0 < 70, 2000 + (${ref}+0), if(${ref}+0 < 100, 1900 + (${ref}+0), ${ref}+0))`;

interface TypeFacts {
  readonly type: LogicalType;
  readonly fix?: CellFix;
  readonly select?: (reference: string) => string;
}

const UNESCAPED: Readonly<Record<string, string>> = { "''": "'", '\\n': '\n', '\\r': '\r', '\\0': '\0', '\\\\': '\\' };

/** `'a','it''s'` → labels. The catalog doubles quotes and backslashes, and spells line ends and NULs out. */
export function parseLabels(list: string): readonly string[] {
  return [...list.matchAll(/'((?:[^']|'')*)'/g)].map((m) =>
    (m[1] ?? '').replace(/''|\\[nr0\\]/g, (escaped) => UNESCAPED[escaped] ?? escaped),
  );
}

const INTEGERS: Readonly<
  Record<
    string,
    readonly [signed: 'int8' | 'int16' | 'int32' | 'int64', unsigned: 'uint8' | 'uint16' | 'uint32' | 'uint64']
  >
> = {
  tinyint: ['int8', 'uint8'],
  smallint: ['int16', 'uint16'],
  mediumint: ['int32', 'uint32'],
  int: ['int32', 'uint32'],
  integer: ['int32', 'uint32'],
  bigint: ['int64', 'uint64'],
};

const GEOMETRY =
  /^(?:geometry|point|linestring|polygon|multipoint|multilinestring|multipolygon|geometrycollection|geomcollection)$/;
const BYTES = /^(?:(?:var)?binary|(?:tiny|medium|long)?blob)$/;

/** From the catalog's `column_type`. @returns null where the type is none that we know. */
export function typeOf(columnType: string): TypeFacts | null {
  const m = /^([a-z0-9]+)(?:\((.*)\))?(.*)$/s.exec(
    columnType.toLowerCase().startsWith('enum') || columnType.toLowerCase().startsWith('set')
      ? columnType
      : columnType.toLowerCase(),
  );
  const name = m?.[1]?.toLowerCase() ?? '';
  const argument = m?.[2] ?? '';
  const rest = m?.[3]?.toLowerCase() ?? '';
  const zerofill = rest.includes('zerofill') ? { select: asNumber } : {};
  const [signed, unsigned] = INTEGERS[name] ?? [];
  if (signed !== undefined && unsigned !== undefined) {
    return { type: { is: rest.includes('unsigned') ? unsigned : signed }, ...zerofill };
  }
  const fraction = argument === '' ? 0 : Number(argument);
  switch (name) {
    case 'decimal':
    case 'numeric': {
      const [precision = '10', scale = '0'] = argument.split(',');
      return { type: { is: 'decimal', precision: Number(precision), scale: Number(scale) }, ...zerofill };
    }
    case 'float':
      return { type: { is: 'float32' }, fix: 'float32', select: asDouble };
    case 'double':
    case 'real':
      return { type: { is: 'float64' }, fix: 'float64' };
    case 'bit':
      return { type: { is: 'bit', length: Number(argument || 1) }, select: asNumber };
    case 'year':
      return argument === '2' ? { type: { is: 'year' }, select: asYear } : { type: { is: 'year' } };
    case 'date':
      return { type: { is: 'date' } };
    case 'time':
    case 'datetime':
    case 'timestamp':
      return { type: { is: name, fraction } };
    case 'json':
      return { type: { is: 'json' } };
    case 'enum':
    case 'set':
      return { type: { is: name, labels: parseLabels(argument) } };
    default:
      break;
  }
  if (BYTES.test(name)) return { type: { is: 'binary' } };
  if (GEOMETRY.test(name)) return { type: { is: 'geometry' } };
  return null;
}

const COLUMNS_OF = (t: TableName): string =>
  `select column_name, column_type, is_nullable, character_set_name, collation_name, column_default, extra
   from information_schema.columns where table_schema = ${quoteText(t.database)} and table_name = ${quoteText(t.table)}
   order by ordinal_position`;

/** In the table's order, invisible ones too; empty: there is no such table, or it is not for this user's eyes. */
export async function columnsOf(session: Session, table: TableName): Promise<readonly MysqlColumn[]> {
  const rows = await session.query(COLUMNS_OF(table), `look up the columns of ${showTable(table)}`);
  const json = session.server.mariadb ? await jsonColumns(session, table) : new Set<string>();
  return rows.map(([name, rawType, nullable, charset, collation, byDefault, extra]) =>
    columnFrom({
      name: name ?? '',
      rawType: rawType ?? '',
      nullable: nullable === 'YES',
      charset: charset ?? null,
      collation: collation ?? null,
      // MySQL shows no default as NULL, MariaDB from 10.2 shows DEFAULT NULL as the text NULL.
      hasDefault: byDefault !== null || nullable === 'YES',
      extra: extra ?? '',
      json: json.has(name ?? ''),
    }),
  );
}

interface CatalogRow {
  readonly name: string;
  readonly rawType: string;
  readonly nullable: boolean;
  readonly charset: string | null;
  readonly collation: string | null;
  readonly hasDefault: boolean;
  readonly extra: string;
  readonly json: boolean;
}

function columnFrom(r: CatalogRow): MysqlColumn {
  const known = r.json ? { type: { is: 'json' } as const } : typeOf(r.rawType);
  // Text, and types of servers newer than this file (uuid, inet6, vector): what the server prints is the value.
  const facts: TypeFacts = known ?? { type: { is: 'string' } };
  return {
    name: r.name,
    rawType: r.rawType,
    type: facts.type,
    nullable: r.nullable,
    fix: facts.fix ?? 'plain',
    select: facts.select ?? plain,
    charset: r.charset,
    collation: r.collation,
    hasDefault: r.hasDefault,
    autoIncrement: /auto_increment/i.test(r.extra),
    generated: /\b(?:virtual|stored|persistent)\b(?: generated)?/i.test(r.extra),
    invisible: /invisible/i.test(r.extra),
  };
}

/** MariaDB's JSON is LONGTEXT with a check of its own making. */
async function jsonColumns(session: Session, table: TableName): Promise<ReadonlySet<string>> {
  const sql = `show create table ${quoteName(table.database)}.${quoteName(table.table)}`;
  const [row] = await session.query(sql, `look at ${showTable(table)}`).catch(() => []);
  const lines = (row?.[1] ?? '').split('\n');
  return new Set(
    lines.flatMap((line) => {
      const m = /^\s*`((?:[^`]|``)+)` longtext .*CHECK \(json_valid\(`((?:[^`]|``)+)`\)\)/i.exec(line);
      return m?.[1] !== undefined && m[1] === m[2] ? [m[1].replaceAll('``', '`')] : [];
    }),
  );
}
