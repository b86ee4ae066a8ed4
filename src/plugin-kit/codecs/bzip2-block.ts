import type { BitReader } from './bzip2-bits.js';

const MAX_CODE = 20;
const GROUP = 50;
/** A block of 900,000 symbols has no more groups; more selectors may stand there (lbzip2) and have no effect. */
const MAX_SELECTORS = 18_002;
const RUN_A = 0;
const RUN_B = 1;

/** Not a block of bzip2, for the given reason. */
export class BlockFault extends Error {}

/** How one Huffman code is read. */
interface CodeTable {
  readonly shortest: number;
  readonly longest: number;
  /** By length: the highest code of it; -1: there is none. */
  readonly limit: Int32Array;
  /** By length: what to take from a code to get its place in `symbols`. */
  readonly base: Int32Array;
  readonly symbols: Uint16Array;
}

/** A block on its way back through the Burrows-Wheeler transform. */
export interface Bzip2Block {
  readonly crc: number;
  /** In the low 8 bits the byte; above them, the place of the one that follows it. */
  readonly links: Int32Array;
  readonly count: number;
  readonly origin: number;
}

function readBytesInUse(bits: BitReader): number[] {
  const used: number[] = [];
  const ranges = bits.read(16);
  for (let i = 0; i < 16; i++) {
    if ((ranges & (0x8000 >> i)) === 0) continue;
    const range = bits.read(16);
    for (let j = 0; j < 16; j++) if ((range & (0x8000 >> j)) !== 0) used.push(i * 16 + j);
  }
  if (used.length === 0) throw new BlockFault('a block holds no byte');
  return used;
}

function readSelectors(bits: BitReader, tables: number): Uint8Array {
  const count = bits.read(15);
  if (count === 0) throw new BlockFault('a block has no selectors');
  const order = Array.from({ length: tables }, (_, i) => i);
  const selectors = new Uint8Array(Math.min(count, MAX_SELECTORS));
  for (let i = 0; i < count; i++) {
    let j = 0;
    while (bits.read(1) === 1) if (++j >= tables) throw new BlockFault('a selector is out of range');
    const table = order[j] ?? 0;
    order.splice(j, 1);
    order.unshift(table);
    if (i < selectors.length) selectors[i] = table;
  }
  return selectors;
}

function readTable(bits: BitReader, symbols: number): CodeTable {
  const lengths = new Uint8Array(symbols);
  let length = bits.read(5);
  for (let i = 0; i < symbols; i++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE) throw new BlockFault('a code length is out of range');
      if (bits.read(1) === 0) break;
      length += bits.read(1) === 0 ? 1 : -1;
    }
    lengths[i] = length;
  }
  const shortest = Math.min(...lengths);
  const longest = Math.max(...lengths);
  const limit = new Int32Array(MAX_CODE + 2).fill(-1);
  const base = new Int32Array(MAX_CODE + 2);
  const sorted = new Uint16Array(symbols);
  let code = 0;
  let placed = 0;
  for (let n = shortest; n <= longest; n++) {
    base[n] = code - placed;
    for (let s = 0; s < symbols; s++) {
      if (lengths[s] !== n) continue;
      sorted[placed++] = s;
      code++;
    }
    limit[n] = code - 1;
    code *= 2;
  }
  return { shortest, longest, limit, base, symbols: sorted };
}

/** The symbols behind the tables: bytes moved to front, with runs of the first one. @returns how many bytes. */
function readSymbols(
  bits: BitReader,
  used: readonly number[],
  tables: readonly CodeTable[],
  selectors: Uint8Array,
  links: Int32Array,
): number {
  const order = Uint8Array.from(used);
  const endOfBlock = used.length + 1;
  let count = 0;
  let run = 0;
  let runBit = 1;
  for (let group = 0; ; group++) {
    const table = tables[selectors[group] ?? -1];
    if (table === undefined || group >= selectors.length) throw new BlockFault('a block has too few selectors');
    const { shortest, longest, limit, base, symbols } = table;
    for (let k = 0; k < GROUP; k++) {
      const ahead = bits.peek(MAX_CODE);
      let n = shortest;
      while (n <= longest && ahead >> (MAX_CODE - n) > (limit[n] ?? 0)) n++;
      if (n > longest) throw new BlockFault('a code is of no symbol');
      bits.drop(n);
      const symbol = symbols[(ahead >> (MAX_CODE - n)) - (base[n] ?? 0)] ?? endOfBlock;
      if (symbol === RUN_A || symbol === RUN_B) {
        run += symbol === RUN_A ? runBit : runBit * 2;
        runBit *= 2;
        if (run > links.length) throw new BlockFault('a run is longer than a block');
        continue;
      }
      if (run > 0) {
        if (count + run > links.length) throw new BlockFault('a block is longer than it may be');
        links.fill(order[0] ?? 0, count, count + run);
        count += run;
        run = 0;
        runBit = 1;
      }
      if (symbol === endOfBlock) return count;
      if (count >= links.length) throw new BlockFault('a block is longer than it may be');
      const at = symbol - 1;
      const byte = order[at] ?? 0;
      for (let j = at; j > 0; j--) order[j] = order[j - 1] ?? 0; // mostly too few for copyWithin to pay
      order[0] = byte;
      links[count++] = byte;
    }
    if (bits.overrun) throw new BlockFault('the input ends');
  }
}

/**
 * Reads a block, behind its magic number. `links` is the room for it, as long as the longest block of the stream.
 * @throws BlockFault also where the input ends: `bits.overrun` tells the two apart.
 */
export function readBlock(bits: BitReader, links: Int32Array): Bzip2Block {
  const crc = bits.read32();
  if (bits.read(1) === 1) throw new BlockFault('a block is randomised, as bzip2 before 0.9.5 did');
  const start = bits.read(24);
  const used = readBytesInUse(bits);
  const tableCount = bits.read(3);
  if (tableCount < 2 || tableCount > 6) throw new BlockFault('the number of tables is out of range');
  const selectors = readSelectors(bits, tableCount);
  const tables = Array.from({ length: tableCount }, () => readTable(bits, used.length + 2));
  const count = readSymbols(bits, used, tables, selectors, links);
  if (start >= count) throw new BlockFault('the start of a block is out of range');
  const places = new Uint32Array(257);
  for (let i = 0; i < count; i++) {
    const next = (links[i] ?? 0) + 1;
    places[next] = (places[next] ?? 0) + 1;
  }
  for (let b = 1; b < 257; b++) places[b] = (places[b] ?? 0) + (places[b - 1] ?? 0);
  for (let i = 0; i < count; i++) {
    const byte = (links[i] ?? 0) & 0xff;
    const at = places[byte] ?? 0;
    places[byte] = at + 1;
    links[at] = (links[at] ?? 0) | (i << 8);
  }
  return { crc, links, count, origin: (links[start] ?? 0) >>> 8 };
}
