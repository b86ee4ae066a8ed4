import type { BatchBuilder, BatchTarget, RowSchema } from '../../plugin-api/index.js';

/** A record boundary in a file: bytes before it (after decompression) and the number of the line that begins there, from 1. */
export interface RecordPoint {
  readonly offset: number;
  readonly line: number;
}

/** What the first bytes of a file say to every decoder of that file. */
export interface FileHead {
  /** Names of the header line; null where the file has none. */
  readonly names: readonly string[] | null;
  /** Fields of the first record; 0: the file holds no record, or the format has no fields. */
  readonly width: number;
  /** Where the first record of data begins: behind a byte order mark and the header line. */
  readonly body: RecordPoint;
}

/**
 * - `full`: the builder has reached its target; finish it and call again.
 * - `hungry`: every whole record that was pushed is decoded.
 * - `end`: as hungry, after the last chunk.
 */
export type DecodeState = 'full' | 'hungry' | 'end';

/**
 * Turns the bytes of one file into rows, whatever the chunks they come in. Rows that are not of the format are rejected
 * (`BatchBuilder.reject`); a file that cannot be read on is a SyncError.
 */
export interface RecordDecoder {
  readonly schema: RowSchema;
  /** Adds the next bytes; they are copied. Nothing may follow `last`. */
  push(chunk: Uint8Array, last: boolean): void;
  /** Appends decoded rows to the builder, whose schema must be this decoder's. */
  decode(builder: BatchBuilder): DecodeState;
  /** The boundary behind the last record that was decoded or rejected: a safe point to resume from. */
  readonly point: RecordPoint;
}

/** What a file was decoded from, for messages. */
export interface TextLabel {
  /** Left out or null: it is UTF-8 itself. */
  readonly encoding?: string | null;
}

export interface DecoderOptions extends TextLabel {
  /** The file's name, for messages. */
  readonly place: string;
  /** Where the pushed bytes begin; null: at the body. */
  readonly from: RecordPoint | null;
  /** The same target as the builder's. */
  readonly target: BatchTarget;
  /** The columns that `*` stands for in all files of the job; null: what this file's head says. */
  readonly columns: readonly string[] | null;
  /** The file as its meta columns tell of it; left out: they are NULL. */
  readonly file?: FileFacts;
}

/** What meta columns say of a file. */
export interface FileFacts {
  /** Absolute. */
  readonly path: string;
  readonly size: number;
  /** Nanoseconds since 1970. */
  readonly mtimeNs: bigint;
}

/** A file format with its options. Storages (local files, HDFS) know formats by this alone. */
export interface FileFormat {
  /**
   * Reads what a decoder must know of the file, from its first bytes. Null: more bytes are needed.
   * @throws SyncError SOURCE_FORMAT where the head is not of the format.
   */
  head(bytes: Buffer, last: boolean, place: string): FileHead | null;
  /** The columns that `*` means by this head; null where columns do not depend on a head. */
  starColumns(head: FileHead): readonly string[] | null;
  /** @throws SyncError COLUMN_MISMATCH where wanted columns are not in the file. */
  decoder(head: FileHead, options: DecoderOptions): RecordDecoder;
}
