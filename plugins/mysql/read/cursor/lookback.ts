/** The option `increLookback`: how far below its lower end a run begins. */

export type Lookback = { readonly number: bigint } | { readonly seconds: number };

const UNIT_S: Readonly<Record<string, number>> = { s: 1, min: 60, m: 60, h: 3600, d: 86_400 };

/** `5m`, `2 h`, `90` (a number of whatever the column counts). @returns null where it is neither. */
export function parseLookback(text: string | number): Lookback | null {
  const [, digits, unit] = /^\s*(\d{1,15})\s*(s|min|m|h|d)?\s*$/.exec(String(text)) ?? [];
  if (digits === undefined) return null;
  return unit === undefined ? { number: BigInt(digits) } : { seconds: Number(digits) * (UNIT_S[unit] ?? 1) };
}
