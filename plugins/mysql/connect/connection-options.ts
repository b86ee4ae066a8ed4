/** The options that reader and writer have alike: where the server is, and who we are there. */
import { type Finding } from 'syncx/plugin-api';
import type { ZeroDate } from '../catalog/columns.js';
import { parseJdbcUrl, showAddress } from './jdbc-url.js';
import type { Endpoint } from './session.js';
import { tlsInVain, tlsMode } from './tls-mode.js';
import { urlSettings } from './url-params.js';

const JDBC_URL = {
  title: 'JDBC URL',
  description:
    'Address of the server with its database: jdbc:mysql://host:3306/db?name=value; several hosts, or a list of URLs, are alternates that are tried in order.',
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
  ],
  examples: ['jdbc:mysql://127.0.0.1:3306/shop', ['jdbc:mysql://db1/shop', 'jdbc:mysql://db2/shop']],
  'x-secret': 'url',
} as const;

export const USERNAME = {
  title: 'User',
  description: 'User of the database; also as part of the URL.',
  type: 'string',
  examples: ['sync'],
  'x-state': 'tuning',
} as const;

export const PASSWORD = {
  title: 'Password',
  description: 'Password of the user; better not in the file: ${env:NAME} or ${file:path}.',
  type: 'string',
  'x-secret': true,
  'x-state': 'tuning',
} as const;

/** Properties of an entry of `connection` that reader and writer share. */
export const CONNECTION_PROPERTIES = {
  jdbcUrl: JDBC_URL,
  schema: {
    title: 'Database',
    description: 'Database of the tables, in place of the one in the URL.',
    type: 'string',
    minLength: 1,
    examples: ['shop'],
    'x-aliases': ['database'],
  },
  // As the options of the same names, but for `x-state`, which stands on options only.
  username: { title: 'User', description: 'User of the database, here only.', type: 'string', examples: ['sync'] },
  password: { title: 'Password', description: 'Password of that user.', type: 'string', 'x-secret': true },
} as const;

export const PROPERTIES = {
  title: 'Connection properties',
  description: 'Parameters of the connection, as they could stand in the URL; they win over those.',
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  default: {},
  examples: [{ sslMode: 'REQUIRED' }],
  'x-secret': 'properties',
  'x-state': 'tuning',
} as const;

export const CONNECT_TIMEOUT = {
  title: 'Connect timeout',
  description: 'How long a connection may take to come about.',
  type: 'integer',
  minimum: 1,
  default: 30,
  examples: [10],
  'x-unit': 's',
  'x-state': 'tuning',
} as const;

const PEM = (what: string, title: string, example: string) =>
  ({
    title,
    description: `Path of a PEM file with ${what}.`,
    type: 'string',
    minLength: 1,
    examples: [example],
    'x-path': 'one',
    'x-state': 'tuning',
  }) as const;

export const TLS_FILES = {
  sslCa: PEM(
    'the certificates of the authorities that the server’s certificate is checked against; without sslMode they mean VERIFY_CA',
    'CA certificates',
    'ca.pem',
  ),
  sslCert: PEM('our own certificate, for servers that ask for one', 'Client certificate', 'client.pem'),
  sslKey: PEM("our certificate's private key", 'Client key', 'client-key.pem'),
} as const;

/** What reader and writer options have in common, as `create` gets them. */
export interface ServerOptions {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  readonly connectTimeOut: number;
  readonly sslCa?: string | undefined;
  readonly sslCert?: string | undefined;
  readonly sslKey?: string | undefined;
}

export interface ConnectionEntry {
  readonly jdbcUrl: string | readonly string[];
  readonly schema?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

const urlsOf = (c: ConnectionEntry): readonly string[] => (typeof c.jdbcUrl === 'string' ? [c.jdbcUrl] : c.jdbcUrl);

const allParams = (o: ServerOptions, params: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...params, ...Object.entries(o.properties).map(([k, v]): [string, string] => [k, String(v)])]);

interface Given {
  readonly endpoint: Endpoint;
  readonly zeroDate: ZeroDate | null;
}

/** The URL with the options around it; a text: what is wrong with the URL. */
function endpointOf(o: ServerOptions, c: ConnectionEntry, url: string): Given | string {
  const parsed = parseJdbcUrl(url);
  if (typeof parsed === 'string') return parsed;
  const { settings } = urlSettings(allParams(o, parsed.params));
  const ca = o.sslCa ?? settings.ca;
  const tls = {
    mode: tlsMode(settings.tls, ca !== null),
    ca,
    cert: o.sslCert ?? null,
    key: o.sslKey ?? null,
  };
  return {
    zeroDate: settings.zeroDate,
    endpoint: {
      addresses: parsed.addresses,
      user: c.username ?? o.username ?? parsed.user ?? settings.user ?? '',
      password: c.password ?? o.password ?? parsed.password ?? settings.password ?? '',
      database: c.schema ?? parsed.database,
      tls,
      connectTimeoutMs: settings.connectTimeoutMs ?? o.connectTimeOut * 1000,
      socketTimeoutMs: settings.socketTimeoutMs,
      sessionVariables: settings.sessionVariables,
    },
  };
}

/** The alternates of an entry of `connection`. Its URLs must have passed {@link checkConnections}. */
export function endpointsOf(o: ServerOptions, c: ConnectionEntry): readonly Endpoint[] {
  return urlsOf(c).flatMap((url) => {
    const given = endpointOf(o, c, url);
    return typeof given === 'string' ? [] : [given.endpoint];
  });
}

/** What `zeroDateTimeBehavior` of the URL says; null: nothing. */
export function zeroDateOf(o: ServerOptions, c: ConnectionEntry): ZeroDate | null {
  for (const url of urlsOf(c)) {
    const given = endpointOf(o, c, url);
    if (typeof given !== 'string' && given.zeroDate !== null) return given.zeroDate;
  }
  return null;
}

/** Where the entry's server is, for messages: `127.0.0.1:3306/shop`. */
export function showEndpoint(e: Endpoint): string {
  const [first] = e.addresses;
  const where = first === undefined ? '' : showAddress(first);
  return e.database === null ? where : `${where}/${e.database}`;
}

/** Rules of the connections that the schema cannot say. */
export function checkConnections(o: ServerOptions, connections: readonly ConnectionEntry[]): readonly Finding[] {
  const findings: Finding[] = [];
  const said = new Set<string>();
  const once = (message: string, path: string): void => {
    if (said.has(message)) return;
    said.add(message);
    findings.push({ path, message, level: 'warning' });
  };
  const sayParams = (params: ReadonlyMap<string, string>, path: string): void => {
    for (const f of urlSettings(params).findings) {
      const key = `${f.name} ${f.message}`;
      if (said.has(key)) continue; // alternates mostly repeat their parameters
      said.add(key);
      findings.push({
        path,
        message: f.message.includes(f.name) ? f.message : `${f.name}: ${f.message}`,
        level: f.level,
      });
    }
  };
  connections.forEach((c, i) => {
    const at = `connection[${String(i)}]`;
    const list = typeof c.jdbcUrl !== 'string';
    urlsOf(c).forEach((url, k) => {
      const path = list ? `${at}.jdbcUrl[${String(k)}]` : `${at}.jdbcUrl`;
      const parsed = parseJdbcUrl(url);
      if (typeof parsed === 'string') {
        findings.push({
          path,
          message: `the URL is no JDBC URL: ${parsed}`,
          hint: 'Write jdbc:mysql://host:3306/database.',
        });
        return;
      }
      sayParams(parsed.params, path);
      const { settings } = urlSettings(allParams(o, parsed.params));
      const ca = (o.sslCa ?? settings.ca) !== null;
      const files = { ca, cert: o.sslCert !== undefined, key: o.sslKey !== undefined };
      for (const message of tlsInVain(settings.tls, files)) once(message, path);
      const user = c.username ?? o.username ?? parsed.user ?? parsed.params.get('user') ?? '';
      if (user === '')
        findings.push({ path: 'username', message: 'no user is given', hint: 'Give username and password.' });
    });
  });
  sayParams(new Map(Object.entries(o.properties).map(([k, v]) => [k, String(v)])), 'properties');
  return findings;
}
