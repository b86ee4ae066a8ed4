/** Jobs by every way to log in, with the rights that the README names and no more; and what is said where one is missing. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaListeners, kafkaTest, type Kafka, type KafkaListeners, type Right } from '../support/kafka.js';
import { jobFile, type Json, type PluginPart } from '../support/mysql-job.js';
import { sync, type SyncResult } from '../support/sync.js';
import { publishedLines, tree, Workspace } from '../support/workspace.js';

const USER = 'limited';
const SECRET = 'limited-password';
const jaas = (module: string, password = SECRET): string =>
  `org.apache.kafka.common.security.${module} required username="${USER}" password="${password}";`;
const PLAIN = 'plain.PlainLoginModule';
const SCRAM = 'scram.ScramLoginModule';

/** As kafkajs has it, or `settings` by the names of Java's clients. */
interface Way {
  readonly brokers: string;
  readonly options?: Json;
  readonly settings?: Json;
}

function ways(at: KafkaListeners): Readonly<Record<string, Way>> {
  const ca = at.certificate('ca.pem');
  const trust = { 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': ca };
  const [cert, key] = [at.certificate(`${USER}.pem`), at.certificate(`${USER}.key`)];
  const java = (protocol: string, mechanism: string, module: string): Json => ({
    'security.protocol': protocol,
    'sasl.mechanism': mechanism,
    'sasl.jaas.config': jaas(module),
  });
  const login = (mechanism: string): Json => ({ sasl: { mechanism, username: USER, password: SECRET } });
  return {
    'PLAIN, Java': { brokers: at.saslPlaintext, settings: java('SASL_PLAINTEXT', 'PLAIN', PLAIN) },
    'SCRAM-SHA-512': { brokers: at.saslPlaintext, options: login('SCRAM-SHA-512') },
    'SCRAM-SHA-256 by TLS, Java': {
      brokers: at.saslSsl,
      settings: { ...java('SASL_SSL', 'SCRAM-SHA-256', SCRAM), ...trust },
    },
    'PLAIN by TLS': { brokers: at.saslSsl, options: { ...login('PLAIN'), ssl: { ca } } },
    'certificate, Java': {
      brokers: at.ssl,
      settings: {
        'security.protocol': 'SSL',
        ...trust,
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.certificate.chain': readFileSync(cert, 'utf8'),
        'ssl.keystore.key': readFileSync(key, 'utf8'),
      },
    },
    certificate: { brokers: at.ssl, options: { ssl: { ca, cert, key } } },
  };
}

const kafkaReader = (way: Way, topic: string, more: Json = {}): PluginPart => ({
  name: 'kafkareader',
  parameter: {
    brokers: way.brokers,
    topic,
    mode: 'earliest-offset',
    bounded: 'latest-at-start',
    ...way.options,
    consumerSettings: way.settings ?? {},
    ...more,
  },
});

const kafkaWriter = (way: Way, topic: string, more: Json = {}): PluginPart => ({
  name: 'kafkawriter',
  parameter: {
    brokers: way.brokers,
    topic,
    codec: 'text',
    ...way.options,
    producerSettings: way.settings ?? {},
    ...more,
  },
});

const LINES = ['a', 'b', 'c'];
const fileReader: PluginPart = { name: 'filereader', parameter: { path: 'in.txt', fileType: 'text', column: ['*'] } };
const fileWriter: PluginPart = { name: 'filewriter', parameter: { path: 'out', fileType: 'text' } };

async function run(ws: Workspace, reader: PluginPart, writer: PluginPart, command = 'run'): Promise<SyncResult> {
  ws.write('in.txt', `${LINES.join('\n')}\n`);
  const r = await sync([command, jobFile(ws, { reader, writer }), '--output', 'json'], { cwd: ws.dir });
  assertNoSecret(ws, r);
  return r;
}

/** Neither in what is printed nor in what is kept. */
function assertNoSecret(ws: Workspace, r: SyncResult): void {
  const kept = tree(ws.path('state'))
    .filter((f) => !f.endsWith('/'))
    .map((f) => readFileSync(join(ws.path('state'), f), 'utf8'));
  for (const text of [r.stdout, r.stderr, ...kept]) {
    assert.equal(text.includes(SECRET), false, text);
    assert.equal(text.includes('PRIVATE KEY'), false, text);
  }
}

/** What the README asks for exactly-once, beside the topic. */
const OF_EXACTLY_ONCE: readonly Right[] = [
  { user: USER, type: 'transactional_id', name: 'sync-', pattern: 'prefixed', operation: 'write' },
  { user: USER, type: 'group', name: 'sync-', pattern: 'prefixed', operation: 'read' },
];

async function allow(kafka: Kafka, rights: readonly Right[]): Promise<AsyncDisposable> {
  const given: AsyncDisposable[] = [];
  for (const r of rights) given.push(await kafka.allow(r));
  return {
    async [Symbol.asyncDispose]() {
      for (const g of given) await g[Symbol.asyncDispose]();
    },
  };
}

kafkaTest('a file into a topic, exactly once, and back, by each way to log in', async (kafka, t) => {
  await using _rights = await allow(kafka, OF_EXACTLY_ONCE);
  for (const [name, way] of Object.entries(ways(kafkaListeners()))) {
    await t.test(name, async () => {
      await using topic = await kafka.topic({ prefix: 'limited-' });
      using ws = new Workspace();
      const there = await run(ws, fileReader, kafkaWriter(way, topic.name, { semantic: 'exactly-once' }));
      assert.equal(there.code, 0, there.stderr);
      assert.equal(there.summary?.delivery, 'exactly-once');
      const values = (await topic.records()).map((r) => String(r.value));
      assert.deepEqual(values, LINES);
      const back = await run(ws, kafkaReader(way, topic.name, { groupId: 'limited-group' }), fileWriter);
      assert.equal(back.code, 0, back.stderr);
      assert.deepEqual(publishedLines(ws.path('out')), LINES);
    });
  }
});

interface Refusal {
  readonly what: string;
  readonly reader?: Json;
  readonly writer?: Json;
  /** Of a topic that the user may not use; without them it is `limited-…`. */
  readonly rights?: readonly Right['operation'][];
  readonly more?: readonly Right[];
  readonly code: number;
  readonly error: string;
  /** `<topic>`: its name. */
  readonly message: string;
  readonly hint?: string;
}

const [TXN, GROUP] = OF_EXACTLY_ONCE;
const once = { semantic: 'exactly-once' };
const prefixed = '--resource-pattern-type prefixed';

const REFUSALS: readonly Refusal[] = [
  {
    what: 'a topic that may not be seen',
    reader: {},
    rights: [],
    code: 1,
    error: 'SOURCE_IO',
    message: 'cannot read topic <topic>: TOPIC_AUTHORIZATION_FAILED: the right DESCRIBE on topic <topic> is missing',
  },
  {
    what: 'a topic that may not be read',
    reader: {},
    rights: ['describe'],
    code: 1,
    error: 'SOURCE_IO',
    message: 'cannot fetch from <topic>-0: TOPIC_AUTHORIZATION_FAILED: the right READ on topic <topic> is missing',
  },
  {
    what: 'the offsets of another group',
    reader: { mode: 'group-offsets', groupId: 'sync-of-others' },
    code: 1,
    error: 'SOURCE_IO',
    message: 'GROUP_AUTHORIZATION_FAILED: the right DESCRIBE on group sync-of-others is missing',
  },
  {
    what: 'a topic that may not be written',
    writer: {},
    rights: ['describe'],
    code: 1,
    error: 'SINK_IO',
    message: 'the user has no right to WRITE on the topic <topic>',
  },
  {
    what: 'exactly-once: markers at a topic that may not be read',
    writer: once,
    rights: ['describe', 'write'],
    code: 1,
    error: 'SINK_IO',
    message: 'the user has no right to READ on the topic <topic>',
  },
  {
    what: 'exactly-once: no right on transactional ids',
    writer: once,
    code: 1,
    error: 'SINK_IO',
    message: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED: the right DESCRIBE on transactional id sync-',
    hint: `--operation Write --transactional-id sync- ${prefixed}`,
  },
  {
    what: 'exactly-once: no right on groups',
    writer: once,
    ...(TXN === undefined ? {} : { more: [TXN] }),
    code: 1,
    error: 'SINK_IO',
    message: 'GROUP_AUTHORIZATION_FAILED: the right READ on group sync-',
    hint: `--operation Read --group sync- ${prefixed}`,
  },
  {
    what: 'exactly-once: transactions longer than the brokers allow',
    writer: { ...once, transactionTimeout: 3_600_000 },
    more: OF_EXACTLY_ONCE,
    code: 2,
    error: 'JOB_INVALID',
    message: 'transactionTimeout is 3600000 ms, and the brokers allow less (transaction.max.timeout.ms)',
    hint: 'Lower transactionTimeout',
  },
];

kafkaTest('a right that is missing is named, with what it is on, before a row is read', async (kafka, t) => {
  const way = ways(kafkaListeners())['SCRAM-SHA-512'];
  assert.ok(way !== undefined && GROUP !== undefined);
  for (const c of REFUSALS) {
    await t.test(c.what, async () => {
      await using topic = await kafka.topic({ prefix: c.rights === undefined ? 'limited-' : 'sync-' });
      await topic.send([{ value: 'x' }]);
      const onTopic = (c.rights ?? []).map((operation): Right => ({
        user: USER,
        type: 'topic',
        name: topic.name,
        operation,
      }));
      await using _rights = await allow(kafka, [...onTopic, ...(c.more ?? [])]);
      using ws = new Workspace();
      const [reader, writer] =
        c.writer === undefined
          ? [kafkaReader(way, topic.name, c.reader), fileWriter]
          : [fileReader, kafkaWriter(way, topic.name, c.writer)];
      const r = await run(ws, reader, writer);
      const error = r.summary?.error;
      assert.deepEqual([r.code, error?.code, r.summary?.read], [c.code, c.error, 0], r.stderr);
      assert.ok(error?.message.includes(c.message.replaceAll('<topic>', topic.name)), error?.message);
      if (c.hint !== undefined) assert.ok(r.stdout.includes(c.hint), r.stdout);
    });
  }
});

kafkaTest('a look ahead finds what a run would be refused, and leaves nothing', async (kafka) => {
  await using topic = await kafka.topic();
  using ws = new Workspace();
  const way = { brokers: kafka.brokers };
  const late = kafkaWriter(way, topic.name, { ...once, transactionTimeout: 3_600_000 });
  const r = await run(ws, fileReader, late, 'plan');
  assert.match(
    r.stdout,
    /transactionTimeout is 3600000 ms, and the brokers allow less \(transaction\.max\.timeout\.ms 900000\)/,
  );
  assert.deepEqual(
    (await kafka.transactions()).filter((x) => x.transactionalId.startsWith('sync-plan')),
    [],
  );
});

kafkaTest('a wrong password is said to be refused, and not said', async () => {
  const at = kafkaListeners();
  using ws = new Workspace();
  const sasl = { mechanism: 'PLAIN', username: USER, password: 'wrong-limited-password' };
  const r = await run(ws, kafkaReader({ brokers: at.saslPlaintext, options: { sasl } }, 'limited-x'), fileWriter);
  assert.deepEqual([r.code, r.summary?.error?.code], [1, 'SOURCE_IO'], r.stderr);
  assert.match(r.summary?.error?.message ?? '', /[Aa]uthentication/);
});
