/** A job to begin with, for plugins whose schemas show no examples. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapText } from '../../../src/cli/text-table.js';
import { sampleJob, type SamplePlugin } from '../../../src/config/sample-job.js';
import { sampleValue } from '../../../src/config/sample-value.js';
import type { SchemaNode } from '../../../src/config/schema.js';
import { load, testPlugins } from './support.js';

const plugins = testPlugins();
const side = (kind: SamplePlugin['kind'], options: unknown): SamplePlugin => ({
  kind,
  name: `mysql${kind}`,
  asked: 'mysql',
  options: options as SchemaNode,
});
const text = sampleJob(
  side('reader', (await plugins.reader('mysqlreader')).options),
  side('writer', (await plugins.writer('mysqlwriter')).options),
  wrapText,
);

test('it is valid as it comes, and a secret in it is a reference', async () => {
  const { result, lines } = await load(text);
  assert.deepEqual(lines, []);
  assert.ok(result.ok);
  assert.equal(result.parts[0].reader.options['table'], 'TABLE');
  assert.match(text, /^ *\/\/ A secret\.\n *\/\/ "password": "\$\{env:PASSWORD:secret\}",$/m);
});

test('it is valid with all its comments taken in, as far as they may stand together', async () => {
  const { result, lines } = await load(text.replace(/^(\s*)\/\/ (?="\w+": )/gm, '$1'), { env: {} });
  assert.deepEqual(lines, []);
  assert.ok(result.ok);
});

test('values of each kind', () => {
  const of = (s: object, name = 'fetchSize'): unknown => sampleValue(name, s, undefined);
  assert.equal(of({ type: 'integer', minimum: 5 }), 5);
  assert.equal(of({ type: 'integer', minimum: -1 }), 0);
  assert.equal(of({ type: 'number' }), 1);
  assert.equal(of({ type: 'boolean' }), false);
  assert.equal(of({ enum: ['b', 'a'] }), 'b');
  assert.equal(of({ type: 'string', default: 'd' }), 'd');
  assert.equal(of({ type: 'string', examples: ['e'], default: 'd' }), 'e');
  assert.equal(of({ type: 'string', 'x-secret': true, examples: ['e'] }, 'accessKey'), '${env:ACCESS_KEY:secret}');
  assert.deepEqual(of({ type: 'array', items: { type: 'string' } }, 'topic'), ['TOPIC']);
  assert.deepEqual(of({ anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'string' }] }), [1]);
  assert.deepEqual(
    of({ type: 'object', required: ['host'], properties: { host: { type: 'string' }, port: { type: 'integer' } } }),
    { host: 'HOST' },
  );
});
