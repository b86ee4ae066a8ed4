/** Parameters of the command line: `-p name=value`, repeated, or `-p '{"name": value}'`. */
import { parseTree, type Node, type ParseError } from 'jsonc-parser';
import { SyncError } from '../../plugin-api/index.js';

/** A value as it was given: text, or a part of JSON with its own source. */
export type GivenValue = string | { readonly node: Node; readonly source: string };

export type GivenParameters = ReadonlyMap<string, GivenValue>;

/**
 * The value is all that follows the first `=`: commas and further `=` belong to it. DataX's `-p "-Da=1 -Db=2"` is read
 * too.
 * @throws SyncError USAGE
 */
export function givenParameters(args: readonly string[]): GivenParameters {
  const out = new Map<string, GivenValue>();
  const put = (name: string, value: GivenValue): void => {
    if (!/^[A-Za-z_][\w.-]*$/.test(name)) {
      throw new SyncError('USAGE', `${JSON.stringify(name)} cannot be the name of a parameter`, {
        hint: 'A name has letters, digits, _ . and -.',
      });
    }
    if (out.has(name)) throw new SyncError('USAGE', `parameter ${name} is given twice`);
    out.set(name, value);
  };
  for (const arg of args) {
    const text = arg.trim();
    if (text.startsWith('{')) for (const [name, value] of jsonParameters(text)) put(name, value);
    else if (/^-D\S/.test(text)) for (const one of text.split(/\s+(?=-D\S)/)) pair(one.slice(2), put);
    else pair(arg, put);
  }
  return out;
}

function pair(text: string, put: (name: string, value: string) => void): void {
  const cut = text.indexOf('=');
  if (cut < 0) {
    // The text may be a secret's value that a shell took apart: it is not repeated.
    throw new SyncError('USAGE', 'a parameter is given without =', {
      hint: 'Write -p name=value, or -p \'{"name": 1}\'.',
    });
  }
  put(text.slice(0, cut).trim(), text.slice(cut + 1));
}

function* jsonParameters(source: string): Generator<[string, GivenValue]> {
  const errors: ParseError[] = [];
  const root = parseTree(source, errors, { allowTrailingComma: true });
  const at = errors[0]?.offset;
  if (at !== undefined || root?.type !== 'object') {
    throw new SyncError('USAGE', `-p is no JSON object${at === undefined ? '' : ` (column ${String(at + 1)})`}`, {
      hint: 'Write -p name=value, or -p \'{"name": 1}\'.',
    });
  }
  for (const property of root.children ?? []) {
    const [key, node] = property.children ?? [];
    if (!key || !node) continue;
    yield [key.value as string, node.type === 'string' ? (node.value as string) : { node, source }];
  }
}
