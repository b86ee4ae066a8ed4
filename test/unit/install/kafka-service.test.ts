/** The Kafka of install/services: its life, its listeners, users and rights, its settings for tests. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  kafkaListeners,
  kafkaTest,
  KafkaToolError,
  openKafka,
  type Kafka,
  type KafkaListeners,
  type Producer,
  type Properties,
} from '../../support/kafka.js';
import { ownServer, serverFolder, services } from '../../support/own-server.js';
import { serverTest } from '../../support/services.js';
import { until } from '../../support/sync.js';

serverTest('kafka', 'two starts at once are one; status, env and stop', async () => {
  using ws = serverFolder();
  const stopped = await services(ws.dir, ['status', 'kafka']);
  assert.deepEqual([stopped.code, stopped.stdout], [1, 'kafka stopped - -\n']);
  assert.equal((await services(ws.dir, ['env', 'kafka'])).stdout, '');
  try {
    const both = await Promise.all([services(ws.dir, ['start', 'kafka']), services(ws.dir, ['start', 'kafka'])]);
    assert.deepEqual(
      both.map((r) => r.code),
      [0, 0],
      JSON.stringify(both),
    );
    const status = await services(ws.dir, ['status', 'kafka']);
    assert.match(status.stdout, /^kafka running [0-9]+ [0-9]+\n$/);
    const [, , pid = '', port = ''] = status.stdout.trim().split(' ');
    const third = await services(ws.dir, ['start', 'kafka']);
    assert.match(third.stderr, new RegExp(`runs already \\(pid ${pid},`));
    const env = (await services(ws.dir, ['env', 'kafka'])).stdout;
    assert.match(env, new RegExp(`^export SYNC_KAFKA_BROKERS=127.0.0.1:${port}\n`));
    const places = [...env.matchAll(/=127\.0\.0\.1:([0-9]+)$/gm)].map(([, one]) => one);
    assert.equal(new Set(places).size, 4);
  } finally {
    assert.equal((await services(ws.dir, ['stop', 'kafka'])).code, 0);
  }
  assert.match((await services(ws.dir, ['status', 'kafka'])).stdout, /^kafka stopped - [0-9]+\n$/);
  assert.equal((await services(ws.dir, ['stop', 'kafka'])).code, 0);
});

serverTest('kafka', 'a stopped and a killed broker start again on their data and their ports', async () => {
  await using server = await ownServer('kafka', ['transaction.max.timeout.ms=2000']);
  const first = (await services(server.dir, ['env', 'kafka'])).stdout;
  const certificate = readFileSync(join(server.dir, 'kafka/data/certs/ca.pem'), 'utf8');
  await using kafka = openKafka(server.url);
  const topic = await kafka.topic({ partitions: 2 });
  const sent: string[] = [];
  for (const how of ['stop', 'kill9', null] as const) {
    const value = `before ${String(how)}`;
    await topic.send([{ value, partition: 1 }]);
    sent.push(value);
    const { records } = await topic.read();
    assert.deepEqual(
      records.map((r) => [r.partition, r.offset, String(r.value)]),
      sent.map((v, offset) => [1, offset, v]),
    );
    if (how === null) break;
    await server[how]();
    await server.start();
    assert.equal((await services(server.dir, ['env', 'kafka'])).stdout, first);
    assert.equal(readFileSync(join(server.dir, 'kafka/data/certs/ca.pem'), 'utf8'), certificate);
  }
  // The test's own line of server.properties is in force.
  await using producer = await kafka.producer({ 'transactional.id': 'x', 'transaction.timeout.ms': '2001' });
  await assert.rejects(producer.init(), /timeout is larger than the maximum value allowed/);
});

serverTest('kafka', 'a half-made data folder is made anew, a broken one is told of, a taken port refused', async () => {
  using ws = serverFolder();
  const dir = ws.path('with blanks');
  mkdirSync(join(dir, 'kafka', 'data.new', 'log'), { recursive: true });
  writeFileSync(join(dir, 'kafka', 'data.new', 'log', 'meta.properties'), 'torn');
  try {
    const r = await services(dir, ['start', 'kafka']);
    assert.equal(r.code, 0, r.stderr);
    const port = readFileSync(join(dir, 'kafka', 'port'), 'utf8').trim();
    const other = await services(ws.path('other'), ['start', 'kafka'], { SYNC_KAFKA_PORT: port });
    assert.deepEqual(
      [other.code, other.stderr],
      [1, `kafka: port ${port} is taken by another process; give another one: SYNC_KAFKA_PORT=…\n`],
    );
  } finally {
    await services(dir, ['stop', 'kafka']);
  }
  rmSync(join(dir, 'kafka', 'data', 'log', 'meta.properties'));
  const broken = await services(dir, ['start', 'kafka']);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /^kafka: ended instead of starting; the end of .*\/kafka\/log:\n/);
  assert.match(broken.stderr, /No readable meta\.properties files found/);
});

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule';
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule';
const OAUTH = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule';

interface Login {
  readonly mechanism: string;
  readonly user: string;
  readonly password: string;
}

function sasl({ mechanism, user, password }: Login): Properties {
  const module = mechanism === 'PLAIN' ? PLAIN : SCRAM;
  return {
    'sasl.mechanism': mechanism,
    'sasl.jaas.config':
      mechanism === 'OAUTHBEARER'
        ? `${OAUTH} required unsecuredLoginStringClaim_sub="${user}";`
        : `${module} required username="${user}" password="${password}";`,
  };
}

const plaintext = (at: KafkaListeners, login: Login): Properties => ({
  'bootstrap.servers': at.saslPlaintext,
  'security.protocol': 'SASL_PLAINTEXT',
  ...sasl(login),
});

const tls = (at: KafkaListeners, login: Login, ca = 'ca.pem'): Properties => ({
  'bootstrap.servers': at.saslSsl,
  'security.protocol': 'SASL_SSL',
  ...trusting(at, ca),
  ...sasl(login),
});

const trusting = (at: KafkaListeners, ca: string): Properties => ({
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': at.certificate(ca),
});

/** `name`: of a certificate and its key; null: none is shown. */
const mutual = (at: KafkaListeners, name: string | null): Properties => ({
  'bootstrap.servers': at.ssl,
  'security.protocol': 'SSL',
  ...trusting(at, 'ca.pem'),
  ...(name === null
    ? {}
    : {
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.certificate.chain': readFileSync(at.certificate(`${name}.pem`), 'utf8'),
        'ssl.keystore.key': readFileSync(at.certificate(`${name}.key`), 'utf8'),
      }),
});

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'];
const right = (mechanism: string): Login => ({ mechanism, user: 'sync', password: 'password' });
const limited = (mechanism: string): Login => ({ mechanism, user: 'limited', password: 'limited-password' });

/** Writes to the topic by this login and reads it back by the same one. */
async function assertWorks(kafka: Kafka, topic: string, what: string, properties: Properties): Promise<void> {
  {
    await using producer = await kafka.producer(properties);
    await producer.send(topic, [{ value: what }]);
  }
  const { records } = await kafka.read(topic, { properties });
  assert.ok(
    records.some((r) => String(r.value) === what),
    what,
  );
}

/** `error`: the class of the Java client's error. */
async function assertRefused(kafka: Kafka, topic: string, error: RegExp, properties: Properties): Promise<void> {
  await using producer = await kafka.producer({ ...properties, 'max.block.ms': '5000' });
  await assert.rejects(producer.send(topic, [{ value: 'refused' }]), (e) => {
    assert.ok(e instanceof KafkaToolError);
    assert.match(e.name, error, e.message);
    return true;
  });
}

kafkaTest('every listener takes the right login, and refuses the wrong ones', async (kafka) => {
  const at = kafkaListeners();
  await using topic = await kafka.topic();
  await assertWorks(kafka, topic.name, 'PLAINTEXT', {});
  for (const mechanism of MECHANISMS) {
    await assertWorks(kafka, topic.name, mechanism, plaintext(at, right(mechanism)));
    await assertWorks(kafka, topic.name, `${mechanism} by TLS`, tls(at, right(mechanism)));
    if (mechanism === 'OAUTHBEARER') continue; // any unsigned token is right
    const wrong = { ...right(mechanism), password: 'wrong' };
    await assertRefused(kafka, topic.name, /^SaslAuthenticationException$/, plaintext(at, wrong));
    await assertRefused(kafka, topic.name, /^SaslAuthenticationException$/, tls(at, wrong));
  }
  await assertWorks(kafka, topic.name, 'certificate', mutual(at, 'sync'));
  // PBES2 of today, which the Java client cannot read.
  const encrypted = readFileSync(at.certificate('sync-encrypted.key'));
  const plain = createPrivateKey(readFileSync(at.certificate('sync.key')));
  assert.ok(createPrivateKey({ key: encrypted, passphrase: 'password' }).equals(plain));
  const handshake = /^Ssl|^TimeoutException$/;
  await assertRefused(kafka, topic.name, handshake, tls(at, right('PLAIN'), 'other-ca.pem'));
  await assertRefused(kafka, topic.name, handshake, mutual(at, 'other'));
  await assertRefused(kafka, topic.name, handshake, mutual(at, null));
  const values = (await topic.records()).map((r) => String(r.value));
  assert.equal(values.includes('refused'), false);
});

kafkaTest('the user `limited` may use limited-… only, by each way to log in; rights can be given', async (kafka) => {
  const at = kafkaListeners();
  await using topic = await kafka.topic();
  await using own = await kafka.topic({ prefix: 'limited-' });
  const logins = [...MECHANISMS.map((m) => plaintext(at, limited(m))), mutual(at, 'limited')];
  for (const [i, login] of logins.entries()) {
    await assertWorks(kafka, own.name, `limited ${String(i)}`, login);
    await assertRefused(kafka, topic.name, /^TopicAuthorizationException$/, login);
    await assert.rejects(kafka.read(topic.name, { properties: login }), /Not authorized to access topics/);
  }
  const transactional = { ...plaintext(at, limited('PLAIN')), 'transactional.id': own.name };
  const init = async (): Promise<void> => {
    await using producer = await kafka.producer(transactional);
    await producer.init();
  };
  await assert.rejects(init(), { name: 'TransactionalIdAuthorizationException' });
  const right = { user: 'limited', type: 'transactional_id', name: own.name } as const;
  {
    await using _write = await kafka.allow({ ...right, operation: 'write' });
    await using _describe = await kafka.allow({ ...right, operation: 'describe' });
    await init();
  }
  await assert.rejects(init(), { name: 'TransactionalIdAuthorizationException' });
});

kafkaTest('records come back exactly: keys, values, headers, bytes, nulls, times, each compression', async (kafka) => {
  const bytes = Buffer.from([0, 255, 10, 13, 128]);
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
    await using topic = await kafka.topic({ partitions: 3 });
    const sent = await topic.send(
      [
        { key: null, value: null, partition: 2, timestamp: 0 },
        { key: '', value: '', partition: 2, timestamp: 1_700_000_000_123 },
        {
          key: bytes,
          value: 'Ä€😀'.repeat(1000),
          partition: 0,
          timestamp: 5,
          headers: [
            { key: 'h', value: null },
            { key: '', value: '' },
            { key: 'h', value: bytes },
          ],
        },
      ],
      { 'compression.type': codec },
    );
    assert.deepEqual(
      sent.map((s) => [s.partition, s.offset]),
      [
        [2, 0],
        [2, 1],
        [0, 0],
      ],
    );
    const { records, ends } = await topic.read();
    const common = { timestampType: 'CreateTime' };
    const empty = Buffer.alloc(0);
    assert.deepEqual(records, [
      {
        ...common,
        partition: 0,
        offset: 0,
        timestamp: 5,
        key: bytes,
        value: Buffer.from('Ä€😀'.repeat(1000)),
        headers: [
          { key: 'h', value: null },
          { key: '', value: empty },
          { key: 'h', value: bytes },
        ],
      },
      { ...common, partition: 2, offset: 0, timestamp: 0, key: null, value: null, headers: [] },
      { ...common, partition: 2, offset: 1, timestamp: 1_700_000_000_123, key: empty, value: empty, headers: [] },
    ]);
    assert.deepEqual(ends, { 0: 1, 1: 0, 2: 2 });
  }
});

kafkaTest('transactions commit, abort, stay open and time out soon', async (kafka) => {
  await using topic = await kafka.topic();
  const seen = async (isolation: 'read_committed' | 'read_uncommitted'): Promise<readonly string[]> =>
    (await topic.records({ isolation })).map((r) => `${String(r.offset)} ${String(r.value)}`);
  const id = topic.name;
  const open = (): Promise<Producer> => kafka.producer({ 'transactional.id': id, 'transaction.timeout.ms': '1000' });
  {
    await using producer = await open();
    await producer.init();
    for (const [value, end] of [
      ['a', 'commit'],
      ['b', 'abort'],
    ] as const) {
      await producer.begin();
      await producer.send(topic.name, [{ value }]);
      await producer[end]();
    }
  }
  assert.deepEqual(await seen('read_committed'), ['0 a']); // 1 and 3 are control records
  assert.deepEqual(await seen('read_uncommitted'), ['0 a', '2 b']);
  const dead = await open();
  await dead.init();
  await dead.begin();
  await dead.send(topic.name, [{ value: 'c' }]);
  await dead.abandon();
  const state = async (): Promise<string | undefined> =>
    (await kafka.transactions()).find((t) => t.transactionalId === id)?.state;
  assert.equal(await state(), 'Ongoing');
  await topic.send([{ value: 'd' }]);
  assert.deepEqual(await seen('read_committed'), ['0 a']);
  // One second, and at most a half until the broker looks.
  await until('the broker aborts the transaction', async () => (await state()) === 'CompleteAbort', 4000);
  await until('readers see what is behind it', async () => (await seen('read_committed')).length === 2, 2000);
  assert.deepEqual(await seen('read_committed'), ['0 a', '5 d']);
});

kafkaTest('topics: partitions are raised, records deleted, names unknown after their end', async (kafka) => {
  let name: string;
  {
    await using topic = await kafka.topic();
    name = topic.name;
    await topic.send(['a', 'b', 'c'].map((value) => ({ value })));
    await topic.deleteRecords(0, 2);
    await topic.addPartitions(2);
    const { records, ends } = await topic.read();
    assert.deepEqual([records.map((r) => [r.offset, String(r.value)]), ends], [[[2, 'c']], { 0: 3, 1: 0 }]);
    await assert.rejects(topic.read({ from: { 0: 0 } }), { name: 'OffsetOutOfRangeException' });
    await topic.alterConfig({ 'message.timestamp.type': 'LogAppendTime' });
    await topic.send([{ value: 'late', partition: 1, timestamp: 1 }]);
    const [late] = (await topic.records()).filter((r) => r.partition === 1);
    assert.deepEqual([late?.timestampType, late?.timestamp === 1], ['LogAppendTime', false]);
    await kafka.setGroupOffset(name, name, 0, 2);
    assert.deepEqual(await kafka.groupOffsets(name), [{ topic: name, partition: 0, offset: 2, metadata: '' }]);
    await kafka.deleteGroup(name);
  }
  // None is made by asking for it.
  await assert.rejects(kafka.deleteTopic(name), { name: 'UnknownTopicOrPartitionException' });
  await using producer = await kafka.producer({ 'max.block.ms': '1000' });
  await assert.rejects(producer.send(name, [{ value: 'x' }]), { name: 'TimeoutException' });
  await assert.rejects(kafka.deleteTopic(name), { name: 'UnknownTopicOrPartitionException' });
});

kafkaTest('a record of any age stays; with a retention of its topic it goes in seconds', async (kafka) => {
  await using kept = await kafka.topic();
  await using short = await kafka.topic({ config: { 'retention.ms': '1000' } });
  await kept.send([{ value: 'old', timestamp: 1 }]);
  // The second one goes when the broker has looked at all topics once.
  for (const value of ['first', 'second']) {
    await short.send([{ value, timestamp: 1 }]);
    await until(`the ${value} record goes`, async () => (await short.records()).length === 0);
  }
  assert.equal((await kept.records()).length, 1);
});

test('the Java client says why it cannot do something', async (t) => {
  if ((process.env['SYNC_KAFKA_LIB'] ?? '') === '') {
    t.skip('no server: SYNC_KAFKA_LIB is not set; see install/services/README.md');
    return;
  }
  await using kafka = openKafka('not a broker');
  await assert.rejects(kafka.transactions(), /KafkaTool\.java ended: [^]*Invalid url in bootstrap\.servers/);
});
