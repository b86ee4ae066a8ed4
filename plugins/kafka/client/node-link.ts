/** One connection to one broker, from its start to its end; it is never opened again. */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import {
  checkKafkajs,
  silentLogger,
  type KafkajsAnswer,
  type KafkajsConnection,
  type KafkajsSasl,
} from './kafkajs-internals.js';
import { LinkFailure, linkFailure } from './link-failure.js';
import type { Api } from './protocol/api.js';
import { API_VERSIONS, type VersionRange } from './protocol/cluster-apis.js';
import { RequestBytes } from './protocol/request-bytes.js';
import { ResponseBytes } from './protocol/response-bytes.js';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export const showAddress = (a: BrokerAddress): string =>
  `${a.host.includes(':') ? `[${a.host}]` : a.host}:${String(a.port)}`;

export interface LinkSettings {
  readonly clientId: string;
  readonly connectTimeoutMs: number;
  /** Null: plain. */
  readonly tls: ConnectionOptions | null;
  /** A new object at each call. Null: no login. */
  readonly sasl: (() => KafkajsSasl) | null;
}

const SASL_AUTHENTICATE = 36;
const KEEP_ALIVE_MS = 30_000;
/** kafkajs's 10 s make it log in at each request of a session that is no longer; brokers refuse two logins in a second. */
const LOGIN_AGAIN_MS = 2000;

export class NodeLink {
  readonly address: string;
  readonly #at: BrokerAddress;
  readonly #settings: LinkSettings;
  readonly #connection: KafkajsConnection;
  readonly #ready: Promise<ReadonlyMap<number, VersionRange>>;
  #socket: Socket | null = null;
  #dead: LinkFailure | null = null;
  /** `use` from the first answer on: who should log in, and does not, is hung up on at the first request. */
  #phase: 'connect' | 'login' | 'use' = 'connect';

  constructor(at: BrokerAddress, settings: LinkSettings) {
    this.#at = at;
    this.address = showAddress(at);
    this.#settings = settings;
    const Connection = checkKafkajs();
    this.#connection = new Connection({
      host: at.host,
      port: at.port,
      logger: silentLogger,
      clientId: settings.clientId,
      connectionTimeout: settings.connectTimeoutMs,
      requestTimeout: settings.connectTimeoutMs,
      enforceRequestTimeout: false,
      reauthenticationThreshold: LOGIN_AGAIN_MS,
      sasl: settings.sasl?.() ?? null,
      socketFactory: ({ onConnect }) => this.#openSocket(onConnect),
    });
    this.#ready = this.#open();
    this.#ready.catch(() => undefined); // whoever sends hears of it
  }

  /** Once true it stays so: make another link. */
  get dead(): boolean {
    return this.#dead !== null;
  }

  #openSocket(onConnect: () => void): Socket {
    const { host, port } = this.#at;
    const { tls } = this.#settings;
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket =
      tls === null ? connectPlain({ host, port }, onConnect) : connectTls({ host, port, ...name, ...tls }, onConnect);
    socket.setNoDelay(true); // a commit must not wait for the acknowledgement of the packet before it
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    // Both before kafkajs hears of it, which waits before it tells; and it does not look at `close`.
    socket.on('error', (e) => {
      this.#die(linkFailure(e, this.address, this.#phase));
    });
    socket.on('close', () => {
      this.#die(linkFailure(new Error('the connection is closed'), this.address, this.#phase));
    });
    this.#socket = socket;
    return socket;
  }

  async #open(): Promise<ReadonlyMap<number, VersionRange>> {
    const limit = this.#settings.connectTimeoutMs;
    const late = setTimeout(() => {
      const hint = 'Nobody answers as Kafka: check host and port, and firewalls between; see request.timeout.ms.';
      this.#die(new LinkFailure('lost', this.address, `no connection within ${String(limit)} ms`, hint));
    }, limit);
    const connected = async (): Promise<ReadonlyMap<number, VersionRange>> => {
      await this.#connection.connect();
      const { ranges } = await this.#exchange(API_VERSIONS, null, 0);
      const versions = new Map(ranges.map((r) => [r.key, r]));
      this.#connection.setVersions(
        Object.fromEntries(ranges.map((r) => [r.key, { minVersion: r.min, maxVersion: r.max }])),
      );
      this.#connection.setSupportAuthenticationProtocol(versions.has(SASL_AUTHENTICATE));
      this.#phase = 'login';
      if (this.#settings.sasl !== null) await this.#connection.authenticate();
      return versions;
    };
    try {
      // A socket that is closed during TLS or SASL leaves kafkajs waiting for ever.
      return await Promise.race([connected(), this.#death]);
    } catch (e) {
      const failure = linkFailure(e, this.address, this.#phase);
      this.#die(failure);
      throw failure;
    } finally {
      clearTimeout(late);
    }
  }

  #failDeath: (e: LinkFailure) => void = () => undefined;
  readonly #death = new Promise<never>((_, reject) => {
    this.#failDeath = reject;
  });

  #die(why: LinkFailure): void {
    if (this.#dead !== null) return;
    this.#dead = why;
    this.#death.catch(() => undefined);
    this.#failDeath(why);
    this.#connection.rejectRequests(why);
    // Without requests there is nothing that it would wait for.
    void this.#connection.disconnect().catch(() => undefined);
    this.#socket?.destroy(why); // with an error: only that ends kafkajs's timer of a connection that is being made
  }

  /** Whatever is under way fails; idempotent. */
  close(why = 'the connection was closed on our side'): void {
    this.#die(new LinkFailure('lost', this.address, why, null));
  }

  /** Null: the broker has none of our versions. */
  async versionOf(api: Api<never, unknown>): Promise<number | null> {
    const range = (await this.#ready).get(api.key);
    if (range === undefined) return null;
    return api.versions.find((v) => v >= range.min && v <= range.max) ?? null;
  }

  /**
   * Sends it once. Where no answer comes in time the link dies, since the broker or the way to it does.
   * @param limitMs for the answer; connecting has its own limit.
   * @returns null: no answer is expected.
   * @throws LinkFailure
   */
  async send<Q, A>(api: Api<Q, A>, q: Q, limitMs: number): Promise<A | null> {
    const version = await this.versionOf(api);
    if (version === null) {
      const hint = 'Brokers from Kafka 1.1 on are known, and tried with 4.3.';
      throw new LinkFailure('refused', this.address, `the broker has no version of ${api.name} that we speak`, hint);
    }
    if (api.answered?.(q) === false) {
      await this.#exchange(api, q, version);
      return null;
    }
    const late = setTimeout(() => {
      const message = `${api.name}: no answer within ${String(limitMs)} ms`;
      this.#die(new LinkFailure('lost', this.address, message, 'See request.timeout.ms, and the log of the broker.'));
    }, limitMs);
    try {
      const answer = await this.#exchange(api, q, version);
      this.#phase = 'use';
      return answer;
    } catch (e) {
      throw this.#failed(e);
    } finally {
      clearTimeout(late);
    }
  }

  #failed(e: unknown): unknown {
    if (e instanceof RangeError) {
      const failure = new LinkFailure('refused', this.address, `the answer is no Kafka answer: ${e.message}`, null, e);
      this.#die(failure);
      return failure;
    }
    if (e instanceof Error && e.name.startsWith('KafkaJS')) {
      const failure = this.#dead ?? linkFailure(e, this.address, this.#phase);
      this.#die(failure);
      return failure;
    }
    return e;
  }

  /** Undefined only where no answer is expected, and then nobody looks. */
  async #exchange<Q, A>(api: Api<Q, A>, q: Q, version: number): Promise<A> {
    const connection = this.#connection;
    // Also where a session is about to end. Without a login it is at once.
    if (api.key !== API_VERSIONS.key && !connection.isAuthenticated()) await connection.authenticate();
    if (!connection.isConnected()) throw this.#dead ?? new LinkFailure('lost', this.address, 'not connected', null);
    const flexible = api.flexibleFrom !== undefined && version >= api.flexibleFrom;
    const w = new RequestBytes(api.sizeOf?.(q));
    const correlationId = connection.nextCorrelationId();
    w.i16(api.key);
    w.i16(version);
    w.i32(correlationId);
    w.string(this.#settings.clientId);
    if (flexible) w.noTags();
    api.encode(w, q, version);
    const pieces = w.finish();
    const answered = api.answered?.(q) ?? true;
    const { payload } = await new Promise<KafkajsAnswer>((resolve, reject) => {
      connection.requestQueue.push({
        entry: { apiKey: api.key, apiName: api.name, apiVersion: version, correlationId, resolve, reject },
        expectResponse: answered,
        requestTimeout: null,
        sendRequest: () => {
          this.#write(pieces);
        },
      });
    });
    if (!answered) return undefined as A;
    const r = new ResponseBytes(payload);
    if (flexible) r.tags();
    const answer = api.decode(r, version);
    connection.requestQueue.maybeThrottle(r.throttleMs);
    return answer;
  }

  #write(pieces: readonly Buffer[]): void {
    const socket = this.#socket;
    if (socket === null) return; // there is one before anything is sent
    const length = Buffer.alloc(4);
    length.writeInt32BE(pieces.reduce((sum, p) => sum + p.length, 0));
    socket.cork();
    for (const p of [length, ...pieces]) socket.write(p);
    socket.uncork();
  }
}
