/** The real servers that the tests of this plugin run on: SYNC_MARIADB_URL, SYNC_MYSQL55_URL (install/services). */
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { endpointsOf } from '../connect/connection-options.js';
import { openSession, type Endpoint, type Session } from '../connect/session.js';
import type { Side } from '../connect/mysql-errors.js';

export type ServerKind = 'mariadb' | 'mysql55';
export const SERVERS: readonly ServerKind[] = ['mariadb', 'mysql55'];

/** A database of one test, dropped at its end. */
export interface TestDatabase {
  readonly kind: ServerKind;
  readonly name: string;
  /** With the database. */
  readonly jdbcUrl: string;
  readonly username: string;
  readonly password: string;
  readonly endpoints: readonly Endpoint[];
  /** For the test's own statements; pinned as all sessions are. */
  readonly session: Session;
  open(side: Side): Promise<Session>;
  run(...statements: readonly string[]): Promise<void>;
  rows(sql: string): Promise<readonly (readonly (string | null)[])[]>;
}

const never = new AbortController().signal;

async function withDatabase(kind: ServerKind, url: string, body: (db: TestDatabase) => Promise<void>): Promise<void> {
  const name = `t_${randomBytes(5).toString('hex')}`;
  const { username, password, host } = new URL(url);
  const jdbc = (database: string): string => `jdbc:mysql://${host}/${database}`;
  const endpoints = (database: string): readonly Endpoint[] =>
    endpointsOf({ username, password, properties: {}, connectTimeOut: 10 }, { jdbcUrl: jdbc(database) });
  await using admin = await openSession(endpoints(''), { side: 'source' }, never);
  await admin.run(`create database ${name}`, 'create a database');
  try {
    await using session = await openSession(endpoints(name), { side: 'source' }, never);
    await body({
      kind,
      name,
      jdbcUrl: jdbc(name),
      username,
      password,
      endpoints: endpoints(name),
      session,
      open: (side) => openSession(endpoints(name), { side }, never),
      run: async (...statements) => {
        for (const s of statements) await session.run(s, s);
      },
      rows: (sql) => session.query(sql, sql),
    });
  } finally {
    await admin.run(`drop database ${name}`, 'drop the database');
  }
}

const CI = !['', '0', 'false'].includes(process.env['CI'] ?? '');

/** A test for each kind of server, with a database of its own. Skipped, and said so, where there is no server; in CI that fails. */
export function onServers(kinds: readonly ServerKind[], name: string, body: (db: TestDatabase) => Promise<void>): void {
  for (const kind of kinds) {
    const variable = `SYNC_${kind.toUpperCase()}_URL`;
    const url = process.env[variable] ?? '';
    const why = `no server: ${variable} is not set; see install/services/README.md`;
    test(`${name} [${kind}]`, { skip: url === '' && !CI ? why : false }, async () => {
      if (url === '') throw new Error(why);
      await withDatabase(kind, url, body);
    });
  }
}
