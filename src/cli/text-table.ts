/** Tables of text that fit a terminal. */
import { padText, textWidth } from '../config/text-width.js';

export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Of the terminal; Infinity: nothing is wrapped. */
  readonly width: number;
  /** The most that a column takes before its cells are wrapped; the last one gets what is left. */
  readonly most: readonly number[];
}

const GAP = '  ';
/** With less than this the last column gets lines of its own, below the others. */
const LEAST = 28;
const INDENT = '    ';

/** Columns of the terminal that stdout is, else those of COLUMNS, else `otherwise`. */
export function outputWidth(otherwise: number): number {
  const said = Number(process.env['COLUMNS']);
  return (process.stdout.isTTY ? process.stdout.columns : 0) || (said >= 1 ? said : otherwise);
}

/** Columns in which no row has anything are left out. */
export function textTable({ head, rows, width, most }: TextTable): readonly string[] {
  const last = head.length - 1;
  const used = head.map((_, i) => i).filter((i) => i === last || rows.some((r) => r[i] !== ''));
  const front = used.slice(0, -1).map((i) => {
    const limit = most[i] ?? Infinity;
    return { i, width: Math.max(...[head, ...rows].flatMap((r) => wrapText(r[i] ?? '', limit)).map(textWidth)) };
  });
  const left = width - front.reduce((sum, c) => sum + c.width + GAP.length, 0);
  return [head, ...rows].flatMap((row) => {
    const cells = front.map((c) => ({ width: c.width, lines: wrapText(row[c.i] ?? '', c.width) }));
    const text = row[last] ?? '';
    const below = left < LEAST;
    if (!below) cells.push({ width: 0, lines: wrapText(text, left) });
    const lines = Array.from({ length: Math.max(...cells.map((c) => c.lines.length)) }, (_, n) =>
      cells
        .map((c) => padText(c.lines[n] ?? '', c.width))
        .join(GAP)
        .trimEnd(),
    );
    if (!below || text === '' || row === head) return lines;
    return [...lines, ...wrapText(text, Math.max(LEAST, width - INDENT.length)).map((l) => INDENT + l)];
  });
}

/** Cells below each other, nothing wrapped. */
export function alignedRows(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((r) => r.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((r) => textWidth(r[i] ?? ''))));
  return rows.map((r) =>
    r
      .map((cell, i) => padText(cell, widths[i] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** Lines of at most this width, broken between words, and inside those that are longer than a line. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const c of word) {
      if (line !== '' && textWidth(line + c) > width) {
        lines.push(line);
        line = '';
      }
      line += c;
    }
  }
  return [...lines, line];
}
