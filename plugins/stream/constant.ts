import type { LogicalType } from 'syncx/plugin-api';

const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?$/;

/** [smallest, largest] of each integer type. */
function bounds(t: LogicalType): readonly [bigint, bigint] | null {
  const m = /^(u?)int(\d+)$/.exec(t.is);
  if (m) {
    const bits = BigInt(m[2] ?? 64);
    return m[1] === 'u' ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  }
  return t.is === 'bit' ? [0n, 2n ** BigInt(t.length) - 1n] : null;
}

/** Whether a text is the canonical form of a value of the type. */
export function isConstantOf(t: LogicalType, text: string): boolean {
  const range = bounds(t);
  if (range) return INTEGER.test(text) && BigInt(text) >= range[0] && BigInt(text) <= range[1];
  switch (t.is) {
    case 'boolean':
      return text === 'true' || text === 'false';
    case 'decimal': {
      const m = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text);
      return (
        m !== null &&
        (m[1] === '0' ? 0 : (m[1]?.length ?? 0)) <= t.precision - t.scale &&
        (m[2]?.length ?? 0) <= t.scale
      );
    }
    case 'float32':
    case 'float64':
      return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text);
    case 'date':
      return DATE.test(text) && !Number.isNaN(Date.parse(text));
    case 'datetime':
    case 'timestamp':
      return MOMENT.test(text) && !Number.isNaN(Date.parse(text.slice(0, 19).replace(' ', 'T')));
    case 'time':
      return /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,9})?$/.test(text);
    case 'year':
      return /^\d{4}$/.test(text);
    case 'json':
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    default:
      return true;
  }
}
