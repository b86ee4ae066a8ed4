import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { columnSpecs, isJson, jsonLinesFormat, jsonLinesOutput, type ColumnOption } from 'syncx/plugin-kit';
import type { ColumnInit } from 'syncx/plugin-api';
import { decodeAll, encodeAll, strings } from './format-harness.js';

const format = (...columns: readonly ColumnOption[]): ReturnType<typeof jsonLinesFormat> =>
  jsonLinesFormat(columnSpecs(columns));

test('numbers keep the digits of the source', () => {
  const bytes = Buffer.from('{"a":9223372036854775807,"b":1.10,"c":1e400}\n{"a":-0.0,"b":"x","c":true}\n');
  assert.deepEqual(decodeAll(format('a', 'b', 'c'), bytes).rows, [
    ['9223372036854775807', '1.10', '1e400'],
    ['-0.0', 'x', 'true'],
  ]);
});

test('nested paths, constants, missing keys, nulls, raw json and escaped keys', () => {
  const bytes = Buffer.from(
    '{"x":1,"a":{"b":{"c":"deep"},"d":[1, {"e":"}"}]}}\r\n\n{"a":null,"\\u0078":"\\u00e9\\ud83d\\ude00\\n"}\n{"a":{"b":7}}',
  );
  const columns = ['a.b.c', 'x', { name: 'a.d', type: 'json' }, { name: 'k', value: 'v' }, { name: 'a', type: 'json' }];
  for (const chunk of [1, 5, 1000]) {
    const got = decodeAll(format(...columns), bytes, { chunk });
    assert.deepEqual(got.rejected, []);
    assert.deepEqual(got.rows, [
      ['deep', '1', '[1, {"e":"}"}]', 'v', '{"b":{"c":"deep"},"d":[1, {"e":"}"}]}'],
      [null, 'é😀\n', null, 'v', null],
      [null, null, null, 'v', '{"b":7}'],
    ]);
    assert.deepEqual(got.names, ['a.b.c', 'x', 'a.d', 'k', 'a']);
  }
});

test('a key with a dot is that key; only a line without it is searched by path', () => {
  const lines: readonly (readonly [string, readonly (string | null)[]])[] = [
    ['{"a.b":1,"x":2}', ['1', '2']],
    ['{"x":2,"a":{"b":3}}', ['3', '2']],
    ['{"a":{"b":3},"a.b":1}', ['1', null]],
    ['{"a.b":1,"a":{"b":3}}', ['1', null]],
    ['{"a.b":null,"a":{"b":3}}', [null, null]],
    ['{"a\\u002eb":"u"}', ['u', null]],
    ['{"a":{"a.b":4},"a.c":5}', [null, null]],
    ['{"c":{"a.b":4}}', [null, null]],
  ];
  const got = decodeAll(format('a.b', 'x'), Buffer.from(lines.map(([l]) => `${l}\n`).join('')));
  assert.deepEqual(got.rejected, []);
  assert.deepEqual(
    got.rows,
    lines.map(([, row]) => row),
  );
  const twice = decodeAll(format('x', 'a.b'), Buffer.from('{"a.b":1,"a.b":2}\n{"a":{"b":1,"b":2}}\n'));
  assert.deepEqual(
    twice.rejected.map((r) => [r.column, r.place, r.reason.split(' (')[0]]),
    [
      ['a.b', 'x.csv:1:16', 'the key `a.b` stands twice'],
      ['a.b', 'x.csv:2:17', 'the key `b` stands twice'],
    ],
  );
  const written = encodeAll(jsonLinesOutput(), [{ name: 'a.b', type: { is: 'string' } }], [['v']]);
  assert.deepEqual(decodeAll(format('a.b'), written.bytes).rows, [['v']]);
});

test('an array is read by index, an object by name; a column with both is found in either', () => {
  const both = format({ name: 'b', index: 1 }, { name: 'a', index: 0 }, { name: 'k', value: 'v' });
  const got = decodeAll(both, Buffer.from('[1,"two",3]\n{"a":4,"b":5}\n{"b":6}\n[null,7]\n'));
  assert.deepEqual(got.rejected, []);
  assert.deepEqual(got.rows, [
    ['two', '1', 'v'],
    ['5', '4', 'v'],
    ['6', null, 'v'],
    ['7', null, 'v'],
  ]);
  assert.deepEqual(decodeAll(format({ index: 0 }, { index: 2 }), Buffer.from('[1,2,3]\n')).names, ['f0', 'f2']);
  assert.deepEqual(decodeAll(format({ name: 'k', value: 'v' }), Buffer.from('[]\n{}\n')).rows, [['v'], ['v']]);
});

test('a line that a column cannot be picked from is dirty, never a row of NULLs', () => {
  const byName = 'the line is an array, but column 1 `a` is picked by name: give it an index';
  const byIndex = 'the line is an object, but column 2 is picked by index 1: give it a name';
  const cases: readonly (readonly [readonly ColumnOption[], string, string | null, string])[] = [
    [['a'], '[]', 'a', byName],
    [['a'], '[1,2]', 'a', byName],
    [['a', { name: 'b', index: 0 }], '[1]', 'a', byName],
    [[{ name: 'a', index: 0 }, { index: 1 }], '{"a":1,"f1":2}', 'f1', byIndex],
    [[{ name: 'k', value: 'v' }, { index: 1 }], '{}', 'f1', byIndex],
    [[{ name: 'a', index: 0 }], '[]', 'a', 'the array has 0 elements, not at least 1'],
    [[{ name: 'b', index: 1 }, { index: 0 }], '[9]', 'b', 'the array has 1 elements, not at least 2'],
  ];
  for (const [columns, line, column, reason] of cases) {
    const got = decodeAll(format(...columns), Buffer.from(`\n${line}\n`));
    assert.deepEqual(got.rows, [], line);
    assert.deepEqual(
      got.rejected.map((r) => [r.row, r.place, r.column, r.reason]),
      [[line, 'x.csv:2:1', column, `${reason} (line at byte 1)`]],
    );
  }
});

test('without columns the line is the one cell', () => {
  const got = decodeAll(jsonLinesFormat(null), Buffer.from('\ufeff{"a": 1}\r\n  [2]\n"s"\n'));
  assert.deepEqual(got.names, ['json']);
  assert.deepEqual(got.rows, [['{"a": 1}'], ['[2]'], ['"s"']]);
});

test('a bad line is dirty with file, line and column; the lines around it stand', () => {
  const bad: readonly (readonly [string, number, string])[] = [
    ['{"a":1,}', 8, 'the line is not JSON'],
    ['{"a":01}', 7, 'the line is not JSON'],
    ['{"a":tru}', 9, 'the line is not JSON'],
    ['{"a":"x', 8, 'the line is not JSON'],
    ['{"a":1} x', 9, 'the line goes on behind its JSON value'],
    ['17', 1, 'the line is no JSON object or array'],
    ['{"a":1,"a":2}', 12, 'the key `a` stands twice'],
    ['{"b":"\\x"}', 8, 'the line is not JSON'],
    ['{"a":"\\ud800"}', 6, 'the text holds half of a surrogate pair, which UTF-8 has no form for'],
  ];
  for (const [line, column, reason] of bad) {
    const got = decodeAll(format('a'), Buffer.from(`{"a":1}\n${line}\n{"a":2}\n`), { chunk: 4 });
    assert.deepEqual(got.rows, [['1'], ['2']], line);
    assert.deepEqual(
      got.rejected.map((r) => [r.row, r.place, r.reason]),
      [[line, `x.csv:2:${String(column)}`, `${reason} (line at byte 8)`]],
    );
  }
});

test('a value that is not of its type is dirty and names the column', () => {
  const got = decodeAll(format({ name: 'a', type: 'int' }), Buffer.from('{"a":1.0}\n{"a":"12"}\n{"a":{}}\n'));
  assert.deepEqual(got.rows, [['12']]);
  assert.deepEqual(
    got.rejected.map((r) => [r.column, r.place]),
    [
      ['a', 'x.csv:1:6'],
      ['a', 'x.csv:3:6'],
    ],
  );
});

test('the scanner takes what JSON.parse takes, and nothing else', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '0',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\u0001',
    ),
    { maxLength: 10 },
  );
  const accepts = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const check = (text: string): void => {
    const b = Buffer.from(text);
    assert.equal(isJson(b, 0, b.length), accepts(text), text);
  };
  fc.assert(
    fc.property(
      pieces.map((p) => p.join('')),
      check,
    ),
    { numRuns: 3000 },
  );
  fc.assert(fc.property(fc.json(), check), { numRuns: 500 });
});

const ALL: readonly ColumnInit[] = [
  { name: 'i', type: { is: 'int64' } },
  { name: 'd', type: { is: 'decimal', precision: 10, scale: 2 } },
  { name: 'f', type: { is: 'float64' } },
  { name: 'b', type: { is: 'boolean' } },
  { name: 'j', type: { is: 'json' } },
  { name: 'x', type: { is: 'binary' } },
  { name: 's "q"', type: { is: 'string' } },
];

test('the writer: bare digits, quoted NaN, one-line json, base64, escapes, null and absent', () => {
  const { bytes, rejected } = encodeAll(jsonLinesOutput(), ALL, [
    [
      '9223372036854775807',
      '1.10',
      '1e-7',
      'true',
      '{"a":\n [1,\r\n2]}',
      Buffer.from([0, 255, 128]),
      'é😀\u0001\n"\\\t/',
    ],
    [null, undefined, 'NaN', null, undefined, null, ''],
    [undefined, undefined, '-Infinity', undefined, undefined, undefined, undefined],
  ]);
  assert.deepEqual(rejected, []);
  assert.deepEqual(bytes.toString().split('\n'), [
    '{"i":9223372036854775807,"d":1.10,"f":1e-7,"b":true,"j":{"a":  [1,  2]},"x":"AP+A","s \\"q\\"":"é😀\\u0001\\n\\"\\\\\\t/"}',
    '{"i":null,"f":"NaN","b":null,"x":null,"s \\"q\\"":""}',
    '{"f":"-Infinity"}',
    '',
  ]);
});

test('the writer refuses a cell that would break the line, and leaves no byte of the row', () => {
  const { bytes, rejected } = encodeAll(jsonLinesOutput(), ALL.slice(0, 1), [['1'], ['007'], ['2']]);
  assert.equal(bytes.toString(), '{"i":1}\n{"i":2}\n');
  assert.deepEqual(
    rejected.map((r) => [r.row, r.column, r.code]),
    [[{ i: '007' }, 'i', 'ROW_INVALID']],
  );
});

test('what the writer writes, the reader reads back equal, and JSON.parse agrees', () => {
  const text = fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 3, 999),
      (rows, chunk) => {
        const { bytes } = encodeAll(jsonLinesOutput(), strings(2), rows, 32);
        const lines = bytes.toString().trimEnd().split('\n');
        assert.deepEqual(
          lines.map((l) => Object.values(JSON.parse(l) as object)),
          rows,
        );
        assert.deepEqual(decodeAll(format('c0', 'c1'), bytes, { chunk }).rows, rows);
      },
    ),
    { numRuns: 500 },
  );
});

test('from every position that is given out, the rest of the lines follow', () => {
  const bytes = Buffer.from(
    Array.from({ length: 20 }, (_, i) => `{"n":${String(i)}}${i % 3 === 0 ? '\n' : ''}\n`).join(''),
  );
  const whole = decodeAll(format('n'), bytes, { batchRows: 3 });
  assert.equal(whole.points.length, 7);
  for (const p of whole.points) {
    const rest = decodeAll(format('n'), bytes, { from: p.point, chunk: 2 });
    assert.deepEqual([...whole.rows.slice(0, p.rows), ...rest.rows], whole.rows);
    assert.equal(p.point.line, bytes.subarray(0, p.point.offset).toString().split('\n').length);
  }
});
