/** Transforms in the job file: what is wrong, each with its place; what comes out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRANSFORM_SCHEMAS } from '../../../src/config/transform-schema.js';
import { SECRET_TRANSFORM_OPTIONS } from '../../../src/job/transform-spec.js';
import { assertAccepted, assertRefused, jobText, load } from './support.js';

const T = 'job.content[0].transform';

/** The list stands on line 9, from column 22. */
function job(
  list: string,
  parts: { readonly reader?: string; readonly writer?: string; readonly key?: string } = {},
): string {
  return jobText(parts).replace(
    '        },\n        "writer"',
    `        },\n        "${parts.key ?? 'transform'}": ${list},\n        "writer"`,
  );
}

const COLUMNS = '"column": ["id", "name", "born"]';

test('every step, with defaults and aliases worked in', async () => {
  const list = `[
    {"op": "FILTER", "where": "id > 5"},
    {"op": "select", "columns": ["id", {"name": "name", "as": "who"}, "born"]},
    {"op": "rename", "columns": {"born": "birth"}},
    {"op": "cast", "column": "birth", "type": "date", "format": "dd.MM.yyyy", "onError": "NULL"},
    {"op": "constant", "column": "n", "value": 9007199254740993, "type": "bigint"},
    {"op": "constant", "column": "m", "value": null},
    {"op": "constant", "column": "d", "value": "+007.50", "type": "decimal(10,2)"},
    {"op": "compute", "column": "x", "expression": "concat(who, '!')"},
    {"op": "mask", "columns": ["who"], "method": "hash", "salt": "pepper"},
    {"op": "mask", "columns": ["x"], "method": "partial", "keepFirst": "2"},
    {"op": "drop", "columns": ["m"]}
  ]`;
  const { job: spec } = await assertAccepted(
    job(list, { reader: COLUMNS, writer: '"column": ["a", "b", "c", "d", "e", "f"]' }),
  );
  const mask = { keepFirst: 0, keepLast: 0, with: '*' };
  assert.deepEqual(spec.transform, [
    { op: 'filter', where: 'id > 5' },
    { op: 'select', columns: ['id', { name: 'name', as: 'who' }, 'born'] },
    { op: 'rename', columns: { born: 'birth' } },
    { op: 'cast', column: 'birth', type: 'date', format: 'dd.MM.yyyy', onError: 'null' },
    { op: 'constant', column: 'n', value: '9007199254740993', type: 'bigint' },
    { op: 'constant', column: 'm', value: null, type: 'string' },
    { op: 'constant', column: 'd', value: '7.50', type: 'decimal(10,2)' },
    { op: 'compute', column: 'x', expression: "concat(who, '!')" },
    { op: 'mask', columns: ['who'], method: 'sha256', salt: 'pepper', ...mask },
    { op: 'mask', columns: ['x'], method: 'partial', ...mask, keepFirst: 2 },
    { op: 'drop', columns: ['m'] },
  ]);
});

test('without transforms there are none', async () => {
  assert.deepEqual((await assertAccepted(jobText())).job.transform, []);
  assert.deepEqual((await assertAccepted(job('[]'))).job.transform, []);
});

test('all that is wrong is told at once, each in its place', async () => {
  const list = `[
{"op": "filtr", "where": "id > 5"},
{"where": "id > 5"},
"filter",
{"op": "filter"},
{"op": "filter", "when": "id", "where": "id"},
{"op": "cast", "column": "id", "type": "integr"},
{"op": "mask", "columns": "id", "method": "md5"},
{"op": "constant", "column": "c", "value": "x", "type": "int"},
{"op": "cast", "column": "id", "type": "date", "format": "YYYY"},
{"op": "cast", "column": "id", "type": "int", "format": "yyyy"}
]`;
  await assertRefused(job(list), [
    `job.json:10:8: error: ${T}[0].op: there is no step "filtr"; did you mean "filter"?`,
    `job.json:11:1: error: ${T}[1].op: is missing; one of select, rename, drop, filter, cast, constant, compute, mask`,
    `job.json:12:1: error: ${T}[2]: must be an object; docs/transforms.md has the steps that there are`,
    `job.json:13:1: error: ${T}[3].where: is missing`,
    `job.json:14:18: error: ${T}[4].when: unknown option; did you mean "where"?`,
    `job.json:15:40: error: ${T}[5].type: there is no type "integr" to bring a value to; say string, bigint, decimal(20,4), double, boolean, date, datetime, timestamp …`,
    `job.json:16:27: error: ${T}[6].columns: is "id"; must be a list of a string`,
    `job.json:16:43: error: ${T}[6].method: is "md5"; must be one of "sha256", "partial", "null"`,
    `job.json:17:44: error: ${T}[7].value: is no value of type int`,
    `job.json:18:58: error: ${T}[8].format: is not a pattern of dates; of yyyy MM dd HH mm ss S, and text in '…'`,
    `job.json:19:57: error: ${T}[9].format: int32 has no format; a format is for dates and times, and for string`,
  ]);
});

test('an expression tells the place inside of its string', async () => {
  const list = `[
{"op": "filter", "where": "id > > 5"},
{"op": "filter", "where": "id > 5 and uper(name) = 'x'"},
{"op": "filter", "where": "name = \\"\\\\u0041\\" and nam = 'x'"},
{"op": "compute", "column": "x", "expression": "upper(5)"},
{"op": "filter", "where": "matches(name, 'a(')"},
{"op": "filter", "where": "length(name)"},
{"op": "filter", "where": "id = null"}
]`;
  await assertRefused(job(list, { reader: COLUMNS }), [
    `job.json:10:33: error: ${T}[0].where: a value is expected here, not ">" (character 6)`,
    `job.json:11:39: error: ${T}[1].where: there is no function "uper" (character 12); did you mean "upper"?`,
    `job.json:12:35: error: ${T}[2].where: there is no column "\\\\u0041" here (character 8); known columns: born, id, name`,
    `job.json:12:51: error: ${T}[2].where: there is no column "nam" here (character 21); did you mean "name"?`,
    `job.json:13:55: error: ${T}[3].expression: upper wants a text here, not an integer (character 7); write text(…) around it`,
    `job.json:14:42: error: ${T}[4].where: error parsing regexp: missing closing ): \`a(\` (character 15); patterns are those of RE2: no lookaround, no references to groups`,
    `job.json:15:28: error: ${T}[5].where: the expression is an integer, not true or false (character 1)`,
    `job.json:16:31: error: ${T}[6].where: nothing equals NULL (character 4); write "is null" or "is not null"`,
  ]);
});

test('types that the steps give are known to later steps', async () => {
  const list = `[
{"op": "cast", "column": "born", "type": "date"},
{"op": "compute", "column": "age", "expression": "2024 - year(born)"},
{"op": "filter", "where": "age > 'x' or born > 5"}
]`;
  await assertRefused(job(list, { reader: COLUMNS }), [
    `job.json:12:32: error: ${T}[2].where: an integer cannot be compared with a text (character 5); write int(…) around the text`,
  ]);
});

test('columns: each step sees what the steps before it left', async () => {
  const list = `[
{"op": "rename", "columns": {"name": "who", "nme": "x"}},
{"op": "drop", "columns": ["borm"]}
]`;
  await assertRefused(job(list, { reader: COLUMNS }), [
    `job.json:10:52: error: ${T}[0].columns.nme: there is no column "nme" here; did you mean "name"?`,
  ]);
  await assertRefused(job(list.replace(', "nme": "x"', ''), { reader: COLUMNS }), [
    `job.json:11:28: error: ${T}[1].columns[0]: there is no column "borm" here; did you mean "born"?`,
  ]);
  const doubles = `[
{"op": "select", "columns": ["id", "name", "id"]},
{"op": "rename", "columns": {"id": "name"}},
{"op": "drop", "columns": ["id", "name"]}
]`;
  await assertRefused(job(doubles, { reader: COLUMNS }), [
    `job.json:10:44: error: ${T}[0].columns[2]: two columns would have the name "id"`,
  ]);
  await assertRefused(job('[{"op": "rename", "columns": {"id": "name"}}]', { reader: COLUMNS }), [
    `job.json:9:51: error: ${T}[0].columns: two columns would have the name "name"`,
  ]);
  await assertRefused(job('[{"op": "drop", "columns": ["id", "name", "born"]}]', { reader: COLUMNS }), [
    `job.json:9:49: error: ${T}[0].columns: no column would be left`,
  ]);
  // Else its values would be hashes of hashes.
  await assertRefused(job('[{"op": "mask", "columns": ["x", "x"], "method": "sha256"}]'), [
    `job.json:9:55: error: ${T}[0].columns[1]: "x" stands here twice`,
  ]);
  // What the reader delivers is not known: nothing to say before a select.
  await assertAccepted(job('[{"op": "drop", "columns": ["x"]}, {"op": "filter", "where": "y = z"}]'));
  await assertRefused(job('[{"op": "select", "columns": ["x"]}, {"op": "filter", "where": "y = 1"}]'), [
    `job.json:9:86: error: ${T}[1].where: there is no column "y" here (character 1); did you mean "x"?`,
  ]);
});

test('reader and writer are compared by the columns that the steps leave', async () => {
  const drop = '[{"op": "drop", "columns": ["born"]}]';
  await assertAccepted(job(drop, { reader: COLUMNS, writer: '"column": ["id", "name"]' }));
  await assertRefused(
    job(drop, { reader: COLUMNS, writer: '"column": ["id", "name", "born"]' }),
    [
      'job.json:12:24: error: job.content[0].writer.parameter: the transforms leave 2 columns, the writer has 3 columns; give both sides equally many; they go by name where all names are the same, else by position',
    ],
    'COLUMN_MISMATCH',
  );
  await assertAccepted(
    job('[{"op": "select", "columns": ["name", "id"]}]', { reader: COLUMNS, writer: '"column": ["id", "name"]' }),
    [
      'job.json:12:24: warning: job.content[0].writer.parameter: reader and writer name the same columns in another order: "name" stands where "id" does; columns of the same names go by name',
    ],
  );
});

test('options of another method do nothing', async () => {
  await assertAccepted(job('[{"op": "mask", "columns": ["x"], "method": "partial", "salt": "s"}]'), [
    `job.json:9:85: warning: ${T}[0].salt: has no effect with the method partial; it belongs to sha256`,
  ]);
});

test('the salt is never shown', async () => {
  const { lines } = await load(job('[{"op": "mask", "columns": ["x"], "method": "sha256", "salt": {"canary": 1}}]'));
  assert.deepEqual(lines, [`job.json:9:84: error: ${T}[0].salt: must be a string`]);
});

test('transform must be a list', async () => {
  await assertRefused(job('{"op": "drop"}'), [`job.json:9:22: error: ${T}: is an object; must be a list`]);
});

const X = 'job.content[0].transformer';

test("DataX's transformers", async () => {
  const list = `[
    {"name": "dx_substr", "parameter": {"columnIndex": "1", "paras": [2, "5"]}},
    {"name": "dx_filter", "parameter": {"columnIndex": 0, "paras": ["not like", "[a-z]+"], "context": {}}}]`;
  const { job: spec } = await assertAccepted(job(list, { key: 'transformer' }), [
    `job.json:11:92: warning: ${X}[1].parameter.context: has no effect; it is for transformers of your own`,
  ]);
  assert.deepEqual(spec.transform, [
    { op: 'dx_substr', columnIndex: 1, paras: ['2', '5'] },
    { op: 'dx_filter', columnIndex: 0, paras: ['not like', '[a-z]+'] },
  ]);
  const wrong = `[
{"name": "dx_groovy", "parameter": {"code": "return record"}},
{"name": "dx_sbstr", "parameter": {"columnIndex": 1, "paras": ["2", "5"]}},
{"name": "dx_substr", "parameter": {"columnIndex": -1, "paras": ["2", "5"]}},
{"name": "dx_pad", "parameter": {"columnIndex": 1, "paras": ["x", "-4", ""]}},
{"name": "dx_digest", "parameter": {"columnIndex": 1, "paras": ["sha256"]}},
{"name": "dx_filter", "parameter": {"columnIndex": 1, "paras": ["like", "(?=a)"]}}
]`;
  await assertRefused(job(wrong, { key: 'transformer' }), [
    `job.json:10:10: error: ${X}[0].name: dx_groovy runs code of the job file, which is not supported; write it as a "transform" list: see docs/transforms.md`,
    `job.json:11:10: error: ${X}[1].name: there is no transformer "dx_sbstr"; did you mean "dx_substr"?`,
    `job.json:12:52: error: ${X}[2].parameter.columnIndex: is -1; must be a whole number, at least 0`,
    `job.json:13:62: error: ${X}[3].parameter.paras[0]: is "x"; must be one of "l", "r"`,
    `job.json:13:67: error: ${X}[3].parameter.paras[1]: is "-4"; must be a whole number from 0`,
    `job.json:13:73: error: ${X}[3].parameter.paras[2]: must not be empty`,
    `job.json:14:64: error: ${X}[4].parameter.paras: dx_digest takes 2 paras, not 1`,
    `job.json:15:73: error: ${X}[5].parameter.paras[1]: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\`; patterns are those of RE2: no lookaround, no references to groups`,
  ]);
  await assertRefused(
    job('[{"name": "dx_pad", "parameter": {"columnIndex": 3, "paras": ["l", "4", "A"]}}]', {
      key: 'transformer',
      reader: COLUMNS,
    }),
    [`job.json:9:73: error: ${X}[0].parameter.columnIndex: there is no column 3: there are 3, counted from 0`],
  );
});

test("FlinkX's transformSql is refused", async () => {
  await assertRefused(job('{"transformSql": "select id from t"}', { key: 'transformer' }), [
    `job.json:9:24: error: ${X}: FlinkX's transformSql is not supported; write its columns and its WHERE as a "transform" list: see docs/transforms.md`,
  ]);
});

test('two lists are one too many', async () => {
  await assertRefused(job('[], "transformer": []'), [
    `job.json:9:41: error: ${X}: "transform" and "transformer" are two lists of steps; keep one of them`,
  ]);
});

test('what is secret in a schema is left out of run records, and no more', () => {
  const secret = new Set<string>();
  for (const schema of Object.values(TRANSFORM_SCHEMAS)) {
    for (const [name, s] of Object.entries(schema.properties ?? {})) if (s['x-secret'] === true) secret.add(name);
  }
  assert.deepEqual([...secret], SECRET_TRANSFORM_OPTIONS);
});
