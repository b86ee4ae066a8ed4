/** The canonical cell forms of floats, docs/specs/cells.md. */

/** The shortest text that parses back to the same double; `NaN`, `Infinity`, `-Infinity`, `-0`. */
export function float64Text(n: number): string {
  return Object.is(n, -0) ? '-0' : String(n);
}

// Nine digits tell any two float32 values apart; six always survive the way there and back.
const MOST_DIGITS = 9;

/**
 * The shortest text that parses back to the same float32: 0.1, not 0.10000000149011612. `n` is a value of that width
 * (from a Float32Array, readFloatLE …); another one is rounded to it.
 */
export function float32Text(n: number): string {
  const single = Math.fround(n);
  if (!Number.isFinite(single) || single === 0) return float64Text(single);
  for (let digits = 1; digits < MOST_DIGITS; digits++) {
    const shorter = Number(single.toPrecision(digits));
    if (Math.fround(shorter) === single) return float64Text(shorter);
  }
  return float64Text(Number(single.toPrecision(MOST_DIGITS)));
}
