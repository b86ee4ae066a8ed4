import type { Decompressor, Transcoder } from 'syncx/plugin-kit';
import type { ByteSource } from './byte-source.js';

const NOTHING = new Uint8Array(0);

/** Decompresses what another source reads. */
export class DecompressedSource implements ByteSource {
  readonly seek = null;
  readonly #inner: ByteSource;
  readonly #decompressor: Decompressor;
  #ended = false;

  constructor(inner: ByteSource, decompressor: Decompressor) {
    this.#inner = inner;
    this.#decompressor = decompressor;
  }

  get consumed(): number {
    return this.#inner.consumed;
  }

  async read(): Promise<Uint8Array | null> {
    for (;;) {
      const bytes = this.#decompressor.next();
      if (bytes !== null) return bytes;
      if (this.#ended) return null;
      const chunk = await this.#inner.read();
      this.#ended = chunk === null;
      this.#decompressor.push(chunk ?? NOTHING, chunk === null);
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** What another source reads, as UTF-8. */
export class DecodedSource implements ByteSource {
  readonly seek = null;
  readonly #inner: ByteSource;
  readonly #transcoder: Transcoder;
  #ended = false;

  constructor(inner: ByteSource, transcoder: Transcoder) {
    this.#inner = inner;
    this.#transcoder = transcoder;
  }

  get consumed(): number {
    return this.#inner.consumed;
  }

  async read(): Promise<Uint8Array | null> {
    while (!this.#ended) {
      const chunk = await this.#inner.read();
      this.#ended = chunk === null;
      const text = this.#transcoder.push(chunk ?? NOTHING, chunk === null);
      if (text.length > 0) return text;
    }
    return null;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
