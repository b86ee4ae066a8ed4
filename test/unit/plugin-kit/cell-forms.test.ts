import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { float32Text, float64Text, parseType } from 'syncx/plugin-api';
import { canonicalCell, columnSpecs, isCellOf, jsonLinesFormat } from 'syncx/plugin-kit';
import { csvFormat, decodeAll, type Cell } from './format-harness.js';

/** What a cell of the type becomes on every road into a batch; null: the row is dirty. */
function read(type: string, text: string): string | null {
  const t = parseType(type);
  assert.ok(t);
  const made = canonicalCell(t, text);
  const column = { name: 'c', type };
  const quoted = Buffer.from(`"${text}"\n`);
  const roads = [
    csvFormat({}, false, [column]),
    csvFormat({}, false, [column, { name: 'k', value: 'v' }]),
    jsonLinesFormat(columnSpecs([column])),
  ].map((format, i) => decodeAll(format, i < 2 ? quoted : Buffer.from(`{"c":"${text}"}\n`)));
  for (const got of roads) {
    assert.deepEqual(
      [got.rows[0]?.[0] ?? null, got.rejected.length],
      [made, made === null ? 1 : 0],
      `${type}: ${text}`,
    );
  }
  if (made !== null) assert.ok(isCellOf(t, made), `${type}: ${made}`);
  return made;
}

const FORMS: readonly (readonly [string, Readonly<Record<string, string | null>>])[] = [
  ['tinyint', { '5': '5', '+5': '5', '-0': '0', '+0': '0', '007': '7', '-007': '-7', '0127': '127', '-0128': '-128' }],
  ['tinyint', { '0128': null, '-0129': null, '1.0': null, '1e2': null, '--1': null, '+': null, ' 1': null, '': null }],
  ['bigint unsigned', { '-0': '0', '-1': null, '+18446744073709551615': '18446744073709551615' }],
  ['bigint', { '+9223372036854775807': '9223372036854775807', '09223372036854775808': null }],
  ['bit(3)', { '007': '7', '008': null }],
  ['decimal(6,3)', { '1.10': '1.10', '-0': '0', '-0.00': '0.00', '+5': '5', '1e2': '100', '.5': '0.5', '5.': '5' }],
  [
    'decimal(6,3)',
    { '007.50': '7.50', '-.5': '-0.5', '1.5E-2': '0.015', '1.50e1': '15.0', '0e9': '0', '0E-3': '0.000' },
  ],
  [
    'decimal(6,3)',
    { '000999.999': '999.999', '-12345e-3': '-12.345', '100e-2': '1.00', '0.001e3': '1', '1e-3': '0.001' },
  ],
  [
    'decimal(6,3)',
    { '1e3': null, '1000': null, '0.0001': null, '1.0000': null, '1e-4': null, '0E-4': null, '.': null },
  ],
  [
    'decimal(6,3)',
    { '1e999999999999': null, '1e-999999999999': null, '0e999999999999': '0', '1,5': null, '0x1': null },
  ],
  ['decimal(6,3)', { '1e': null, e1: null, '1.2.3': null, '+-1': null, NaN: null, '-': null, '': null, '1 ': null }],
  [
    'decimal(65,30)',
    { '12345678901234567890.123456789012345678901234567890': '12345678901234567890.123456789012345678901234567890' },
  ],
  ['decimal(2,2)', { '0.99': '0.99', '00.5': '0.5', '1': null, '5e-1': '0.5' }],
  [
    'double',
    { '1.10': '1.1', '-0': '-0', '-0.0': '-0', '+5': '5', '1e3': '1000', '.5': '0.5', '5.': '5', '007.50': '7.5' },
  ],
  ['double', { '1E-7': '1e-7', '0.0000001': '1e-7', '0.000001': '0.000001', '1e21': '1e+21', '1e+21': '1e+21' }],
  [
    'double',
    { '100000000000000000000': '100000000000000000000', '1000000000000000000000': '1e+21', '5e-324': '5e-324' },
  ],
  ['double', { '9007199254740993': '9007199254740992', '0.1000000000000000055511151231257827': '0.1', '1e-400': '0' }],
  ['double', { NaN: 'NaN', Infinity: 'Infinity', '-Infinity': '-Infinity', nan: null, inf: null, '1e400': null }],
  ['double', { '-1e309': null, '': null, '.': null, '1e': null, '0x10': null, '1_0': null, ' 1': null, '+': null }],
  ['float', { '0.1': '0.1', '0.10': '0.1', '16777217': '16777216', '0.10000000149011612': '0.1', '1e39': null }],
  // Next to the middle of two float32: rounded by way of a double, each would end on the other side.
  ['float', { '1.00000005960464477539062500000000001': '1.0000001', '1.00000005960464477539062499999999999': '1' }],
  [
    'float',
    { '1.00000017881393432617187499999999999': '1.0000001', '-1.00000005960464477539062500000000001': '-1.0000001' },
  ],
  ['float', { '1.000000059604644775390625': '1', '340282356779733661637539395458142568447': '3.4028235e+38' }],
  [
    'float',
    {
      '340282356779733661637539395458142568448': null,
      '7.006492321624085e-46': '0',
      '7.0064923216240854e-46': '1e-45',
    },
  ],
  ['boolean', { TRUE: 'true', '1': null }],
  [
    'datetime(3)',
    { '2024-01-02T03:04:05': '2024-01-02 03:04:05', '2024-01-02T03:04:05.120': '2024-01-02 03:04:05.120' },
  ],
  [
    'datetime(3)',
    { '2024-01-02 03:04:05': '2024-01-02 03:04:05', '2024-02-29T23:59:59.999': '2024-02-29 23:59:59.999' },
  ],
  [
    'datetime(3)',
    { '2024-01-02T03:04:05Z': null, '2024-01-02 03:04:05+01:00': null, '2024-01-02T03:04:05.1234': null },
  ],
  ['datetime(3)', { '2023-02-29T00:00:00': null, '2024-01-02T24:00:00': null, '2024-01-02T03:04:60': null }],
  [
    'datetime(3)',
    { '2024-01-02': null, '2024-01-02T03:04': null, '2024-01-02t03:04:05': null, '2024-01-02X03:04:05': null },
  ],
  [
    'timestamp(3)',
    { '2024-01-02T03:04:05Z': '2024-01-02 03:04:05', '2024-01-02 03:04:05.5Z': '2024-01-02 03:04:05.5' },
  ],
  [
    'timestamp(3)',
    { '2024-01-02T03:04:05': '2024-01-02 03:04:05', '2024-01-02T03:04:05.678+00:00': '2024-01-02 03:04:05.678' },
  ],
  [
    'timestamp(3)',
    { '2024-01-02T03:04:05+05:30': '2024-01-01 21:34:05', '2024-01-02T03:04:05.1-0800': '2024-01-02 11:04:05.1' },
  ],
  [
    'timestamp(3)',
    { '2024-03-01T00:00:00+01': '2024-02-29 23:00:00', '2023-03-01T00:30:00+01:00': '2023-02-28 23:30:00' },
  ],
  [
    'timestamp(3)',
    { '2024-02-29T23:59:59-00:01': '2024-03-01 00:00:59', '2023-12-31T23:00:00.25-02:00': '2024-01-01 01:00:00.25' },
  ],
  [
    'timestamp(3)',
    { '2024-01-01T00:00:00+23:59': '2023-12-31 00:01:00', '1900-03-01T00:00:00+01:00': '1900-02-28 23:00:00' },
  ],
  [
    'timestamp(3)',
    {
      '0000-00-00T00:00:00Z': '0000-00-00 00:00:00',
      '0000-00-00T00:00:00+01:00': null,
      '2024-00-10T00:00:00+01:00': null,
    },
  ],
  [
    'timestamp(3)',
    {
      '0000-01-01T00:00:00+01:00': null,
      '9999-12-31T23:30:00-01:00': null,
      '9999-12-31T23:30:00-00:15': '9999-12-31 23:45:00',
    },
  ],
  ['timestamp(3)', { '2024-01-02T03:04:05.1234Z': null, '2024-01-02T03:04:05.Z': null, '2023-02-29T00:00:00Z': null }],
  ['timestamp(3)', { '2024-01-02T24:00:00Z': null, '2024-01-02T03:04:60Z': null, '2024-01-02T03:04:05+24:00': null }],
  [
    'timestamp(3)',
    { '2024-01-02T03:04:05+01:60': null, '2024-01-02T03:04:05+1:00': null, '2024-01-02T03:04:05 +01:00': null },
  ],
  [
    'timestamp(3)',
    { '2024-01-02T03:04:05z': null, '2024-01-02T03:04Z': null, '2024-01-02Z': null, '2024-01-02T03:04:05+01-00': null },
  ],
  [
    'timestamp(9)',
    { '2024-01-02T03:04:05.123456789Z': '2024-01-02 03:04:05.123456789', '2024-01-02T03:04:05.1234567890Z': null },
  ],
  ['timestamp(0)', { '2024-01-02T03:04:05Z': '2024-01-02 03:04:05', '2024-01-02T03:04:05.0Z': null }],
];

for (const [type, forms] of FORMS) {
  test(`forms of ${type}: ${Object.keys(forms).join(' | ')}`, () => {
    for (const [text, want] of Object.entries(forms)) assert.equal(read(type, text), want, `${type}: ${text}`);
  });
}

test('a bare number of a json line takes its canonical form too', () => {
  const columns = [
    { name: 'd', type: 'decimal(10,2)' },
    { name: 'f', type: 'double' },
    { name: 'i', type: 'int' },
  ];
  const lines = '{"d":1e3,"f":1.10,"i":-0}\n{"d":1.10,"f":-0.0,"i":7}\n{"d":-0.00,"f":1e400,"i":1}\n';
  const got = decodeAll(jsonLinesFormat(columnSpecs(columns)), Buffer.from(lines));
  assert.deepEqual(got.rows, [
    ['1000', '1.1', '0'],
    ['1.10', '-0', '7'],
  ]);
  assert.deepEqual(
    got.rejected.map((r) => [r.column, r.place]),
    [['f', 'x.csv:3:16']],
  );
});

test('an offset in a datetime column says how to read it', () => {
  const column = [{ name: 't', type: 'datetime' }];
  const want =
    '2024-01-02T03:04:05Z` is not a valid datetime(6); a datetime is of no time zone: read times with an offset as timestamp';
  const csv = decodeAll(csvFormat({}, false, column), Buffer.from('2024-01-02T03:04:05Z\n'));
  assert.deepEqual(
    csv.rejected.map((r) => r.reason.split(' (record')[0]),
    [`\`${want}`],
  );
  const json = decodeAll(jsonLinesFormat(columnSpecs(column)), Buffer.from('{"t":"2024-01-02T03:04:05Z"}\n'));
  assert.deepEqual(
    json.rejected.map((r) => r.reason.split(' (line')[0]),
    [`\`"${want.replace('Z`', 'Z"`')}`],
  );
});

test('constants take the canonical form of their type', () => {
  const columns = [
    'a',
    { name: 'f', type: 'double', value: '1.50' },
    { name: 't', type: 'timestamp', value: '2024-01-01T00:00:00+01:00' },
  ];
  const got = decodeAll(csvFormat({}, false, columns), Buffer.from('x\n'));
  assert.deepEqual(got.rows, [['x', '1.5', '2023-12-31 23:00:00']]);
});

test('any float is read to the shortest text of its value, and that text stands', () => {
  const written = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .chain((n) =>
      fc.constantFrom(
        String(n),
        n.toExponential(),
        n.toExponential(20),
        n.toPrecision(17),
        n.toFixed(10),
        n.toPrecision(15),
      ),
    );
  fc.assert(
    fc.property(written, (text) => {
      const n = Number(text);
      assert.equal(canonicalCell({ is: 'float64' }, text), Number.isFinite(n) ? float64Text(n) : null);
    }),
    { numRuns: 3000 },
  );
  const single = fc.float({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(single, (n) => {
      fc.pre(!Object.is(n, -0)); // whose sign toExponential does not write
      for (const text of [float32Text(n), n.toExponential(), n.toPrecision(9), n.toExponential(30)]) {
        assert.equal(canonicalCell({ is: 'float32' }, text), float32Text(n), text);
      }
    }),
    { numRuns: 3000 },
  );
});

test('a decimal keeps its value and its digits, whatever its notation', () => {
  const digits = fc.stringMatching(/^\d{0,12}$/);
  const parts = fc.tuple(fc.constantFrom('', '-', '+'), digits, digits, fc.option(fc.integer({ min: -15, max: 15 })));
  fc.assert(
    fc.property(parts, ([sign, whole, fraction, exponent]) => {
      fc.pre(whole + fraction !== '');
      const text = `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === null ? '' : `e${String(exponent)}`}`;
      const cell = canonicalCell({ is: 'decimal', precision: 60, scale: 30 }, text);
      assert.ok(cell !== null && isCellOf({ is: 'decimal', precision: 60, scale: 30 }, cell), text);
      const [w = '', f = ''] = cell.split('.');
      assert.equal(f.length, Math.max(0, fraction.length - (exponent ?? 0)), text);
      const scaled = BigInt(`${whole}${fraction}`) * 10n ** BigInt(40 + (exponent ?? 0) - fraction.length);
      assert.equal(BigInt(w + f) * 10n ** BigInt(40 - f.length), sign === '-' ? -scaled : scaled, text);
    }),
    { numRuns: 2000 },
  );
});

test('a time with an offset is the same instant in UTC', () => {
  const time = fc.date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(time, fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
      const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
      const zone = Math.abs(offset);
      const two = (n: number): string => String(n).padStart(2, '0');
      const text = `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(zone / 60))}:${two(zone % 60)}`;
      const want = date.toISOString().replace('T', ' ').slice(0, -1);
      assert.equal(canonicalCell({ is: 'timestamp', fraction: 3 }, text), want, text);
    }),
    { numRuns: 2000 },
  );
});

test('cells that grow and shrink in place leave their neighbours alone, whatever the chunks and batches', () => {
  const d = fc.constantFrom(
    ['.5', '0.5'],
    ['1e7', '10000000'],
    ['+1', '1'],
    ['1.50', '1.50'],
    ['\\N', null],
    ['x', undefined],
  );
  const t = fc.constantFrom(
    ['2024-01-02T03:04:05Z', '2024-01-02 03:04:05'],
    ['2024-01-02 03:04:05', '2024-01-02 03:04:05'],
    ['\\N', null],
    ['never', undefined],
  );
  const s = fc.constantFrom(['', ''], ['a', 'a'], ['\\N', null], ['"q,"', 'q,']);
  const types = [
    { name: 'd', type: 'decimal(10,2)' },
    { name: 't', type: 'timestamp' },
    { name: 's' },
    { name: 'e', type: 'decimal' },
  ];
  const row = fc.tuple(d, t, s, d) as fc.Arbitrary<readonly (readonly [string, Cell | undefined])[]>;
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(1, 7, 4096),
      fc.constantFrom(1, 4, 99),
      (rows, chunk, batchRows) => {
        const text = rows.map((r) => `${r.map(([source]) => source).join(',')}\n`).join('');
        const got = decodeAll(csvFormat({}, false, types), Buffer.from(text), { chunk, batchRows });
        const want = rows.map((r) => r.map(([, cell]) => cell));
        assert.deepEqual(
          got.rows,
          want.filter((r) => !r.includes(undefined)),
        );
        assert.equal(got.rejected.length, want.filter((r) => r.includes(undefined)).length);
      },
    ),
    { numRuns: 1000 },
  );
});

test('where cells outgrow their source, there is room for the long row behind them', () => {
  const n = 30_000;
  const long = 'y'.repeat(500_000);
  const bytes = Buffer.from(`${'1e30,x\n'.repeat(n)}1,${long}\n`);
  const columns = [{ name: 'a', type: 'decimal' }, { name: 'b' }];
  const got = decodeAll(csvFormat({}, false, columns), bytes, { chunk: 1 << 20 });
  assert.equal(got.rejected.length, 0);
  assert.equal(got.rows.length, n + 1);
  assert.ok(got.rows.slice(0, n).every(([a, b]) => a === `1${'0'.repeat(30)}` && b === 'x'));
  assert.ok(got.rows[n]?.[0] === '1' && got.rows[n]?.[1] === long);
});
