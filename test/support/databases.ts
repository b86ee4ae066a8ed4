/** Sessions that tell what a MySQL server holds exactly, and databases of a test's own. */
import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';

/** A value as the server prints it; bytes for binary types, BIT and geometry. */
export type ServerValue = string | Buffer | null;
export type ServerRow = readonly ServerValue[];

export interface SessionOptions {
  /** Several statements in one text; `query` gives the rows of the last. Default false. */
  readonly multipleStatements?: boolean;
}

export interface Session extends AsyncDisposable {
  /** The rows; none of a statement that gives none. Beware of FLOAT: servers print six digits of it (use `f + 0e0`). */
  query(sql: string, values?: readonly unknown[]): Promise<readonly ServerRow[]>;
  /** For what `query` cannot do. */
  readonly connection: mysql.Connection;
  close(): Promise<void>;
}

export interface OwnDatabase extends Session {
  readonly name: string;
  /** The server's URL with the database. */
  readonly url: string;
  /** Ends every session that uses the database, and drops it. */
  dispose(): Promise<void>;
}

/** Types that mysql2 would make numbers of. */
const NUMBERS = new Set(['TINY', 'SHORT', 'LONG', 'INT24', 'LONGLONG', 'YEAR', 'FLOAT', 'DOUBLE']);

/** A session at UTC, in utf8mb4, with an empty sql_mode. */
export async function openSession(url: string, options: SessionOptions = {}): Promise<Session> {
  const u = new URL(url);
  const connection = await mysql.createConnection({
    host: u.hostname,
    port: Number(u.port || '3306'),
    user: decodeURIComponent(u.username),
    password: decodeURIComponent(u.password),
    database: decodeURIComponent(u.pathname.slice(1)),
    charset: 'utf8mb4',
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    multipleStatements: options.multipleStatements ?? false,
    typeCast: (field, next) => {
      if (NUMBERS.has(field.type)) return field.string('latin1');
      return field.type === 'GEOMETRY' ? field.buffer() : next();
    },
  });
  connection.on('error', () => undefined); // the next query tells of it
  await connection.query("SET SESSION time_zone = '+00:00', sql_mode = ''");
  const close = async (): Promise<void> => {
    try {
      await connection.end();
    } catch {
      connection.destroy(); // the server was killed
    }
  };
  return {
    connection,
    query: async (sql, values) => {
      const [result, fields] = await connection.query({ sql, ...(values ? { values: [...values] } : {}) });
      const results = options.multipleStatements && severalIn(fields) ? (result as unknown[]) : [result];
      const last = results.at(-1);
      return Array.isArray(last) ? (last as ServerRow[]) : [];
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of several statements mysql2 gives a list of fields each, undefined where there are none. */
function severalIn(fields: unknown): boolean {
  return Array.isArray(fields) && fields.some((f) => f === undefined || Array.isArray(f));
}

/** A new database with a random name: `await using db = await ownDatabase(server.url)`. */
export async function ownDatabase(url: string, options: SessionOptions = {}): Promise<OwnDatabase> {
  const name = `sync_${randomBytes(6).toString('hex')}`;
  {
    await using admin = await openSession(url);
    await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  }
  const own = new URL(url);
  own.pathname = `/${name}`;
  const session = await openSession(own.href, options);
  const dispose = async (): Promise<void> => {
    await session.close();
    await drop(url, name);
  };
  return { ...session, name, url: own.href, dispose, [Symbol.asyncDispose]: dispose };
}

async function drop(url: string, name: string): Promise<void> {
  await using admin = await openSession(url);
  const left = await admin.query('SELECT id FROM information_schema.processlist WHERE db = ?', [name]);
  for (const [id] of left) await admin.query(`KILL ${String(id)}`).catch(() => undefined); // it may have ended by now
  // A prepared XA transaction holds its tables for ever: the test has to end it.
  await admin.query('SET SESSION lock_wait_timeout = 20');
  await admin.query(`DROP DATABASE ${name}`);
}
