import { BatchBuilder, internSchema, RowView, type ColumnInit, type RejectedRow } from 'syncx/plugin-api';
import {
  ByteBuffer,
  columnSpecs,
  csvOutput,
  delimitedFormat,
  type ColumnOption,
  type CsvDialect,
  type FileFormat,
  type OutputFormat,
  type RecordPoint,
} from 'syncx/plugin-kit';

export type Cell = string | null;

export interface DialectText {
  readonly delimiter?: string;
  readonly quote?: string | null;
  readonly escape?: string | null;
  readonly nullText?: string | null;
}

export function dialectOf(d: DialectText = {}): CsvDialect {
  const byte = (c: string | null): number | null => (c === null ? null : c.charCodeAt(0));
  return {
    delimiter: Buffer.from(d.delimiter ?? ','),
    quote: byte(d.quote === undefined ? '"' : d.quote),
    escape: byte(d.escape ?? null),
    nullText: d.nullText === null ? null : Buffer.from(d.nullText ?? '\\N'),
  };
}

export function csvFormat(
  d: DialectText = {},
  header = false,
  columns: readonly ColumnOption[] = ['*'],
  encoding: string | null = null,
): FileFormat {
  return delimitedFormat({ dialect: dialectOf(d), header, columns: columnSpecs(columns), encoding });
}

export function csvWriter(d: DialectText = {}, header = false): OutputFormat {
  return csvOutput({ dialect: { ...dialectOf(d), quote: (d.quote ?? '"').charCodeAt(0) }, header });
}

export interface Decoded {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly rejected: readonly RejectedRow[];
  /** The point behind each batch, with the rows up to it. */
  readonly points: readonly { readonly point: RecordPoint; readonly rows: number }[];
  readonly end: RecordPoint;
}

export interface DecodeHow {
  /** Bytes a chunk. */
  readonly chunk?: number;
  readonly from?: RecordPoint | null;
  /** Rows a batch. */
  readonly batchRows?: number;
}

/** Decodes a whole file, chunk by chunk. Bytes of a cell come as text. */
export function decodeAll(format: FileFormat, bytes: Buffer, how: DecodeHow = {}): Decoded {
  const target = { bytes: 1 << 20, rows: how.batchRows ?? 65_536 };
  const head = format.head(bytes, true, 'x.csv');
  if (head === null) throw new Error('the head wants more than the whole file');
  const from = how.from ?? null;
  const decoder = format.decoder(head, { place: 'x.csv', from, target, columns: null });
  const builder = new BatchBuilder(decoder.schema, target);
  const rows: Cell[][] = [];
  const rejected: RejectedRow[] = [];
  const points: { point: RecordPoint; rows: number }[] = [];
  let at = (from ?? head.body).offset;
  const size = how.chunk ?? Math.max(1, bytes.length);
  for (let state = 'hungry'; state !== 'end';) {
    if (state === 'hungry') {
      decoder.push(bytes.subarray(at, at + size), at + size >= bytes.length);
      at += size;
    }
    state = decoder.decode(builder);
    if (builder.empty || state === 'hungry') continue;
    const batch = builder.finish('s', decoder.point as unknown as { offset: number; line: number }, 0);
    for (const section of batch.sections) {
      const view = new RowView(batch, section);
      for (let r = 0; r < section.rows; r++) {
        view.at(r);
        rows.push(section.schema.columns.map((_, c) => view.text(c)));
      }
    }
    rejected.push(...(batch.rejected ?? []));
    points.push({ point: decoder.point, rows: rows.length });
  }
  return { names: decoder.schema.columns.map((c) => c.name), rows, rejected, points, end: decoder.point };
}

export interface Encoded {
  readonly bytes: Buffer;
  readonly rejected: readonly RejectedRow[];
}

/** Encodes rows; `undefined` is an ABSENT cell, a Buffer raw bytes. `target` is the size of the output buffer. */
export function encodeAll(
  format: OutputFormat,
  columns: readonly ColumnInit[],
  rows: readonly (readonly (Cell | Buffer | undefined)[])[],
  target = 1 << 16,
  projection: readonly number[] = columns.map((_, i) => i),
): Encoded {
  const schema = internSchema(columns);
  const builder = new BatchBuilder(schema);
  for (const row of rows) {
    row.forEach((cell) => {
      if (cell === null) builder.appendNull();
      else if (cell === undefined) builder.appendAbsent();
      else if (typeof cell === 'string') builder.appendText(cell);
      else builder.appendBytes(cell);
    });
    builder.endRow();
  }
  const batch = builder.finish('s', null, 0);
  const encoder = format.encoder(schema, { projection, names: projection.map((i) => schema.columns[i]?.name ?? '') });
  const parts: Buffer[] = encoder.header ? [Buffer.from(encoder.header)] : [];
  const rejected: RejectedRow[] = [];
  const out = new ByteBuffer(target);
  for (const section of batch.sections) {
    for (let row = 0; row < section.rows;) {
      row = encoder.encode(batch, section, row, out, (r) => void rejected.push(r));
      parts.push(Buffer.from(out.data.subarray(0, out.length)));
      out.clear();
    }
  }
  return { bytes: Buffer.concat(parts), rejected };
}

export const strings = (n: number): readonly ColumnInit[] =>
  Array.from({ length: n }, (_, i) => ({ name: `c${String(i)}`, type: { is: 'string' } as const }));
