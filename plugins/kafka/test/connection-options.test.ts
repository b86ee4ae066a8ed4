/** From options to a connection, without a broker. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSyncError } from 'syncx/plugin-api';
import { clientSettings } from '../client/client-settings.js';
import { connectionOf, type ConnectionOptions } from '../client/connection-options.js';
import { parseJaasConfig } from '../client/jaas-config.js';
import type { SettingsMap } from '../client/java-settings.js';

const PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule';
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule';
const TO = { 'bootstrap.servers': 'k1:9092' };

const of = (settings: SettingsMap, o: ConnectionOptions = {}) =>
  connectionOf(o, settings, { option: 'consumerSettings', elsewhere: new Set(['group.id']) });

/** `level path: message`, errors first by `!`. */
const said = (settings: SettingsMap, o: ConnectionOptions = {}): readonly string[] =>
  of(settings, o).findings.map((f) => `${f.level === 'warning' ? '' : '!'}${f.path}: ${f.message}`);

test('brokers: a list, a text, bootstrap.servers, IPv6, listener names; what is none', () => {
  const brokers = (o: ConnectionOptions, s: SettingsMap = {}) =>
    of(s, o).connection.brokers.map((b) => `${b.host} ${String(b.port)}`);
  assert.deepEqual(brokers({ brokers: ['a:1', 'b:2'] }), ['a 1', 'b 2']);
  assert.deepEqual(brokers({ brokers: 'a:1, b:2' }), ['a 1', 'b 2']);
  assert.deepEqual(brokers({}, { 'bootstrap.servers': 'SSL://a:1,[::1]:9092' }), ['a 1', '::1 9092']);
  assert.deepEqual(brokers({ brokers: 'a:1' }, TO), ['a 1']);
  assert.deepEqual(said({}), ['!brokers: no broker is named']);
  assert.deepEqual(said({ 'bootstrap.servers': 'a,b:2,c:99999' }), [
    '!consumerSettings.bootstrap.servers: the broker `a` is not of the form host:port',
    '!consumerSettings.bootstrap.servers: the broker `c:99999` is not of the form host:port',
  ]);
});

test('plain settings: client id, timeouts, and a warning for each setting without effect', () => {
  const settings = {
    ...TO,
    'client.id': 'me',
    'request.timeout.ms': '1500',
    'socket.connection.setup.timeout.ms': 700,
    'group.id': 'g',
    'connections.max.idle.ms': 5000,
    'fetch.max.wiat.ms': 1,
  };
  const { clientId, requestTimeoutMs, connectTimeoutMs, tls, sasl } = of(settings).connection;
  assert.deepEqual(
    { clientId, requestTimeoutMs, connectTimeoutMs, tls, sasl },
    {
      clientId: 'me',
      requestTimeoutMs: 1500,
      connectTimeoutMs: 700,
      tls: null,
      sasl: null,
    },
  );
  assert.deepEqual(said(settings), [
    'consumerSettings.connections.max.idle.ms: connections.max.idle.ms has no effect here',
    'consumerSettings.fetch.max.wiat.ms: fetch.max.wiat.ms has no effect here',
  ]);
  assert.deepEqual(said({ ...TO, 'request.timeout.ms': 'soon' }), [
    '!consumerSettings.request.timeout.ms: request.timeout.ms must be a whole number of milliseconds, 1 or more',
  ]);
});

test('logins: options and Java settings give the same', () => {
  const want = { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p"w' } as const;
  assert.deepEqual(of(TO, { sasl: want }).connection.sasl, want);
  const java = {
    ...TO,
    'security.protocol': 'sasl_plaintext',
    'sasl.mechanism': 'SCRAM-SHA-512',
    'sasl.jaas.config': `${SCRAM} required username="u" password="p\\"w";`,
  };
  assert.deepEqual(of(java).connection.sasl, want);
  assert.deepEqual(said(java), []);
  const token = { ...TO, 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'OAUTHBEARER' };
  const url = 'sasl.oauthbearer.token.endpoint.url';
  const fromFile = of({ ...token, [url]: 'file:///run/tok%20en' });
  const none = { mechanism: 'OAUTHBEARER', token: null, tokenFile: null, endpoint: null };
  assert.deepEqual(fromFile.connection.sasl, { ...none, tokenFile: '/run/tok en' });
  assert.ok(fromFile.connection.tls);
  const oauth = { ...token, [url]: 'https://idp/token' };
  assert.deepEqual(said(oauth), [`!consumerSettings.${url}: ${url} needs clientId and clientSecret`]);
  assert.deepEqual(said({ ...token, [url]: 'ftp://idp/token' }), [
    `!consumerSettings.${url}: ${url} is no address of http: or https:, nor of file:`,
  ]);
  const jaas = 'a.OAuthBearerLoginModule required clientId="c" clientSecret="s" scope="z";';
  const own = 'sasl.oauthbearer.client.credentials.client.';
  const handler = { 'sasl.login.callback.handler.class': 'x.OAuthBearerLoginCallbackHandler' };
  const endpoint = { url: 'https://idp/token', clientId: 'c', clientSecret: 's', scope: 'z' };
  for (const settings of [
    { 'sasl.jaas.config': jaas, ...handler },
    { [`${own}id`]: 'c', [`${own}secret`]: 's', 'sasl.oauthbearer.scope': 'z' },
  ]) {
    assert.deepEqual(said({ ...oauth, ...settings }), []);
    assert.deepEqual(of({ ...oauth, ...settings }).connection.sasl, { ...none, endpoint });
  }
  const byOption = { mechanism: 'OAUTHBEARER', tokenUrl: endpoint.url, clientId: 'c', clientSecret: 's' } as const;
  assert.deepEqual(of(TO, { sasl: byOption }).connection.sasl, { ...none, endpoint: { ...endpoint, scope: null } });
  assert.deepEqual(said(TO, { sasl: { ...byOption, tokenFile: '/run/t' } }), [
    '!sasl: OAUTHBEARER needs one of token, tokenFile and tokenUrl',
  ]);
  assert.deepEqual(said(TO, { sasl: { mechanism: 'OAUTHBEARER' } }), [
    '!sasl: OAUTHBEARER needs one of token, tokenFile and tokenUrl',
  ]);
  assert.deepEqual(said(TO, { sasl: { mechanism: 'PLAIN', username: 'u' } }), [
    '!sasl: PLAIN needs username and password',
  ]);
});

test('logins that do not fit: each is an error that shows no secret', () => {
  const plain = { ...TO, 'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'PLAIN' };
  const at = '!consumerSettings.sasl.jaas.config: ';
  const jaas = (text: string) => said({ ...plain, 'sasl.jaas.config': text });
  assert.deepEqual(said(plain), [`${at}PLAIN needs sasl.jaas.config with username and password`]);
  assert.deepEqual(jaas(`${SCRAM} required username="u" password="hush";`), [
    `${at}PLAIN needs the login module PlainLoginModule`,
  ]);
  assert.deepEqual(jaas(`${PLAIN} required username="u";`), [`${at}sasl.jaas.config has no username or no password`]);
  for (const broken of [
    `${PLAIN} required username="u" password="hush"`,
    `${PLAIN} required username="u" password="hush;`,
    `${PLAIN} required username="u" password=9hush;`,
    `${PLAIN} username="u" password="hush";`,
    `${PLAIN} required username "u" password="hush";`,
    `${PLAIN} required username="u" password="hush"; ${PLAIN} required;`,
    '"hush',
    '',
  ]) {
    const findings = jaas(broken);
    assert.ok(
      findings.length === 1 && !findings.join().includes('hush') && findings[0]?.startsWith('!'),
      findings.join(),
    );
  }
  assert.deepEqual(said({ ...TO, 'security.protocol': 'SASL_SSL' }), [
    '!consumerSettings.sasl.mechanism: the mechanism GSSAPI is not known here',
  ]);
  assert.deepEqual(said({ ...TO, 'security.protocol': 'TLS' }), [
    '!consumerSettings.security.protocol: there is no security.protocol TLS',
  ]);
  assert.deepEqual(said({ ...TO, 'sasl.mechanism': 'PLAIN' }), [
    '!consumerSettings.sasl.mechanism: sasl.mechanism has no effect without security.protocol',
    'consumerSettings.sasl.mechanism: sasl.mechanism has no effect here',
  ]);
  assert.deepEqual(
    said({ ...plain, 'sasl.jaas.config': '' }, { sasl: { mechanism: 'PLAIN', username: 'u', password: 'hush' } })[0],
    '!sasl: sasl and sasl.mechanism are both given',
  );
});

test('sasl.jaas.config: quotes, escapes, comments, words', () => {
  const options = (text: string) => {
    const login = parseJaasConfig(`${PLAIN} required ${text};`);
    return typeof login === 'string' ? login : Object.fromEntries(login.options);
  };
  assert.deepEqual(options(`username='a"b' password="c'd\\\\e\\"f"`), { username: 'a"b', password: `c'd\\e"f` });
  assert.deepEqual(options('password="x;y=z // no comment"'), { password: 'x;y=z // no comment' });
  assert.deepEqual(options('a="\\101\\t\\q" /* here */ b_c-d=w$x.y // end\n'), { a: 'A\tq', 'b_c-d': 'w$x.y' });
  assert.deepEqual(options('password=abc/def\n'), { password: 'abc' });
  assert.deepEqual(options(''), {});
});

test('TLS of Java settings: PEM stores, host check off, versions; stores of Java are refused with the way out', () => {
  const ssl = { ...TO, 'security.protocol': 'SSL' };
  const { tls } = of({
    ...ssl,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': '/ca.pem',
    'ssl.keystore.type': 'pem',
    'ssl.keystore.location': '/me.pem',
    'ssl.key.password': 'hush',
    'ssl.endpoint.identification.algorithm': '',
    'ssl.enabled.protocols': 'TLSv1.2',
  }).connection;
  assert.deepEqual([tls?.ca?.path, tls?.cert?.path, tls?.key?.path], ['/ca.pem', '/me.pem', '/me.pem']);
  assert.deepEqual([tls?.verify, tls?.verifyHost, tls?.passphrase, tls?.maxVersion], [true, false, 'hush', 'TLSv1.2']);
  assert.equal(of(ssl).connection.tls?.verifyHost, true);
  const jks = of({ ...ssl, 'ssl.truststore.location': '/store.jks', 'ssl.truststore.password': 'hush' });
  assert.equal(jks.findings.length, 1);
  assert.match(jks.findings[0]?.message ?? '', /ssl\.truststore\.location is a store of type JKS/);
  assert.match(jks.findings[0]?.hint ?? '', /keytool -importkeystore -srckeystore \/store\.jks .* && openssl pkcs12/);
  assert.deepEqual(said({ ...ssl, 'ssl.keystore.key': '-----BEGIN x' }), [
    '!consumerSettings.ssl.keystore.key: ssl.keystore.key and ssl.keystore.certificate.chain go together',
  ]);
  assert.deepEqual(said({ ...TO, 'security.protocol': 'PLAINTEXT', 'ssl.truststore.location': 'x' }), [
    'consumerSettings.ssl.truststore.location: ssl.truststore.location has no effect here',
  ]);
});

test('files that are not there, or no PEM, are coded errors', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kafka-tls-'));
  try {
    const bad = join(folder, 'bad.pem');
    await writeFile(bad, 'no certificate');
    const failure = async (ssl: ConnectionOptions['ssl']) => {
      try {
        await clientSettings(of(TO, { ssl }).connection);
      } catch (e) {
        if (isSyncError(e)) return `${e.code} ${e.message}`;
        throw e;
      }
      return 'fine';
    };
    assert.match(
      await failure({ ca: join(folder, 'none.pem') }),
      /^JOB_INVALID ssl\.ca: .*none\.pem cannot be read: ENOENT/,
    );
    assert.equal(await failure({ ca: bad }), 'JOB_INVALID ssl.ca has no certificate');
    assert.match(await failure({ cert: bad, key: bad }), /^JOB_INVALID ssl\.cert cannot be used: /);
    assert.equal(await failure(true), 'fine');
  } finally {
    await rm(folder, { recursive: true });
  }
});
