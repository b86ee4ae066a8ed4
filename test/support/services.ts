/** Tests against the real servers of install/services: skipped with the reason where there is no server, failing in CI. */
import { describe, test, type TestContext } from 'node:test';

export type ServerKind = 'mariadb' | 'mysql55' | 'kafka';
/** Both kinds of MySQL, for what must hold on each. */
export const MYSQL_SERVERS: readonly ServerKind[] = ['mariadb', 'mysql55'];

export interface TestServer {
  readonly kind: ServerKind;
  /** `mysql://user:password@host:port`; the user may create databases and users. Of Kafka: `host:port` without a login. */
  readonly url: string;
  /** The path of its unix socket; null where it is not known, as of a user's own server, and of Kafka. */
  readonly socket: string | null;
}

const CI = !['', '0', 'false'].includes(process.env['CI'] ?? '');

/** What `npm test` counts at its end: scripts/test-services.mjs looks for this beginning of a reason. */
const NO_SERVER = 'no server: ';

/** The variable that tells where the server is. */
export const urlVariable = (kind: ServerKind): string =>
  kind === 'kafka' ? 'SYNC_KAFKA_BROKERS' : `SYNC_${kind.toUpperCase()}_URL`;

function variable(name: string): string | null {
  const value = process.env[name];
  return value === undefined || value === '' ? null : value;
}

export const mariadbUrl = (): string | null => variable(urlVariable('mariadb'));
export const mysql55Url = (): string | null => variable(urlVariable('mysql55'));

/** Null: there is none. */
export function testServer(kind: ServerKind): TestServer | null {
  const url = variable(urlVariable(kind));
  return url === null ? null : { kind, url, socket: variable(`SYNC_${kind.toUpperCase()}_SOCKET`) };
}

const why = (kind: ServerKind): string => `${NO_SERVER}${urlVariable(kind)} is not set; see install/services/README.md`;
const listOf = (kinds: ServerKind | readonly ServerKind[]): readonly ServerKind[] =>
  typeof kinds === 'string' ? [kinds] : kinds;

/**
 * A test of its own for each kind of server: `serverTest(MYSQL_SERVERS, 'C08 …', async (server) => { … })`.
 * `concurrency`: of its subtests, which else come one after the other, however they are begun.
 */
export function serverTest(
  kinds: ServerKind | readonly ServerKind[],
  name: string,
  body: (server: TestServer, t: TestContext) => Promise<void> | void,
  concurrency = 1,
): void {
  for (const kind of listOf(kinds)) {
    const server = testServer(kind);
    test(`${name} [${kind}]`, { skip: server === null && !CI ? why(kind) : false, concurrency }, (t) => {
      if (server === null) throw new Error(why(kind));
      return body(server, t);
    });
  }
}

/** A suite for each kind, for tests that share what a hook sets up. Where there is no server `body` is not called. */
export function serverSuite(
  kinds: ServerKind | readonly ServerKind[],
  name: string,
  body: (server: TestServer) => void,
): void {
  for (const kind of listOf(kinds)) {
    const server = testServer(kind);
    if (server === null) serverTest(kind, name, () => undefined);
    else {
      describe(`${name} [${kind}]`, () => {
        body(server);
      });
    }
  }
}
