import { SyncError, isSyncError } from 'syncx/plugin-api';
import { orAborted } from 'syncx/plugin-kit';
import { showAddress, type Address } from './jdbc-url.js';
import { closedError, mysqlError, silentError, type Side } from './mysql-errors.js';
import {
  checkDriver,
  giveFile,
  plainWithoutTls,
  sendBuffer,
  statementBuffer,
  useTls,
  type Driver,
  type FieldPacket,
  type OkPacket,
  type QueryCommand,
  type RawConnection,
} from './raw-connection.js';
import { RowChunks } from './row-chunks.js';
import { parseRow, parseText, type RowOfBytes, type RowOfText, type RowPacket } from './row-text.js';
import { isolationOf, readServerFacts, sessionSetup, type ServerFacts } from './session-setup.js';
import { tlsSetup } from './tls-options.js';
import { Turns } from './turns.js';
import type { TlsSpec } from './url-params.js';

/** One URL of a job. Never logged: it holds the password. */
export interface Endpoint {
  /** Tried in order. */
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly password: string;
  readonly database: string | null;
  readonly tls: TlsSpec;
  readonly connectTimeoutMs: number;
  readonly socketTimeoutMs: number | null;
  readonly sessionVariables: string | null;
}

export interface SessionOptions {
  readonly side: Side;
}

export interface RunResult {
  /** Rows matched, not rows changed (the driver asks for FOUND_ROWS). 2 a row for a replaced one. */
  readonly affected: number;
  readonly warnings: number;
  /** `Duplicates` of the message that the server gives for INSERTs of several rows (what it counts differs); else 0. */
  readonly duplicates: number;
}

function runResult(ok: Partial<OkPacket> | undefined): RunResult {
  const duplicates = /Duplicates: (\d+)/.exec(ok?.info ?? '')?.[1] ?? 0;
  const { affectedRows: affected = 0, warningStatus: warnings = 0 } = ok ?? {};
  return { affected: Number(affected), warnings: Number(warnings), duplicates: Number(duplicates) };
}

/** A result that flows. The receiver takes each packet before `row` returns; `pause` is honoured at the next packet. */
export interface RowReceiver {
  fields(fields: readonly FieldPacket[]): void;
  row(packet: RowPacket): void;
}

/**
 * One connection, pinned to known settings (docs in session-setup.ts). Statements run one after another. Every failure is a
 * SyncError; one that broke the connection leaves the session `broken`.
 */
export class Session implements AsyncDisposable {
  readonly server: ServerFacts;
  readonly address: Address;
  readonly #side: Side;
  readonly #driver: Driver;
  readonly #raw: RawConnection;
  readonly #pending = new Set<(e: Error) => void>();
  readonly #turns = new Turns();
  #broken: Error | null = null;
  /** Of the last result. */
  #chunks: RowChunks | null = null;

  constructor(
    driver: Driver,
    raw: RawConnection,
    address: Address,
    side: Side,
    server: ServerFacts,
    broken: () => Error | null,
  ) {
    this.#driver = driver;
    this.#raw = raw;
    this.address = address;
    this.#side = side;
    this.server = server;
    this.#lost = broken;
  }

  readonly #lost: () => Error | null;

  /** True: nothing can be sent any more; an open transaction is rolled back by the server. */
  get broken(): boolean {
    return this.#broken !== null || this.#lost() !== null || this.#raw.stream.destroyed;
  }

  /** The rows as text (utf8); null for NULL. For small results. `doing` completes "cannot …" in an error. */
  async query(sql: string, doing: string): Promise<readonly RowOfText[]> {
    const rows: RowOfText[] = [];
    await this.#result(statementBuffer(sql), doing, (p) => void rows.push(parseText(p)));
    return rows;
  }

  /** The rows as bytes. For small results with binary columns. */
  async queryBytes(sql: string, doing: string): Promise<readonly RowOfBytes[]> {
    const rows: RowOfBytes[] = [];
    await this.#result(statementBuffer(sql), doing, (p) => void rows.push(parseRow(p)));
    return rows;
  }

  /** The columns that a SELECT has, and its rows are not wanted (`… limit 0`). */
  async describe(sql: string, doing: string): Promise<readonly FieldPacket[]> {
    let fields: readonly FieldPacket[] = [];
    await this.#result(
      statementBuffer(sql),
      doing,
      () => undefined,
      (f) => (fields = f),
    );
    return fields;
  }

  /** A statement without a result: text, or bytes as `statementBuffer` makes them. */
  async run(statement: string | Buffer, doing: string): Promise<RunResult> {
    const bytes = typeof statement === 'string' ? statementBuffer(statement) : statement;
    const ok = (await this.#send(bytes, doing, () => undefined)) as Partial<OkPacket> | undefined;
    return runResult(ok);
  }

  /** LOAD DATA LOCAL: the server gets these packets (`PACKET_HEADER` bytes of room each) as its file. */
  async load(sql: string, packets: readonly Buffer[], doing: string): Promise<RunResult> {
    const ok = (await this.#send(statementBuffer(sql), doing, (c) => giveFile(c, packets))) as
      Partial<OkPacket> | undefined;
    return runResult(ok);
  }

  /** Streams a result; resolves at its end, rejects where it breaks off. Nothing else may be sent meanwhile. */
  async stream(sql: string, receiver: RowReceiver, doing: string): Promise<void> {
    await this.#result(
      statementBuffer(sql),
      doing,
      (p) => receiver.row(p),
      (f) => receiver.fields(f),
    );
  }

  /** The result that is streamed rests, until `resume`. */
  pause(): void {
    this.#chunks?.pause();
  }

  resume(): void {
    if (!this.broken) this.#chunks?.resume();
  }

  /** Ends the connection where an answer is due and nothing was heard for so long; a result that rests is no silence. */
  watchSilence(ms: number): void {
    this.#raw.stream.setTimeout(ms, () => {
      if (this.#pending.size === 0 || this.#chunks?.paused === true) return;
      this.#fail(silentError(ms));
      this.#raw.destroy();
    });
  }

  /** Drops the connection without a word to the server; pending work rejects. An open transaction is rolled back. */
  destroy(): void {
    this.#fail(closedError());
    this.#raw.destroy();
  }

  /** Says goodbye where nothing is under way, else drops the connection. Within 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.broken || this.#pending.size > 0) {
      this.destroy();
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 1000);
      this.#raw.end(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.destroy();
  }

  #fail(e: Error): void {
    this.#broken ??= e;
    for (const reject of this.#pending) reject(e);
    this.#pending.clear();
  }

  async #result(
    statement: Buffer,
    doing: string,
    onRow: (row: RowPacket) => void,
    onFields?: (fields: readonly FieldPacket[]) => void,
  ): Promise<void> {
    let thrown: unknown = null;
    const guarded = (take: () => void): void => {
      if (thrown !== null) return;
      try {
        take();
      } catch (e) {
        thrown = e;
        // The rest of the result is not wanted; the driver cannot skip it.
        this.destroy();
      }
    };
    await this.#send(statement, doing, (command) => {
      command.on('fields', (fields) => {
        if (fields !== undefined) guarded(() => onFields?.(fields));
      });
      this.#chunks = RowChunks.begin(this.#raw, command, (row) => {
        if (thrown !== null) return;
        try {
          onRow(row);
        } catch (e) {
          thrown = e;
          this.destroy();
        }
      });
    }).catch((e: unknown) => {
      throw thrown ?? e;
    });
    if (thrown !== null) throw thrown as Error;
  }

  #send(statement: Buffer, doing: string, prepare: (command: QueryCommand) => void): Promise<unknown> {
    return this.#turns.take(() => this.#sendNow(statement, doing, prepare));
  }

  async #sendNow(statement: Buffer, doing: string, prepare: (command: QueryCommand) => void): Promise<unknown> {
    try {
      const lost = this.#broken ?? this.#lost();
      if (lost !== null) throw lost;
      return await new Promise<unknown>((resolve, reject) => {
        const settled = (): boolean => this.#pending.delete(reject);
        const command = this.#driver.createQuery(
          '',
          [],
          (e, result) => {
            if (!settled()) return;
            if (e === null) resolve(result);
            else reject(e);
          },
          this.#raw.config,
        );
        sendBuffer(command, statement);
        prepare(command);
        this.#pending.add(reject);
        this.#raw.addCommand(command);
      });
    } catch (e) {
      throw mysqlError(e, { side: this.#side, doing, place: showAddress(this.address) });
    }
  }
}

/**
 * Tries the endpoints' addresses in order.
 * @throws SyncError where none answers, naming all.
 */
export async function openSession(
  endpoints: readonly Endpoint[],
  options: SessionOptions,
  signal: AbortSignal,
): Promise<Session> {
  const driver = await loadDriver();
  const failures: SyncError[] = [];
  for (const { endpoint, address } of endpoints.flatMap((e) => e.addresses.map((a) => ({ endpoint: e, address: a })))) {
    signal.throwIfAborted();
    try {
      return await connect(driver, endpoint, address, options, signal);
    } catch (e) {
      signal.throwIfAborted();
      failures.push(
        mysqlError(e, { side: options.side, doing: `connect to ${showAddress(address)}`, place: showAddress(address) }),
      );
    }
  }
  const [first, ...more] = failures;
  if (first === undefined) throw new SyncError('INTERNAL', 'an endpoint without addresses');
  if (more.length === 0) throw first;
  // One that a person must mend is worth more than one that says only that nobody answers.
  const worst = failures.find((f) => f.retry === 'never') ?? first;
  throw new SyncError(worst.code, failures.map((f) => f.message).join('; '), {
    cause: worst.cause,
    retry: worst.retry,
    blame: worst.blame,
    ...(worst.place === undefined ? {} : { place: worst.place }),
    ...(worst.hint === undefined ? {} : { hint: worst.hint }),
  });
}

/** Also for those who will open a session soon: loading takes 20 ms, and can go on beside something else. */
export async function loadDriver(): Promise<Driver> {
  const { default: mysql2 } = await import('mysql2');
  return mysql2 as unknown as Driver;
}

async function connect(
  driver: Driver,
  endpoint: Endpoint,
  address: Address,
  { side }: SessionOptions,
  signal: AbortSignal,
): Promise<Session> {
  const tls = await tlsSetup(endpoint.tls, address);
  let lost: Error | null = null;
  const raw = driver.createConnection({
    ...(address.socketPath === null ? { host: address.host, port: address.port } : { socketPath: address.socketPath }),
    user: endpoint.user,
    password: endpoint.password,
    ...(endpoint.database === null ? {} : { database: endpoint.database }),
    charset: 'UTF8MB4_GENERAL_CI',
    connectTimeout: endpoint.connectTimeoutMs,
    flags: ['-CLIENT_QUERY_ATTRIBUTES', '-SESSION_TRACK'],
    ...(tls === undefined ? {} : { ssl: {} }),
  });
  // The driver emits here what no statement could be told; without a listener it would end the process.
  raw.on('error', (e) => (lost ??= e));
  const stop = (): void => raw.destroy();
  signal.addEventListener('abort', stop);
  try {
    checkDriver(driver, raw);
    if (tls !== undefined) useTls(raw, tls);
    if (endpoint.tls.mode === 'preferred' && tls !== undefined) plainWithoutTls(raw, {});
    const bare = new Session(driver, raw, address, side, NO_FACTS, () => lost);
    const server = await orAborted(prepareSession(bare, endpoint, side), signal);
    const session = new Session(driver, raw, address, side, server, () => lost);
    if (endpoint.socketTimeoutMs !== null) session.watchSilence(endpoint.socketTimeoutMs);
    return session;
  } catch (e) {
    raw.destroy();
    throw isSyncError(e) && e.cause !== undefined ? e.cause : e;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const NO_FACTS: ServerFacts = {
  version: '',
  mariadb: false,
  connectionId: '0',
  maxAllowedPacket: 0,
  lowerCaseTableNames: 0,
};

async function prepareSession(bare: Session, endpoint: Endpoint, side: Side): Promise<ServerFacts> {
  // The handshake is under way, and the rows of a result may be taken from the socket only behind it: first something without rows.
  await bare.run('do 0', 'set up the session');
  const server = await readServerFacts(bare);
  const own = endpoint.sessionVariables;
  for (const sql of sessionSetup(server, side, own)) await bare.run(sql, 'set up the session');
  for (const sql of await isolationOf(bare, side, own)) await bare.run(sql, 'set up the session');
  return server;
}
