const LENGTH = '1970-01-01 00:00:00.000'.length;
const SECONDS_AT = LENGTH - '00.000'.length;
const POINT_AT = LENGTH - 4;
const POINT = 46;
const ZERO = 48;

/** Cells of timestamps as times of records. Those that come one after another are mostly of one minute. */
export class CellTime {
  /** The last one that was read whole, up to its seconds. */
  readonly #minute = Buffer.alloc(SECONDS_AT);
  #minuteMs = Number.NaN;

  /** @returns ms since 1970, microseconds cut off; NaN: it is no time that a record can have. */
  read(data: Buffer, start: number, end: number): number {
    const known = end - start === LENGTH ? this.#known(data, start) : Number.NaN;
    return Number.isNaN(known) ? this.#parse(data, start, end) : known;
  }

  /** NaN: it is of another minute, or looks odd. */
  #known(data: Buffer, start: number): number {
    const minute = this.#minute;
    for (let i = 0; i < SECONDS_AT; i++) if (data[start + i] !== minute[i]) return Number.NaN;
    let ms = 0;
    for (let i = SECONDS_AT; i < LENGTH; i++) {
      const byte = data[start + i] ?? 0;
      if (i === POINT_AT) {
        if (byte !== POINT) return Number.NaN;
        continue;
      }
      const digit = byte - ZERO;
      if (digit < 0 || digit > 9) return Number.NaN;
      ms = ms * 10 + digit;
    }
    return ms < 60_000 ? this.#minuteMs + ms : Number.NaN;
  }

  #parse(data: Buffer, start: number, end: number): number {
    const ms = Date.parse(`${data.toString('latin1', start, end).replace(' ', 'T')}Z`);
    if (end - start === LENGTH && !Number.isNaN(ms)) {
      data.copy(this.#minute, 0, start, start + SECONDS_AT);
      this.#minuteMs = Math.floor(ms / 60_000) * 60_000;
    }
    return ms;
  }
}
