/** What parameters of a JDBC URL (or `properties`) mean here. */
import type { ZeroDate } from '../catalog/columns.js';
import type { TlsMode, TlsWords } from './tls-mode.js';

export interface TlsSpec {
  readonly mode: TlsMode;
  /** Paths of PEM files. */
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

export interface UrlSettings {
  readonly tls: TlsWords;
  /** `serverSslCert`: path of a PEM file with authorities. */
  readonly ca: string | null;
  readonly connectTimeoutMs: number | null;
  /** Silence of the server in the middle of an answer, in ms; null: no limit. */
  readonly socketTimeoutMs: number | null;
  /** `name=value,…`, set after our own. */
  readonly sessionVariables: string | null;
  readonly zeroDate: ZeroDate | null;
  readonly user: string | null;
  readonly password: string | null;
}

export interface UrlFinding {
  readonly name: string;
  readonly level: 'warning' | 'error';
  readonly message: string;
}

/**
 * Accepted without a word: what they ask for is done anyway, or they steer workings of the JDBC drivers that have no
 * counterpart. Values of TIMESTAMP are read and written as instants, so that zones of a driver change nothing.
 */
const HARMLESS: ReadonlySet<string> = new Set(
  `useUnicode characterEncoding characterSetResults connectionCollation useCursorFetch defaultFetchSize autoReconnect
  autoReconnectForPools rewriteBatchedStatements allowMultiQueries useServerPrepStmts cachePrepStmts prepStmtCacheSize
  prepStmtCacheSqlLimit useLocalSessionState useLocalTransactionState cacheServerConfiguration cacheResultSetMetadata
  elideSetAutoCommits maintainTimeStats tcpKeepAlive tcpNoDelay serverTimezone connectionTimeZone useTimezone
  forceConnectionTimeZoneToSession useLegacyDatetimeCode useJDBCCompliantTimezoneShift useGmtMillisForDatetimes
  allowPublicKeyRetrieval nullCatalogMeansCurrent nullNamePatternMatchesAll useInformationSchema useOldAliasMetadataBehavior
  failOverReadOnly maxReconnects initialTimeout dontTrackOpenResources netTimeoutForStreamingResults enableQueryTimeouts
  jdbcCompliantTruncation allowLoadLocalInfile yearIsDateType useCompression useBulkStmts useAffectedRows
  noAccessToProcedureBodies remarks createDatabaseIfNotExist driver permitMysqlScheme localSocket unixSocket socket socketPath
  logger profileSQL useUsageAdvisor disableMariaDbDriver transformedBitIsBoolean`.split(/\s+/),
);

const isTrue = (text: string): boolean => /^(?:true|yes|1|)$/i.test(text);

const SSL_MODES: Readonly<Record<string, TlsMode>> = {
  disabled: 'off',
  disable: 'off',
  preferred: 'preferred',
  trust: 'required',
  required: 'required',
  'verify-ca': 'verify-ca',
  verify_ca: 'verify-ca',
  'verify-full': 'verify-identity',
  verify_identity: 'verify-identity',
};

const ZERO_DATES: Readonly<Record<string, ZeroDate>> = {
  converttonull: 'null',
  convert_to_null: 'null',
  exception: 'error',
};

type Draft = { -readonly [K in keyof UrlSettings]: UrlSettings[K] };

type Setter = (draft: Draft, value: string, name: string) => UrlFinding | null;

function millis(draft: Draft, key: 'connectTimeoutMs' | 'socketTimeoutMs', value: string, name: string) {
  if (!/^\d+$/.test(value)) return bad(name, `\`${value}\` is no number of milliseconds`);
  draft[key] = Number(value) === 0 ? null : Number(value);
  return null;
}

const bad = (name: string, message: string): UrlFinding => ({ name, level: 'error', message });
const odd = (name: string, message: string): UrlFinding => ({ name, level: 'warning', message });

function tlsWord(draft: Draft, word: 'useSSL' | 'requireSSL' | 'verifyServerCertificate', value: string): null {
  draft.tls = { ...draft.tls, [word]: isTrue(value) };
  return null;
}

/** Key stores of Java, which only Java reads, and the option that takes a PEM file in their place. */
const JAVA_STORES: readonly (readonly [name: string, option: string])[] = [
  ['trustCertificateKeyStoreUrl', 'sslCa'],
  ['trustStore', 'sslCa'],
  ['clientCertificateKeyStoreUrl', 'sslCert and sslKey'],
  ['keyStore', 'sslCert and sslKey'],
];

const javaStore = (name: string, option: string): UrlFinding =>
  odd(name, `\`${name}\` names a key store of Java, which is not read: give PEM files by ${option}`);

const SETTERS: Readonly<Record<string, Setter>> = {
  connectTimeout: (d, v, n) => millis(d, 'connectTimeoutMs', v, n),
  socketTimeout: (d, v, n) => millis(d, 'socketTimeoutMs', v, n),
  user: (d, v) => {
    d.user = v;
    return null;
  },
  password: (d, v) => {
    d.password = v;
    return null;
  },
  sessionVariables: (d, v) => {
    d.sessionVariables = v;
    return null;
  },
  sslMode: (d, v, n) => {
    const mode = SSL_MODES[v.toLowerCase()];
    if (mode === undefined)
      return bad(n, `\`${v}\` is no ssl mode (DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY)`);
    d.tls = { ...d.tls, sslMode: mode };
    return null;
  },
  // True alone is what the drivers do anyway: TLS where the server has it. Only requireSSL insists.
  useSSL: (d, v) => tlsWord(d, 'useSSL', v),
  requireSSL: (d, v) => tlsWord(d, 'requireSSL', v),
  verifyServerCertificate: (d, v) => tlsWord(d, 'verifyServerCertificate', v),
  serverSslCert: (d, v) => {
    d.ca = v;
    return null;
  },
  ...Object.fromEntries(
    JAVA_STORES.map(([name, option]) => [name, (_d: Draft, _v: string, n: string) => javaStore(n, option)]),
  ),
  zeroDateTimeBehavior: (d, v, n) => {
    const zeroDate = ZERO_DATES[v.toLowerCase()];
    if (zeroDate === undefined)
      return odd(n, `\`${v}\` changes values, which this tool does not do: zero dates are kept`);
    d.zeroDate = zeroDate;
    return null;
  },
  tinyInt1isBit: (_d, v, n) => (isTrue(v) ? odd(n, 'TINYINT(1) is read as the number that it is') : null),
};

/** The settings that the parameters ask for, and what is to be said of them. */
export function urlSettings(params: ReadonlyMap<string, string>): {
  readonly settings: UrlSettings;
  readonly findings: readonly UrlFinding[];
} {
  const draft: Draft = {
    tls: { sslMode: null, useSSL: null, requireSSL: null, verifyServerCertificate: null },
    ca: null,
    connectTimeoutMs: null,
    socketTimeoutMs: null,
    sessionVariables: null,
    zeroDate: null,
    user: null,
    password: null,
  };
  const findings: UrlFinding[] = [];
  for (const [name, value] of params) {
    const set = Object.hasOwn(SETTERS, name) ? SETTERS[name] : undefined;
    if (set !== undefined) {
      const finding = set(draft, value, name);
      if (finding !== null) findings.push(finding);
    } else if (!HARMLESS.has(name)) {
      findings.push(odd(name, `the connection parameter \`${name}\` has no effect here`));
    }
  }
  return { settings: draft, findings };
}
