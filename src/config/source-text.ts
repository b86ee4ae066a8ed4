/** A place in a text: line and column count from 1, columns in UTF-16 units as editors count them. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A text with its line starts, to turn offsets into places. */
export class SourceText {
  /** As the user named it. */
  readonly name: string;
  /** Without a byte order mark. */
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text.startsWith('\uFEFF') ? text.slice(1) : text;
    const starts = [0];
    for (const m of this.text.matchAll(/\r\n|\n|\r/g)) starts.push(m.index + m[0].length);
    this.#lineStarts = starts;
  }

  place(offset: number): Place {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if ((this.#lineStarts[mid] ?? 0) <= offset) low = mid;
      else high = mid - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }

  /** `job.json:3:14`, as compilers write it and terminals link it. */
  at(offset: number): string {
    const p = this.place(offset);
    return `${this.name}:${String(p.line)}:${String(p.column)}`;
  }
}
