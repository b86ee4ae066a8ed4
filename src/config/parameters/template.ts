import type { Node } from 'jsonc-parser';

/** A `${…}` as it is written, taken apart. */
export interface Reference {
  /** With its braces. */
  readonly text: string;
  readonly name: string;
  /** What stands after the first colon: a default, a pattern of a time, a variable's name; null: no colon. */
  readonly rest: string | null;
}

export type Segment = string | Reference;

const REFERENCE = /\$?\$\{([^}]*)\}/g;
/** `name`, `now-1d`, with a rest after a colon. */
const BODY = /^\s*([A-Za-z_][\w.]*(?:\s*[+-]\s*\d+[A-Za-z])*|[A-Za-z_][\w.-]*)\s*(?::([\s\S]*))?$/;

/** Names of times: `now`, `bizdate`, each with steps. */
export const TIME_NAME = /^(now|bizdate)((?:[+-]\d+[A-Za-z])*)$/;

/**
 * The template that a value is: its text, or, where it stands in the file without quotes, what stands there. Null: it
 * holds no reference. `text`: the file's.
 */
export function templateOf(node: Node, text: string): { readonly template: string; readonly bare: boolean } | null {
  if (node.type !== 'string') return null;
  if (text.startsWith('${', node.offset)) {
    return { template: text.slice(node.offset, node.offset + node.length), bare: true };
  }
  const value = node.value as string;
  return hasReference(value) ? { template: value, bare: false } : null;
}

export function hasReference(text: string): boolean {
  return text.includes('${');
}

/**
 * Texts and references in their order. `$${x}` is the text `${x}`. A brace that is not closed is text.
 * @returns null where a body is no name.
 */
export function parseTemplate(text: string): readonly Segment[] | { readonly wrong: string } {
  const out: Segment[] = [];
  let at = 0;
  for (const m of text.matchAll(REFERENCE)) {
    if (m.index > at) out.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[0].startsWith('$$')) {
      out.push(m[0].slice(1));
      continue;
    }
    const body = BODY.exec(m[1] ?? '');
    if (body?.[1] === undefined) return { wrong: m[0] };
    out.push({ text: m[0], name: body[1].replace(/\s+/g, ''), rest: body[2] ?? null });
  }
  if (at < text.length) out.push(text.slice(at));
  return out;
}
