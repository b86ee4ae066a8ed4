import { isUtf8 } from 'node:buffer';
import { SyncError, type BatchBuilder, type RowSchema } from '../../plugin-api/index.js';
import { showBytes } from '../../cells/cell-check.js';
import { skipSpace } from '../../cells/json-scan.js';
import type { WantedColumn } from './column-spec.js';
import { LF, bomLength } from './csv-dialect.js';
import { JsonPicker } from './json-picker.js';
import { PendingBytes } from './pending-bytes.js';
import type {
  DecodeState,
  DecoderOptions,
  FileFormat,
  RecordDecoder,
  RecordPoint,
  TextLabel,
} from './record-decoder.js';
import { byteOf, MAX_RECORD_BYTES, notInEncoding } from './record-faults.js';
import { constantOf, type OtherCell } from './meta-column.js';

/**
 * JSON lines: each line that is not blank is one value, of which {@link JsonPicker} makes a row; a line that it cannot is
 * dirty.
 */
class JsonDecoder implements RecordDecoder {
  readonly #picker: JsonPicker;
  readonly #other: OtherCell;
  readonly #place: string;
  /** Null: UTF-8. */
  readonly #encoding: string | null;
  readonly #pending = new PendingBytes();
  #offset: number;
  #line: number;
  #checkUtf8 = false;

  constructor(columns: readonly WantedColumn[] | null, start: RecordPoint, options: DecoderOptions) {
    this.#picker = new JsonPicker(columns, 'line');
    const constants = this.#picker.wanted.map((c) => constantOf(c, options.file ?? null));
    this.#other = (builder, column) => {
      const constant = constants[column] ?? 'null';
      if (constant === 'line') builder.appendText(String(this.#line));
      else if (constant === 'null') builder.appendNull();
      else builder.appendBytes(constant);
    };
    this.#place = options.place;
    this.#encoding = options.encoding ?? null;
    this.#offset = start.offset;
    this.#line = start.line;
  }

  get schema(): RowSchema {
    return this.#picker.schema;
  }

  get point(): RecordPoint {
    return { offset: this.#offset, line: this.#line };
  }

  push(chunk: Uint8Array, last: boolean): void {
    this.#pending.push(chunk, last);
    if (this.#pending.ready) this.#checkUtf8 = !this.#pending.isValidUtf8();
  }

  decode(builder: BatchBuilder): DecodeState {
    const p = this.#pending;
    while (p.ready && p.size > 0) {
      if (builder.full) return 'full';
      const lf = p.buffer.indexOf(LF, p.start);
      const found = lf >= 0 && lf < p.end;
      if (!found && !p.last) {
        p.exhausted(p.start, false);
        break;
      }
      const end = found ? lf : p.end;
      this.#decodeLine(builder, p.start, end);
      const next = found ? end + 1 : end;
      this.#offset += next - p.start;
      if (found) this.#line++;
      p.start = next;
    }
    if (builder.full) return 'full';
    if (p.size > MAX_RECORD_BYTES) {
      const place = `${this.#place}:${String(this.#line)}`;
      throw new SyncError('ROW_TOO_LARGE', `${place}: the line is longer than ${String(MAX_RECORD_BYTES >> 20)} MiB`, {
        place,
        hint: 'fileType json wants one JSON value a line.',
      });
    }
    return p.last ? 'end' : 'hungry';
  }

  #decodeLine(builder: BatchBuilder, start: number, end: number): void {
    const b = this.#pending.buffer;
    const first = skipSpace(b, start, end);
    if (first === end) return;
    const fault =
      this.#checkUtf8 && !isUtf8(b.subarray(start, end))
        ? { column: null, reason: `the line ${notInEncoding(this.#encoding)}`, at: start }
        : this.#picker.pick(builder, b, first, end, this.#other);
    if (fault === null) return;
    builder.reject({
      row: showBytes(b.subarray(start, end)),
      column: fault.column,
      code: 'ROW_INVALID',
      reason: `${fault.reason} (line at ${byteOf(this.#offset, this.#encoding)})`,
      place: `${this.#place}:${String(this.#line)}:${String(fault.at - start + 1)}`,
    });
  }
}

/** `columns` null: one column `json` with the whole line; so is a `*`, beside which no column is picked from the line. */
export function jsonLinesFormat(columns: readonly WantedColumn[] | null, label: TextLabel = {}): FileFormat {
  return {
    head: (bytes, last) => {
      const bom = bomLength(bytes, last);
      return bom === null ? null : { names: null, width: 0, body: { offset: bom, line: 1 } };
    },
    starColumns: () => null,
    decoder: (head, o) => new JsonDecoder(columns, o.from ?? head.body, { ...o, encoding: label.encoding ?? null }),
  };
}
