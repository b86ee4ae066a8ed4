/** Brokers that are gone, silent, or come back; and a kafkajs that is another. Through a proxy before the real broker. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { isSyncError, type SyncError } from 'syncx/plugin-api';
import type { KafkaClient } from '../client/kafka-client.js';
import { checkKafkajs, kafkajsTrouble } from '../client/kafkajs-internals.js';
import { openKafkajsClient } from '../client/kafkajs-client.js';
import { LinkFailure } from '../client/link-failure.js';
import { NodeLink, type BrokerAddress } from '../client/node-link.js';
import { Nodes } from '../client/nodes.js';
import { METADATA } from '../client/protocol/cluster-apis.js';
import { never, onKafka, settingsFor, type TestBroker } from './kafka-servers.js';

const ASKED = { side: 'source', api: 'Metadata', doing: 'look', place: 'x', resource: 'x' } as const;
const NOTHING = { topics: [], rights: false } as const;

async function failureOf(work: Promise<unknown>): Promise<SyncError> {
  try {
    await work;
  } catch (e) {
    if (isSyncError(e)) return e;
    throw e;
  }
  throw new Error('it was done');
}

async function listen(onSocket: (s: Socket) => void): Promise<{ readonly server: Server; readonly at: BrokerAddress }> {
  const server = createServer((s) => {
    s.on('error', () => undefined);
    onSocket(s);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, at: { host: '127.0.0.1', port: address.port } };
}

/** Passes bytes on, until it is told to hold them back or to hang up. */
class Proxy implements AsyncDisposable {
  readonly at: BrokerAddress;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #made = 0;

  private constructor(server: Server, at: BrokerAddress, sockets: Set<Socket>) {
    this.#server = server;
    this.at = at;
    this.#sockets = sockets;
    server.on('connection', () => this.#made++);
  }

  static async before(broker: BrokerAddress): Promise<Proxy> {
    const sockets = new Set<Socket>();
    const { server, at } = await listen((client) => {
      const upstream = connect(broker);
      for (const s of [client, upstream]) {
        sockets.add(s);
        s.on('error', () => undefined);
        s.on('close', () => {
          client.destroy();
          upstream.destroy();
          sockets.delete(s);
        });
      }
      client.pipe(upstream);
      upstream.pipe(client);
    });
    return new Proxy(server, at, sockets);
  }

  /** Connections so far. */
  get made(): number {
    return this.#made;
  }

  freeze(): void {
    for (const s of this.#sockets) s.unpipe();
  }

  hangUp(): void {
    for (const s of this.#sockets) s.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The brokers' own addresses are not the proxy's: calls go by `sendToAny` over the seed only. */
const nodesAt = (at: BrokerAddress): Nodes => new Nodes([at], settingsFor([at]), 'source');

test('nobody listens, no such host, one that says nothing, one that is no Kafka: coded, in time, with a hint', async () => {
  const { server, at } = await listen(() => undefined);
  const talker = await listen((s) => void s.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const gone = await listen(() => undefined);
  gone.server.close();
  const at1s = async (brokers: readonly BrokerAddress[]) => {
    await using client: KafkaClient = openKafkajsClient(settingsFor(brokers, { connectTimeoutMs: 1000 }), 'source');
    const began = performance.now();
    const e = await failureOf(client.metadata([], never));
    assert.ok(performance.now() - began < 8000);
    return `${e.code} ${e.retry} ${e.message} | ${e.hint ?? ''}`;
  };
  try {
    assert.match(await at1s([gone.at]), /^SOURCE_IO reconnect .*ECONNREFUSED.* \| Nobody listens there/);
    assert.match(
      await at1s([{ host: 'no-such-host.invalid', port: 1 }]),
      /^SOURCE_IO reconnect .* \| .*(?:No such host|name)/,
    );
    assert.match(await at1s([at]), /^SOURCE_IO reconnect .*no connection within 1000 ms \| Nobody answers as Kafka/);
    assert.match(await at1s([talker.at]), /^SOURCE_IO .* \| ./);
    const both = await at1s([gone.at, at]);
    assert.ok(both.includes(`:${String(gone.at.port)}: `) && both.includes(`:${String(at.port)}: `), both);
  } finally {
    server.close();
    talker.server.close();
  }
});

onKafka('the first broker of the list is gone: the second will do', async (b: TestBroker) => {
  const gone = await listen(() => undefined);
  gone.server.close();
  await using client = openKafkajsClient(settingsFor([gone.at, b.address]), 'source');
  assert.equal((await client.metadata([], never)).brokers.length, 1);
});

onKafka('a broker that hangs up or falls silent: the call fails in time, and the next one connects anew', async (b) => {
  await using proxy = await Proxy.before(b.address);
  const nodes = nodesAt(proxy.at);
  try {
    const ask = (limitMs = 5000) => nodes.sendToAny(METADATA, NOTHING, limitMs, never, ASKED);
    await ask();
    await ask();
    assert.equal(proxy.made, 1);
    proxy.hangUp();
    const link = new NodeLink(proxy.at, settingsFor([]));
    await link.send(METADATA, NOTHING, 5000);
    proxy.freeze();
    const silent = await link.send(METADATA, NOTHING, 200).catch((e: unknown) => e);
    assert.ok(silent instanceof LinkFailure && silent.trouble === 'lost', String(silent));
    assert.match(silent.message, /^Metadata: no answer within 200 ms$/);
    assert.equal(link.dead, true);
    await ask();
    assert.equal(proxy.made, 3);
  } finally {
    nodes.close();
  }
});

onKafka('whatever is under way when the connection breaks fails, and tells of it', async (b) => {
  await using proxy = await Proxy.before(b.address);
  const link = new NodeLink(proxy.at, settingsFor([]));
  await link.send(METADATA, NOTHING, 5000);
  proxy.freeze();
  const calls = [1, 2, 3].map(() => link.send(METADATA, NOTHING, 60_000).catch((e: unknown) => e));
  await new Promise(setImmediate);
  proxy.hangUp();
  for (const e of await Promise.all(calls)) assert.ok(e instanceof LinkFailure && e.trouble === 'lost', String(e));
});

onKafka('an abort ends a call at once; one before it is sent sends nothing; a closed client refuses', async (b) => {
  const client = b.open();
  const why = new Error('enough');
  await assert.rejects(client.metadata([], AbortSignal.abort(why)), why);
  const pending = client.metadata(null, never);
  await client[Symbol.asyncDispose]();
  assert.equal((await failureOf(pending)).code, 'SOURCE_IO');
  const e = await failureOf(client.metadata([], never));
  assert.deepEqual([e.code, e.retry], ['SOURCE_IO', 'never']);
  assert.match(e.message, /the client is closed/);
});

test('another kafkajs is refused, and what it lacks is named', () => {
  class Other {
    connect(): void {}
  }
  const known = checkKafkajs();
  assert.equal(kafkajsTrouble(known, '2.2.4'), null);
  assert.equal(kafkajsTrouble(known, null), null);
  assert.equal(kafkajsTrouble(known, '2.3.0'), 'kafkajs is 2.3.0, and must be 2.2.4');
  assert.match(kafkajsTrouble(Other, '2.2.4') ?? '', /has no Connection\.disconnect, Connection\.authenticate/);
  assert.match(kafkajsTrouble({}, '2.2.4') ?? '', /connection\.js/);
});
