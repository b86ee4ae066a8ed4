import assert from 'node:assert/strict';
import type { AnySchema } from 'ajv';
import { API_VERSION } from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import type { Harness } from '../harness.js';
import { optionsAjv } from '../options.js';

type Schema = Readonly<Record<string, unknown>>;
interface Option {
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export interface DescriptorEnv {
  readonly harness: Harness;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every option of a schema, those of objects inside lists and objects too. */
function* optionsOf(schema: Schema, path = ''): Generator<Option> {
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  for (const [name, value] of Object.entries(properties)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (!isSchema(value)) throw new Error(`${at} is not a schema`);
    yield { path: at, name, schema: value, required: required.includes(name) };
    yield* optionsOf(value, at);
  }
  const inner = [
    schema['items'],
    ...['oneOf', 'anyOf', 'allOf'].flatMap((k) => (schema[k] as unknown[] | undefined) ?? []),
  ];
  for (const s of inner) if (isSchema(s)) yield* optionsOf(s, schema['items'] === s ? `${path}[]` : path);
}

const plugin = (env: DescriptorEnv): Harness['plugin'] => env.harness.plugin;
const options = (env: DescriptorEnv): readonly Option[] => [...optionsOf(plugin(env).options as Schema)];

/** What is wrong with a value of an option; null: nothing. The wrapper is for defaults, which no root schema may have. */
function valueProblem(schema: Schema, value: unknown): string | null {
  const ajv = optionsAjv();
  const ok = ajv.validate({ type: 'object', properties: { value: schema } }, { value: structuredClone(value) });
  return ok ? null : ajv.errorsText();
}

const SENTENCE = /^[A-Z0-9`'"].{8,}[.!]$/s;
const SECRET = /passw|secret|token|credential|privatekey|passphrase/i;

export const descriptorCases: readonly ContractCase<DescriptorEnv>[] = [
  {
    id: 'descriptor.schema',
    title: 'the option schema compiles in strict mode and refuses unknown options',
    needs: [],
    async run(env) {
      const schema = plugin(env).options as Schema;
      optionsAjv().compile(schema as AnySchema);
      assert.equal(schema['type'], 'object');
      assert.equal(schema['additionalProperties'], false, 'additionalProperties must be false');
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.descriptions',
    title: 'every option has a description that is a sentence',
    needs: [],
    async run(env) {
      const bad = options(env).filter(
        (o) => typeof o.schema['description'] !== 'string' || !SENTENCE.test(o.schema['description']),
      );
      assert.deepEqual(
        bad.map((o) => o.path),
        [],
      );
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.defaults',
    title: 'every top-level option has a default or is required, and defaults are valid',
    needs: [],
    async run(env) {
      const all = options(env);
      const bare = all.filter(
        (o) => o.path === o.name && !o.required && !('default' in o.schema) && !('x-ignored' in o.schema),
      );
      assert.deepEqual(
        bare.map((o) => o.path),
        [],
      );
      for (const o of all.filter((x) => 'default' in x.schema)) {
        assert.equal(valueProblem(o.schema, o.schema['default']), null, `the default of ${o.path}`);
      }
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.examples',
    title: 'there is an example of the options, and every example is valid',
    needs: [],
    async run(env) {
      const schema = plugin(env).options as Schema;
      const required = options(env).filter((o) => o.path === o.name && o.required);
      if (schema['examples'] === undefined) {
        // Without whole examples there must be enough to make one.
        const bare = required.filter((o) => !Array.isArray(o.schema['examples']) || o.schema['examples'].length === 0);
        assert.deepEqual(
          bare.map((o) => o.path),
          [],
          'no examples of the whole, nor of these required options',
        );
        const made = Object.fromEntries(required.map((o) => [o.name, (o.schema['examples'] as unknown[])[0]]));
        assert.equal(valueProblem(schema, made), null, 'the example made of the examples of required options');
      } else assert.notDeepEqual(schema['examples'], [], 'an empty list of examples');
      const places = [{ path: 'options', schema }, ...options(env)];
      for (const { path, schema: s } of places) {
        for (const example of (s['examples'] as unknown[] | undefined) ?? []) {
          assert.equal(valueProblem(s, example), null, `an example of ${path}`);
        }
      }
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.names',
    title: 'plugin and option names follow the naming rules',
    needs: [],
    async run(env) {
      const p = plugin(env);
      assert.equal(p.apiVersion, API_VERSION);
      assert.equal(p.kind, env.harness.kind);
      assert.match(p.name, /^[a-z][a-z0-9-]*$/);
      assert.match(p.summary, SENTENCE, 'summary is not a sentence');
      const odd = options(env).filter((o) => !/^[a-z][a-zA-Z0-9]*$/.test(o.name));
      assert.deepEqual(
        odd.map((o) => o.path),
        [],
      );
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.secrets',
    title: 'options that look like secrets are marked x-secret, and no secret has a default',
    needs: [],
    async run(env) {
      const open = options(env).filter((o) => SECRET.test(o.name) && o.schema['x-secret'] !== true);
      assert.deepEqual(
        open.map((o) => o.path),
        [],
      );
      const told = options(env).filter((o) => o.schema['x-secret'] === true && (o.schema['default'] ?? '') !== '');
      assert.deepEqual(
        told.map((o) => o.path),
        [],
      );
      return Promise.resolve();
    },
  },
  {
    id: 'descriptor.state',
    title: 'x-state is identity or tuning, and stands on top-level options only',
    needs: [],
    async run(env) {
      const bad = options(env).filter((o) => {
        const state = o.schema['x-state'];
        return state !== undefined && (o.path !== o.name || (state !== 'identity' && state !== 'tuning'));
      });
      assert.deepEqual(
        bad.map((o) => o.path),
        [],
      );
      return Promise.resolve();
    },
  },
];
