import { wholeObject } from './canal-changes.js';
import type { Change, ChangeFormat } from './change.js';
import { ObjectFields, isThere, textAt, type Span } from './object-fields.js';

const OPEN = 123;
/** They frame the rows that `maxwell-bootstrap` reads, and have none of their own. */
const FRAMES: ReadonlySet<string> = new Set(['bootstrap-start', 'bootstrap-complete', 'heartbeat']);
const DDL = /^(table|database)-(create|alter|drop)$/;

/**
 * Messages of Maxwell: `{"database", "table", "type": "update", "ts", "data": {…}, "old": {…}, "primary_key_columns"}`.
 * `old` holds the columns that changed. JSON stands as it is, bytes are base64.
 */
export class MaxwellChanges implements ChangeFormat {
  readonly notation = {};
  readonly #fields = new ObjectFields(['database', 'table', 'type', 'data', 'old', 'primary_key_columns']);

  open(b: Buffer, start: number, end: number, to: Change): string | null {
    const fault = wholeObject(this.#fields, b, start, end);
    if (fault !== null) return fault;
    for (const [i, span] of [to.database, to.table].entries()) Object.assign(span, this.#at(i));
    Object.assign(to.keys, this.#at(5));
    return null;
  }

  read(b: Buffer, to: Change): string | null {
    const type = textAt(b, this.#at(2));
    if (type === null) return 'the message has no `type`';
    if (FRAMES.has(type)) return null;
    if (DDL.test(type)) {
      to.note = type;
      return null;
    }
    const data = objectOf(b, this.#at(3), 'data', to.images);
    switch (type) {
      case 'insert':
      case 'bootstrap-insert':
        to.is = 'insert';
        return data;
      case 'delete':
        to.is = 'delete';
        return data;
      case 'update':
        to.is = 'update';
        to.partialOlds = true;
        return data ?? objectOf(b, this.#at(4), 'old', to.olds);
      default:
        return `the message is of the unknown type \`${type}\``;
    }
  }

  #at(i: number): Span {
    return { start: this.#fields.starts[i] ?? -1, end: this.#fields.ends[i] ?? -1 };
  }
}

function objectOf(b: Buffer, at: Span, name: string, to: number[]): string | null {
  if (!isThere(b, at)) return `the message has no \`${name}\``;
  if (b[at.start] !== OPEN) return `\`${name}\` is no JSON object`;
  to.push(at.start, at.end);
  return null;
}
