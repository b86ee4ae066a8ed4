/** Cells that hold headers, in the form that the reader's codec raw and its meta column give them. */
import type { RowView } from 'syncx/plugin-api';
import type { HeaderToWrite } from '../../wire/batch-writer.js';
import { isThere } from './row-cells.js';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const NONE: readonly HeaderToWrite[] = [];

export const NO_HEADERS_CELL = 'is no JSON list of {"key", "value"}';

/** @returns null: the cell has another form. Of NULL and of an empty list none. */
export function headersIn(view: RowView, column: number): readonly HeaderToWrite[] | null {
  return !isThere(view, column) || isEmptyList(view, column) ? NONE : parse(view.text(column) ?? '');
}

function isEmptyList(view: RowView, column: number): boolean {
  const start = view.start(column);
  return view.end(column) - start === 2 && view.data[start] === OPEN && view.data[start + 1] === CLOSE;
}

function parse(text: string): readonly HeaderToWrite[] | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  const headers: HeaderToWrite[] = [];
  for (const entry of list as readonly unknown[]) {
    if (typeof entry !== 'object' || entry === null) return null;
    const { key, value } = entry as { readonly key?: unknown; readonly value?: unknown };
    if (typeof key !== 'string' || (value !== null && typeof value !== 'string')) return null;
    headers.push({ key, value: value === null ? null : Buffer.from(value, 'base64') });
  }
  return headers;
}
