/** The option `startLocation`, as a value of the cursor column. */
import { SyncError, cellKind, formatType, type LogicalType } from 'syncx/plugin-api';
import { canonicalCell } from 'syncx/plugin-kit';
import { keyType } from '../plan/key-predicate.js';
import type { ShapeColumn } from '../split-spec.js';

const MICROS_PER_S = 1_000_000n;
/** An instant's digits tell its unit, as in the original: s, ms, µs, ns. */
const MICROS: Readonly<Record<number, (n: bigint) => bigint>> = {
  10: (n) => n * MICROS_PER_S,
  13: (n) => n * 1000n,
  16: (n) => n,
  19: (n) => n / 1000n,
};

function instant(text: string): string | null {
  const micros = /^\d+$/.test(text) ? MICROS[text.length]?.(BigInt(text)) : undefined;
  if (micros === undefined) return null;
  const seconds = new Date(Number(micros / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
  const fraction = String(micros % MICROS_PER_S).padStart(6, '0');
  return fraction === '000000' ? seconds : `${seconds}.${fraction}`;
}

function valueOf(type: LogicalType, text: string): string | null {
  switch (type.is) {
    case 'datetime':
    case 'timestamp': {
      const exact = { is: type.is, fraction: 6 } as const;
      const day = canonicalCell({ is: 'date' }, text);
      return instant(text) ?? canonicalCell(exact, text) ?? (day === null ? null : `${day} 00:00:00`);
    }
    case 'date':
      return canonicalCell(type, instant(text)?.slice(0, 10) ?? text);
    default:
      return cellKind(type) === 'bytes' ? null : canonicalCell(type, text);
  }
}

/** @throws SyncError JOB_INVALID */
export function startValue(column: ShapeColumn, text: string, option = 'startLocation'): string {
  const type = keyType(column);
  const value = valueOf(type, text.trim());
  if (value !== null) return value;
  throw new SyncError('JOB_INVALID', `\`${text}\` is no value of \`${column.name}\`, which is ${formatType(type)}`, {
    place: `reader.parameter.${option}`,
    hint: 'Give one value, for all channels.',
  });
}
