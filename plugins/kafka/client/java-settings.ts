import type { Finding } from 'syncx/plugin-api';

export type SettingsMap = Readonly<Record<string, string | number | boolean>>;

/** The settings of Java clients, with a note of which of them are looked at. */
export class Settings {
  readonly #map: SettingsMap;
  readonly #option: string;
  readonly #findings: Finding[];
  readonly #used = new Set<string>();

  constructor(map: SettingsMap, option: string, findings: Finding[]) {
    this.#map = map;
    this.#option = option;
    this.#findings = findings;
  }

  path(name: string): string {
    return `${this.#option}.${name}`;
  }

  /** As it stands, blanks too: empty has a meaning for some. */
  text(name: string): string | undefined {
    this.#used.add(name);
    const value = Object.hasOwn(this.#map, name) ? this.#map[name] : undefined;
    return value === undefined ? undefined : String(value);
  }

  ms(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(ms) && ms >= 1) return ms;
    this.#findings.push({
      path: this.path(name),
      message: `${name} must be a whole number of milliseconds, 1 or more`,
    });
    return undefined;
  }

  /** In the order of the job. */
  namesOf(prefix: string): readonly string[] {
    return Object.keys(this.#map).filter((n) => n.startsWith(prefix));
  }

  /** A warning for each setting that nobody has looked at. */
  sayUnused(elsewhere: ReadonlySet<string>): void {
    for (const name of Object.keys(this.#map)) {
      if (this.#used.has(name) || elsewhere.has(name)) continue;
      this.#findings.push({ path: this.path(name), message: `${name} has no effect here`, level: 'warning' });
    }
  }
}
