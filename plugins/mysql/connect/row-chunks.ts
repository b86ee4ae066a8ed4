/**
 * Takes the rows of one result straight from the socket's chunks. The driver's own way costs a few calls a row; here it sees
 * the packets around the rows only: the header, the columns, and the end or the error. Packets: three bytes of length, one
 * of sequence, the payload; a payload of 0xffffff bytes goes on in the next packet (MySQL's protocol documentation).
 */
import { SyncError } from 'syncx/plugin-api';
import {
  PACKET_HEADER,
  type DriverPacket,
  type PacketParser,
  type QueryCommand,
  type RawConnection,
} from './raw-connection.js';
import type { RowPacket } from './row-text.js';

const LONGEST = 0xff_ffff;
const EOF = 0xfe;
/** A row may begin with 0xfe, too: with the length of a cell that is longer than this. */
const LONGEST_EOF = 8;

const NO_BYTES = Buffer.alloc(0);

export class RowChunks {
  readonly #connection: RawConnection;
  readonly #command: QueryCommand;
  readonly #driver: PacketParser;
  readonly #onRow: (row: RowPacket) => void;
  /** One object for all rows: its receiver takes what it wants at once. */
  readonly #row: { buffer: Buffer; offset: number; end: number } = { buffer: NO_BYTES, offset: 0, end: 0 };
  /** The beginning of a packet that goes on in the next chunk. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** Whole bytes of a packet whose beginning is in `#parts`; 0: its header is not whole yet. */
  #wanted = 0;
  /** Payloads of 0xffffff bytes that the next packet goes on. */
  #long: Buffer[] = [];
  #longFirst = 0;
  #paused = false;
  readonly #rest: Buffer[] = [];

  private constructor(connection: RawConnection, command: QueryCommand, onRow: (row: RowPacket) => void) {
    this.#connection = connection;
    this.#command = command;
    this.#driver = connection.packetParser;
    this.#onRow = onRow;
  }

  /**
   * For the next command, which has not been sent: nothing is half read now. It ends by itself with the result.
   * @throws SyncError INTERNAL where another command is under way, also the handshake: packets would be told apart wrongly.
   */
  static begin(connection: RawConnection, command: QueryCommand, onRow: (row: RowPacket) => void): RowChunks {
    if (connection._command) throw new SyncError('INTERNAL', 'a statement was sent while another one is under way');
    refuseRows(command);
    const chunks = new RowChunks(connection, command, onRow);
    connection.packetParser = { ...chunks.#driver, execute: (chunk: Buffer) => chunks.#execute(chunk) };
    return chunks;
  }

  pause(): void {
    this.#paused = true;
    this.#connection.pause();
  }

  /** May pause again. */
  resume(): void {
    this.#paused = false;
    while (this.#rest.length > 0) {
      const chunk = this.#rest.shift();
      if (chunk !== undefined) this.#execute(chunk);
      if (this.#isPaused()) return;
    }
    this.#connection.resume();
  }

  get paused(): boolean {
    return this.#paused;
  }

  #isPaused(): boolean {
    return this.#paused;
  }

  #execute(chunk: Buffer): void {
    if (this.#isPaused()) {
      this.#rest.push(chunk);
      return;
    }
    let at = this.#partBytes === 0 ? 0 : this.#complete(chunk);
    const { length } = chunk;
    while (at + PACKET_HEADER <= length) {
      if (this.#isPaused() || this.#ended()) break;
      const size = (chunk[at] ?? 0) | ((chunk[at + 1] ?? 0) << 8) | ((chunk[at + 2] ?? 0) << 16);
      const end = at + PACKET_HEADER + size;
      if (end > length) break;
      this.#packet(chunk, at, end);
      at = end;
    }
    if (at >= length) return;
    const rest = at === 0 ? chunk : chunk.subarray(at);
    if (this.#isPaused()) this.#rest.unshift(rest);
    else if (this.#ended()) this.#driver.execute(rest);
    else this.#keep(rest);
  }

  #keep(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
  }

  /** Takes what is missing of the packet in `#parts`. @returns where the rest of the chunk begins. */
  #complete(chunk: Buffer): number {
    let at = 0;
    if (this.#wanted === 0) {
      const missing = PACKET_HEADER - this.#partBytes;
      if (missing > 0) {
        at = Math.min(missing, chunk.length);
        this.#keep(chunk.subarray(0, at));
        if (this.#partBytes < PACKET_HEADER) return at;
      }
      const head = Buffer.concat(this.#parts);
      this.#parts = [head];
      this.#wanted = PACKET_HEADER + head.readUIntLE(0, 3);
    }
    const take = Math.min(this.#wanted - this.#partBytes, chunk.length - at);
    if (take > 0) this.#keep(chunk.subarray(at, at + take));
    if (this.#partBytes < this.#wanted) return chunk.length;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    this.#wanted = 0;
    this.#packet(whole, 0, whole.length);
    return at + take;
  }

  /** A whole packet, header and payload. */
  #packet(buffer: Buffer, start: number, end: number): void {
    const offset = start + PACKET_HEADER;
    const size = end - offset;
    if (size === LONGEST || this.#long.length > 0) {
      if (this.#long.length === 0) this.#longFirst = buffer[start + 3] ?? 0;
      this.#long.push(Buffer.from(buffer.subarray(offset, end)));
      if (size < LONGEST) this.#longPacket();
      return;
    }
    const first = buffer[offset] ?? 0;
    const plain = first < EOF || (first === EOF && size > LONGEST_EOF);
    if (plain && this.#command.next === this.#command.row) this.#emit(buffer, offset, end);
    else this.#forward(buffer, start, end, buffer[start + 3] ?? 0);
  }

  #longPacket(): void {
    const payload = Buffer.concat([Buffer.alloc(PACKET_HEADER), ...this.#long]);
    this.#long = [];
    if (this.#command.next === this.#command.row) this.#emit(payload, PACKET_HEADER, payload.length);
    else this.#forward(payload, 0, payload.length, this.#longFirst);
  }

  #emit(buffer: Buffer, offset: number, end: number): void {
    const row = this.#row;
    row.buffer = buffer;
    row.offset = offset;
    row.end = end;
    this.#onRow(row);
  }

  /** To the driver, as its own parser would. */
  #forward(buffer: Buffer, start: number, end: number, sequenceId: number): void {
    const packet: DriverPacket = this.#driver._reusablePacket;
    packet.sequenceId = sequenceId;
    packet.numPackets = 1;
    packet.buffer = buffer;
    packet.start = start;
    packet.offset = start + PACKET_HEADER;
    packet.end = end;
    // It has seen none of the rows.
    this.#connection.sequenceId = sequenceId;
    this.#driver.onPacket(packet);
    if (this.#connection._command !== this.#command) this.#connection.packetParser = this.#driver;
  }

  #ended(): boolean {
    return this.#connection.packetParser === this.#driver;
  }
}

/** A row that the driver gets would be lost. */
function refuseRows(command: QueryCommand): void {
  const driverRow = command.row;
  command.row = (packet, connection) => {
    const end = packet.buffer[packet.offset] === EOF && packet.end - packet.offset <= LONGEST_EOF;
    if (!end) throw new SyncError('INTERNAL', 'a row of the result went another way');
    return driverRow.call(command, packet, connection);
  };
}
