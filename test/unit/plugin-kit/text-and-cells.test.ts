import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseType } from 'syncx/plugin-api';
import { columnSpecs, delimitedFormat, isCellOf, isDatePattern, textOutput } from 'syncx/plugin-kit';
import { csvFormat, csvWriter, decodeAll, dialectOf, encodeAll, strings } from './format-harness.js';

const text = (delimiter: string): Parameters<typeof delimitedFormat>[0]['dialect'] =>
  dialectOf({ delimiter, quote: null });

test('text has no quoting: quotes are data, and what could not be read back is refused', () => {
  const rows = [
    ['"a"', 'b'],
    ['x\u0001y', 'b'],
    ['a', 'line\nend'],
    [null, ''],
    ['\\N', 'z'],
    ['\ufeffa', 'z'],
  ];
  const { bytes, rejected } = encodeAll(textOutput({ dialect: text('\u0001'), header: false }), strings(2), rows);
  assert.equal(bytes.toString(), '"a"\u0001b\n\\N\u0001\n');
  assert.deepEqual(
    rejected.map((r) => [r.row, r.column, r.reason.split(';')[0]]),
    [
      [{ c0: 'x\u0001y', c1: 'b' }, 'c0', 'the cell holds the field delimiter'],
      [{ c0: 'a', c1: 'line\nend' }, 'c1', 'the cell holds a line end'],
      [{ c0: '\\N', c1: 'z' }, 'c0', 'the cell is the text that stands for NULL'],
      [{ c0: '\ufeffa', c1: 'z' }, 'c0', 'the cell begins with a byte order mark, which readers drop'],
    ],
  );
  const format = delimitedFormat({ dialect: text('\u0001'), header: false, columns: null });
  assert.deepEqual(decodeAll(format, bytes).rows, [
    ['"a"', 'b'],
    [null, ''],
  ]);
});

test('text: every row that is written reads back equal, the others are refused', () => {
  const field = fc.oneof(
    fc.constant(null),
    fc.array(fc.constantFrom('|', ';', 'a', '"', '\\', '\r', 'é', '\\N'), { maxLength: 4 }).map((p) => p.join('')),
  );
  const rows = fc.array(fc.tuple(field, field), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(rows, fc.constantFrom('|', '||', '|;', ';|;', 'é'), (table, delimiter) => {
      const written = encodeAll(textOutput({ dialect: text(delimiter), header: false }), strings(2), table);
      const refused = new Set(written.rejected.map((r) => JSON.stringify(Object.values(r.row as object))));
      const columns = columnSpecs(['c0', 'c1']);
      const read = decodeAll(delimitedFormat({ dialect: text(delimiter), header: false, columns }), written.bytes, {
        chunk: 2,
      });
      assert.deepEqual(
        read.rows,
        table.filter((r) => !refused.has(JSON.stringify(r))),
      );
    }),
    { numRuns: 1000 },
  );
});

test('csv: binary cells are base64 and come back as bytes', () => {
  const column = { name: 'x', type: { is: 'binary' } as const };
  const bytes = Buffer.from([0, 255, 10, 34]);
  const written = encodeAll(csvWriter({}, true), [column], [[bytes], [Buffer.alloc(0)], [null]]);
  assert.equal(written.bytes.toString(), 'x\nAP8KIg==\n""\n\\N\n');
  const read = decodeAll(csvFormat({}, true, [{ name: 'x', type: 'binary' }]), Buffer.from('x\nAAEC\n*\n'));
  assert.deepEqual(read.rows, [['\u0000\u0001\u0002']]);
  assert.deepEqual(
    read.rejected.map((r) => [r.column, r.place]),
    [['x', 'x.csv:3']],
  );
});

const CELLS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['tinyint', ['0', '-128', '127'], ['128', '-129', '', '-', '01', '-0', '+1', '1.0', ' 1', '1a']],
  ['bigint', ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808', '-9223372036854775809']],
  ['bigint unsigned', ['18446744073709551615'], ['18446744073709551616', '-1']],
  ['bit(3)', ['7'], ['8']],
  ['decimal(5,2)', ['0', '999.99', '-0.01', '1.10'], ['1000', '1.234', '1.', '.5', '00.1', '1e2', '', '-0', '-0.00']],
  ['decimal(2,2)', ['0.99'], ['1.00']],
  [
    'double',
    ['1', '1.5', '-0', '1e-7', '1e+21', '0.30000000000000004', 'NaN', '-Infinity'],
    ['1.10', '1.0', '1e5', '1E-7', '1.', '.5', '01', 'inf', 'nan', '', '1e'],
  ],
  ['boolean', ['true', 'false', 'TRUE'], ['1', 'yes', 't', '']],
  ['date', ['2024-02-29', '0000-00-00', '2000-02-29'], ['2023-02-29', '1900-02-29', '2024-13-01', '2024-1-1', '']],
  [
    'datetime(3)',
    ['2024-11-03 05:30:00', '2024-11-03 05:30:00.123'],
    ['2024-11-03 05:30:00.1234', '2024-11-03T05:30:00', '2024-11-03 24:00:00', '2024-11-03 05:30'],
  ],
  ['time(1)', ['-838:59:59', '00:00:00.5'], ['1:00:00', '00:60:00', '0838:00:00', '00:00:00.55']],
  ['year', ['1901'], ['901', '19O1']],
  ['json', ['{"a":[1]}', ' 1 '], ['{', '', '01']],
  ['varchar(3)', ['', 'anything'], []],
];

for (const [name, good, bad] of CELLS) {
  test(`cells of type ${name}`, () => {
    const type = parseType(name);
    assert.ok(type);
    for (const cell of good) assert.equal(isCellOf(type, cell), true, cell);
    for (const cell of bad) assert.equal(isCellOf(type, cell), false, cell);
  });
}

test('date patterns', () => {
  const read = (format: string, type: string, cell: string): unknown =>
    decodeAll(csvFormat({}, false, [{ name: 'd', type, format }]), Buffer.from(`"${cell}"\n`)).rows[0]?.[0] ?? null;
  assert.equal(read('yyyyMMddHHmmssSSS', 'datetime', '20241103053007123'), '2024-11-03 05:30:07.123');
  assert.equal(read('d/M/yyyy H:mm', 'timestamp', '3/1/2024 7:05'), '2024-01-03 07:05:00');
  assert.equal(read("yyyy-MM-dd'T'HH:mm:ss'Z'", 'timestamp', '2024-11-03T05:30:00Z'), '2024-11-03 05:30:00');
  assert.equal(read('yyyy-MM-dd', 'date', '2023-02-29'), null);
  assert.equal(isDatePattern('yyyy-MM-dd'), true);
  assert.equal(isDatePattern('yy-MM'), false);
  assert.equal(isDatePattern('yyyy yyyy'), false);
});
