/** The JSON Schema of job files for editors: it takes whatever the loader takes, and sees what a schema can see. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { getNodeValue } from 'jsonc-parser';
import { shippedSchemaText } from '../../../src/cli/commands/schema.js';
import { schemaPlugins } from '../../../src/cli/commands/schema-plugins.js';
import { jobFileSchema, type SchemaPlugin } from '../../../src/config/editor-schema/job-file.js';
import { optionSchema, type EditorSchema } from '../../../src/config/editor-schema/option-schema.js';
import { JOB_SCHEMA } from '../../../src/config/job-schema.js';
import { loadJob } from '../../../src/config/load-job.js';
import { OptionWalk } from '../../../src/config/option-walk.js';
import { parametersFor } from '../../../src/config/parameters/load.js';
import { parseJob } from '../../../src/config/parse-job.js';
import type { SchemaNode } from '../../../src/config/schema.js';
import { SourceText } from '../../../src/config/source-text.js';
import { AJV_OPTIONS, type ValidateFunction } from '../../../src/config/validate-options.js';
import { Registry } from '../../../src/registry/registry.js';
import { ROOT } from '../../support/sync.js';
import { rawValue } from './raw-values.js';
import { jobText, testPlugins } from './support.js';

const ajv = new Ajv(AJV_OPTIONS);
const { parameters } = await parametersFor({ text: '${', name: 'x', defaultJobId: 'x' });
assert.ok(parameters); // or no ${…} would be replaced
const read = (text: string): unknown => {
  const { root } = parseJob(new SourceText('job.json', text));
  assert.ok(root, text);
  return getNodeValue(root);
};
const why = (v: ValidateFunction): string =>
  (v.errors ?? []).map((e) => `${e.instancePath} ${e.message ?? ''}`).join('\n');

/** What the loader makes of a text by one schema: whether it finds nothing wrong. */
function walkAccepts(schema: SchemaNode, validate: ValidateFunction, text: string): boolean {
  const source = new SourceText('job.json', text);
  const { root, problems } = parseJob(source);
  if (!root || problems.length > 0) return false;
  const walk = new OptionWalk(source, parameters);
  const value = walk.run(schema, root, []);
  return walk.problems.every((p) => p.level !== 'error') && validate(value);
}

/** Over many made-up values: what the loader takes by `schema`, the schema for editors takes. */
function neverStricter(schema: SchemaNode, runs: number, also: readonly unknown[] = []): void {
  const own = ajv.compile(schema);
  const editors = ajv.compile(optionSchema(schema));
  let taken = 0;
  fc.assert(
    fc.property(rawValue(schema), (value) => {
      const text = JSON.stringify(value);
      if (!walkAccepts(schema, own, text)) return;
      taken++;
      assert.ok(editors(JSON.parse(text)), `${text}\n${why(editors)}`);
    }),
    { numRuns: runs, examples: also.map((v) => [v] as [unknown]) },
  );
  for (const v of also) assert.ok(walkAccepts(schema, own, JSON.stringify(v)), JSON.stringify(v));
  assert.ok(taken > runs / 20, `only ${String(taken)} of ${String(runs)} values are taken by the loader`);
}

const shipped = (await schemaPlugins(new Registry({ SYNC_TEST_PLUGINS: '1' }), (at) => at.is === 'builtin')).plugins;

describe('never stricter than the loader', () => {
  test('in the frame and the settings', () => {
    neverStricter(JOB_SCHEMA.properties?.['job']?.properties?.['setting'] ?? {}, 2000);
    neverStricter(JOB_SCHEMA, 500);
  });

  for (const p of shipped) {
    test(`in the options of ${p.kind} ${p.name}`, () => {
      neverStricter(p.options, 1000);
    });
  }

  const odd: Readonly<Record<string, SchemaNode>> = {
    'words in any case, and numbers and booleans as words': {
      type: 'string',
      enum: ['on', 'off', 'k v', '7'],
      'x-values': { TRUE: 'on', false: 'off', '1': 'on', '-2': 'off', '': 'off' },
    },
    'a number with words for it': { type: 'integer', minimum: -1, 'x-values': { unlimited: -1, '9': 3 } },
    'numbers that are fixed': { type: 'integer', enum: [1, 2, 30] },
    'a constant': { type: ['string', 'integer'], const: 4 },
    'texts of some length': { type: 'string', minLength: 5, maxLength: 6 },
    'long texts': { type: 'string', minLength: 9 },
    'texts of a form': { type: 'string', pattern: '^[a-c]+$|x', minLength: 1 },
    'text or number': { type: ['string', 'integer', 'null'], minimum: 3 },
    'boolean or null': { type: ['boolean', 'null'] },
    seconds: { type: 'number', minimum: 0, maximum: 1e9, 'x-unit': 's' },
    'a free map': { type: 'object' },
    'a map of numbers': { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
    'names by a pattern': {
      type: 'object',
      properties: { abc: { type: 'string', 'x-aliases': ['abd'] } },
      patternProperties: { '^ab': { type: 'integer' }, '^x': { type: 'boolean' } },
    },
    'objects of two kinds': {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string', 'x-aliases': ['b'] }, c: { type: 'integer' } } },
        { type: 'object', required: ['a'], properties: { a: { type: 'string' }, c: { type: 'string' } } },
      ],
    },
    'a list or one of it': {
      oneOf: [
        { type: 'array', items: { type: 'integer' } },
        { type: 'integer', minimum: 2 },
      ],
    },
    'needed by any of its names': {
      type: 'object',
      required: ['path', 'size', 'mode'],
      properties: {
        path: { type: 'string', 'x-aliases': ['dir', 'folder'] },
        size: { type: 'integer', default: 3 },
        mode: { type: 'string' },
        old: { 'x-ignored': 'it is old' },
      },
    },
    'no type at all': { properties: { a: { minimum: 3 } }, required: ['a'], additionalProperties: true },
  };
  const also: Readonly<Record<string, readonly unknown[]>> = {
    'objects of two kinds': [{ b: 'x', c: 'y' }], // named by the first kind, right by the second
    'long texts': ['${now}', 'long enough'],
  };
  for (const [what, schema] of Object.entries(odd)) {
    test(`with ${what}`, () => {
      neverStricter(schema, 1500, also[what]);
    });
  }
});

const jobSchema = ajv.compile(JSON.parse(await shippedSchemaText()) as object);
const check = (text: string, by: ValidateFunction = jobSchema): string | null => (by(read(text)) ? null : why(by));

test('the schema is of draft 7, and no keyword of the contract is left in it', async () => {
  const text = await shippedSchemaText();
  assert.equal(ajv.validateSchema(JSON.parse(text) as object), true);
  assert.doesNotMatch(text, /"x-/);
});

test('job-configs/job.schema.json is fresh: npm run docs makes it', async () => {
  assert.equal(readFileSync(join(ROOT, 'job-configs/job.schema.json'), 'utf8'), await shippedSchemaText());
});

describe('accepted jobs', () => {
  for (const name of readdirSync(join(ROOT, 'job-configs')).filter(
    (n) => n.endsWith('.json') && n !== 'job.schema.json',
  )) {
    test(`job-configs/${name} refers to the schema and fits it`, () => {
      const text = readFileSync(join(ROOT, 'job-configs', name), 'utf8');
      assert.equal((read(text) as { readonly $schema?: unknown }).$schema, './job.schema.json');
      assert.equal(check(text), null);
    });
  }

  test('jobs of other tests that the loader takes', async () => {
    const jobs = JSON.parse(
      readFileSync(join(ROOT, 'test/unit/config/accepted-jobs.json'), 'utf8'),
    ) as readonly object[];
    assert.ok(jobs.length > 40);
    const withScripted = ajv.compile(jobFileSchema(shipped));
    const registry = new Registry({ SYNC_TEST_PLUGINS: '1' });
    for (const job of jobs) {
      const text = JSON.stringify(job);
      const loaded = await loadJob({ text, name: 'job.json', defaultJobId: 'x' }, registry);
      if (!loaded.ok) assert.fail(`${text}\n${loaded.error.message}`); // the list must say something
      assert.equal(check(text, withScripted), null, text);
    }
  });

  for (const page of ['README.md', 'plugins/file/README.md', 'docs/write-a-plugin.md']) {
    test(`jobs of ${page}`, () => {
      const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```json.*\n([^]*?)^```$/gm)];
      const jobs = blocks.flatMap(([, text = '']) => (text.includes('"job":') ? [text] : []));
      // A plugin that is only installed is known to a schema of one's own; by its full name to any.
      const texts = jobs.map((t) => t.replace(/"counter/g, '"syncx-plugin-counter'));
      assert.ok(texts.length > 0 || page.startsWith('plugins'));
      for (const text of texts) assert.equal(check(text), null, text);
    });
  }

  test('names with all that may stand behind them, in any case', () => {
    for (const name of [
      'file',
      'filereader',
      'FileReader',
      'filesource',
      'txtfilereader',
      ' localfile ',
      '${x}',
      'syncx-plugin-a',
      '@b/syncx-plugin-areader',
    ]) {
      assert.equal(check(job(name, '"path": "a"')), null, name);
    }
  });
});

const job = (reader: string, parameter: string, setting = ''): string =>
  `{"job": {"content": [{"reader": {"name": "${reader}", "parameter": {${parameter}}}, "writer": {"name": "streamwriter", "parameter": {}}}], "setting": {${setting}}}}`;

describe('wrong jobs are refused', () => {
  for (const [what, text, at] of [
    ['an unknown option', job('filereader', '"path": "a", "fileTyp": "csv"'), /parameter must NOT have additional/],
    ['an option of the other side', job('file', '"path": "a", "writeMode": "append"'), /additional properties/],
    ['an unknown word', job('file', '"path": "a", "fileType": "xml"'), /parameter\/fileType must match pattern/],
    ['a missing option', job('txtfilesource', ''), /must have required property 'path'/],
    ['an unknown plugin', job('mysqlreaderr', ''), /reader\/name must match pattern/],
    ['a number out of range', job('socket', '"address": "a:1", "maxLineBytes": 0'), /maxLineBytes must be >= 1/],
    ['a text that is no number', job('socket', '"address": "a:1", "maxLineBytes": "abc"'), /maxLineBytes must match/],
    ['null', job('file', '"path": "a", "encoding": null'), /encoding must be string/],
    ['an unknown setting', job('file', '"path": "a"', '"sped": {}'), /setting must NOT have additional/],
    ['a setting out of range', job('file', '"path": "a"', '"speed": {"channel": 0}'), /channel must be >= 1/],
    ['empty content', '{"job": {"content": []}}', /content must NOT have fewer than 1/],
    ['no writer', '{"job": {"content": [{"reader": {"name": "file", "parameter": {"path": "a"}}}]}}', /'writer'/],
  ] as const) {
    test(what, () => {
      assert.match(check(text) ?? 'accepted', at);
    });
  }

  const c70 = testPlugins();
  const mysql = (kind: 'reader' | 'writer', options: unknown): SchemaPlugin => ({
    kind,
    name: 'mysql',
    package: null,
    summary: '',
    options: options as SchemaNode,
    names: [`mysql${kind}`],
  });

  test('those of C70 that a schema can see', async () => {
    const schema = jobFileSchema([
      mysql('reader', (await c70.reader('mysqlreader')).options),
      mysql('writer', (await c70.writer('mysqlwriter')).options),
    ]);
    const by = ajv.compile(schema);
    assert.equal(check(jobText({ writer: '"batchSize": " 20 ", "mode": "Replace"' }), by), null);
    for (const writer of [
      '"wirteMode": "update"',
      '"writeMode": "updat"',
      '"password": null',
      '"password": ["x"]',
      '"server": {"hots": "h"}',
    ]) {
      assert.notEqual(check(jobText({ writer }), by), null, writer);
    }
    for (const bad of ['0', '-1', '"abc"', '1e9', '1.5', '""', '[]', 'true']) {
      assert.match(check(jobText({ writer: `"batchSize": ${bad}` }), by) ?? 'accepted', /batchSize/, bad);
    }
    assert.match(check(jobText({ readerName: 'mysqlreaderr' }), by) ?? 'accepted', /reader\/name/);
  });
});

describe('what an editor shows', () => {
  const schema = JSON.parse(readFileSync(join(ROOT, 'job-configs/job.schema.json'), 'utf8')) as EditorSchema;
  const at = (...path: readonly string[]): EditorSchema => {
    let v: unknown = schema;
    for (const p of path) v = (v as EditorSchema)[p];
    return v as EditorSchema;
  };

  test('an alias is deprecated and says what to write', () => {
    const alias = at('definitions', 'reader.file', 'properties', 'format');
    assert.equal(alias['deprecated'], true);
    assert.equal(alias['deprecationMessage'], 'use "fileType"');
    assert.equal(alias['doNotSuggest'], true);
    assert.deepEqual((alias['anyOf'] as readonly EditorSchema[])[0], { enum: ['csv', 'json', 'text'] });
    assert.deepEqual((alias['anyOf'] as readonly EditorSchema[])[1], { enum: ['jsonl', 'txt'] });
  });

  test('an option without effect says why', () => {
    const ignored = at('properties', 'job', 'properties', 'setting', 'properties', 'log');
    assert.equal(ignored['deprecationMessage'], 'has no effect: logs go to stderr; see --log-level and --log-format');
  });

  test('unit, default, examples and aliases stand in the description', () => {
    assert.equal(
      at('definitions', 'reader.file', 'properties', 'watchInterval')['description'],
      'With watch, the time between two looks for new files. Unit: ms, or text such as "10 s", "5 min". Default: 10000. Example: 60000.',
    );
    assert.match(
      String(at('definitions', 'reader.file', 'properties', 'fileType')['description']),
      /Also format, fileFormat\.$/,
    );
  });

  test('a secret says so', () => {
    const secret = optionSchema({ type: 'string', description: 'Word.', 'x-secret': true });
    assert.equal(
      secret['description'],
      'Word. Secret: never shown or kept; say ${env:NAME} or ${file:path} rather than the value itself.',
    );
  });
});
