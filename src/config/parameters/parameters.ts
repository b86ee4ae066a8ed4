/** Replaces `${…}` in the values of a job file. Values come in as JSON values, never as text of the file. */
import { readFileSync } from 'node:fs';
import { parseTree, type Node, type ParseError } from 'jsonc-parser';
import { nearest } from '../suggest.js';
import { momentOf, timeText } from './clock.js';
import type { GivenParameters, GivenValue } from './given.js';
import { parseTemplate, TIME_NAME, type Reference } from './template.js';

export interface ParameterSources {
  readonly given: GivenParameters;
  /** What the clock shows: ms since 1970. */
  readonly now: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A parameter in a value, as far as it says what the value is. */
export interface Use {
  /** As it is written: `day`, `now-1d:yyyyMMdd`. */
  readonly name: string;
  readonly value: string;
  readonly time: 'day' | 'moment' | null;
}

/** A node that may stand for a reference: then its own text is not in the file. */
export interface PlantedNode extends Node {
  /** As it was given. What it holds is a value: a `${` in it is text. */
  readonly literal?: string;
  /** Where it was given, if not in the file: `--conf execution.checkpointing.interval`. */
  readonly from?: string;
}

export interface Replaced {
  /** At the place of the original. */
  readonly node: Node;
  /** The value as JSON text; null: it must not be shown, it comes from the environment or a file. */
  readonly shown: string | null;
  readonly uses: readonly Use[];
}

export interface Unreplaced {
  readonly message: string;
  /** The same without text of the value, which may be a secret. */
  readonly discreet?: string;
  readonly hint: string | null;
}

interface Resolved {
  readonly value: GivenValue;
  readonly hidden: boolean;
  readonly use: Use | null;
}

const isProblem = (r: Resolved | Unreplaced): r is Unreplaced => 'message' in r;

export class Parameters {
  readonly #s: ParameterSources;
  readonly #used = new Set<string>();

  constructor(sources: ParameterSources) {
    this.#s = sources;
  }

  /** Given, but nothing in the file asks for them. */
  unused(): readonly string[] {
    return [...this.#s.given.keys()].filter((n) => !this.#used.has(n) && n !== 'now');
  }

  /**
   * `bare`: the reference stands in the file without quotes, so that a text that is JSON gives a list or a number.
   * `keep`: names that the option itself replaces, later.
   */
  replace(node: Node, template: string, bare: boolean, keep: readonly string[]): Replaced | Unreplaced {
    const segments = parseTemplate(template);
    if ('wrong' in segments) {
      return {
        message: `${segments.wrong} is not a parameter`,
        discreet: '${…} in it is not a parameter',
        hint: 'write $${…} for the text itself',
      };
    }
    const [only] = segments;
    if (segments.length === 1 && only !== undefined && typeof only !== 'string' && !keep.includes(only.name)) {
      const r = this.#resolve(only);
      return isProblem(r) ? r : whole(node, r, bare);
    }
    let text = '';
    let hidden = false;
    const uses: Use[] = [];
    for (const s of segments) {
      if (typeof s === 'string' || keep.includes(s.name)) {
        text += typeof s === 'string' ? s : s.text;
        continue;
      }
      const r = this.#resolve(s);
      if (isProblem(r)) return r;
      const part = scalarText(r.value);
      if (part === null) {
        return { message: `parameter ${s.name} is a list or an object`, hint: 'it can only be a value by itself' };
      }
      text += part;
      hidden ||= r.hidden;
      if (r.use) uses.push(r.use);
    }
    return { node: leaf(node, text), shown: hidden ? null : JSON.stringify(text), uses };
  }

  #resolve(r: Reference): Resolved | Unreplaced {
    // Before what is given: `-p env=prod` must not take the place of `${env:PASSWORD}`.
    if (r.name === 'env' && r.rest !== null) return this.#fromEnvironment(r.rest);
    if (r.name === 'file' && r.rest !== null) return fromFile(r.rest.trim());
    const time = TIME_NAME.exec(r.name);
    const given = this.#s.given.get(r.name);
    if (given !== undefined && r.name !== 'now' && (!time || r.rest === null)) {
      this.#used.add(r.name);
      const value = typeof given === 'string' ? given : (scalarText(given) ?? shownOf(given));
      return { value: given, hidden: false, use: { name: r.name, value, time: null } };
    }
    if (time) return this.#fromClock(r, time[1] ?? '');
    if (r.rest !== null) return { value: r.rest, hidden: false, use: { name: r.name, value: r.rest, time: null } };
    return { message: `parameter ${r.name} has no value`, hint: this.#hintFor(r.name) };
  }

  /** A `bizdate` that is given is the day of all its forms; by the clock they would be about another day than it. */
  #fromClock(r: Reference, base: string): Resolved | Unreplaced {
    const given = base === 'bizdate' ? this.#s.given.get(base) : undefined;
    if (given !== undefined) this.#used.add(base);
    const day = given === undefined ? null : momentOf(scalarText(given) ?? '');
    if (given !== undefined && day === null) {
      return { message: `parameter ${base} is no day, as ${r.text} needs it`, hint: 'write it as 20261128' };
    }
    const t = timeText(r.name, r.rest, this.#s.now, day);
    if (typeof t === 'string') return { message: t, hint: '${now:yyyyMMdd}, ${now-1d:yyyy-MM-dd HH:mm:ss}' };
    const use: Use = { name: r.text.slice(2, -1), value: t.text, time: t.wholeDay ? 'day' : 'moment' };
    return { value: t.text, hidden: false, use };
  }

  #fromEnvironment(rest: string): Resolved | Unreplaced {
    const cut = rest.indexOf(':');
    const name = (cut < 0 ? rest : rest.slice(0, cut)).trim();
    const value = this.#s.env[name] ?? (cut < 0 ? undefined : rest.slice(cut + 1));
    if (value === undefined) {
      return {
        message: `the environment has no variable ${name}`,
        hint: `set it, or give a default: \${env:${name}:…}`,
      };
    }
    return { value, hidden: true, use: null };
  }

  #hintFor(name: string): string {
    const { given } = this.#s;
    for (const [other, value] of given) {
      if (typeof value === 'string' && value.includes(`,${name}=`)) {
        return `the value of ${other} goes on to its end, commas and all; repeat -p for each parameter`;
      }
    }
    const near = nearest(name, [...given.keys()]);
    return near === null
      ? `give it with -p ${name}=…, or a default: \${${name}:…}`
      : `did you mean ${JSON.stringify(near)}?`;
  }
}

/** Without the line end that editors put behind a secret. */
function fromFile(path: string): Resolved | Unreplaced {
  try {
    return { value: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), hidden: true, use: null };
  } catch (e) {
    const code = (e as NodeJS.ErrnoException).code ?? 'unknown';
    return { message: `the file ${path} cannot be read: ${code}`, hint: null };
  }
}

/** Null: a list or an object. */
function scalarText(v: GivenValue): string | null {
  if (typeof v === 'string') return v;
  const { node, source } = v;
  if (node.type === 'array' || node.type === 'object') return null;
  return node.type === 'null' ? '' : source.slice(node.offset, node.offset + node.length);
}

function whole(node: Node, { value, hidden, use }: Resolved, bare: boolean): Replaced {
  const uses = use ? [use] : [];
  if (typeof value !== 'string') {
    return { node: planted(value.node, node, value.source), shown: shownOf(value), uses };
  }
  const errors: ParseError[] = [];
  const json = bare ? parseTree(value, errors) : undefined;
  if (json && errors.length === 0 && (json.type === 'array' || json.type === 'object')) {
    return { node: planted(json, node, value), shown: hidden ? null : value, uses };
  }
  return { node: leaf(node, value), shown: hidden ? null : JSON.stringify(value), uses };
}

function shownOf({ node, source }: Exclude<GivenValue, string>): string {
  return source.slice(node.offset, node.offset + node.length);
}

function leaf(at: Node, value: string): Node {
  return { type: 'string', value, offset: at.offset, length: at.length };
}

function planted(node: Node, at: Node, source: string): PlantedNode {
  const { type } = node;
  const literal = source.slice(node.offset, node.offset + node.length);
  const place = { literal, offset: at.offset, length: at.length };
  if (node.children) return { type, ...place, children: node.children.map((c) => planted(c, at, source)) };
  return { type, value: node.value as unknown, ...place };
}
