import { RowView, SyncError, type RejectedRow, type RowBatch, type RowSchema, type Section } from 'syncx/plugin-api';
import { ByteBuffer, showRow, type ColumnChoice, type OutputFormat, type RecordEncoder } from 'syncx/plugin-kit';
import { lackingIn, type Charset } from './charset.js';

const CHUNK_BYTES = 128 << 10;

/** Writes what another encoder writes in UTF-8 in another character set. Rows with characters that it lacks are refused. */
class EncodedEncoder implements RecordEncoder {
  readonly header: Uint8Array | null;
  readonly #inner: RecordEncoder;
  readonly #charset: Charset;
  readonly #projection: readonly number[];
  #utf8 = new ByteBuffer(1);

  constructor(inner: RecordEncoder, charset: Charset, { projection }: ColumnChoice) {
    this.#inner = inner;
    this.#charset = charset;
    this.#projection = projection;
    this.header = this.#headerOf(inner.header);
  }

  #headerOf(utf8: Uint8Array | null): Uint8Array | null {
    const { mark, name } = this.#charset;
    if (utf8 === null) return mark;
    const text = Buffer.from(utf8).toString();
    const line = this.#charset.encode(text);
    if (line === null) {
      const c = lackingIn(this.#charset, text) ?? '';
      throw new SyncError('JOB_INVALID', `the header line cannot be written: ${name} has no ${shown(c)}`, {
        place: 'writer.parameter.column',
        hint: 'Name the columns with characters that the encoding has, or use utf-8.',
      });
    }
    return mark === null ? line : Buffer.concat([mark, line]);
  }

  encode(batch: RowBatch, section: Section, first: number, out: ByteBuffer, reject: (r: RejectedRow) => void): number {
    const target = Math.min(CHUNK_BYTES, out.target);
    if (this.#utf8.target !== target) this.#utf8 = new ByteBuffer(target);
    let row = first;
    do row = this.#chunk(batch, section, row, out, reject);
    while (row < section.rows && !out.full);
    return row;
  }

  /** @returns the row to go on with. */
  #chunk(batch: RowBatch, section: Section, row: number, out: ByteBuffer, reject: (r: RejectedRow) => void): number {
    const utf8 = this.#utf8;
    utf8.clear();
    // Kept back: what is encoded again would be refused again.
    const refused: RejectedRow[] = [];
    const next = this.#inner.encode(batch, section, row, utf8, (r) => void refused.push(r));
    const bytes = this.#charset.encode(utf8.data.toString('utf8', 0, utf8.length));
    if (bytes !== null) {
      out.append(bytes);
      refused.forEach(reject);
    } else if (next - row === 1) reject(this.#refusal(batch, section, row));
    else {
      // Halves until the bad row stands alone.
      const middle = row + ((next - row) >> 1);
      this.#range(batch, section, row, middle, out, reject);
      this.#range(batch, section, middle, next, out, reject);
    }
    return next;
  }

  #range(
    batch: RowBatch,
    section: Section,
    from: number,
    to: number,
    out: ByteBuffer,
    reject: (r: RejectedRow) => void,
  ): void {
    const part = { ...section, rows: to };
    for (let row = from; row < to;) row = this.#chunk(batch, part, row, out, reject);
  }

  #refusal(batch: RowBatch, section: Section, row: number): RejectedRow {
    const { name } = this.#charset;
    const view = new RowView(batch, section, this.#projection).at(row);
    for (const [c, column] of this.#projection.entries()) {
      const lacking = lackingIn(this.#charset, view.text(c) ?? '');
      if (lacking === null) continue;
      return this.#rejected(batch, section, row, column, `the encoding ${name} has no ${shown(lacking)}`);
    }
    return this.#rejected(batch, section, row, null, `the row cannot be written in the encoding ${name}`);
  }

  #rejected(batch: RowBatch, section: Section, row: number, column: number | null, reason: string): RejectedRow {
    return {
      row: showRow(batch, section, row),
      column: column === null ? null : (section.schema.columns[column]?.name ?? null),
      code: 'ROW_INVALID',
      reason,
      place: null,
    };
  }
}

function shown(c: string): string {
  return `character \`${c}\` (U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')})`;
}

export function encodedOutput(format: OutputFormat, charset: Charset): OutputFormat {
  return {
    selfDescribing: format.selfDescribing,
    encoder: (schema: RowSchema, columns) => new EncodedEncoder(format.encoder(schema, columns), charset, columns),
  };
}
