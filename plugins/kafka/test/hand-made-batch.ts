/** Record batches byte by byte, so that what the client carries is checked against something that it did not make. */
import type { ProducerIds } from '../client/kafka-client.js';

const CRC32C = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = (c & 1) === 1 ? 0x82f6_3b78 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc32c(bytes: Buffer): number {
  let c = 0xffff_ffff;
  for (const b of bytes) c = (CRC32C[(c ^ b) & 0xff] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffff_ffff) >>> 0;
}

function varint(v: number): Buffer {
  const out: number[] = [];
  let z = (v << 1) ^ (v >> 31);
  for (z >>>= 0; z > 0x7f; z >>>= 7) out.push((z & 0x7f) | 0x80);
  return Buffer.from([...out, z]);
}

export interface BatchIds extends ProducerIds {
  readonly sequence: number;
  readonly transactional: boolean;
}

/** Magic 2, no compression, values without keys, all of one time. */
export function handMadeBatch(values: readonly string[], time: number, ids: BatchIds | null = null): Buffer {
  const records = values.map((text, i) => {
    const value = Buffer.from(text);
    const body = Buffer.concat([
      Buffer.from([0]),
      varint(0),
      varint(i),
      varint(-1),
      varint(value.length),
      value,
      varint(0),
    ]);
    return Buffer.concat([varint(body.length), body]);
  });
  const behindCrc = Buffer.alloc(40);
  behindCrc.writeInt16BE(ids?.transactional === true ? 0x10 : 0, 0);
  behindCrc.writeInt32BE(values.length - 1, 2);
  behindCrc.writeBigInt64BE(BigInt(time), 6);
  behindCrc.writeBigInt64BE(BigInt(time), 14);
  behindCrc.writeBigInt64BE(ids?.producerId ?? -1n, 22);
  behindCrc.writeInt16BE(ids?.epoch ?? -1, 30);
  behindCrc.writeInt32BE(ids?.sequence ?? -1, 32);
  behindCrc.writeInt32BE(values.length, 36);
  const rest = Buffer.concat([behindCrc, ...records]);
  const head = Buffer.alloc(21);
  head.writeInt32BE(rest.length + 9, 8);
  head.writeInt32BE(-1, 12);
  head[16] = 2;
  head.writeUInt32BE(crc32c(rest), 17);
  return Buffer.concat([head, rest]);
}

export interface SeenBatch {
  readonly baseOffset: number;
  readonly count: number;
  readonly control: boolean;
  readonly bytes: Buffer;
}

/** The headers of the batches of a fetch; a part of a batch at the end is left out. */
export function batchesIn(records: Buffer): readonly SeenBatch[] {
  const seen: SeenBatch[] = [];
  for (let at = 0; at + 61 <= records.length;) {
    const end = at + 12 + records.readInt32BE(at + 8);
    if (end > records.length) break;
    seen.push({
      baseOffset: Number(records.readBigInt64BE(at)),
      count: records.readInt32BE(at + 57),
      control: (records.readInt16BE(at + 21) & 0x20) !== 0,
      bytes: records.subarray(at, end),
    });
    at = end;
  }
  return seen;
}
