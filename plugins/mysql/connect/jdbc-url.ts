/** Where a server listens: a TCP address, or a Unix socket in place of one. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly socketPath: string | null;
}

export interface ParsedUrl {
  /** At least one; alternates in the order in which they are tried. */
  readonly addresses: readonly Address[];
  readonly database: string | null;
  readonly user: string | null;
  readonly password: string | null;
  /** In the order of the URL; a name that stands twice has its last value, as in JDBC drivers. */
  readonly params: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 3306;
/** `jdbc:mysql://`, `jdbc:mariadb:loadbalance://`, `mysql://` … */
const HEAD = /^(?:jdbc:)?(?:mysql|mariadb)(?::(?:replication|loadbalance|sequential|failover|aurora))?:\/\//i;

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // a lone %
  }
}

function parseAddress(text: string): Address | null {
  const m = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]()=]*))(?::(\d+))?$/.exec(text.trim());
  if (m === null) return null;
  const port = m[3] === undefined ? DEFAULT_PORT : Number(m[3]);
  if (port < 1 || port > 65_535) return null;
  const host = m[1] ?? m[2] ?? '';
  return { host: host === '' ? 'localhost' : host, port, socketPath: null };
}

/** JDBC drivers take a parameter's text as it stands where it is no valid escape. */
function parseParams(query: string): Map<string, string> {
  const params = new Map<string, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    params.set(decoded(name) ?? name, decoded(value) ?? value);
  }
  return params;
}

const SOCKET_PARAMS: readonly string[] = ['localSocket', 'unixSocket', 'socket', 'socketPath'];

/**
 * A JDBC URL of MySQL or MariaDB, or the same without `jdbc:`: `jdbc:mysql://host[:port][,host…]/[database][?name=value&…]`.
 * Several hosts are alternates. `[::1]` is an IPv6 address; `?localSocket=/path` (MariaDB's word) a Unix socket.
 * @returns what is wrong with it, as a clause without its text, which may hold a password.
 */
export function parseJdbcUrl(text: string): ParsedUrl | string {
  const head = HEAD.exec(text.trim());
  if (head === null) return 'it does not begin with `jdbc:mysql://`';
  const rest = text.trim().slice(head[0].length);
  const mark = rest.indexOf('?');
  const [before, query] = mark < 0 ? [rest, ''] : [rest.slice(0, mark), rest.slice(mark + 1)];
  const slash = before.indexOf('/');
  const [authority, path] = slash < 0 ? [before, ''] : [before.slice(0, slash), before.slice(slash + 1)];
  if (path.includes('/')) return 'the database has a slash in its name; write it as %2F';
  const at = authority.lastIndexOf('@');
  const hosts = authority.slice(at + 1);
  const user = at < 0 ? null : authority.slice(0, at);
  const colon = user?.indexOf(':') ?? -1;
  const params = parseParams(query);
  const addresses: Address[] = [];
  for (const part of hosts.split(',')) {
    const address = parseAddress(part);
    if (address === null) return 'its host and port are not of the form `host:port`, `[ipv6]:port`';
    addresses.push(address);
  }
  const socketPath = SOCKET_PARAMS.map((p) => params.get(p)).find((p) => p !== undefined) ?? null;
  const database = decoded(path) ?? path;
  return {
    addresses: socketPath === null ? addresses : [{ host: 'localhost', port: DEFAULT_PORT, socketPath }],
    database: database === '' ? null : database,
    user: user === null ? null : textOf(colon < 0 ? user : user.slice(0, colon)),
    password: user === null || colon < 0 ? null : textOf(user.slice(colon + 1)),
    params,
  };
}

const textOf = (encoded: string): string => decoded(encoded) ?? encoded;

/** For messages: never with user or password. */
export function showAddress(a: Address): string {
  if (a.socketPath !== null) return a.socketPath;
  return `${a.host.includes(':') ? `[${a.host}]` : a.host}:${String(a.port)}`;
}
