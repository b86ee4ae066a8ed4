/** Every type of MySQL and MariaDB with values at its edges, as table descriptions. */
import type { ServerKind } from './services.js';

/** How a column is looked at, so that two that differ in any bit look different. */
type Look = 'text' | 'bytes' | 'float' | 'label' | 'number';

export interface MatrixColumn {
  readonly name: string;
  readonly ddl: string;
  /** SQL expressions; NULL comes by itself. */
  readonly values: readonly string[];
  readonly look: Look;
  /** What a reader of files is told; text where nothing is said. */
  readonly file?: string;
  readonly only?: ServerKind;
  /** Its value follows from others. */
  readonly generated?: boolean;
}

export interface MatrixTable {
  readonly name: string;
  readonly columns: readonly MatrixColumn[];
}

const LOOKS: Readonly<Record<Look, (c: string) => string>> = {
  text: (c) => `cast(${c} as char)`,
  bytes: (c) => `concat(length(${c}), ':', hex(${c}))`,
  float: (c) => `cast(${c}*1e0 as char)`,
  label: (c) => `concat(${c}|0, ':', hex(${c}))`,
  number: (c) => `cast(${c}+0 as char)`,
};

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
const hexOf = (text: string): string => `x'${Buffer.from(text).toString('hex')}'`;
export const textOf = (charset: string, text: string): string =>
  text === '' ? "''" : `convert(_utf8mb4 ${hexOf(text)} using ${charset})`;

const column = (name: string, ddl: string, look: Look, values: readonly (string | number | bigint)[], more: Partial<MatrixColumn> = {}): MatrixColumn =>
  ({ name, ddl, look, values: values.map(String), ...more }); // prettier-ignore

// --- numbers ---

const INTEGERS: readonly (readonly [name: string, bits: bigint, file: string])[] = [
  ['tinyint', 8n, 'int8'],
  ['smallint', 16n, 'int16'],
  ['mediumint', 24n, 'int32'],
  ['int', 32n, 'int32'],
  ['bigint', 64n, 'int64'],
];

function integers(): MatrixColumn[] {
  return INTEGERS.flatMap(([name, bits, file]) => {
    const half = 1n << (bits - 1n);
    const signed = [-half, half - 1n, 0, -1, 1];
    const unsigned = [0, half - 1n, half, 2n * half - 1n, 1];
    return [
      column(name, name, 'text', signed, { file }),
      column(`${name}_u`, `${name} unsigned`, 'text', unsigned, { file: `u${file}` }),
      column(`${name}_z`, `${name}(15) zerofill`, 'text', unsigned, { file: `u${file}` }),
    ];
  });
}

const SINGLES = ['0', '-0e0', '0.1', '-0.1', '3.4028234663852886e38', '-3.4028234663852886e38', '1.17549435e-38', '1.4e-45', '16777216', '16777217', '123456.789', '1e-10']; // prettier-ignore
const DOUBLES = [...SINGLES, '1.7976931348623157e308', '-1.7976931348623157e308', '2.2250738585072014e-308', '5e-324', '9007199254740993', '0.30000000000000004', '1e15', '1e17', '123456789012345678']; // prettier-ignore
const nines = (whole: number, scale: number): string => `${'9'.repeat(whole)}${scale ? `.${'9'.repeat(scale)}` : ''}`;

function decimals(): MatrixColumn[] {
  const sizes = [[1, 0], [5, 2], [10, 0], [18, 9], [30, 30], [38, 10], [65, 0], [65, 30]] as const; // prettier-ignore
  const many = sizes.map(([p, s]) => {
    const most = nines(p - s, s) || '0';
    const values = [most, `-${most}`, '0', '-0', s === 0 ? '7' : `0.${'0'.repeat(s - 1)}1`];
    return column(`dec_${String(p)}_${String(s)}`, `decimal(${String(p)},${String(s)})`, 'text', values, { file: `decimal(${String(p)},${String(s)})` }); // prettier-ignore
  });
  return [
    ...many,
    column('dec_u', 'decimal(10,4) unsigned', 'text', ['0', '999999.9999', '0.0001']),
    column('dec_z', 'decimal(12,3) zerofill', 'text', ['0', '999999999.999', '0.001']),
  ];
}

const floats = (): MatrixColumn[] => [
  column('f', 'float', 'float', SINGLES, { file: 'float' }),
  column('f_u', 'float unsigned', 'float', ['0', '0.1', '3.4028234663852886e38', '16777217']),
  column('f_z', 'float zerofill', 'float', ['0', '1.5', '123456.789']),
  column('f_7_2', 'float(7,2)', 'float', ['0', '-0e0', '99999.99', '-99999.99', '0.01', '1234.565', '33333.33']),
  column('f_20_3', 'float(20,3)', 'float', ['0', '12345678901234567.123', '0.001']),
  column('d', 'double', 'float', DOUBLES, { file: 'double' }),
  column('d_u', 'double unsigned', 'float', ['0', '1.7976931348623157e308', '0.1']),
  column('d_z', 'double zerofill', 'float', ['0', '1.5', '1e100', '0.1']),
  column('d_15_4', 'double(15,4)', 'float', ['0', '99999999999.9999', '-0.0001', '1.005']),
  column('d_53_30', 'double(53,30)', 'float', ['0', '0.1', '1e-30', '-12345.678']),
];

const bits = (): MatrixColumn[] =>
  Array.from({ length: 64 }, (_, i) => {
    const n = BigInt(i + 1);
    const size = n.toString();
    return column(`bit_${size}`, `bit(${size})`, 'number', [0, 1, (1n << n) - 1n, 1n << (n - 1n)], { file: `bit(${size})` }); // prettier-ignore
  });

const LABELS = [
  "it''s",
  '"',
  'ünï',
  '中',
  ' lead',
  'a;b',
  '(',
  ')',
  '\\\\',
  '1',
  '2',
  'NULL',
  '`',
  'a\\nb',
  '\\\\n',
  '\\r',
];
const list = (labels: readonly string[]): string => labels.map((l) => `'${l}'`).join(',');
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const labels = (): MatrixColumn[] => [
  column('e', `enum('',${list(LABELS)},'a,b') character set utf8mb4`, 'label', range(LABELS.length + 2).map((i) => i + 1)), // prettier-ignore
  column('e_gbk', `enum('昞','中文') character set gbk`, 'label', [1, 2]),
  column('e_latin1', `enum('é','€','x') character set latin1`, 'label', [1, 2, 3]),
  column('e_utf16', `enum('é','中','x') character set utf16`, 'label', [1, 2, 3]),
  column('e_bin', `enum('a','A') character set utf8mb4 collate utf8mb4_bin`, 'label', [1, 2]),
  column('e_300', `enum(${range(300).map((i) => `'v${String(i)}'`).join(',')})`, 'label', [1, 255, 256, 300]), // prettier-ignore
  column('s', `set(${list(LABELS)}) character set utf8mb4`, 'label', [0, 1, 3, (1n << BigInt(LABELS.length)) - 1n, 512]), // prettier-ignore
  column('s_64', `set(${range(64).map((i) => `'v${String(i)}'`).join(',')})`, 'label', [0, 1, 1n << 63n, (1n << 64n) - 1n]), // prettier-ignore
  column('s_gbk', `set('昞','中文','x') character set gbk`, 'label', [0, 1, 7]),
];

const NUMBERS: MatrixTable = {
  name: 'numbers',
  columns: [...integers(), ...decimals(), ...floats(), ...bits(), ...labels()],
};

// --- dates and times ---

const quote = (values: readonly string[]): string[] => values.map((v) => `'${v}'`);
const DATES = ['0000-00-00', '0000-01-01', '0001-01-01', '1000-01-01', '1582-10-10', '2024-00-00', '2024-02-00', '0000-00-31', '2024-02-29', '9999-12-31']; // prettier-ignore
/** Days that no month has, which MySQL stores where it is told to. */
const OTHER_DAYS = ['2023-02-29', '2024-02-31', '2024-04-31'];
const DATETIMES = [...DATES.map((d) => `${d} 00:00:00`), '2024-03-31 02:30:00', '2024-03-10 02:30:00', '2024-10-27 02:30:00', '9999-12-31 23:59:59', '0000-00-00 12:34:56']; // prettier-ignore
const TIMES = ['00:00:00', '-838:59:59', '838:59:59', '-00:00:01', '23:59:59', '24:00:00', '100:00:00'];
const STAMPS = ['0000-00-00 00:00:00', '1970-01-01 00:00:01', '2038-01-19 03:14:07', '2024-03-31 01:30:00', '2024-10-27 00:30:00', '2024-10-27 01:30:00']; // prettier-ignore
const withFraction = (values: readonly string[], f: number): string[] =>
  quote(values.flatMap((v) => [v, `${v}.${'9'.repeat(f)}`, `${v}.${'0'.repeat(f - 1)}1`]));

const fractions = (): MatrixColumn[] =>
  [1, 2, 3, 4, 5, 6].flatMap((f) => [
    column(`time_${String(f)}`, `time(${String(f)})`, 'text', withFraction(TIMES, f), { only: 'mariadb' }),
    column(`datetime_${String(f)}`, `datetime(${String(f)})`, 'text', withFraction(DATETIMES, f), { only: 'mariadb' }),
    column(`timestamp_${String(f)}`, `timestamp(${String(f)}) null`, 'text', withFraction(STAMPS.slice(1), f), { only: 'mariadb' }), // prettier-ignore
  ]);

const TIME_TABLE: MatrixTable = {
  name: 'times',
  columns: [
    column('year', 'year', 'text', [0, 1901, 2155, 1970, 2000], { file: 'year' }),
    column('year2', 'year(2)', 'text', quote(['00', '69', '70', '99', '24']), { only: 'mysql55' }),
    column('date', 'date', 'text', quote(DATES)),
    column('time', 'time', 'text', quote(TIMES), { file: 'time' }),
    column('datetime', 'datetime', 'text', quote(DATETIMES)),
    column('timestamp', 'timestamp null', 'text', quote(STAMPS), { file: 'timestamp' }),
    ...fractions(),
  ],
};

/** From files these rows are refused: of text only days that there are become dates (docs/specs/cells.md). */
export const DAY_TABLE: MatrixTable = {
  name: 'days',
  columns: [
    column('date', 'date', 'text', quote(OTHER_DAYS)),
    column('datetime', 'datetime', 'text', quote(OTHER_DAYS.map((d) => `${d} 23:59:59`))),
  ],
};

// --- texts and bytes ---

const COMMON = ['', ' ', 'a ', '  lead', 'NULL', '\\N', '\\', '\\\\', "'", '"', "''", '""', 'a\tb', 'a\nb', 'a\r\nb', '\r', '\n', '\0', 'a\0b\0', '\x1a', ',', '{"a":1}', '`', '%_', '\b', '\\0', '--', 'true', '#', '\x7f', '0', '-0', '1e3', "\\'", "'; drop table x; --"]; // prettier-ignore
const WIDE = ['\ufeff', '\uffff', '\ufffd', '\u2028', 'e\u0301', '中文', '\ud7ff'];
const EMOJI = ['😀', '\u{10ffff}', '👨‍👩‍👧'];
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  ascii: [],
  latin1: ['é', '€', 'ÿ', '\u00a0', '\u0081'],
  latin2: ['ł'],
  cp1251: ['Ж'],
  koi8r: ['Ж'],
  gbk: ['中文', '昞', '丂'],
  gb2312: ['中文'],
  big5: ['許功蓋'],
  sjis: ['表示', 'ｱ'],
  cp932: ['表示', '①'],
  ujis: ['表示', 'ｱ'],
  eucjpms: ['表示'],
  euckr: ['한글'],
  utf8: WIDE,
  utf8mb4: [...WIDE, ...EMOJI],
  ucs2: WIDE,
  utf16: [...WIDE, ...EMOJI],
  utf32: [...WIDE, ...EMOJI],
};
/** Characters that a charset of one byte has in its upper half; a text of all of them. */
const HIGH = (charset: string): string =>
  `_${charset} x'${range(0x60).map((i) => (0xa0 + i).toString(16)).join('')}'`; // prettier-ignore
const ALL_BYTES = `x'${range(256).map((i) => i.toString(16).padStart(2, '0')).join('')}'`; // prettier-ignore
const BYTES = ["''", "x'00'", "x'ff'", "x'80'", "x'0a'", "x'09'", "x'5c4e'", "x'20'", "x'27'", "x'c3'", ALL_BYTES, "x'5c'", "x'0d0a'", "x'e4b8'"]; // prettier-ignore

const texts = (): MatrixColumn[] => [
  ...Object.entries(SAMPLES).flatMap(([charset, samples]) => {
    const values = [...COMMON, ...samples].map((t) => textOf(charset, t));
    const high = ['latin1', 'latin2', 'cp1251', 'koi8r'].includes(charset) ? [HIGH(charset)] : [];
    return [
      column(`v_${charset}`, `varchar(200) character set ${charset}`, 'bytes', [...values, ...high]),
      column(`c_${charset}`, `char(20) character set ${charset}`, 'bytes', values),
      column(`t_${charset}`, `text character set ${charset}`, 'bytes', values),
    ];
  }),
  column('v_bin', 'varchar(20) character set utf8mb4 collate utf8mb4_bin', 'bytes', [...COMMON, ...EMOJI].slice(0, 20).map((t) => textOf('utf8mb4', t))), // prettier-ignore
  column('v_0', 'varchar(0)', 'bytes', ["''"]),
  column('c_0', 'char(0)', 'bytes', ["''"]),
  column('nchar', 'nchar(5)', 'bytes', ["''", "'é'"]),
];

const bytes = (): MatrixColumn[] => [
  column('b_4', 'binary(4)', 'bytes', ["''", "x'00000000'", "x'20202020'", "x'61620000'", "x'ffffffff'", "x'5c4e0a09'"], { file: 'binary' }), // prettier-ignore
  column('b_0', 'binary(0)', 'bytes', ["''"], { file: 'binary' }),
  column('vb', 'varbinary(300)', 'bytes', BYTES, { file: 'binary' }),
  column('tinyblob', 'tinyblob', 'bytes', BYTES.filter((b) => b !== ALL_BYTES), { file: 'binary' }), // prettier-ignore
  column('blob', 'blob', 'bytes', BYTES, { file: 'binary' }),
  column('mediumblob', 'mediumblob', 'bytes', BYTES, { file: 'binary' }),
  column('longblob', 'longblob', 'bytes', BYTES, { file: 'binary' }),
  column('tinytext', 'tinytext character set utf8mb4', 'bytes', COMMON.map((t) => textOf('utf8mb4', t))), // prettier-ignore
  column('mediumtext', 'mediumtext character set utf8mb4', 'bytes', COMMON.map((t) => textOf('utf8mb4', t))), // prettier-ignore
  column('longtext', 'longtext character set utf8mb4', 'bytes', COMMON.map((t) => textOf('utf8mb4', t))), // prettier-ignore
];

const TEXT_TABLE: MatrixTable = { name: 'texts', columns: [...texts(), ...bytes()] };

// --- shapes, documents, what servers compute ---

const SHAPES: Readonly<Record<string, readonly string[]>> = {
  point: ['POINT(1 2)', 'POINT(-0.1 1e300)'],
  linestring: ['LINESTRING(0 0, 1 1, 2 2)'],
  polygon: ['POLYGON((0 0, 10 0, 10 10, 0 0), (1 1, 2 1, 2 2, 1 1))'],
  multipoint: ['MULTIPOINT(1 1, 2 2)'],
  multilinestring: ['MULTILINESTRING((0 0, 1 1), (2 2, 3 3))'],
  multipolygon: ['MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)))'],
  geometrycollection: ['GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 1 1))'],
};
const shape = (wkt: string): string[] => [`GeomFromText('${wkt}')`, `GeomFromText('${wkt}', 4326)`];

const SHAPE_TABLE: MatrixTable = {
  name: 'shapes',
  columns: [
    ...Object.entries(SHAPES).map(([type, wkts]) => column(type, type, 'bytes', wkts.flatMap(shape), { file: 'binary' })), // prettier-ignore
    column('geometry', 'geometry', 'bytes', Object.values(SHAPES).flat().flatMap(shape), { file: 'binary' }),
    column('json', 'json', 'bytes', ["'null'", "'{}'", `'{"a": 1.50, "b" : [1e400, 12345678901234567890.1]}'`, `'"\\\\u0000\\\\n"'`, "' [1 ,2 ]\n'", `'"😀"'`, `'{"a":1,"a":2}'`], { only: 'mariadb', file: 'json' }), // prettier-ignore
    column('uuid', 'uuid', 'text', ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'123e4567-e89b-12d3-a456-426655440000'"], { only: 'mariadb' }), // prettier-ignore
    column('inet4', 'inet4', 'text', quote(['0.0.0.0', '255.255.255.255']), { only: 'mariadb' }),
    column('inet6', 'inet6', 'text', quote(['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::ffff:1.2.3.4', '1::']), { only: 'mariadb' }), // prettier-ignore
    column('packed', 'varchar(100) compressed', 'bytes', [textOf('utf8mb4', 'x '.repeat(40)), "''", textOf('utf8mb4', 'é😀')], { only: 'mariadb' }), // prettier-ignore
    column('packed_blob', 'blob compressed', 'bytes', BYTES, { only: 'mariadb', file: 'binary' }),
    column('hidden', 'int invisible', 'text', [1, -2], { only: 'mariadb' }),
    column('virtual', 'varchar(30) as (concat(`a``b`, 1)) virtual', 'bytes', [], { only: 'mariadb', generated: true }),
    column('stored', 'int as (`select` + 1) stored', 'text', [], { only: 'mariadb', generated: true }),
    column('select', 'int', 'text', [5, -5]),
    column('a`b', 'varchar(10)', 'bytes', quote(['x', ''])),
    column('ünï "q" \'s\'; 100%', 'int', 'text', [1, 2]),
    column('a.b', 'int', 'text', [1, 2]),
    column('A B', 'int', 'text', [1, 2]),
  ],
};

// --- the longest values ---

const repeated = (charset: string, text: string, n: number): string => `repeat(${textOf(charset, text)}, ${String(n)})`;

const LONG_TABLE: MatrixTable = {
  name: 'longest',
  columns: [
    column('char255', 'char(255) character set utf8mb4', 'bytes', [repeated('utf8mb4', '😀', 255)]),
    column('v255', 'varchar(255) character set utf8mb4', 'bytes', [repeated('utf8mb4', '😀', 255), repeated('utf8mb4', ' ', 255)]), // prettier-ignore
    column('v40000', 'varchar(40000) character set latin1', 'bytes', [repeated('latin1', '€', 40000), repeated('latin1', '\\', 40000)]), // prettier-ignore
    column('tinytext', 'tinytext character set utf8mb4', 'bytes', [repeated('utf8mb4', 'é', 127), repeated('utf8mb4', ' ', 255)]), // prettier-ignore
    column('text', 'text character set utf8mb4', 'bytes', [repeated('utf8mb4', '\t', 65535), repeated('utf8mb4', '中', 21845)]), // prettier-ignore
    column('text16', 'text character set utf16', 'bytes', [repeated('utf16', 'x', 32767), repeated('utf16', '😀', 16383)]), // prettier-ignore
    column('mediumtext', 'mediumtext character set utf8mb4', 'bytes', [repeated('utf8mb4', '\\', 1_000_000), repeated('utf8mb4', '中文', 300_000)]), // prettier-ignore
    column('tinyblob', 'tinyblob', 'bytes', [`repeat(x'00', 255)`], { file: 'binary' }),
    column('blob', 'blob', 'bytes', [`repeat(x'ff', 65535)`, `repeat(x'0a', 65535)`], { file: 'binary' }),
    column('longblob', 'longblob', 'bytes', [`repeat(${ALL_BYTES}, 8000)`], { file: 'binary' }),
  ],
};

export const MATRIX: readonly MatrixTable[] = [NUMBERS, TIME_TABLE, DAY_TABLE, TEXT_TABLE, SHAPE_TABLE, LONG_TABLE];

/** The columns that all of these servers have. */
export function columnsFor(table: MatrixTable, servers: readonly ServerKind[]): readonly MatrixColumn[] {
  return table.columns.filter((c) => c.only === undefined || servers.every((s) => s === c.only));
}

export function createSql(name: string, columns: readonly MatrixColumn[]): string {
  const lines = columns.map((c) => `${quoted(c.name)} ${c.ddl}`);
  return `create table ${name} (id int primary key, ${lines.join(', ')}) engine=InnoDB default charset=utf8mb4 row_format=dynamic`;
}

/** A statement a row: the n-th value of each column, over and over until the longest list is through, and NULLs. */
export function insertsSql(name: string, columns: readonly MatrixColumn[]): readonly string[] {
  const written = columns.filter((c) => c.generated !== true);
  const rows = Math.max(...written.map((c) => c.values.length));
  const names = ['id', ...written.map((c) => quoted(c.name))].join(', ');
  return Array.from({ length: rows + 1 }, (_, r) => {
    const values = written.map((c) => (r === rows ? 'null' : (c.values[r % c.values.length] ?? 'null')));
    return `insert into ${name} (${names}) values (${[String(r + 1), ...values].join(', ')})`;
  });
}

/** Each row as texts that tell all there is. */
export function looksSql(name: string, columns: readonly MatrixColumn[]): string {
  const looks = columns.map((c) => LOOKS[c.look](quoted(c.name)));
  return `select id, ${looks.join(', ')} from ${name} order by id`;
}
