/** Values as people write them into job files, right ones mostly, made from an option schema by chance. */
import fc from 'fast-check';
import { branchesOf, typesOf, type SchemaNode } from '../../../src/config/schema.js';

const JUNK = fc.jsonValue({ maxDepth: 1 });
/** `value`, as itself or as what a parameter stands for. */
const orParameter = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: value },
    {
      weight: 1,
      arbitrary: value.map((v) => (typeof v === 'string' || typeof v === 'number' ? `\${p:${String(v)}}` : v)),
    },
  );

export function rawValue(s: SchemaNode | boolean): fc.Arbitrary<unknown> {
  if (typeof s === 'boolean' || s['x-ignored'] !== undefined) return JUNK;
  return fc.oneof({ weight: 40, arbitrary: orParameter(fitting(s)) }, { weight: 1, arbitrary: JUNK });
}

function fitting(s: SchemaNode): fc.Arbitrary<unknown> {
  const branches = branchesOf(s);
  if (branches) return fc.oneof(...branches.map(rawValue));
  const values = s.enum ?? (s.const === undefined ? null : [s.const]);
  const words = [...(values ?? []), ...Object.keys(s['x-values'] ?? {})];
  if (words.length > 0) return fc.constantFrom(...words).chain(dressed);
  const types = typesOf(s);
  if (types === null) return s.properties ? object(s) : JUNK;
  return fc.oneof(...types.map((t) => ofType(t, s)));
}

/** A word in any case, with space around it, or as the number or boolean that it looks like. */
function dressed(word: unknown): fc.Arbitrary<unknown> {
  if (typeof word !== 'string') return fc.constantFrom<unknown>(word, typeof word === 'number' ? String(word) : word);
  const plain = /^(?:true|false|-?\d+)$/.test(word) ? [JSON.parse(word) as unknown] : [];
  return fc.constantFrom<unknown>(word, word, word.toUpperCase(), word.toLowerCase(), ` ${word}\t`, ...plain);
}

function ofType(type: string, s: SchemaNode): fc.Arbitrary<unknown> {
  switch (type) {
    case 'integer':
      return fc.integer({ min: s.minimum ?? -5, max: Math.min(s.maximum ?? 1e6, 1e6) }).chain((n) => {
        const time = s['x-unit'] === 'ms' || s['x-unit'] === 's' ? ['10 s', '2min', ' 1 h ', '7d', '3 m', '9ms'] : [];
        return fc.constantFrom<unknown>(n, n, String(n), ` ${String(n)} `, n < 0 ? n : `+${String(n)}`, ...time);
      });
    case 'number':
      return fc.double({ min: s.minimum ?? -5, max: s.maximum ?? 1e6, noNaN: true }).chain((n) => {
        const time = s['x-unit'] === 'ms' || s['x-unit'] === 's' ? ['10 s'] : [];
        return fc.constantFrom<unknown>(n, String(n), ` ${n.toFixed(2)}`, '.5', '1.', ...time);
      });
    case 'boolean':
      return fc.constantFrom<unknown>(true, false, 'true', 'False', ' TRUE ');
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(rawValue(s.items ?? {}), { minLength: s.minItems ?? 0, maxLength: 3 });
    case 'object':
      return object(s);
    default:
      return fc.oneof(
        fc.string({ minLength: s.minLength ?? 0, maxLength: Math.min(s.maxLength ?? 12, 12) }),
        fc.constantFrom<unknown>('abc', 7, 1.5, true),
      );
  }
}

function object(s: SchemaNode): fc.Arbitrary<unknown> {
  const named = Object.entries(s.properties ?? {}).map(([name, child]) => {
    const names = fc.constantFrom(name, name, ...(child['x-aliases'] ?? []));
    const share = s.required?.includes(name) === true ? 30 : 1;
    return fc.oneof(
      { weight: share, arbitrary: fc.tuple(names, rawValue(child)) },
      { weight: 2, arbitrary: fc.constant(null) },
    );
  });
  const extra = s.additionalProperties;
  const child = typeof extra === 'object' ? extra : {};
  const pattern = Object.entries(s.patternProperties ?? {}).map(([p, c]) =>
    fc.tuple(fc.stringMatching(new RegExp(p)), rawValue(c)),
  );
  const free = fc.tuple(fc.constantFrom('k1', 'k 2'), rawValue(child));
  const more = [...(named.length === 0 || extra === true || typeof extra === 'object' ? [free] : []), ...pattern].map(
    (a) => fc.option(a, { nil: null }),
  );
  return fc.tuple(...named, ...more).map((entries) => Object.fromEntries(entries.filter((e) => e !== null)) as unknown);
}
