import { SyncError, type BatchTarget, type JsonObject, type Position } from 'syncx/plugin-api';
import {
  LONGEST_MARK,
  openDecompressor,
  openTranscoder,
  refuseOtherMark,
  type FileFacts,
  type FileFormat,
  type FileHead,
  type RecordDecoder,
  type RecordPoint,
} from 'syncx/plugin-kit';
import { DecodedSource, DecompressedSource } from './layered-sources.js';
import { openPlanned, PlainSource, type ByteSource } from './byte-source.js';
import { STDIN } from './file-list.js';
import type { FileSpec } from './file-spec.js';

export type Codec = 'none' | 'gzip' | 'zstd' | 'bzip2';

export interface ReadingOptions {
  readonly format: FileFormat;
  readonly compress: 'auto' | Codec;
  /** By its one name; null: UTF-8, which needs no decoding. */
  readonly encoding: string | null;
  /** Bytes of a read; for tests of what chunks cut. */
  readonly chunkBytes?: number;
}

const ENDINGS: readonly (readonly [RegExp, Codec])[] = [
  [/\.gz$/i, 'gzip'],
  [/\.zst(?:d)?$/i, 'zstd'],
  [/\.bz2$/i, 'bzip2'],
];

export function codecOf(o: ReadingOptions, path: string): Codec {
  if (o.compress !== 'auto') return o.compress;
  return ENDINGS.find(([ending]) => ending.test(path))?.[1] ?? 'none';
}

/** A file whose bytes are read as they are: positions are places in it. */
export const isPlain = (o: ReadingOptions, path: string): boolean => o.encoding === null && codecOf(o, path) === 'none';

function goneInput(): SyncError {
  return new SyncError('SOURCE_CHANGED', 'standard input was read in part already and cannot be read again', {
    place: 'standard input',
    hint: 'Give the job all of its input anew and run it with --fresh, or read from files.',
  });
}

const placeOf = (spec: FileSpec): string => (spec.path === STDIN ? 'standard input' : spec.path);

async function decompressed(codec: 'zstd' | 'bzip2', inner: ByteSource, place: string): Promise<ByteSource> {
  return new DecompressedSource(inner, await openDecompressor(codec, place));
}

async function openStdin(o: ReadingOptions): Promise<ByteSource> {
  // After a lost epoch or in a later process, what was read before is gone.
  if (process.stdin.readableDidRead) throw goneInput();
  const { GzipSource, StreamSource, standardInput } = await import('./stream-sources.js');
  const input = standardInput();
  if (o.compress === 'gzip') return new GzipSource('standard input', input, null, () => Promise.resolve());
  const source = new StreamSource(input);
  if (o.compress === 'auto' || o.compress === 'none') return source;
  return decompressed(o.compress, source, 'standard input');
}

async function openFile(o: ReadingOptions, spec: FileSpec): Promise<ByteSource> {
  const codec = codecOf(o, spec.path);
  const file = await openPlanned(spec);
  if (codec === 'gzip') {
    const { gzipFile } = await import('./stream-sources.js'); // zlib takes its time to load
    return gzipFile(spec, file);
  }
  const source = new PlainSource(spec, file, o.chunkBytes);
  return codec === 'none' ? source : decompressed(codec, source, spec.path);
}

async function openSource(o: ReadingOptions, spec: FileSpec): Promise<ByteSource> {
  const source = spec.path === STDIN ? await openStdin(o) : await openFile(o, spec);
  if (o.encoding === null) return source;
  return new DecodedSource(source, await openTranscoder(o.encoding, placeOf(spec)));
}

const LF = 10;
/** Up to so many bytes a head is looked for with every chunk. */
const SMALL_HEAD = 4096;

/** The head of a file, and the bytes that had to be read for it. Null: the file is empty. */
async function readHead(
  { format, encoding }: ReadingOptions,
  source: ByteSource,
  place: string,
): Promise<{ readonly head: FileHead; readonly bytes: Buffer; readonly ended: boolean } | null> {
  let parts: Buffer[] = [];
  let size = 0;
  let tried = 0;
  for (let ended = false; !ended;) {
    const chunk = await source.read();
    ended = chunk === null;
    if (chunk !== null) parts.push(Buffer.from(chunk)); // the chunk is the source's
    size += chunk?.length ?? 0;
    if (ended && size === 0) return null;
    // A long first line in small chunks must not be looked through with each of them.
    const promising = size < SMALL_HEAD || size >= tried * 2 || chunk?.includes(LF) === true;
    if (!ended && (!promising || size < LONGEST_MARK)) continue;
    const bytes = Buffer.concat(parts);
    parts = [bytes];
    if (tried === 0 && encoding === null) refuseOtherMark(bytes, place);
    tried = size;
    const head = format.head(bytes, ended, place);
    if (head !== null) return { head, bytes, ended };
  }
  return null;
}

/** What meta columns say of it; of standard input there is nothing to say. */
const factsOf = (spec: FileSpec): { readonly file?: FileFacts } =>
  spec.path === STDIN ? {} : { file: { path: spec.path, size: spec.size, mtimeNs: BigInt(spec.mtimeNs) } };

/** @throws SyncError STATE_CORRUPT where it is no position of this reader. */
export function pointOf(p: Position | null): RecordPoint | null {
  if (p === null) return null;
  const { offset, line } = (typeof p === 'object' ? p : {}) as JsonObject;
  if (typeof offset === 'number' && typeof line === 'number') return { offset, line };
  throw new SyncError('STATE_CORRUPT', `a saved position is none of the file reader: ${JSON.stringify(p)}`, {
    hint: 'It was written by another version; go on with that version.',
  });
}

/** A file whose head was read. `head` null: it is empty. */
export interface BegunFile {
  readonly spec: FileSpec;
  readonly source: ByteSource;
  readonly head: Awaited<ReturnType<typeof readHead>>;
}

export async function beginFile(o: ReadingOptions, spec: FileSpec): Promise<BegunFile> {
  const source = await openSource(o, spec);
  try {
    const head = await readHead(o, source, placeOf(spec));
    return { spec, source, head };
  } catch (e) {
    await source.close();
    throw e;
  }
}

/** A file on its way through its decoder. `fill` gives the decoder its next bytes. */
export class SplitReading {
  readonly decoder: RecordDecoder;
  readonly #source: ByteSource;
  #ended = false;

  private constructor(source: ByteSource, decoder: RecordDecoder) {
    this.#source = source;
    this.decoder = decoder;
  }

  /** Null: the file is empty. `begun`: the file, where its head was read before. `to`: where its part ends, of a plain file. */
  static async open(
    o: ReadingOptions,
    spec: FileSpec,
    from: RecordPoint | null,
    target: BatchTarget,
    columns: readonly string[] | null,
    begun: BegunFile | null,
    to: number | null,
  ): Promise<SplitReading | null> {
    if (spec.path === STDIN && from !== null) throw goneInput();
    const { source, head } = begun ?? (await beginFile(o, spec));
    try {
      if (head === null) {
        await source.close();
        return null;
      }
      const facts = { place: placeOf(spec), ...factsOf(spec) };
      const reading = new SplitReading(source, o.format.decoder(head.head, { ...facts, from, target, columns }));
      const { offset } = from ?? head.head.body;
      if (to !== null && source.seek !== null) await source.seek(offset, to);
      else await reading.#goTo(offset, head.bytes, head.ended);
      return reading;
    } catch (e) {
      await source.close();
      throw e;
    }
  }

  /** Positions are places in the file itself. */
  get plain(): boolean {
    return this.#source.seek !== null;
  }

  get consumed(): number {
    return this.#source.consumed;
  }

  async #goTo(offset: number, bytes: Buffer, ended: boolean): Promise<void> {
    let at = bytes.length;
    if (offset <= at) {
      this.#push(bytes.subarray(offset), ended);
      return;
    }
    if (this.#source.seek) {
      await this.#source.seek(offset);
      return;
    }
    while (at < offset) {
      const chunk = await this.#source.read();
      if (chunk === null) return this.#push(Buffer.alloc(0), true);
      at += chunk.length;
      if (at > offset) this.#push(chunk.subarray(chunk.length - (at - offset)), false);
    }
  }

  #push(chunk: Uint8Array, last: boolean): void {
    this.#ended = last;
    this.decoder.push(chunk, last);
  }

  async fill(): Promise<void> {
    if (this.#ended) return;
    const chunk = await this.#source.read();
    this.#push(chunk ?? Buffer.alloc(0), chunk === null);
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
