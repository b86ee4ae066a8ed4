/**
 * The one place that knows kafkajs's inner side: its Connection, which makes the socket, logs in (SASL), and matches
 * answers to requests, also where brokers slow them down. Requests and answers themselves are ours (protocol/), since
 * kafkajs's would make objects of all records, and throw the first of many partitions' errors without saying whose it is;
 * and it would copy what is written twice, into buffers of twice the size.
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

/** What its queue gives for an answer. */
export interface KafkajsAnswer {
  readonly payload: Buffer;
}

export interface KafkajsQueue {
  /** Sends it at once, where the broker did not ask to wait. For no expected answer it resolves with a payload of null. */
  push(request: {
    readonly entry: {
      readonly apiKey: number;
      readonly apiName: string;
      readonly apiVersion: number;
      readonly correlationId: number;
      readonly resolve: (answer: KafkajsAnswer) => void;
      readonly reject: (e: Error) => void;
    };
    readonly expectResponse: boolean;
    readonly requestTimeout: null;
    readonly sendRequest: () => void;
  }): void;
  maybeThrottle(ms: number): void;
}

export interface KafkajsConnection {
  readonly requestQueue: KafkajsQueue;
  isAuthenticated(): boolean;
  nextCorrelationId(): number;
  connect(): Promise<true>;
  disconnect(): Promise<true>;
  authenticate(): Promise<void>;
  isConnected(): boolean;
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
  'isAuthenticated',
  'nextCorrelationId',
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
