/** Listeners that want TLS or a login, and users who lack rights, against the real broker. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSyncError } from 'syncx/plugin-api';
import { clientSettings } from '../client/client-settings.js';
import { connectionOf, type ConnectionOptions } from '../client/connection-options.js';
import type { SettingsMap } from '../client/java-settings.js';
import type { KafkaClient } from '../client/kafka-client.js';
import { openKafkajsClient } from '../client/kafkajs-client.js';
import { partitionError } from '../client/partition-error.js';
import { handMadeBatch } from './hand-made-batch.js';
import { never, onKafka, type KafkaVariable, type TestBroker } from './kafka-servers.js';
import { unsignedToken } from './unsigned-token.js';

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule';
const T0 = 1_700_000_000_000;

async function open(
  b: TestBroker,
  listener: KafkaVariable,
  o: ConnectionOptions,
  settings: SettingsMap = {},
): Promise<KafkaClient> {
  const options = { brokers: b.variable(listener), ...o };
  const { connection, findings } = connectionOf(options, settings, {
    option: 'producerSettings',
    elsewhere: new Set(),
  });
  assert.deepEqual(findings, []);
  return openKafkajsClient(await clientSettings(connection), 'sink');
}

/** The code, the class, and all that a person is told. */
async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (e) {
    if (!isSyncError(e)) throw e;
    return `${e.code} ${e.retry} ${e.blame} ${e.message} | ${e.hint ?? ''}`;
  }
  return 'done';
}

async function login(
  b: TestBroker,
  listener: KafkaVariable,
  o: ConnectionOptions,
  settings: SettingsMap = {},
): Promise<string> {
  await using client = await open(b, listener, o, settings);
  return await refusal(client.metadata([], never));
}

onKafka('SASL: each mechanism, right and wrong', async (b) => {
  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
    const right = { mechanism, username: 'sync', password: 'password' };
    assert.equal(await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', { sasl: right }), 'done', mechanism);
    const said = await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', { sasl: { ...right, password: 'hush-hush' } });
    assert.match(
      said,
      /^SINK_IO never config cannot ask for the brokers: SASL .* authentication failed.* \| Check user name/i,
    );
    assert.ok(!said.includes('hush'), said);
  }
  const jaas = `${PLAIN} required username="sync" password="password";`;
  const java = { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'PLAIN', 'sasl.jaas.config': jaas };
  assert.equal(await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', {}, java), 'done');
});

onKafka('OAUTHBEARER: a token, a file that is read at each login, one that is out of date', async (b) => {
  const folder = await mkdtemp(join(tmpdir(), 'kafka-token-'));
  try {
    const tokenFile = join(folder, 'token');
    const file = { sasl: { mechanism: 'OAUTHBEARER', tokenFile } } as const;
    assert.match(
      await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', file),
      /^SINK_IO never config .*token cannot be read: ENOENT/,
    );
    for (const bad of [unsignedToken('sync', -100), 'hush-hush']) {
      await writeFile(tokenFile, bad);
      const said = await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', file);
      assert.match(said, /^SINK_IO never config .*refuses the token \(invalid_token\).* \| Check user name/);
      assert.ok(!said.includes(bad), said);
    }
    await writeFile(tokenFile, `${unsignedToken('sync', 100)}\n`);
    assert.equal(await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', file), 'done');
    const token = { sasl: { mechanism: 'OAUTHBEARER', token: unsignedToken('sync', 100) } } as const;
    assert.equal(await login(b, 'SYNC_KAFKA_SASL_PLAINTEXT', token), 'done');
  } finally {
    await rm(folder, { recursive: true });
  }
});

onKafka('TLS and mutual TLS, and each way in which it does not come about', async (b) => {
  const pem = (name: string): string => join(b.variable('SYNC_KAFKA_CERTS'), name);
  const sasl = { mechanism: 'SCRAM-SHA-512', username: 'sync', password: 'password' } as const;
  const ca = pem('ca.pem');
  assert.equal(await login(b, 'SYNC_KAFKA_SASL_SSL', { sasl, ssl: { ca } }), 'done');
  assert.match(
    await login(b, 'SYNC_KAFKA_SASL_SSL', { sasl, ssl: true }),
    /^SINK_IO never config .* \| Name the authority/,
  );
  assert.match(
    await login(b, 'SYNC_KAFKA_SASL_SSL', { sasl, ssl: { ca: pem('other-ca.pem') } }),
    /^SINK_IO never config .* \| /,
  );
  assert.match(
    await login(b, 'SYNC_KAFKA_BROKERS', { ssl: { ca } }),
    /^SINK_IO .* \| .*(?:does not speak TLS|hung up)/,
  );
  const wrongName = await login(b, 'SYNC_KAFKA_SASL_SSL', { sasl, ssl: { ca, servername: 'kafka.example' } });
  assert.match(wrongName, /^SINK_IO never config .* \| .*another host name/);

  const mutual = (key: string, cert = 'sync.pem') => ({ ssl: { ca, cert: pem(cert), key: pem(key) } });
  assert.equal(await login(b, 'SYNC_KAFKA_SSL', mutual('sync.key')), 'done');
  assert.match(await login(b, 'SYNC_KAFKA_SSL', { ssl: { ca } }), /^SINK_IO never config .* \| .*client certificate/);
  assert.match(
    await login(b, 'SYNC_KAFKA_SSL', mutual('other.key', 'other.pem')),
    /^SINK_IO never config .* \| .*client certificate/,
  );
  const java = {
    'security.protocol': 'SSL',
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
    'ssl.endpoint.identification.algorithm': '',
  };
  assert.match(await login(b, 'SYNC_KAFKA_SSL', {}, java), /client certificate/);
  await using plain = await open(b, 'SYNC_KAFKA_SSL', {});
  assert.match(await refusal(plain.metadata([], never)), /^SINK_IO reconnect sink .* \| .*wants TLS or a login/);
  await using anonymous = await open(b, 'SYNC_KAFKA_SASL_PLAINTEXT', {});
  assert.match(await refusal(anonymous.metadata([], never)), / \| .*wants TLS or a login/);
});

onKafka('mutual TLS with an encrypted key; its passphrase is told to nobody', async (b) => {
  const pem = (name: string): string => join(b.variable('SYNC_KAFKA_CERTS'), name);
  const ssl = { ca: pem('ca.pem'), cert: pem('sync.pem'), key: pem('sync-encrypted.key') };
  assert.equal(await login(b, 'SYNC_KAFKA_SSL', { ssl: { ...ssl, passphrase: 'password' } }), 'done');
  for (const passphrase of ['hush-hush', undefined]) {
    const said = await refusal(open(b, 'SYNC_KAFKA_SSL', { ssl: { ...ssl, passphrase } }));
    assert.match(said, /^JOB_INVALID never config ssl\.key cannot be used: .* \| The key is encrypted/);
    assert.ok(!said.includes('hush'), said);
  }
});

onKafka('a user without rights is told which one is missing, on what', async (b) => {
  const mine = await b.topic(1, {}, 'limited');
  const closed = await b.topic();
  const sasl = { mechanism: 'PLAIN', username: 'limited', password: 'limited-password' } as const;
  await using client = await open(b, 'SYNC_KAFKA_SASL_PLAINTEXT', { sasl });
  const denied = async (right: string, work: Promise<unknown>): Promise<void> => {
    const said = await refusal(work);
    assert.match(said, /^SINK_IO never config cannot .*_AUTHORIZATION_FAILED: /);
    assert.ok(
      said.includes(`the right ${right} is missing | Let the user have it: kafka-acls --add --operation`),
      said,
    );
  };
  const { topics } = await client.metadata([mine, closed], never, { rights: true });
  assert.deepEqual([...(topics.find((t) => t.topic === mine)?.rights ?? [])], ['READ', 'WRITE', 'DESCRIBE']);
  assert.equal(topics.find((t) => t.topic === closed)?.error, 'TOPIC_AUTHORIZATION_FAILED');
  await denied(`DESCRIBE on topic ${closed}`, client.leaderOf({ topic: closed, partition: 0 }, never));

  const node = await client.leaderOf({ topic: mine, partition: 0 }, never);
  const o = { acks: -1, timeoutMs: 5000, transactionalId: null } as const;
  const parts = [mine, closed].map((topic) => ({ topic, partition: 0, batch: handMadeBatch(['x'], T0) }));
  const produced = await client.produce(node, parts, o, never);
  const error = (topic: string) => produced.find((p) => p.topic === topic)?.error ?? '';
  assert.deepEqual([error(mine), error(closed)], ['', 'TOPIC_AUTHORIZATION_FAILED']);
  const told = partitionError('sink', { topic: closed, partition: 0 }, error(closed));
  assert.match(told.message, new RegExp(`the right WRITE on topic ${closed} is missing`));

  const txn = b.fresh('tx');
  await denied(`DESCRIBE on transactional id ${txn}`, client.initProducerId(txn, 60_000, never));
  const group = b.fresh('g');
  const offsets = [{ topic: mine, partition: 0, offset: 1, metadata: null }];
  await denied(`DESCRIBE on group ${group}`, client.offsetCommit(group, offsets, never));
  await client.offsetCommit(b.fresh('limited'), offsets, never);
  const other = [{ ...offsets[0], topic: closed, partition: 0, offset: 1, metadata: null }];
  await denied(`READ on topic ${closed}`, client.offsetCommit(b.fresh('limited'), other, never));
  const made = { topic: b.fresh(), partitions: 1, replicas: 1, configs: {} };
  await denied(`CREATE on topic ${made.topic}`, client.createTopics([made], never));
  await denied(`DESCRIBE_CONFIGS on topic ${mine}`, client.topicConfigs(mine, never));
});
