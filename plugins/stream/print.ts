import { cellKind, type RowView } from 'syncx/plugin-api';

/** By row op, as CDC tools write them: insert, update before and after, delete. */
export const OP_WORDS: readonly string[] = ['+I', '-U', '+U', '-D'];

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** One line of JSON. Digits stay as they are; a change of a row is `{"op":"-D","row":{…}}`. */
export function jsonRow(view: RowView, op: string | undefined): string {
  let out = op === undefined ? '{' : `{"op":"${op}","row":{`;
  let first = true;
  for (let c = 0; c < view.columns; c++) {
    if (view.isAbsent(c)) continue;
    const name = view.schema.columns[c]?.name ?? '';
    out += `${first ? '' : ','}${JSON.stringify(name)}:${jsonCell(view, c)}`;
    first = false;
  }
  return `${out}${op === undefined ? '}\n' : '}}\n'}`;
}

function jsonCell(view: RowView, c: number): string {
  const text = view.text(c);
  const column = view.schema.columns[c];
  if (text === null || !column) return 'null';
  switch (cellKind(column.type)) {
    case 'integer':
    case 'decimal':
    case 'float':
      return JSON_NUMBER.test(text) ? text : JSON.stringify(text);
    case 'boolean':
    case 'json':
      return text;
    case 'text':
      return JSON.stringify(text);
    case 'bytes':
      return JSON.stringify(Buffer.from(view.bytes(c)).toString('base64'));
  }
}

/** One line of text for the eye: nothing is escaped, NULL is `NULL`, bytes are base64. */
export function textRow(view: RowView, op: string | undefined, delimiter: string): string {
  let out = op === undefined ? '' : op + delimiter;
  for (let c = 0; c < view.columns; c++) {
    if (c > 0) out += delimiter;
    if (view.isAbsent(c)) continue;
    const column = view.schema.columns[c];
    const bytes = column && cellKind(column.type) === 'bytes' && !view.isNull(c);
    out += bytes ? Buffer.from(view.bytes(c)).toString('base64') : (view.text(c) ?? 'NULL');
  }
  return `${out}\n`;
}
