import type { Offsets } from './start-offsets.js';
import { splitIdOf } from './split-spec.js';

/**
 * `partition:0,offset:42;partition:1,offset:300`, of several topics with `topic:a,` before each (FlinkX's form).
 * @param topics Names of the job's topics: the one that is meant where an entry names none; null: not known yet.
 * @returns what is wrong with it, as text, where something is.
 */
export function parseOffsets(text: string, topics: readonly string[] | null): Offsets | string {
  const offsets = new Map<string, number>();
  for (const entry of text.split(';')) {
    const parts = new Map(entry.split(',').map((p): [string, string] => splitAtColon(p)));
    if (entry.trim() === '') continue;
    const partition = parts.get('partition') ?? '';
    const offset = parts.get('offset') ?? '';
    if (!/^\d+$/.test(partition) || !/^\d{1,15}$/.test(offset)) return `\`${entry}\` is no partition:N,offset:N`;
    const topic = parts.get('topic') ?? (topics?.length === 1 ? topics[0] : undefined);
    if (topic === undefined) return `\`${entry}\` does not say which topic it means`;
    offsets.set(splitIdOf(topic, Number(partition)), Number(offset));
  }
  return offsets.size === 0 ? 'it names no partition' : offsets;
}

function splitAtColon(part: string): [string, string] {
  const at = part.indexOf(':');
  return at < 0 ? [part.trim(), ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
}
