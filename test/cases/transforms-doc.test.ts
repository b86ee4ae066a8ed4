/** Every example of docs/transforms.md, as it stands there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RowTransform } from '../../src/core/transform/row-transform.js';
import { TRANSFORM_SCHEMAS } from '../../src/config/transform-schema.js';
import { FUNCTION_NAMES } from '../../src/expr/functions.js';
import type { TransformSpec } from '../../src/job/transform-spec.js';
import { assertAccepted } from '../unit/config/support.js';
import { batchOf, rowsOf, schemaOf, type TestRow } from '../support/rows.js';
import { ROOT } from '../support/sync.js';

const PAGE = readFileSync(join(ROOT, 'docs/transforms.md'), 'utf8');
const TYPES: Readonly<Record<string, string>> = {
  id: 'bigint',
  n: 'bigint',
  price: 'decimal(10,2)',
  born: 'date',
  at: 'datetime',
  flag: 'boolean',
};

/** By the config, as a job would have them. */
async function specsOf(json: string): Promise<readonly TransformSpec[]> {
  const steps = JSON.parse(json) as unknown;
  const key = Array.isArray(steps) ? 'transformer' : 'transform';
  const list = JSON.stringify(Array.isArray(steps) ? steps : [steps]);
  const job = `{"job": {"content": [{"reader": {"name": "mysqlreader", "parameter": {"table": "a"}}, "${key}": ${list},
    "writer": {"name": "mysqlwriter", "parameter": {"table": "b"}}}]}}`;
  return (await assertAccepted(job)).job.transform;
}

function parseRow(text: string): TestRow {
  return Object.fromEntries(
    text.split(', ').map((pair): [string, string | null] => {
      const [name = '', value = ''] = pair.split('=');
      return [name, value === 'NULL' ? null : value];
    }),
  );
}

const EXAMPLE = /```json\n([^`]*)```\n\n```text\n([^`]*)```/g;
const examples = [...PAGE.matchAll(EXAMPLE)];

test('every step has an example', () => {
  const used = new Set(examples.flatMap(([, json = '']) => [...json.matchAll(/"op": "(\w+)"/g)].map((m) => m[1])));
  assert.deepEqual([...used].sort(), Object.keys(TRANSFORM_SCHEMAS).sort());
  const methods = [...PAGE.matchAll(/"method": "(\w+)"/g)].map((m) => m[1]);
  assert.deepEqual(methods.sort(), ['null', 'partial', 'sha256']);
});

for (const [, json = '', text = ''] of examples) {
  test(`example ${json.trim().replace(/\s+/g, ' ').slice(0, 100)}`, async () => {
    // The digits of a number in JSON are kept by the config, not by this test.
    const specs = await specsOf(json.replace(/"value": (\d+)/, '"value": "$1"'));
    for (const line of text.trim().split('\n')) {
      const [from = '', to = ''] = line.split(' → ');
      const row = parseRow(from);
      const schema = schemaOf(Object.fromEntries(Object.keys(row).map((n) => [n, TYPES[n] ?? 'string'])));
      const { batch, filtered } = (await RowTransform.load(specs)).apply(batchOf(schema, [row]));
      const got = filtered === 1 ? 'filtered' : batch.rejected?.length === 1 ? 'dirty' : rowsOf(batch)[0];
      assert.deepEqual(got, /^(filtered|dirty)$/.test(to) ? to : parseRow(to), line);
      if (typeof got === 'object') assert.deepEqual(Object.keys(got), Object.keys(parseRow(to)), line);
    }
  });
}

const ROW = /^\|(?:[^|]*\|[^|]*\|)? `([^|]*)` +\| (?:`([^|]*)`|NULL) +\|$/gm;
const rows = [...PAGE.matchAll(ROW)];

test('the page has the examples of expressions', () => {
  assert.equal(rows.length, 17 + FUNCTION_NAMES.length);
});

test('every function stands in the table, and no other', () => {
  const named = [...PAGE.matchAll(/^\| `(\w+)\(/gm)].map((m) => m[1] ?? '').filter((n) => PAGE.includes(`| \`${n}(`));
  assert.deepEqual([...new Set(named)].sort(), [...FUNCTION_NAMES].sort());
});

for (const [, expression = '', result] of rows) {
  test(`expression ${expression}`, async () => {
    const transform = await RowTransform.load([{ op: 'compute', column: 'x', expression, type: 'string' }]);
    const { batch } = transform.apply(batchOf(schemaOf({ unused: 'string' }), [{ unused: 'u' }]));
    assert.equal(rowsOf(batch)[0]?.['x'], result ?? null, JSON.stringify(batch.rejected));
  });
}
