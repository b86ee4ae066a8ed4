/**
 * The one place that knows mysql2's inner side. The package has an `exports` map, so nothing is imported from below it:
 * `createQuery` gives a command object, and its methods `start` and `_streamLocalInfile` are replaced by ours, so that
 * statements are bytes, rows stay packets (row-chunks.ts), and LOAD DATA LOCAL sends what we built. {@link checkDriver} fails at the first
 * connection where an update of the package has moved one of them.
 */
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, connect } from 'node:tls';
import { SyncError } from 'syncx/plugin-api';
import type { TlsSetup } from './tls-options.js';

/** A packet of the server as the driver has it: the payload is `buffer[offset .. end]`. It uses the object again. */
export interface DriverPacket {
  buffer: Buffer;
  start: number;
  offset: number;
  end: number;
  sequenceId: number;
  numPackets: number;
}

/** What the driver makes packets with; it calls `execute` with each chunk of the socket. */
export interface PacketParser {
  execute(chunk: Buffer): unknown;
  onPacket(packet: DriverPacket): void;
  readonly _reusablePacket: DriverPacket;
}

/** What the driver's writePacket needs of a packet. */
interface OutPacket {
  readonly buffer: Buffer;
  length(): number;
  writeHeader(sequenceId: number): void;
}

type NextStep = (this: QueryCommand, packet: DriverPacket, connection: RawConnection) => NextStep | null;

export interface FieldPacket {
  readonly name: string;
  readonly columnType: number;
  readonly flags: number;
  readonly characterSet: number;
  readonly columnLength: number;
  readonly decimals: number;
  readonly extendedFormat?: string;
  readonly extendedTypeName?: string;
}

export interface OkPacket {
  readonly affectedRows: number;
  readonly warningStatus: number;
  readonly serverStatus: number;
  readonly info: string;
}

export interface QueryCommand {
  options: object;
  /** The step that the next packet is for. */
  readonly next: NextStep | null;
  start: NextStep;
  row: NextStep;
  resultsetHeader: NextStep;
  infileOk: NextStep;
  _streamLocalInfile: (connection: RawConnection, path: string) => NextStep;
  on(event: 'fields', on: (fields: readonly FieldPacket[] | undefined) => void): void;
}

export interface RawConnection {
  readonly config: object;
  /** As the server's greeting says; 0 before it came. */
  readonly serverCapabilityFlags: number;
  stream: Duplex & { setTimeout(ms: number, on: () => void): void };
  packetParser: PacketParser;
  sequenceId: number;
  /** The one under way. */
  readonly _command: QueryCommand | null | undefined;
  writePacket(packet: OutPacket): void;
  addCommand(command: QueryCommand): void;
  /** Called in the handshake when the server was told that TLS begins; `done` sends user and password. */
  startTLS: (done: (e?: Error) => void) => void;
  _handleNetworkError(e: Error): void;
  pause(): void;
  resume(): void;
  destroy(): void;
  end(done: (e?: unknown) => void): void;
  on(event: 'error', on: (e: Error) => void): void;
}

export type QueryDone = (e: Error | null, result?: unknown) => void;

export interface Driver {
  createConnection(options: object): RawConnection;
  createQuery(sql: string, values: readonly never[], done: QueryDone, config: object): QueryCommand;
}

/** Of the server's capabilities (MySQL's protocol documentation). */
const CLIENT_SSL = 0x800;

/**
 * TLS where the server has it. The driver looks at `config.ssl` once the greeting is there, and would refuse a server without
 * TLS; a second connection would cost as much again.
 */
export function plainWithoutTls(connection: RawConnection, ssl: object): void {
  Object.defineProperty(connection.config, 'ssl', {
    get: () => ((connection.serverCapabilityFlags & CLIENT_SSL) === 0 ? undefined : ssl),
  });
}

const COM_QUERY = 3;
/** Of a packet: three bytes of length, one of sequence. */
export const PACKET_HEADER = 4;

function outPacket(buffer: Buffer): OutPacket {
  return {
    buffer,
    length: () => buffer.length,
    writeHeader: (sequenceId) => {
      buffer.writeUIntLE(buffer.length - PACKET_HEADER, 0, 3);
      buffer[3] = sequenceId;
    },
  };
}

/**
 * A statement as bytes: five bytes of room for the packet's header and the command, then the SQL in utf8mb4. The header is
 * written at each sending, so that the same buffer can be sent again.
 */
export const STATEMENT_HEAD = 5;

export function statementBuffer(sql: string): Buffer {
  const bytes = Buffer.byteLength(sql, 'utf8');
  const out = Buffer.allocUnsafe(STATEMENT_HEAD + bytes);
  out.write(sql, STATEMENT_HEAD, 'utf8');
  return out;
}

/** Makes the command send this buffer in place of its text. */
export function sendBuffer(command: QueryCommand, statement: Buffer): void {
  command.start = function (_packet, connection) {
    command.options = { disableEval: true }; // no parser is generated for rows that it does not get
    statement[PACKET_HEADER] = COM_QUERY;
    connection.writePacket(outPacket(statement));
    return command.resultsetHeader;
  };
}

/**
 * What the server gets when it asks for the file of LOAD DATA LOCAL, whatever name it asks for: packets with
 * {@link PACKET_HEADER} bytes of room each, of less than 16 MiB.
 */
export function giveFile(command: QueryCommand, packets: readonly Buffer[]): void {
  command._streamLocalInfile = (connection) => {
    for (const p of packets) connection.writePacket(outPacket(p));
    connection.writePacket(outPacket(Buffer.allocUnsafe(PACKET_HEADER)));
    return command.infileOk;
  };
}

/**
 * TLS as we check it. The driver's own asks the certificate of a server at an IP address for the name `localhost`, and
 * gives an unusable certificate of ours by an exception in the middle of the handshake.
 */
export function useTls(raw: RawConnection, { context, verifyCa, identity }: TlsSetup): void {
  raw.startTLS = (done) => {
    let secure = false;
    raw.stream.removeAllListeners('data');
    const socket = connect({
      socket: raw.stream,
      // Without files the defaults; making them takes its time, and a server may have no TLS.
      ...(context === null ? {} : { secureContext: context }),
      rejectUnauthorized: verifyCa,
      ...(identity === null || isIP(identity) !== 0 ? {} : { servername: identity }),
      checkServerIdentity: (_host, cert) => (identity === null ? undefined : checkServerIdentity(identity, cert)),
    });
    socket.once('secureConnect', () => {
      secure = true;
      done();
    });
    socket.on('error', (e) => {
      // The driver writes a code of its own into what it gets.
      if (secure) raw._handleNetworkError(e);
      else done(new Error(e.message, { cause: e }));
    });
    socket.on('data', (data: Buffer) => raw.packetParser.execute(data));
    raw.stream = socket;
  };
}

const REPLACED = ['start', 'row', 'resultsetHeader', 'infileOk', '_streamLocalInfile'] as const;

const METHODS = ['writePacket', 'addCommand', 'pause', 'resume', 'startTLS', '_handleNetworkError'] as const;

/** @throws SyncError INTERNAL where the package is another one than this file was written for. */
export function checkDriver(driver: Driver, connection: RawConnection): void {
  const command = driver.createQuery('', [], () => undefined, connection.config);
  const parser = connection.packetParser as Partial<PacketParser> | undefined;
  const missing = [
    ...(typeof parser?.execute === 'function' && typeof parser.onPacket === 'function' ? [] : ['packetParser']),
    ...(typeof parser?._reusablePacket === 'object' ? [] : ['_reusablePacket']),
    ...(typeof connection.sequenceId === 'number' && '_command' in connection ? [] : ['sequenceId']),
    ...(typeof connection.serverCapabilityFlags === 'number' ? [] : ['serverCapabilityFlags']),
    ...REPLACED.filter((m) => typeof command[m] !== 'function'),
    ...METHODS.filter((m) => typeof connection[m] !== 'function'),
  ];
  if (missing.length === 0) return;
  throw new SyncError('INTERNAL', `this version of mysql2 has no ${missing.join(', ')}`, {
    hint: 'Install the version that package-lock.json names.',
  });
}
