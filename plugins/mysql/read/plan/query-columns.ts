/** The columns of a query, as its result's head describes them, in the words of the catalog. */
import { SyncError } from 'syncx/plugin-api';
import { errnoOf } from '../../connect/mysql-errors.js';
import type { FieldPacket } from '../../connect/raw-connection.js';
import type { Session } from '../../connect/session.js';
import type { ShapeColumn } from '../split-spec.js';

/** Flags of a field. Source: MySQL's protocol documentation, Column Definition Flags. */
const NOT_NULL = 1;
const UNSIGNED = 32;
const ZEROFILL = 64;
const BINARY_CHARSET = 63;
/** Of texts at our sessions: utf8mb4. */
const BYTES_PER_CHARACTER = 4;
/** `decimals` of temporal values whose precision is not fixed. */
const LARGEST_FRACTION = 6;
const LONGEST_VARCHAR = 16_383;

const INTEGERS: Readonly<Record<number, string>> = {
  1: 'tinyint',
  2: 'smallint',
  3: 'int',
  8: 'bigint',
  9: 'mediumint',
};
const TIMES: Readonly<Record<number, string>> = { 7: 'timestamp', 11: 'time', 12: 'datetime' };

function rawTypeOf(f: FieldPacket): string {
  const sign = (f.flags & UNSIGNED) === 0 ? '' : ' unsigned';
  const zerofill = (f.flags & ZEROFILL) === 0 ? '' : ' zerofill';
  const size = String(f.columnLength);
  const integer = INTEGERS[f.columnType];
  if (integer !== undefined) return `${integer}(${size})${sign}${zerofill}`;
  const time = TIMES[f.columnType];
  if (time !== undefined) {
    const fraction = Math.min(f.decimals, LARGEST_FRACTION);
    return fraction === 0 ? time : `${time}(${String(fraction)})`;
  }
  switch (f.columnType) {
    case 0:
    case 246: {
      const precision = f.columnLength - (sign === '' ? 1 : 0) - (f.decimals > 0 ? 1 : 0);
      return `decimal(${String(Math.min(65, Math.max(1, precision)))},${String(f.decimals)})${sign}${zerofill}`;
    }
    case 4:
      return `float${sign}${zerofill}`;
    case 5:
      return `double${sign}${zerofill}`;
    case 10:
    case 14:
      return 'date';
    case 13:
      return `year(${size})`;
    case 16:
      return `bit(${size})`;
    case 245:
      return 'json';
    case 255:
      return 'geometry';
    default:
      break;
  }
  // Texts and bytes; ENUM and SET too, whose labels a result does not tell.
  if (f.characterSet === BINARY_CHARSET && f.columnType !== 6) {
    return f.columnLength <= 65_535 ? `varbinary(${size})` : 'longblob';
  }
  const characters = Math.floor(f.columnLength / BYTES_PER_CHARACTER);
  return characters <= LONGEST_VARCHAR ? `varchar(${String(characters)})` : 'longtext';
}

export function queryColumn(f: FieldPacket): ShapeColumn {
  return {
    name: f.name,
    rawType: rawTypeOf(f),
    nullable: (f.flags & NOT_NULL) === 0,
    json: f.columnType !== 245 && f.extendedFormat === 'json',
  };
}

const ER_PARSE = 1064;

/**
 * A derived table may be computed for its columns alone, by old servers as a whole; a query with `limit 0` is not. Not every
 * server takes that behind any query, though.
 */
export async function describeQuery(session: Session, query: string): Promise<readonly ShapeColumn[]> {
  const doing = 'describe the query';
  const fields = await session.describe(`(${query}) limit 0`, doing).catch((e: unknown) => {
    if (errnoOf(e) !== ER_PARSE) throw e;
    return session.describe(`select * from (${query}) chunjun_tmp limit 0`, doing);
  });
  const columns = fields.map(queryColumn);
  const twice = columns.find((c, i) => columns.findIndex((d) => d.name.toLowerCase() === c.name.toLowerCase()) !== i);
  if (twice === undefined) return columns;
  throw new SyncError('COLUMN_MISMATCH', `the query has two columns of the name \`${twice.name}\``, {
    hint: 'Give one another name with AS.',
  });
}
