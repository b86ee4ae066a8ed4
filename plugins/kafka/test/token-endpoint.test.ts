/** Tokens by client credentials, from an endpoint of the test's own; what it gives is shown to the real broker. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { isSyncError } from 'syncx/plugin-api';
import { clientSettings } from '../client/client-settings.js';
import { connectionOf } from '../client/connection-options.js';
import { openKafkajsClient } from '../client/kafkajs-client.js';
import { tokenEndpoint } from '../client/token-endpoint.js';
import { never, onKafka } from './kafka-servers.js';
import { unsignedToken } from './unsigned-token.js';

interface Answer {
  readonly status?: number;
  readonly body: string;
}

interface Endpoint extends AsyncDisposable {
  readonly url: string;
  /** `authorization body`, of each request. */
  readonly asked: readonly string[];
}

async function endpoint(answer: () => Answer): Promise<Endpoint> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      asked.push(`${request.method ?? ''} ${request.headers.authorization ?? ''} ${body}`);
      const a = answer();
      response.writeHead(a.status ?? 200, { location: '/other' }).end(a.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/token?tenant=hush-hush`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const CLIENT = { clientId: 'c', clientSecret: 'hush-hush', scope: 'kafka read' };
const AUTHORIZATION = `Basic ${Buffer.from('c:hush-hush').toString('base64')}`;

onKafka('a client logs in with the token of its endpoint, and asks once for as long as that holds', async (b) => {
  await using idp = await endpoint(() => ({
    body: JSON.stringify({ access_token: unsignedToken('sync', 100), expires_in: 100 }),
  }));
  const jaas = `x.OAuthBearerLoginModule required clientId="c" clientSecret="hush-hush" scope="kafka read";`;
  const settings = {
    'security.protocol': 'SASL_PLAINTEXT',
    'sasl.mechanism': 'OAUTHBEARER',
    'sasl.oauthbearer.token.endpoint.url': idp.url,
    'sasl.jaas.config': jaas,
  };
  const place = { option: 'consumerSettings', elsewhere: new Set<string>() } as const;
  const brokers = b.variable('SYNC_KAFKA_SASL_PLAINTEXT');
  const { connection, findings } = connectionOf({ brokers }, settings, place);
  assert.deepEqual(findings, []);
  const login = await clientSettings(connection);
  for (const side of ['source', 'sink'] as const) {
    await using client = openKafkajsClient(login, side);
    assert.ok((await client.metadata([], never)).cluster);
  }
  assert.deepEqual(idp.asked, [`POST ${AUTHORIZATION} grant_type=client_credentials&scope=kafka+read`]);
});

onKafka('an endpoint that refuses is told, without a secret', async (b) => {
  await using idp = await endpoint(() => ({ status: 401, body: '{"error":"invalid_client"}' }));
  const sasl = { mechanism: 'OAUTHBEARER', tokenUrl: idp.url, clientId: 'c', clientSecret: 'hush-hush' } as const;
  const brokers = b.variable('SYNC_KAFKA_SASL_PLAINTEXT');
  const { connection } = connectionOf({ brokers, sasl }, {}, { option: 'producerSettings', elsewhere: new Set() });
  await using client = openKafkajsClient(await clientSettings(connection), 'sink');
  await assert.rejects(client.metadata([], never), (e) => {
    assert.ok(isSyncError(e) && e.code === 'SINK_IO' && e.retry === 'never');
    assert.match(e.message, /the token endpoint http:\/\/127\.0\.0\.1:\d+\/token answers 401 invalid_client/);
    assert.doesNotMatch(`${e.message} ${e.hint ?? ''}`, /hush/);
    return true;
  });
});

test('tokens: shared by logins at one moment, asked for anew where they end or were refused', async () => {
  let n = 0;
  let life: object = { expires_in: 1000 };
  await using idp = await endpoint(() => ({ body: JSON.stringify({ access_token: `t${String(++n)}`, ...life }) }));
  const token = tokenEndpoint({ url: idp.url, ...CLIENT });
  assert.deepEqual(await Promise.all([token(), token()]), ['t1', 't1']);
  assert.equal(await token(), 't1');
  life = {}; // no word of how long: only for this login
  const short = tokenEndpoint({ url: idp.url, ...CLIENT });
  assert.deepEqual([await short(), await short()], ['t2', 't3']);
});

test('answers that are no token, and none at all', async () => {
  const answers: readonly (readonly [Answer, RegExp])[] = [
    [{ body: 'hello' }, /without an access_token/],
    [{ body: '{"access_token":7}' }, /without an access_token/],
    [{ status: 403, body: '<html>hush-hush' }, /token answers 403$/],
    [{ status: 503, body: '' }, /token answers 503$/],
    [{ status: 302, body: '' }, /cannot be asked: .*redirect/],
  ];
  let next = 0;
  await using idp = await endpoint(() => answers[next++]?.[0] ?? { body: '{"access_token":"good"}' });
  const token = tokenEndpoint({ url: idp.url, ...CLIENT });
  for (const [, message] of answers) {
    await assert.rejects(token(), (e: Error) => {
      assert.match(e.message, message);
      assert.doesNotMatch(e.message, /hush/);
      return true;
    });
  }
  assert.equal(await token(), 'good');
  const gone = tokenEndpoint({ url: 'http://127.0.0.1:9/token', ...CLIENT });
  await assert.rejects(gone(), /^Error: the token endpoint http:\/\/127\.0\.0\.1:9\/token cannot be asked: /);
});
