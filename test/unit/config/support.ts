/** A database-like pair of plugins that records whether anything reached it, and a way to load job texts with it. */
import assert from 'node:assert/strict';
import { loadJob } from '../../../src/config/load-job.js';
import type { JobInput, JobResult, PluginSource } from '../../../src/config/job.js';
import { renderProblem } from '../../../src/config/problem.js';
import {
  defineReader,
  defineWriter,
  SyncError,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
} from '../../../src/plugin-api/index.js';

export interface Touched {
  created: number;
}

export function testPlugins(touched: Touched = { created: 0 }): PluginSource {
  const create = (): never => {
    touched.created++;
    throw new Error('a plugin was created');
  };
  const reader = defineReader({
    name: 'mysql',
    aliases: [],
    summary: 'A reader for tests.',
    options: {
      type: 'object',
      additionalProperties: false,
      required: ['table'],
      properties: {
        table: { type: 'string', minLength: 1 },
        where: { type: 'string' },
        password: { type: 'string', 'x-secret': true },
        fetchSize: { type: 'integer', minimum: 1, maximum: 100_000, default: 1024, 'x-state': 'tuning' },
        column: { type: 'array', items: { type: 'string' } },
      },
    } as const,
    boundedness: () => 'bounded',
    columns: (o) => o.column ?? null,
    create,
  });
  const writer = defineWriter({
    name: 'mysql',
    aliases: [],
    summary: 'A writer for tests.',
    options: {
      type: 'object',
      additionalProperties: false,
      required: ['table'],
      properties: {
        table: { type: 'string', minLength: 1 },
        preSql: { type: 'array', items: { type: 'string' } },
        password: { type: 'string', 'x-secret': true },
        writeMode: { type: 'string', enum: ['insert', 'update', 'replace'], default: 'insert', 'x-aliases': ['mode'] },
        batchSize: { type: 'integer', minimum: 1, maximum: 100_000, default: 1024, 'x-state': 'tuning' },
        allReplace: { type: 'boolean', default: false },
        ratio: { type: 'number', minimum: 0, maximum: 1 },
        startLocation: { type: 'string' },
        server: {
          type: 'object',
          additionalProperties: false,
          default: {},
          properties: {
            host: { type: 'string', default: 'localhost' },
            token: { type: 'string', 'x-secret': true },
            timeout: { type: 'integer', minimum: 1, default: 30, 'x-unit': 's', 'x-state': 'tuning' },
          },
        },
        column: {
          type: 'array',
          minItems: 1,
          items: {
            anyOf: [
              { type: 'string' },
              {
                type: 'object',
                additionalProperties: false,
                required: ['name'],
                properties: { name: { type: 'string' }, index: { type: 'integer', minimum: 0 } },
              },
            ],
          },
        },
        properties: { type: 'object', additionalProperties: { type: 'string' } },
      },
    } as const,
    check: (o) => {
      if (o.writeMode !== 'update' || o.column !== undefined) return [];
      return [{ path: 'writeMode', message: 'update needs column', hint: 'list the columns' }];
    },
    columns: (o) => o.column?.map((c) => (typeof c === 'string' ? c : c.name)) ?? null,
    create,
  });
  return {
    reader: (name) => find(name, 'reader', reader),
    writer: (name) => find(name, 'writer', writer),
    validator: () => Promise.resolve(null),
  };
}

function find<D extends AnyReaderDefinition | AnyWriterDefinition>(name: string, kind: string, d: D): Promise<D> {
  if (name === `mysql${kind}`) return Promise.resolve(d);
  const hint = `did you mean "mysql${kind}"?`;
  return Promise.reject(new SyncError('PLUGIN_UNKNOWN', `no ${kind} is named "${name}"`, { hint }));
}

export interface Loaded {
  readonly result: JobResult;
  /** As the command line prints them. */
  readonly lines: readonly string[];
  readonly touched: Touched;
}

export async function load(text: string, more: Partial<JobInput> = {}): Promise<Loaded> {
  const touched: Touched = { created: 0 };
  const result = await loadJob(
    { text, name: 'job.json', defaultJobId: '/jobs/job.json', ...more },
    testPlugins(touched),
  );
  return { result, lines: result.problems.map(renderProblem), touched };
}

export interface JobParts {
  readonly reader?: string;
  readonly writer?: string;
  readonly readerName?: string;
  readonly setting?: string;
}

/** A good job whose writer would delete; the parts are JSON text that is added to an object. */
export function jobText(p: JobParts = {}): string {
  return `{
  "job": {
    "content": [
      {
        "reader": {
          "name": "${p.readerName ?? 'mysqlreader'}",
          "parameter": { "table": "a"${p.reader === undefined ? '' : `, ${p.reader}`} }
        },
        "writer": {
          "name": "mysqlwriter",
          "parameter": { "table": "b", "preSql": ["delete from b"]${p.writer === undefined ? '' : `, ${p.writer}`} }
        }
      }
    ],
    "setting": {${p.setting ?? ''}}
  }
}
`;
}

/** The file is refused with exactly these lines, exit code 2's kind of error, and no plugin was created. */
export async function assertRefused(text: string, expected: readonly string[], code = 'JOB_INVALID'): Promise<void> {
  const { result, lines, touched } = await load(text);
  assert.deepEqual(lines, expected);
  assert.ok(!result.ok);
  assert.equal(result.error.code, code);
  assert.equal(touched.created, 0);
}

export async function assertAccepted(text: string, warnings: readonly string[] = []) {
  const { result, lines, touched } = await load(text);
  assert.deepEqual(lines, warnings);
  assert.ok(result.ok);
  assert.equal(touched.created, 0);
  return { ...result, job: result.parts[0] };
}
