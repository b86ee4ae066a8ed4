import { wholeObject } from './canal-changes.js';
import type { Change, ChangeFormat } from './change.js';
import { ObjectFields, isThere, textAt, type Span } from './object-fields.js';

const OPEN = 123;
/** What Debezium says where PostgreSQL did not send a large value, as it had not changed. */
export const UNAVAILABLE = '__debezium_unavailable_value';
const REPLICA_IDENTITY =
  'the row as it was (`before`) is not there; of PostgreSQL it comes where the table has REPLICA IDENTITY FULL';

/**
 * Debezium's envelope `{"before": {…}, "after": {…}, "source": {"db", "schema", "table", …}, "op": "u", "ts_ms": …}`, bare
 * or as the `payload` beside the `schema` of Kafka Connect. JSON is text, bytes are base64.
 */
export class DebeziumChanges implements ChangeFormat {
  readonly notation = { jsonInText: true, absent: UNAVAILABLE };
  readonly #outer = new ObjectFields(['schema', 'payload', 'before', 'after', 'source', 'op', 'ddl']);
  readonly #payload = new ObjectFields(['schema', 'payload', 'before', 'after', 'source', 'op', 'ddl']);
  readonly #source = new ObjectFields(['db', 'schema', 'table', 'collection']);
  #envelope = this.#outer;

  open(b: Buffer, start: number, end: number, to: Change): string | null {
    this.#envelope = this.#outer;
    const fault = wholeObject(this.#outer, b, start, end);
    if (fault !== null) return fault;
    const inner = this.#at(1);
    if (this.#at(5).start < 0 && isThere(b, inner)) {
      if (b[inner.start] !== OPEN) return 'the `payload` is no JSON object';
      const behind = this.#payload.scan(b, inner.start, inner.end);
      if (typeof behind === 'string') return behind;
      this.#envelope = this.#payload;
    }
    const source = this.#at(4);
    if (!isThere(b, source) || b[source.start] !== OPEN) return null;
    const behind = this.#source.scan(b, source.start, source.end);
    if (typeof behind === 'string') return behind;
    this.#take(0, to.database);
    this.#take(1, to.schema);
    this.#take(2, to.table);
    if (to.table.start < 0) this.#take(3, to.table);
    return null;
  }

  read(b: Buffer, to: Change): string | null {
    const op = textAt(b, this.#at(5));
    if (op === null) {
      if (!isThere(b, this.#at(6))) return 'the record has no `op`: it is no change of Debezium';
      to.note = 'DDL';
      return null;
    }
    switch (op) {
      case 'c':
      case 'r':
        to.is = 'insert';
        return imageOf(b, this.#at(3), 'after', to.images) ?? null;
      case 'd':
        to.is = 'delete';
        return imageOf(b, this.#at(2), 'before', to.images, REPLICA_IDENTITY);
      case 'u':
        to.is = 'update';
        return (
          imageOf(b, this.#at(3), 'after', to.images) ?? imageOf(b, this.#at(2), 'before', to.olds, REPLICA_IDENTITY)
        );
      case 't':
        return 'the record says that its table was emptied, which no row can tell: empty the target';
      case 'm':
        return null; // a message of pg_logical_emit_message
      default:
        return `the record is of the unknown op \`${op}\``;
    }
  }

  #at(i: number): Span {
    return { start: this.#envelope.starts[i] ?? -1, end: this.#envelope.ends[i] ?? -1 };
  }

  #take(i: number, to: Span): void {
    to.start = this.#source.starts[i] ?? -1;
    to.end = this.#source.ends[i] ?? -1;
  }
}

function imageOf(b: Buffer, at: Span, name: string, to: number[], lacking?: string): string | null {
  if (!isThere(b, at)) return lacking ?? `the record has no \`${name}\``;
  if (b[at.start] !== OPEN) return `\`${name}\` is no JSON object`;
  to.push(at.start, at.end);
  return null;
}
