/**
 * Compares by sums that both sides compute where the rows are. Stretches of keys whose sums differ are cut smaller, and only the
 * rows of the smallest are read.
 */
import {
  internSchema,
  type ChunkRange,
  type ChunkSum,
  type Digest,
  type Split,
  type SummedColumn,
} from '../../plugin-api/index.js';
import { pluginCall } from '../job/plugin-call.js';
import { differencesOf } from './compare-rows.js';
import type { Pairing } from './pairing.js';
import type { ReadSide } from './read-side.js';
import type { Found } from './row-differences.js';
import type { Sides } from './sides.js';
import type { VerifyProgress } from './verify-types.js';

/** Rows of a stretch at first, and of one that is read. */
const CHUNK = 65_536;
const FINE = 4096;
/** Rows of stretches that one second look reads. */
const MOST_READ = 100_000;

/** A stretch that differs, small enough to be read. */
export interface FineChunk {
  readonly range: ChunkRange;
  /** Of the side that has more. */
  readonly rows: number;
}

export interface DigestCompared {
  readonly sourceRows: number;
  readonly targetRows: number;
  readonly chunks: number;
  readonly differing: number;
  readonly fine: readonly FineChunk[];
}

interface Pair {
  readonly columns: Pairing['columns'];
  readonly source: readonly SummedColumn[];
  readonly target: readonly SummedColumn[];
  /** By name at the target. */
  readonly key: readonly string[];
}

/** Both sides with their sums open; close it before rows are read. */
export class DigestSides implements AsyncDisposable {
  readonly #sides: readonly [ReadSide, ReadSide];
  readonly source: Digest;
  readonly target: Digest;
  readonly #pair: Pair;
  #closed = false;

  private constructor(sides: readonly [ReadSide, ReadSide], source: Digest, target: Digest, pair: Pair) {
    this.#sides = sides;
    this.source = source;
    this.target = target;
    this.#pair = pair;
  }

  get columns(): Pairing['columns'] {
    return this.#pair.columns;
  }

  get key(): readonly string[] {
    return this.#pair.key;
  }

  /** Null: the two sides, or these columns, have no sums in common. */
  static async open(sides: Sides, key: readonly string[] | null): Promise<DigestSides | null> {
    const opened: AsyncDisposable[] = [];
    const close = async (): Promise<null> => {
      for (const o of opened.reverse()) await o[Symbol.asyncDispose]();
      return null;
    };
    try {
      const sourceSide = await sides.openSource();
      opened.push(sourceSide);
      const source = await digestOf(sourceSide);
      if (source === null) return await close();
      opened.push(source);
      const schema = internSchema(source.facts.columns);
      const targetSide = await sides.openTarget(schema);
      if (targetSide === null) return await close();
      opened.push(targetSide);
      const target = await digestOf(targetSide);
      if (target === null) return await close();
      opened.push(target);
      const pair = pairOf(source, target, sides.written(schema), key);
      if (pair === null) return await close();
      return new DigestSides([sourceSide, targetSide], source, target, pair);
    } catch (e) {
      await close().catch(() => undefined);
      throw e;
    }
  }

  /** Whether the sums of a stretch are the same, and how many rows each side has there. */
  async compare(range: ChunkRange): Promise<{ readonly same: boolean; readonly rows: readonly [number, number] }> {
    const [a, b] = await pluginCall('SOURCE_IO', () =>
      Promise.all([this.source.sum(range, this.#pair.source), this.target.sum(range, this.#pair.target)]),
    );
    return { same: a.rows === b.rows && a.sum === b.sum, rows: [a.rows, b.rows] };
  }

  async compareAll(progress: (p: VerifyProgress) => void): Promise<DigestCompared> {
    let [sourceRows, targetRows] = [0, 0];
    const ranges: Promise<ChunkRange | null>[] = [];
    const tell = (): void => {
      progress({ phase: 'comparing', sourceRows, targetRows });
    };
    // Each side at its own pace: neither waits for the other, unless it is told later where a stretch ends.
    const [source, target] = await pluginCall('SOURCE_IO', () =>
      Promise.all([
        this.#sumAll(this.source, this.#pair.source, ranges, (rows) => {
          sourceRows += rows;
          tell();
        }),
        this.#sumAll(this.target, this.#pair.target, ranges, (rows) => {
          targetRows += rows;
          tell();
        }),
      ]),
    );
    const fine: FineChunk[] = [];
    let differing = 0;
    for (const [i, a] of source.entries()) {
      const b = target[i];
      const range = await ranges[i];
      if (!b || !range || (a.rows === b.rows && a.sum === b.sum)) continue;
      differing++;
      await this.#narrow(range, [a.rows, b.rows], fine);
    }
    return { sourceRows, targetRows, chunks: source.length, differing, fine };
  }

  async #sumAll(
    side: Digest,
    columns: readonly SummedColumn[],
    ranges: Promise<ChunkRange | null>[],
    summed: (rows: number) => void,
  ): Promise<readonly ChunkSum[]> {
    const sums: ChunkSum[] = [];
    for (let i = 0; ; i++) {
      const range = await (ranges[i] ??= this.#stretchAfter(ranges[i - 1]));
      if (range === null) return sums;
      const sum = await side.sum(range, columns);
      sums.push(sum);
      summed(sum.rows);
    }
  }

  /** Null: the one before was the last. */
  async #stretchAfter(before: Promise<ChunkRange | null> | undefined): Promise<ChunkRange | null> {
    const last = (await before) ?? { after: null, upTo: null };
    if (before !== undefined && last.upTo === null) return null;
    const after = last.upTo;
    return { after, upTo: await this.source.border({ after, upTo: null }, CHUNK) };
  }

  /** Cuts a stretch that differs. The side that has more rows there says where. */
  async #narrow(range: ChunkRange, rows: readonly [number, number], fine: FineChunk[]): Promise<void> {
    const most = Math.max(...rows);
    if (most <= FINE) {
      fine.push({ range, rows: most });
      return;
    }
    const larger = rows[0] >= rows[1] ? this.source : this.target;
    const step = Math.max(FINE, Math.min(CHUNK, Math.ceil(most / 16)));
    let { after } = range;
    for (let left = most; ; left -= step) {
      const border = left > step ? await larger.border({ after, upTo: range.upTo }, step) : null;
      const part = { after, upTo: border ?? range.upTo };
      const sums = await this.compare(part);
      // One that cannot be cut any smaller is read as it is.
      const whole = border === null && after === range.after;
      if (!sums.same) {
        if (whole) fine.push({ range: part, rows: Math.max(...sums.rows) });
        else await this.#narrow(part, sums.rows, fine);
      }
      if (border === null) return;
      after = border;
    }
  }

  splits(chunks: readonly FineChunk[]): { readonly source: readonly Split[]; readonly target: readonly Split[] } {
    return {
      source: chunks.map((c) => this.source.split(c.range)),
      target: chunks.map((c) => this.target.split(c.range)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.source[Symbol.asyncDispose]();
    await this.target[Symbol.asyncDispose]();
    for (const side of this.#sides) await side[Symbol.asyncDispose]();
  }
}

async function digestOf(side: ReadSide): Promise<Digest | null> {
  return pluginCall('SOURCE_IO', async () => (await side.reader.digest?.()) ?? null);
}

function pairOf(
  source: Digest,
  target: Digest,
  written: Pairing['columns'],
  key: readonly string[] | null,
): Pair | null {
  if (source.family !== target.family) return null;
  const pairs = written.map((w) => ({
    from: source.facts.columns.find((c) => c.name === w.from),
    to: target.facts.columns.find((c) => c.name === w.to),
  }));
  const own: SummedColumn[] = [];
  const other: SummedColumn[] = [];
  for (const { from, to } of pairs) {
    if (!from || !to) return null;
    if (!source.comparable(from.type, to.type) || !target.comparable(to.type, from.type)) return null;
    const nullable = from.nullable || to.nullable;
    own.push({ name: from.name, other: to.type, nullable });
    other.push({ name: to.name, other: from.type, nullable });
  }
  // Rows with one key must be in one stretch of both sides: the same columns, in the same order of values.
  const keyNames = target.facts.key;
  const sameKey = source.facts.key.every((name, i) => {
    const at = written.findIndex((w) => w.from === name);
    const { from, to } = pairs[at] ?? {};
    return to?.name === keyNames[i] && from?.order !== null && from?.order === to?.order;
  });
  if (!sameKey || keyNames.length === 0 || source.facts.key.length !== keyNames.length) return null;
  if (key !== null && key.join('\0') !== keyNames.join('\0')) return null;
  return { columns: written, source: own, target: other, key: keyNames };
}

/** In sets that are read at once. */
export function readable(chunks: readonly FineChunk[]): readonly (readonly FineChunk[])[] {
  const groups: FineChunk[][] = [];
  let rows = Infinity;
  for (const c of chunks) {
    rows += c.rows;
    if (rows > MOST_READ) {
      groups.push([]);
      rows = c.rows;
    }
    groups.at(-1)?.push(c);
  }
  return groups;
}

export async function readChunks(
  sides: Sides,
  splits: { readonly source: readonly Split[]; readonly target: readonly Split[] },
  progress: (p: VerifyProgress) => void,
): Promise<{ readonly pairing: Pairing; readonly found: readonly Found[] }> {
  await using opened = await sides.open(splits);
  return { pairing: opened.pairing, found: await differencesOf(opened, () => true, progress) };
}
