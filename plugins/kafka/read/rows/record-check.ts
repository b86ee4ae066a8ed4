import { isSpec, type WantedColumn } from 'syncx/plugin-kit';
import type { RecordSlot } from '../../wire/record-reader.js';
import { NO_KEY, NO_TEXT, NO_TIME, isText, isTimed } from './record-cells.js';

/** What keeps a record from being a row, whatever its value says: its bytes, its key and its time, where columns show them. */
export class RecordCheck {
  readonly #text: boolean;
  readonly #keyed: boolean;
  readonly #timed: boolean;

  /** @param text false: values may be any bytes. */
  constructor(columns: readonly WantedColumn[], text: boolean) {
    const shows = (meta: 'key' | 'timestamp'): boolean => columns.some((c) => isSpec(c) && c.meta === meta);
    this.#text = text;
    this.#keyed = shows('key');
    this.#timed = shows('timestamp');
  }

  /** Null: nothing does. */
  fault(r: RecordSlot): string | null {
    if (this.#text && !isText(r, r.valueStart, r.valueEnd)) return NO_TEXT;
    if (this.#keyed && !isText(r, r.keyStart, r.keyEnd)) return NO_KEY;
    return this.#timed && !isTimed(r) ? NO_TIME : null;
  }
}
