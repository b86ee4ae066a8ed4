/** Decompresses a stream piece by piece, whatever the chunks it comes in. */
export interface Decompressor {
  /** Adds the next bytes; they are copied. Nothing may follow `last`. */
  push(chunk: Uint8Array, last: boolean): void;
  /**
   * The next decompressed bytes, valid until the next call and never empty. Null: more bytes must be pushed, or, behind
   * the last ones, the end.
   * @throws SyncError SOURCE_FORMAT where the bytes are damaged, end in the middle, or are of another format.
   */
  next(): Uint8Array | null;
}

/** Loads no codec but the one that is asked for. `place`: the file, for messages. */
export async function openDecompressor(codec: 'zstd' | 'bzip2', place: string): Promise<Decompressor> {
  if (codec === 'bzip2') {
    const { Bzip2Decompressor } = await import('./bzip2-decompressor.js');
    return new Bzip2Decompressor(place);
  }
  const { openZstd } = await import('./zstd-decompressor.js');
  return openZstd(place);
}
