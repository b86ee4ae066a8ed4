/** Settings of the command line: `--conf key=value`, repeated, and `--conf-prop '{"key": value}'`. */
import { parseTree, type Node, type ParseError } from 'jsonc-parser';
import { SyncError } from '../../plugin-api/index.js';

export interface GivenConf {
  readonly key: string;
  /** As JSON. */
  readonly node: Node;
  /** The value's JSON text. */
  readonly literal: string;
  /** As messages call it: `--conf execution.checkpointing.interval`. */
  readonly from: string;
}

/** @throws SyncError USAGE where it is not of that form, or a key is given twice. */
export function givenConf(pairs: readonly string[], jsons: readonly string[]): readonly GivenConf[] {
  const out = [...jsons.flatMap((text) => [...ofJson(text)]), ...pairs.map(ofPair)];
  const seen = new Set<string>();
  for (const { key, from } of out) {
    if (seen.has(key)) throw new SyncError('USAGE', `${from} is given twice`, { hint: 'Keep the one that is meant.' });
    seen.add(key);
  }
  return out;
}

function ofPair(text: string): GivenConf {
  const cut = text.indexOf('=');
  const key = text.slice(0, Math.max(cut, 0)).trim();
  // The text may hold a secret: it is not repeated.
  if (key === '') throw new SyncError('USAGE', '--conf is given without key=', { hint: 'Write --conf key=value.' });
  const value = text.slice(cut + 1).trim();
  const literal = JSON.stringify(value);
  return { key, node: { type: 'string', value, offset: 0, length: literal.length }, literal, from: `--conf ${key}` };
}

function* ofJson(source: string): Generator<GivenConf> {
  if (source.trim() === '') return; // old launchers pass an empty one
  const errors: ParseError[] = [];
  const root = parseTree(source, errors, { allowTrailingComma: true });
  const at = errors[0]?.offset;
  if (at !== undefined || root?.type !== 'object') {
    const where = at === undefined ? '' : ` (column ${String(at + 1)})`;
    throw new SyncError('USAGE', `-confProp is no JSON object${where}`, {
      hint: 'Write -confProp \'{"execution.checkpointing.interval": 60000}\', or --conf key=value.',
    });
  }
  for (const property of root.children ?? []) {
    const [keyNode, node] = property.children ?? [];
    if (!keyNode || !node) continue;
    const key = keyNode.value as string;
    const literal = source.slice(node.offset, node.offset + node.length);
    yield { key, node, literal, from: `-confProp ${key}` };
  }
}
