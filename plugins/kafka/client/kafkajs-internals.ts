/**
 * The one place that knows kafkajs's inner side: its Connection, which makes the socket, logs in (SASL), frames requests and
 * matches answers. Requests and answers themselves are ours (protocol/), since kafkajs's would make objects of all
 * records, and throw the first of many partitions' errors without saying whose it is.
 * {@link checkKafkajs} fails at the first client where another version of the package is installed.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { SyncError } from 'syncx/plugin-api';
import Connection from 'kafkajs/src/network/connection.js';

const KNOWN = '2.2.4';

/** It keeps quiet: what it would log is in the errors that it throws. */
export interface KafkajsLogger {
  namespace(name: string): KafkajsLogger;
  debug(): void;
  info(): void;
  warn(): void;
  error(): void;
}

export const silentLogger: KafkajsLogger = {
  namespace: () => silentLogger,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** How a mechanism of our own logs in. */
export type KafkajsAuthenticator = (o: {
  readonly saslAuthenticate: (exchange: {
    readonly request: { readonly encode: () => Promise<Buffer> };
    /** `decode` gets the answer behind its length (int32). */
    readonly response: {
      readonly decode: (answer: Buffer) => Promise<string>;
      readonly parse: (text: string) => Promise<string>;
    };
  }) => Promise<string | undefined>;
}) => { readonly authenticate: () => Promise<void> };

export type KafkajsSasl =
  | { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  | { mechanism: 'OAUTHBEARER'; authenticationProvider: KafkajsAuthenticator };

export interface ConnectionInit {
  readonly host: string;
  readonly port: number;
  readonly logger: KafkajsLogger;
  readonly socketFactory: (o: {
    readonly host: string;
    readonly port: number;
    readonly onConnect: () => void;
  }) => Socket;
  readonly clientId: string;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  /** False: requests have no time limit, so that no timer runs ten times a second. */
  readonly enforceRequestTimeout: boolean;
  /** How long (ms) before the end of a session it logs in again, at the next request. */
  readonly reauthenticationThreshold: number;
  /** It is written to: one object for each connection. */
  readonly sasl: KafkajsSasl | null;
}

/** What `createRequest` looks at. */
export interface EncodedBody {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

export interface KafkajsRequest<A> {
  readonly request: {
    readonly apiKey: number;
    readonly apiName: string;
    readonly apiVersion: number;
    /** Must not wait for anything: requests go out in the order in which `encode` is through. */
    readonly encode: () => Promise<EncodedBody>;
    readonly expectResponse: () => boolean;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<{ readonly clientSideThrottleTime: number; readonly answer: A }>;
    readonly parse: (decoded: { readonly answer: A }) => Promise<A>;
  };
  readonly logResponseError: false;
}

export interface KafkajsConnection {
  connect(): Promise<true>;
  disconnect(): Promise<true>;
  authenticate(): Promise<void>;
  isConnected(): boolean;
  /** Undefined where no answer is expected. */
  send<A>(request: KafkajsRequest<A>): Promise<A | undefined>;
  setVersions(versions: Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>): void;
  setSupportAuthenticationProtocol(supported: boolean): void;
  rejectRequests(error: Error): void;
}

type ConnectionClass = new (init: ConnectionInit) => KafkajsConnection;

const METHODS = [
  'connect',
  'disconnect',
  'authenticate',
  'isConnected',
  'send',
  'setVersions',
  'setSupportAuthenticationProtocol',
  'rejectRequests',
] as const satisfies readonly (keyof KafkajsConnection)[];

function isConnectionClass(value: unknown): value is ConnectionClass {
  return typeof value === 'function' && missingOf(value).length === 0;
}

function missingOf(value: { readonly prototype?: unknown }): readonly string[] {
  const prototype = (value.prototype ?? {}) as Readonly<Record<string, unknown>>;
  return METHODS.filter((m) => typeof prototype[m] !== 'function');
}

/** Null: the package is not there, as where all is in one bundle. */
function installedVersion(): string | null {
  try {
    const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { readonly version?: unknown };
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}

/**
 * What is wrong with the package; null: nothing.
 * @param version of the package; null: not known.
 */
export function kafkajsTrouble(connection: unknown, version: string | null): string | null {
  if (typeof connection !== 'function') return 'kafkajs has no src/network/connection.js with a class Connection';
  const missing = missingOf(connection);
  if (missing.length > 0) return `this version of kafkajs has no Connection.${missing.join(', Connection.')}`;
  return version === null || version === KNOWN ? null : `kafkajs is ${version}, and must be ${KNOWN}`;
}

/** @throws SyncError INTERNAL where the package is another one than this file was written for. */
export function checkKafkajs(): ConnectionClass {
  const trouble = kafkajsTrouble(Connection, installedVersion());
  if (trouble === null && isConnectionClass(Connection)) return Connection;
  throw new SyncError('INTERNAL', trouble ?? 'kafkajs has no Connection', {
    hint: 'Install the version that package-lock.json names.',
  });
}
