/**
 * The fingerprint of a job, pinned: were its formula to change, every unfinished run would belong to another job.
 * Who changes an identity option's schema changes it too: raise the format, or keep old fingerprints valid.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { differences, fingerprintOf, pluginRecord } from '../../src/core/job/fingerprint.js';
import type { RunInfo } from '../../src/core/checkpoint/format.js';
import type { JobSpec } from '../../src/job/job-spec.js';
import { publicTransform } from '../../src/job/transform-spec.js';
import { loadJob } from '../../src/config/load-job.js';
import type { PluginSource } from '../../src/config/job.js';
import {
  defineReader,
  defineWriter,
  type AnyReaderDefinition,
  type AnyWriterDefinition,
} from '../../src/plugin-api/index.js';
import * as file from '../../plugins/file/index.js';
import * as stream from '../../plugins/stream/index.js';

const never = (): never => assert.fail('created');

/** Options of each kind that schemas can mark, also inside objects and lists. */
const OPTIONS = {
  type: 'object',
  additionalProperties: false,
  required: ['table'],
  properties: {
    table: { type: 'string', minLength: 1 },
    password: { type: 'string', 'x-secret': true },
    batchSize: { type: 'integer', default: 1024, 'x-state': 'tuning' },
    connection: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          url: { type: 'string' },
          token: { type: 'string', 'x-secret': true },
          timeout: { type: 'integer', 'x-state': 'tuning' },
        },
      },
    },
  },
} as const;
const COMMON = {
  name: 'db',
  aliases: ['dbreader', 'dbwriter'],
  summary: 'For tests.',
  options: OPTIONS,
  create: never,
};
const DB = {
  reader: defineReader({ ...COMMON, boundedness: () => 'bounded' }),
  writer: defineWriter(COMMON),
};

function found<D extends { readonly name: string; readonly aliases: readonly string[] }>(
  all: readonly D[],
  name: string,
): Promise<D> {
  return Promise.resolve(all.find((d) => d.name === name || d.aliases.includes(name)) ?? assert.fail(name));
}
const PLUGINS: PluginSource = {
  reader: (name) => found<AnyReaderDefinition>([file.reader, stream.reader, DB.reader], name),
  writer: (name) => found<AnyWriterDefinition>([file.writer, stream.writer, DB.writer], name),
  validator: () => Promise.resolve(null),
};

type Options = Readonly<Record<string, unknown>>;
type Use = readonly [name: string, parameter: Options];

async function jobOf(
  reader: Use,
  writer: Use,
  setting: Options = {},
  transform?: readonly Options[],
): Promise<JobSpec> {
  const side = ([name, parameter]: Use): object => ({ name, parameter });
  const content = [{ reader: side(reader), writer: side(writer), transform }];
  const text = JSON.stringify({ job: { content, setting } });
  const r = await loadJob({ name: 'job.json', text, defaultJobId: 'a-job' }, PLUGINS);
  return r.ok ? r.parts[0] : assert.fail(JSON.stringify(r.problems));
}

const FROM = { path: '/data/in', isFirstLineHeader: true, column: [{ name: 'id', type: 'bigint' }, { name: 'é' }] };
const TO = { path: '/data/out', fileType: 'json' };
const TABLE = { table: 't', connection: [{ url: 'u' }] };

const fingerprint = async (reader: Use, writer: Use, setting: Options = {}): Promise<string> =>
  fingerprintOf(await jobOf(reader, writer, setting));

test('jobs of the built-in plugins have the fingerprints that they always had', async () => {
  assert.equal(
    await fingerprint(['filereader', FROM], ['filewriter', TO]),
    '22312e8c482d5a6859e331dea45ac2b489f117cfe66178d71e1309a589a5bf39',
  );
  assert.equal(
    await fingerprint(['stream', { column: [{ name: 'id', type: 'id' }], sliceRecordCount: [3, 2] }], ['stream', {}]),
    'e56342db708cd6e957423dbcbc57869147688725579c3a0db5fd7edad873435a',
  );
  assert.equal(
    await fingerprint(['dbreader', TABLE], ['dbwriter', TABLE]),
    '5821fbeeb48c97847f4c538a6a4e035e8b1bb7f35b76ca7616e863e6caf364d9',
  );
});

test('it is the SHA-256 of name and identity options of both sides, as JSON with sorted keys', async () => {
  const side = '{"identity":{"connection":[{"url":"u"}],"table":"t"},"name":"db"}';
  const expected = createHash('sha256').update(`[${side},${side}]`).digest('hex');
  assert.equal(await fingerprint(['db', TABLE], ['db', TABLE]), expected);
});

test('secrets, tuning options, names and settings do not change it', async () => {
  const was = await fingerprint(['db', TABLE], ['db', TABLE]);
  const same: readonly (readonly [Use, Use, Options?])[] = [
    [
      ['db', { ...TABLE, password: 'p' }],
      ['db', TABLE],
    ],
    [
      ['db', TABLE],
      ['db', { ...TABLE, password: 'q' }],
    ],
    [
      ['db', { ...TABLE, batchSize: 7 }],
      ['db', { ...TABLE, batchSize: 8 }],
    ],
    [
      ['db', { ...TABLE, connection: [{ token: 's', url: 'u', timeout: 3 }] }],
      ['db', TABLE],
    ],
    [
      ['dbreader', TABLE],
      ['dbwriter', TABLE],
    ],
    [
      ['db', { connection: TABLE.connection, table: 't' }],
      ['db', TABLE],
    ],
    [['db', TABLE], ['db', TABLE], { speed: { channel: 3, record: 5 }, jobId: 'other', errorLimit: { record: 9 } }],
    [['db', TABLE], ['db', TABLE], { checkpoint: { interval: 1 }, restart: { strategy: 'fixed-delay' } }],
  ];
  for (const [reader, writer, setting] of same) {
    const job = await jobOf(reader, writer, setting);
    assert.equal(fingerprintOf(job), was, JSON.stringify([reader, writer, setting]));
    for (const use of [job.reader, job.writer]) {
      const record = JSON.stringify(pluginRecord(use));
      for (const word of ['"password"', '"token"']) assert.equal(record.includes(word), false, record);
    }
  }
});

test('every identity option changes it, and the difference is told by name', async () => {
  const old = await jobOf(['db', TABLE], ['db', TABLE]);
  const saved = { reader: pluginRecord(old.reader), writer: pluginRecord(old.writer) } as RunInfo;
  const other: readonly (readonly [Use, Use, readonly string[]])[] = [
    [['db', { ...TABLE, table: 'u' }], ['db', TABLE], ['reader.parameter.table ("t" → "u")']],
    [['db', TABLE], ['db', { ...TABLE, table: 'u' }], ['writer.parameter.table ("t" → "u")']],
    [['db', TABLE], ['db', { table: 't' }], ['writer.parameter.connection ([{"url":"u"}] → null)']],
    [['db', TABLE], ['stream', {}], ['writer.name (db → stream)']],
  ];
  const prints = new Set([fingerprintOf(old)]);
  for (const [reader, writer, told] of other) {
    const job = await jobOf(reader, writer);
    prints.add(fingerprintOf(job));
    assert.deepEqual(differences(saved, job), told);
  }
  assert.equal(prints.size, 1 + other.length);
});

const STEPS: readonly Options[] = [
  { op: 'filter', where: 'id > 5' },
  { op: 'mask', columns: ['email'], method: 'sha256', salt: 'pepper' },
];

test('steps are part of it, without their secrets; no step is as it was before there were any', async () => {
  const plain = await fingerprint(['db', TABLE], ['db', TABLE]);
  const of = async (steps: readonly Options[]): Promise<string> =>
    fingerprintOf(await jobOf(['db', TABLE], ['db', TABLE], {}, steps));
  assert.equal(await of([]), plain);
  const was = await of(STEPS);
  assert.equal(was, '3b80df77766555d33bc8b0aee55a9b5674f4e89a07f0af116d5f5226508e76e7');
  const [filter = {}, mask = {}] = STEPS;
  assert.equal(await of([filter, { ...mask, salt: 'other' }]), was);
  assert.notEqual(await of([mask, filter]), was);
  assert.notEqual(await of([filter]), was);
});

test('steps that differ are told one by one', async () => {
  const old = await jobOf(['db', TABLE], ['db', TABLE], {}, STEPS);
  const saved = {
    reader: pluginRecord(old.reader),
    writer: pluginRecord(old.writer),
    transform: old.transform.map(publicTransform),
  } as unknown as RunInfo;
  assert.deepEqual(differences(saved, old), []);
  const { transform: _, ...bare } = saved;
  const filter = '{"op":"filter","where":"id > 5"}';
  const mask = '{"columns":["email"],"keepFirst":0,"keepLast":0,"method":"sha256","op":"mask","with":"*"}';
  assert.deepEqual(differences(bare, old), [`transform[0] (none → ${filter})`, `transform[1] (none → ${mask})`]);
  const fewer = await jobOf(['db', TABLE], ['db', TABLE], {}, STEPS.slice(0, 1));
  assert.deepEqual(differences(saved, fewer), [`transform[1] (${mask} → none)`]);
});
