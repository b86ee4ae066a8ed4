import type { Position, PositionCodec } from 'syncx/plugin-api';
import type { PollPosition } from './poll-reading.js';
import type { SplitPosition } from './split-spec.js';

export const splitPosition = (p: Position | null): SplitPosition | null => p as unknown as SplitPosition | null;
export const positionJson = (p: SplitPosition): Position => p;

/**
 * Keys are ordered by the server's collations, so that only equal ones can be compared here; counts are compared. The
 * empty key, or no rows, is a split's start. Of polled tables a position names the edges of a window too.
 */
export const positions: PositionCodec = {
  format: 1,
  compare(a, b) {
    if (JSON.stringify(a) === JSON.stringify(b)) return 0;
    const [x, y] = [anyPosition(a), anyPosition(b)];
    if ('rows' in x && 'rows' in y) return x.rows < y.rows ? -1 : x.rows > y.rows ? 1 : undefined;
    if (!('key' in x) || !('key' in y)) return undefined;
    if (x.key.length === 0) return -1;
    return y.key.length === 0 ? 1 : undefined;
  },
  show(p) {
    const position = anyPosition(p);
    if (!('done' in position)) return showSplit(position);
    const { done, window, at } = position;
    const read = done === null ? 'nothing yet' : `up to ${done.value}`;
    if (window === null) return read;
    return `${read}; on the way to ${window.upper.value}${at === null ? '' : `: ${showSplit(at)}`}`;
  },
};

const anyPosition = (p: Position): SplitPosition | PollPosition => p as unknown as SplitPosition | PollPosition;

function showSplit(position: SplitPosition): string {
  if ('rows' in position) return `${String(position.rows)} rows`;
  return position.key.length === 0 ? 'the start' : position.key.map((v) => v ?? 'NULL').join(', ');
}
