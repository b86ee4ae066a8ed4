/** What is wrong with an expression, and where. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpr, usesRegex } from '../../../src/expr/compile.js';
import { ExprError } from '../../../src/expr/faults.js';
import { parseExpr } from '../../../src/expr/parse.js';
import { loadRegex } from '../../../src/expr/regex.js';
import type { ExprType } from '../../../src/expr/types.js';

const TYPES: Readonly<Record<string, ExprType>> = {
  name: 'text',
  id: 'int',
  price: 'decimal',
  ratio: 'float',
  born: 'date',
  flag: 'bool',
  blob: 'binary',
  'user name': 'text',
};

async function problem(source: string): Promise<readonly [number, string] | null> {
  try {
    const expr = parseExpr(source);
    compileExpr(expr, {
      names: Object.keys(TYPES),
      regex: usesRegex(expr) ? await loadRegex() : null,
      column: (n) => (Object.hasOwn(TYPES, n) ? { type: TYPES[n] ?? 'any', run: () => null } : null),
    });
    return null;
  } catch (e) {
    assert.ok(e instanceof ExprError, String(e));
    return [e.at, e.message];
  }
}

const WRONG: Readonly<Record<string, readonly [number, string]>> = {
  '': [0, 'the expression is empty'],
  '  ': [0, 'the expression is empty'],
  "format(born, 'YYYY')": [13, "'YYYY' is not a pattern of dates: YYYY is none of yyyy MM dd HH mm ss S"],
  "format(born, 'd/M/yy')": [13, "'d/M/yy' is not a pattern of dates: yy is none of yyyy MM dd HH mm ss S"],
  "format(born, 'yyyy''')": [13, "'yyyy'' is not a pattern of dates: ' is none of yyyy MM dd HH mm ss S"],
  'id >': [4, 'the expression ends too early: a value is expected here'],
  'id = 1 id': [7, 'an operator or the end is expected here, not "id"'],
  '(id = 1': [7, 'the expression ends too early: ")" is expected here'],
  "name = 'x": [7, "the ' is not closed"],
  '`x': [0, 'the ` is not closed'],
  'id == 1': [3, '"==" is no operator'],
  'id = 1 && flag': [7, '"&&" is no operator'],
  "name || 'x'": [5, '"||" is no operator'],
  'id ? 1': [3, '"?" has no meaning here'],
  'process.exit(1)': [7, '"." has no meaning here'],
  this: [0, 'there is no column "this"'],
  '__proto__ is null': [0, 'there is no column "__proto__"'],
  'constructor(1)': [0, 'there is no function "constructor"'],
  'eval(name)': [0, 'there is no function "eval"'],
  '1 < id < 3': [7, 'comparisons cannot be chained'],
  'id = name': [3, 'an integer cannot be compared with a text'],
  'id = null': [3, 'nothing equals NULL'],
  "born = 'x'": [7, "'x' is not a date"],
  "born = '2023-02-29'": [7, "'2023-02-29' is not a date"],
  'born = 5': [5, 'a date cannot be compared with an integer'],
  'blob = blob': [5, 'bytes cannot be compared with bytes'],
  'name and flag': [0, 'true or false is wanted here, not a text'],
  'name + 1 = 1': [5, '"+" wants numbers, not a text'],
  'upper(id)': [6, 'upper wants a text here, not an integer'],
  'upper()': [0, 'upper takes 1 arguments, not 0'],
  'substr(name)': [0, 'substr takes 2 to 3 arguments, not 1'],
  "if(flag, 1, 'a')": [0, 'if has values of different kinds: an integer and a text'],
  'name like name': [5, "the pattern of like is a text in '…'"],
  'matches(name, name)': [14, "the pattern of matches is a text in '…'"],
  "matches(name, 'a(')": [14, 'error parsing regexp: missing closing ): `a(`'],
  "matches(name, '(?<=a)b')": [14, 'error parsing regexp: invalid named capture: `(?<=a)b`'],
  'id in ()': [7, 'a value is expected here, not ")"'],
  'id between 1': [12, 'the expression ends too early: "and" is expected here'],
  'id is 5': [6, '"null" is expected here, not "5"'],
  '1e99999': [0, '1e99999 is too large or too small'],
};

for (const [source, expected] of Object.entries(WRONG)) {
  test(`refused: ${source}`, async () => {
    assert.deepEqual(await problem(source), expected);
  });
}

test('deep and long expressions are refused, not overflowed', async () => {
  const deep = `${'('.repeat(5000)}1${')'.repeat(5000)} = 1`;
  const nots = `${'not '.repeat(3000)}flag`;
  const minuses = `${'- '.repeat(3000)}id = 1`;
  for (const source of [deep.slice(0, 3000), nots, minuses, `id in (${'1, '.repeat(50_000)}1)`]) {
    assert.match((await problem(source))?.[1] ?? '', /nested too deeply|too long/);
  }
  assert.equal(await problem(`id in (${'1, '.repeat(1000)}1)`), null);
  assert.equal(await problem(Array.from({ length: 900 }, () => 'id = 1').join(' or ')), null);
});

test('accepted', async () => {
  for (const source of [
    "`user name` = 'x' AND \"user name\" <> 'y'",
    'id >= 1.5 and ratio < id and price <> ratio',
    "born between '1990-01-01' and '2000-12-31'",
    "NOT name LIKE 'a%' and name not like 'b%' and id not in (1, 2) and id NOT BETWEEN 1 AND 2",
    "matches(name, '^(a+)+$')",
    "coalesce(born, '1970-01-01') > '1969-12-31'",
    '-id = - -id',
  ])
    assert.equal(await problem(source), null, source);
});

test('a pattern that makes backtracking engines hang is matched at once', async () => {
  const re = (await loadRegex()).compile('^(a+)+$', 0);
  assert.equal(re.find(`${'a'.repeat(50_000)}b`), false);
  assert.equal(re.find('a'.repeat(50_000)), true);
});
