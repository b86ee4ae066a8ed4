import { createReadStream, fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import { SyncError, isSyncError } from 'syncx/plugin-api';
import { CHUNK_BYTES, sourceError, type ByteSource, type OpenFile } from './byte-source.js';
import type { FileSpec } from './file-spec.js';

const MAGIC = Buffer.from([0x1f, 0x8b]);

/** zlib takes zero bytes behind a member for padding and stops there in silence, whatever follows them. */
function goesOn(place: string, consumed: number): SyncError {
  return new SyncError('SOURCE_FORMAT', `${place} goes on with something else behind its gzip data`, {
    place: `${place}, behind compressed byte ${String(consumed)}`,
    hint: 'Cut the file there, if what follows is not wanted.',
  });
}

/** Decompresses while it reads. zlib goes on over concatenated members; what is cut or no gzip is loud. */
export class GzipSource implements ByteSource {
  readonly seek = null;
  readonly #place: string;
  readonly #gunzip: Gunzip;
  readonly #input: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #atEnd: ((consumed: number) => Promise<void>) | null;
  /** With a check at the end: the chunk that is held back until it is known whether it is the last. */
  #held: Buffer | null = null;
  readonly #closeFile: () => Promise<void>;
  /** What the input begins with: zlib's own message is the same for no gzip at all and for junk behind a member. */
  #magic: Buffer = Buffer.alloc(0);
  /** Bytes that the input gave so far. */
  #given = 0;

  constructor(
    place: string,
    input: Readable,
    atEnd: ((consumed: number) => Promise<void>) | null,
    closeFile: () => Promise<void>,
  ) {
    this.#place = place;
    this.#atEnd = atEnd;
    this.#closeFile = closeFile;
    this.#input = input;
    this.#gunzip = createGunzip({ chunkSize: CHUNK_BYTES >> 2 });
    input.on('data', (chunk: Buffer) => {
      this.#given += chunk.length;
      if (this.#magic.length < 2) this.#magic = Buffer.concat([this.#magic, chunk.subarray(0, 2)]).subarray(0, 2);
    });
    input.on('error', (e) => this.#gunzip.destroy(sourceError(e, place)));
    this.#gunzip.on('error', () => input.destroy());
    this.#chunks = input.pipe(this.#gunzip)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  get consumed(): number {
    return this.#gunzip.bytesWritten;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#atEnd === null) return this.#readStream();
    this.#held ??= await this.#inflate();
    const chunk = this.#held;
    this.#held = chunk === null ? null : await this.#inflate();
    // Before its last bytes are used: what is found out only then must keep them back.
    if (this.#held === null) await this.#atEnd(this.#gunzip.bytesWritten);
    return chunk;
  }

  /** Holds nothing back, as more may take its time to come. */
  async #readStream(): Promise<Uint8Array | null> {
    const chunk = await this.#inflate();
    const { bytesWritten } = this.#gunzip;
    if (chunk === null && (this.#given !== bytesWritten || !this.#input.readableEnded)) {
      throw goesOn(this.#place, bytesWritten);
    }
    return chunk;
  }

  async #inflate(): Promise<Buffer | null> {
    try {
      const r = await this.#chunks.next();
      return r.done === true ? null : r.value;
    } catch (e) {
      if (isSyncError(e)) throw e;
      throw this.#formatError(e);
    }
  }

  #formatError(e: unknown): SyncError {
    if (!this.#magic.equals(MAGIC.subarray(0, this.#magic.length))) {
      const begins = [...this.#magic].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
      const message = `${this.#place} is not a gzip file: it begins with the bytes ${begins}, not 1f 8b`;
      const hint =
        'Check compress: set it to none if the file is not compressed. With auto, names that end in .gz are taken for gzip.';
      return new SyncError('SOURCE_FORMAT', message, { place: this.#place, cause: e, hint });
    }
    const cut = (e as { readonly code?: unknown }).code === 'Z_BUF_ERROR';
    const what = cut ? 'is a gzip file that was cut: it ends in the middle' : 'is a damaged gzip file';
    const about = `about compressed byte ${String(this.#gunzip.bytesWritten)}`;
    return new SyncError('SOURCE_FORMAT', `${this.#place} ${what}, at ${about} (${(e as Error).message})`, {
      place: `${this.#place}, at ${about}`,
      cause: e,
      hint: 'The file may have been copied in part, or as text. Get it again, or check what compress says.',
    });
  }

  async close(): Promise<void> {
    this.#input.destroy();
    this.#gunzip.destroy();
    await this.#closeFile();
  }
}

export function gzipFile(spec: FileSpec, { handle, checkUnchanged }: OpenFile): GzipSource {
  const input = createReadStream(spec.path, {
    fd: handle,
    autoClose: false,
    start: 0,
    highWaterMark: CHUNK_BYTES >> 2,
  });
  const atEnd = async (consumed: number): Promise<void> => {
    await checkUnchanged();
    if (consumed === spec.size) return;
    throw goesOn(spec.path, consumed);
  };
  return new GzipSource(spec.path, input, atEnd, () => handle.close());
}

/**
 * @throws SyncError SOURCE_IO where it is a folder or a disk: Node takes those for an input that ends at once.
 */
export function standardInput(): Readable {
  const s = fstatSync(0);
  if (!s.isDirectory() && !s.isBlockDevice()) return process.stdin;
  throw new SyncError('SOURCE_IO', `standard input is a ${s.isDirectory() ? 'folder' : 'block device'}`, {
    place: 'standard input',
    retry: 'never',
    hint: 'Name the folder or its files in path, or send bytes to standard input.',
  });
}

/** Standard input, or any other stream that only this process can read. */
export class StreamSource implements ByteSource {
  readonly seek = null;
  readonly #stream: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #consumed = 0;

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  get consumed(): number {
    return this.#consumed;
  }

  async read(): Promise<Uint8Array | null> {
    try {
      const r = await this.#chunks.next();
      if (r.done === true) return null;
      this.#consumed += r.value.length;
      return r.value;
    } catch (e) {
      throw sourceError(e, 'standard input');
    }
  }

  close(): Promise<void> {
    this.#stream.destroy();
    return Promise.resolve();
  }
}
