export const LF = 10;
export const CR = 13;

/** How fields and records of a delimited file are told apart, in bytes. */
export interface CsvDialect {
  /** One or more bytes. */
  readonly delimiter: Buffer;
  /** Null: no quoting at all (fileType text). */
  readonly quote: number | null;
  /** Takes the next byte literally, inside and outside of quotes. Null: none. */
  readonly escape: number | null;
  /** An unquoted field of exactly these bytes is NULL. Null: no field is. */
  readonly nullText: Buffer | null;
}

/** Classes of bytes outside of quotes. 0: data. */
export const IS_DELIMITER = 1;
export const IS_LF = 2;
export const IS_CR = 3;
export const IS_ESCAPE = 4;

export function byteClasses(d: CsvDialect): Uint8Array {
  const t = new Uint8Array(256);
  t[LF] = IS_LF;
  t[CR] = IS_CR;
  if (d.escape !== null) t[d.escape] = IS_ESCAPE;
  t[d.delimiter[0] ?? 0] = IS_DELIMITER;
  return t;
}

/** Bytes that end a run inside of quotes. */
export function quotedClasses(d: CsvDialect): Uint8Array {
  const t = new Uint8Array(256);
  t[LF] = 1;
  if (d.quote !== null) t[d.quote] = 1;
  if (d.escape !== null) t[d.escape] = 1;
  return t;
}

export function bytesAt(src: Uint8Array, at: number, want: Uint8Array): boolean {
  for (let j = 0; j < want.length; j++) if (src[at + j] !== want[j]) return false;
  return true;
}

/** 3 where a UTF-8 byte order mark stands at the start, else 0. Null: too few bytes to tell. */
export function bomLength(bytes: Uint8Array, last: boolean): 0 | 3 | null {
  const bom = [0xef, 0xbb, 0xbf];
  for (let j = 0; j < 3; j++) {
    if (j >= bytes.length) return last ? 0 : null;
    if (bytes[j] !== bom[j]) return 0;
  }
  return 3;
}
