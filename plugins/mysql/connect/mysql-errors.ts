/** What the server and the driver say, as coded errors. Numbers: MySQL's and MariaDB's error reference. */
import { SyncError, isSyncError, type Blame, type ErrorCode, type RetryClass } from 'syncx/plugin-api';

export type Side = 'source' | 'sink';

/** The parts of an error of the driver that we look at. */
interface DriverError {
  readonly message: string;
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly fatal?: boolean;
  readonly cause?: unknown;
}

const asDriverError = (e: unknown): DriverError => (e instanceof Error ? e : { message: String(e) });

/** The server's error number; 0: it is not the server's. */
export function errnoOf(e: unknown): number {
  const cause = isSyncError(e) ? e.cause : e;
  const { errno, sqlState } = asDriverError(cause);
  return errno !== undefined && sqlState !== undefined ? errno : 0;
}

export const ER = {
  NO_SUCH_TABLE: 1146,
  TABLE_DENIED: 1142,
  LOCK_WAIT_TIMEOUT: 1205,
  DEADLOCK: 1213,
  XAER_NOTA: 1397,
  NO_SUCH_THREAD: 1094,
} as const;

/** The connection is gone, or will be; what was under way may or may not have happened. */
const LOST_NUMBERS: ReadonlySet<number> = new Set([
  1053, 1077, 1080, 1152, 1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 4031,
]);
const LOST_CODES: ReadonlySet<string> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_UNEXPECTED_PACKET',
  'PROTOCOL_ERROR',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTCONN',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNREFUSED',
  'EAI_AGAIN',
  'CONNECTION_CLOSED',
]);

export function isConnectionLost(e: unknown): boolean {
  const { code, fatal } = asDriverError(isSyncError(e) ? e.cause : e);
  const number = errnoOf(e);
  if (number !== 0) return LOST_NUMBERS.has(number);
  return (code !== undefined && LOST_CODES.has(code)) || fatal === true;
}

/** The same statement may pass when it is sent again: another transaction was in the way. */
export function isLockTrouble(e: unknown): boolean {
  const number = errnoOf(e);
  return number === ER.DEADLOCK || number === ER.LOCK_WAIT_TIMEOUT || number === 1020 || number === 1614;
}

/** The user lacks a right that the statement needs, on something that another way may do without. */
export function isDenied(e: unknown): boolean {
  const number = errnoOf(e);
  return number === 1227 || number === 1044 || number === ER.TABLE_DENIED;
}

interface Meaning {
  readonly code: ErrorCode | Side;
  readonly retry?: RetryClass;
  readonly blame?: Blame;
  readonly hint?: string;
}

const RIGHTS: Meaning = {
  code: 'source',
  retry: 'never',
  blame: 'config',
  hint: 'Grant the user that right, or name another user.',
};
const FULL: Meaning = { code: 'SINK_FULL', hint: 'Free some space on the server, then run the job again.' };
const BUSY: Meaning = {
  code: 'source',
  retry: 'reconnect',
  hint: 'The server takes no more connections: raise max_connections, or lower speed.channel.',
};

const MEANINGS: Readonly<Record<number, Meaning>> = {
  1044: RIGHTS,
  1045: {
    code: 'source',
    retry: 'never',
    blame: 'config',
    hint: 'Check username and password, from which hosts the user may connect, and whether it must use TLS (sslMode), with a certificate (sslCert, sslKey).',
  },
  1130: RIGHTS,
  1142: RIGHTS,
  1143: RIGHTS,
  1227: RIGHTS,
  1370: RIGHTS,
  1698: RIGHTS,
  1040: BUSY,
  1203: BUSY,
  1226: BUSY,
  1021: FULL,
  1114: FULL,
  1049: { code: 'SOURCE_MISSING', retry: 'never', blame: 'config', hint: 'Check the database in jdbcUrl.' },
  1146: {
    code: 'SOURCE_MISSING',
    retry: 'never',
    blame: 'config',
    hint: 'Check the name of the table, and the database in jdbcUrl.',
  },
  // The definition has changed since the snapshot was taken.
  1412: {
    code: 'SOURCE_CHANGED',
    hint: 'A table of a consistent run was altered, emptied or created anew. Start a new run with --fresh.',
  },
  1054: { code: 'COLUMN_MISMATCH', hint: 'Check the names of columns in the job.' },
  1064: {
    code: 'source',
    retry: 'never',
    blame: 'config',
    hint: 'Check the SQL of the job (where, customSql, preSql …).',
  },
  1205: {
    code: 'source',
    retry: 'retry',
    hint: 'Another transaction holds the rows: see innodb_lock_wait_timeout and SHOW ENGINE INNODB STATUS.',
  },
  1213: { code: 'source', retry: 'retry' },
  1153: { code: 'source', retry: 'never', hint: 'Raise max_allowed_packet on the server.' },
  1290: { code: 'source', retry: 'never', blame: 'config', hint: 'The server is read-only: name the primary server.' },
  1836: { code: 'source', retry: 'never', blame: 'config', hint: 'The server is read-only: name the primary server.' },
};

/** Of a connection that did not come about; `connect` stands in its message, and not where one is silent later. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nobody listens there: check host and port in jdbcUrl, and whether the server runs.',
  ENOTFOUND: 'No such host is known: check its name in jdbcUrl.',
  EAI_AGAIN: 'The name of the host cannot be looked up now: check it in jdbcUrl, and the name service.',
  ENOENT: 'There is no such socket: check its path in jdbcUrl, and whether the server runs.',
  EACCES: 'The socket may not be used: check the rights of its path.',
  ETIMEDOUT:
    'Nobody answers as MySQL: check host and port in jdbcUrl, and firewalls between; connectTimeOut is how long is waited.',
  EHOSTUNREACH: 'There is no way to the host: check its name in jdbcUrl, and the network.',
  ENETUNREACH: 'There is no way to the host: check its name in jdbcUrl, and the network.',
};

/** Of the TLS handshake: the driver's own code for all of them, and what is behind it. */
const TLS_FAILED = 'HANDSHAKE_SSL_ERROR';
const NO_TLS = 'HANDSHAKE_NO_SSL_SUPPORT';

function tlsMeaning(e: unknown): Meaning | null {
  const { code } = asDriverError(e);
  const config = { code: 'source', retry: 'never', blame: 'config' } as const;
  if (code === NO_TLS)
    return {
      ...config,
      hint: 'The server has no TLS, which the job asks for: see ssl_cert, ssl_key of the server, and sslMode.',
    };
  if (code !== TLS_FAILED) return null;
  const why = asDriverError(asDriverError(e).cause).code ?? '';
  if (LOST_CODES.has(why)) return null;
  if (why === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      ...config,
      hint: "The server's certificate is for another host: name the host as the certificate does, or check the authority alone (sslMode VERIFY_CA).",
    };
  if (/CERT|ISSUER|VERIFY|SIGNATURE|CRL/.test(why) && !why.startsWith('ERR_SSL_'))
    return { ...config, hint: "The server's certificate is not one of the authorities in sslCa, or is not valid now." };
  return {
    ...config,
    hint: 'Server and client found no TLS in common: check its versions and certificates, or whether sslMode DISABLED will do.',
  };
}

function hintOf(d: DriverError, lost: boolean): string | undefined {
  const unreachable = /^(?:connect|getaddrinfo) /.test(d.message) ? UNREACHABLE[d.code ?? ''] : undefined;
  return unreachable ?? (lost ? "The connection broke: see the server's log." : undefined);
}

/** Where it happened, for the message. `doing`: `read \`shop\`.\`orders\``, `connect`. */
export interface ErrorPlace {
  readonly side: Side;
  readonly doing: string;
  /** Table, or server address. */
  readonly place: string;
}

/**
 * Total. The server's own words stay in the message, with its number. @returns SyncError; an error that is one already
 * is given back as it is.
 */
export function mysqlError(e: unknown, where: ErrorPlace): SyncError {
  if (isSyncError(e)) return e;
  const d = asDriverError(e);
  const number = errnoOf(e);
  const word = number !== 0 ? `${String(number)} ${d.message}` : `${d.code ?? ''} ${d.message}`.trim();
  const meaning = MEANINGS[number] ?? tlsMeaning(e) ?? { code: 'source' };
  const io: ErrorCode = where.side === 'source' ? 'SOURCE_IO' : 'SINK_IO';
  const missing = where.side === 'sink' && meaning.code === 'SOURCE_MISSING';
  const code = meaning.code === 'source' || meaning.code === 'sink' || missing ? io : meaning.code;
  const lost = isConnectionLost(e);
  const retry = meaning.retry ?? (lost ? 'reconnect' : number !== 0 ? 'never' : undefined);
  const hint = meaning.hint ?? hintOf(d, lost);
  return new SyncError(code, `cannot ${where.doing}: ${word}`, {
    place: where.place,
    cause: e,
    blame: meaning.blame ?? where.side,
    ...(retry === undefined ? {} : { retry }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** `socketTimeout` of the URL. */
export function silentError(ms: number): Error {
  const message = `the server was silent for ${String(ms)} ms (socketTimeout)`;
  return Object.assign(new Error(message), { code: 'ETIMEDOUT', fatal: true });
}

/** A made-up error of the driver: the session was closed on our side while work was under way. */
export function closedError(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED', fatal: true });
}
