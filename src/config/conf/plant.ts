/** Puts settings of the command line into the tree of a job file, in place of the file's own. */
import type { Node } from 'jsonc-parser';
import { SETTING_SCHEMA } from '../job-schema.js';
import type { OptionWalk } from '../option-walk.js';
import type { PlantedNode } from '../parameters/parameters.js';
import { propertyOf, type SchemaNode } from '../schema.js';
import { nearest } from '../suggest.js';
import type { GivenConf } from './given.js';
import { knownKeys, useOfKey } from './keys.js';

/** FlinkX has some times in seconds, under names of their own: who sets the one does not mean the other to hold. */
const TWINS: Readonly<Record<string, string>> = {
  delay: 'delayInterval',
  delayInterval: 'delay',
  failureRateInterval: 'failureInterval',
  failureInterval: 'failureRateInterval',
};

/** @returns the tree with the settings in it. What is wrong with a key is reported; values are checked with the file's. */
export function plantConf(root: Node, given: readonly GivenConf[], walk: OptionWalk): Node {
  const taken = new Map<string, string>();
  let tree = root;
  for (const g of given) {
    const use = useOfKey(g.key);
    const at: PlantedNode = { ...g.node, from: g.from };
    if (use === null) {
      const near = nearest(g.key, knownKeys());
      walk.report('warning', at, [], 'unknown key', near === null ? 'it has no effect' : `did you mean "${near}"?`);
    } else if ('ignored' in use) walk.report('warning', at, [], 'has no effect', use.ignored);
    else if ('refused' in use) walk.report('error', at, [], use.refused, use.hint);
    else if (isRemoteState(g, use.to)) walk.report('warning', at, [], 'has no effect', REMOTE_STATE);
    else {
      const target = use.to.join('.');
      const before = taken.get(target);
      taken.set(target, g.from);
      if (before === undefined) tree = planted(tree, ['job', 'setting', ...use.to], valueOf(g, target));
      else walk.report('error', at, [], `sets job.setting.${target}, as ${before} does`, 'keep one of them');
    }
  }
  return tree;
}

const REMOTE_STATE = 'state is kept in a local folder; name one with --state-dir';

function isRemoteState({ node }: GivenConf, to: readonly string[]): boolean {
  const value: unknown = node.value;
  return to.join('.') === 'checkpoint.dir' && typeof value === 'string' && /^(?!file:)[a-z][\w+.-]*:\/\//i.test(value);
}

function valueOf(g: GivenConf, target: string): PlantedNode {
  const place = { literal: g.literal, from: g.from, offset: 0, length: 0 };
  const { type, children } = g.node;
  if (children) return { type, ...place, children: children.map((c): PlantedNode => ({ ...c, ...place })) };
  // Flink writes local folders as URLs.
  const value: unknown = g.node.value;
  const path = target === 'checkpoint.dir' && typeof value === 'string' ? /^file:(?:\/\/)?(\/.*)$/.exec(value) : null;
  return { type, ...place, value: path?.[1] ?? value };
}

/** A copy with the value at the path; objects on the way are made. A way that is barred is left to the frame's check. */
function planted(node: Node, path: readonly string[], value: PlantedNode, schema: SchemaNode | null = null): Node {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (node.type !== 'object') return node;
  const inSetting = schema ?? (name === 'setting' ? SETTING_SCHEMA : null);
  const below = schema === null ? inSetting : propertyOf(schema, name);
  const others = rest.length > 0 ? [name] : [name, ...(below?.['x-aliases'] ?? []), ...twinOf(name)];
  const children = node.children ?? [];
  const own = children.find((p) => keyOf(p) === name);
  if (own === undefined && name === 'job') return node;
  const made: PlantedNode = { ...value, type: 'object', value: undefined, children: [] };
  const next = planted(rest.length === 0 ? value : (own?.children?.[1] ?? made), rest, value, below);
  const key: PlantedNode = own?.children?.[0] ?? { ...value, type: 'string', value: name, children: [] };
  const property: Node = { type: 'property', offset: key.offset, length: key.length, children: [key, next] };
  return { ...node, children: [...children.filter((p) => !others.includes(keyOf(p))), property] };
}

const keyOf = (property: Node): string => (property.children?.[0]?.value as string | undefined) ?? '';
const twinOf = (name: string): readonly string[] => (Object.hasOwn(TWINS, name) ? [TWINS[name] ?? ''] : []);
