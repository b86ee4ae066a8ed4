import type { BatchBuilder } from 'syncx/plugin-api';

const MINUTE_MS = 60_000;
const LENGTH = '1970-01-01 00:00:00.000'.length;
const SECONDS_AT = LENGTH - '00.000'.length;
const ZERO = 48;

/** Times of records as cells. Those that come one after another are mostly of one minute, and alike up to their seconds. */
export class TimeCell {
  readonly #text = Buffer.alloc(LENGTH);
  #minute = Number.NaN;

  /** `ms`: since 1970, up to the year 9999; -1: NULL. */
  append(builder: BatchBuilder, ms: number): void {
    if (ms < 0) {
      builder.appendNull();
      return;
    }
    const text = this.#text;
    const minute = Math.floor(ms / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      text.write(new Date(minute * MINUTE_MS).toISOString().replace('T', ' '), 'latin1');
    }
    let rest = ms - minute * MINUTE_MS;
    for (let i = LENGTH - 1; i >= SECONDS_AT; i--) {
      if (i === LENGTH - 4) continue; // the point
      const tenth = (rest / 10) | 0;
      text[i] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    builder.reserve(LENGTH, 1);
    const { data } = builder;
    let at = builder.length;
    for (let i = 0; i < LENGTH; i++) data[at++] = text[i] ?? 0;
    builder.length = at;
    builder.ends[builder.cells++] = at;
  }
}
