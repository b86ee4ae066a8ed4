/** The text of the last minute that was asked for: times that come one after another are mostly of one. */
export class MinuteText {
  #minute = Number.NaN;
  #text = '';

  /** `2024-03-31 01:30:` of minutes since 1970; `iso`: `2024-03-31T01:30:00.000Z` of milliseconds. @throws what `iso` does. */
  of(minute: number, iso: (ms: number) => string): string {
    if (minute !== this.#minute) {
      const text = iso(minute * 60_000);
      this.#text = `${text.slice(0, 10)} ${text.slice(11, 17)}`;
      this.#minute = minute;
    }
    return this.#text;
  }
}
