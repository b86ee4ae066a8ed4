import { SyncError, type RejectedRow } from '../../plugin-api/index.js';
import type { JobSettings } from '../../job/job-spec.js';

const FIRST = 10;
/** Of an example in the message; the file of dirty rows has the whole. */
const MAX_CHARS = 300;
/** In an unbounded job a share of few rows says nothing. */
const UNBOUNDED_MIN_ROWS = 1000;

/** The job's `errorLimit`, exact for the whole job over all its starts. */
export class DirtyLimit {
  readonly #limit: JobSettings['errorLimit'];
  #count: number;
  /** Of this start; the first of them are examples. */
  #seen = 0;
  readonly #first: RejectedRow[] = [];

  constructor(limit: JobSettings['errorLimit'], before: number) {
    this.#limit = limit;
    this.#count = before;
  }

  get count(): number {
    return this.#count;
  }

  /** @throws SyncError DIRTY_LIMIT at the (limit+1)th dirty row. */
  add(rows: readonly RejectedRow[]): void {
    for (const r of rows) if (this.#first.length < FIRST) this.#first.push(r);
    this.#count += rows.length;
    this.#seen += rows.length;
    this.#checkCount(this.#count);
  }

  #checkCount(dirty: number): void {
    const { record } = this.#limit;
    if (record !== null && dirty > record) {
      throw this.#passed(`${String(dirty)} dirty rows; errorLimit.record allows ${String(record)}`);
    }
  }

  /**
   * At a checkpoint: the share of dirty rows among those read. At the last one the count too: a resumed run may have had
   * a higher limit before.
   * @throws SyncError DIRTY_LIMIT
   */
  check(read: number, dirty: number, bounded: boolean, last: boolean): void {
    if (last) this.#checkCount(dirty);
    const { percentage } = this.#limit;
    if (percentage === null || dirty === 0) return;
    if (bounded ? !last : read < UNBOUNDED_MIN_ROWS && !last) return;
    const share = (dirty / read) * 100;
    // 3 of 1000 is 0.3 %: compare as products, so that no division rounds a row over the limit.
    if (dirty * 100 > percentage * read * (1 + Number.EPSILON * 4)) {
      throw this.#passed(
        `${String(dirty)} of ${String(read)} rows are dirty (${share.toPrecision(3)} %); errorLimit.percentage allows ${String(percentage)} %`,
      );
    }
  }

  /** A message of several lines: what was passed, then one line for each of the first rows. */
  #passed(what: string): SyncError {
    const first = this.#first.map((r) => {
      const where = [r.place, r.column === null ? null : `column ${r.column}`].filter((x) => x !== null).join(', ');
      return `  ${oneLine(where ? `${where}: ${r.reason}` : r.reason)}`;
    });
    const more = this.#seen - this.#first.length;
    if (more > 0) first.push(`  and ${String(more)} more`);
    return new SyncError('DIRTY_LIMIT', [what, ...first].join('\n'), {
      hint: 'Mend the source or raise errorLimit; the rows of the aborted epoch are in the file marked not-committed.',
    });
  }
}

/** A reason may quote the row, line ends and all, and be as long as one. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS)}…`;
}
