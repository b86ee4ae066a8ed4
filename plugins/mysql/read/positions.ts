import type { Position, PositionCodec } from 'syncx/plugin-api';
import type { SplitPosition } from './split-spec.js';

const splitPosition = (p: Position): SplitPosition => p as unknown as SplitPosition;

/**
 * Keys are ordered by the server's collations, so that only equal ones can be compared here; counts are compared. The
 * empty key, or no rows, is a split's start.
 */
export const positions: PositionCodec = {
  format: 1,
  compare(a, b) {
    const x = splitPosition(a);
    const y = splitPosition(b);
    if ('rows' in x && 'rows' in y) return x.rows === y.rows ? 0 : x.rows < y.rows ? -1 : 1;
    if (!('key' in x) || !('key' in y)) return undefined;
    if (JSON.stringify(x.key) === JSON.stringify(y.key)) return 0;
    if (x.key.length === 0) return -1;
    return y.key.length === 0 ? 1 : undefined;
  },
  show(p) {
    const position = splitPosition(p);
    if ('rows' in position) return `${String(position.rows)} rows`;
    return position.key.length === 0 ? 'the start' : position.key.map((v) => v ?? 'NULL').join(', ');
  },
};
