import { SyncError, type RejectedRow } from '../../plugin-api/index.js';
import type { JobSettings } from '../../job/job-spec.js';

/** How many dirty rows a message shows. */
export const FIRST = 10;
/** Of an example in the message; the file of dirty rows has the whole. */
const MAX_CHARS = 300;
/** In an unbounded job a share of few rows says nothing. */
const UNBOUNDED_MIN_ROWS = 1000;

/** Memory of a limit that lanes of several threads keep together. `before`: dirty rows of earlier starts. */
export function dirtyMemory(before: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(8);
  new BigInt64Array(memory)[0] = BigInt(before);
  return memory;
}

/** The job's `errorLimit`, exact for the whole job over all its lanes and starts. */
export class DirtyLimit {
  readonly #limit: JobSettings['errorLimit'];
  readonly #count: BigInt64Array;

  constructor(limit: JobSettings['errorLimit'], memory: SharedArrayBuffer) {
    this.#limit = limit;
    this.#count = new BigInt64Array(memory);
  }

  get count(): number {
    return Number(Atomics.load(this.#count, 0));
  }

  /** @throws SyncError DIRTY_LIMIT at the (limit+1)th dirty row. */
  add(rows: number): void {
    this.#checkCount(Number(Atomics.add(this.#count, 0, BigInt(rows))) + rows);
  }

  #checkCount(dirty: number): void {
    const { record } = this.#limit;
    if (record !== null && dirty > record) {
      throw passed(
        `${String(dirty)} dirty ${dirty === 1 ? 'row' : 'rows'}; errorLimit.record allows ${String(record)}`,
      );
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
      throw passed(
        `${String(dirty)} of ${String(read)} rows are dirty (${share.toPrecision(3)} %); errorLimit.percentage allows ${String(percentage)} %`,
      );
    }
  }
}

function passed(what: string): SyncError {
  return new SyncError('DIRTY_LIMIT', what, {
    hint: 'Mend the source or raise errorLimit; the rows of the aborted epoch are in the files marked not-committed.',
  });
}

/**
 * The message of a passed limit with the job's first dirty rows, one a line; `seen`: how many there are in this start.
 * Other errors stay as they are.
 */
export function showingRows(e: SyncError, first: readonly RejectedRow[], seen: number): SyncError {
  if (e.code !== 'DIRTY_LIMIT' || first.length === 0 || e.message.includes('\n')) return e;
  const lines = first.map((r) => {
    const where = [r.place, r.column === null ? null : `column ${r.column}`].filter((x) => x !== null).join(', ');
    return `  ${oneLine(where ? `${where}: ${r.reason}` : r.reason)}`;
  });
  const more = seen - first.length;
  if (more > 0) lines.push(`  and ${String(more)} more`);
  return new SyncError(e.code, [e.message, ...lines].join('\n'), e.hint === undefined ? {} : { hint: e.hint });
}

/** A reason may quote the row, line ends and all, and be as long as one. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS)}…`;
}
