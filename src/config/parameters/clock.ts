/** Times in parameters: `${now:yyyyMMdd}`, `${now-1d:yyyy-MM-dd}`, `${bizdate}`. All are local times (TZ). */
import { add } from 'date-fns/add';
import { format } from 'date-fns/format';
import { parseISO } from 'date-fns/parseISO';
import { TIME_NAME } from './template.js';

const UNITS: Readonly<Record<string, string>> = {
  y: 'years',
  M: 'months',
  w: 'weeks',
  d: 'days',
  h: 'hours',
  H: 'hours',
  m: 'minutes',
  s: 'seconds',
};

export interface TimeText {
  readonly text: string;
  /** The text is the same all day long: it may name a run. */
  readonly wholeDay: boolean;
}

/**
 * `bizdate` is the day before, as schedulers have it. Patterns are date-fns' (Unicode TR 35: yyyy MM dd HH mm ss SSS,
 * text in single quotes). `day`: the `bizdate` that is given.
 * @returns what is wrong, as text, where it is.
 */
export function timeText(
  name: string,
  pattern: string | null,
  now: number,
  day: number | null = null,
): TimeText | string {
  const [, base, steps = ''] = TIME_NAME.exec(name) ?? [];
  let at = day === null ? add(new Date(now), base === 'bizdate' ? { days: -1 } : {}) : new Date(day);
  for (const [, sign, n, unit] of steps.matchAll(/([+-])(\d+)([A-Za-z])/g)) {
    const field = UNITS[unit ?? ''];
    if (field === undefined) return `${unit ?? ''} is no unit of time; the units are ${Object.keys(UNITS).join(', ')}`;
    at = add(at, { [field]: Number(`${sign ?? '+'}${n ?? '0'}`) });
  }
  const wanted = pattern ?? (base === 'bizdate' ? 'yyyyMMdd' : 'yyyy-MM-dd HH:mm:ss');
  if (wanted.trim() === '') return 'the pattern of the time is empty';
  // date-fns prints milliseconds there; who writes it means the letter.
  if (/[Tt]/.test(fieldsOf(wanted))) return `\`${wanted}\` has a letter T, which is text: write it as 'T'`;
  try {
    return { text: format(at, wanted), wholeDay: !/[^yYMdLquwIcieEGQRDo]/.test(fieldsOf(wanted)) && wholeDays(steps) };
  } catch (e) {
    return `\`${wanted}\` is no pattern of a time: ${e instanceof Error ? (e.message.split('; ')[0] ?? '') : String(e)}`;
  }
}

/** The letters of a pattern outside quotes. */
function fieldsOf(pattern: string): string {
  return pattern.replace(/'(?:[^']|'')*'/g, '').replace(/[^A-Za-z]/g, '');
}

/** An hour back is another day at times, so such a text is not the same all day. */
function wholeDays(steps: string): boolean {
  return !/[hHms]/.test(steps);
}

/** The moment that `-p now=…` gives, ISO 8601, local where it has no zone; null: it is none. */
export function momentOf(text: string): number | null {
  const at = parseISO(text.trim().replace(' ', 'T')).getTime();
  return Number.isNaN(at) ? null : at;
}
