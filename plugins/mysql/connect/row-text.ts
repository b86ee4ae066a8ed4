/** Rows of the text protocol: cells as length-encoded strings, 0xfb for NULL. Source: MySQL's protocol documentation, Text Resultset Row. */
/** A row as the server sent it: `buffer[offset .. end]`. Whoever passes it on uses object and buffer again. */
export interface RowPacket {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly end: number;
}

export type RowOfText = readonly (string | null)[];
export type RowOfBytes = readonly (Buffer | null)[];

const NULL_CELL = 0xfb;

/** Calls `cell` for each cell: its first byte and the one past it; start -1 for NULL. */
function eachCell({ buffer, offset, end }: RowPacket, cell: (start: number, end: number) => void): void {
  let at = offset;
  while (at < end) {
    let length = buffer[at++] ?? 0;
    if (length === NULL_CELL) {
      cell(-1, -1);
      continue;
    }
    if (length === 0xfc) {
      length = buffer.readUInt16LE(at);
      at += 2;
    } else if (length === 0xfd) {
      length = buffer.readUIntLE(at, 3);
      at += 3;
    } else if (length === 0xfe) {
      length = Number(buffer.readBigUInt64LE(at));
      at += 8;
    }
    cell(at, at + length);
    at += length;
  }
}

export function parseText(packet: RowPacket): RowOfText {
  const row: (string | null)[] = [];
  eachCell(packet, (start, end) => row.push(start < 0 ? null : packet.buffer.toString('utf8', start, end)));
  return row;
}

/** Copies: the driver reuses its buffer. */
export function parseRow(packet: RowPacket): RowOfBytes {
  const row: (Buffer | null)[] = [];
  eachCell(packet, (start, end) => row.push(start < 0 ? null : Buffer.from(packet.buffer.subarray(start, end))));
  return row;
}
