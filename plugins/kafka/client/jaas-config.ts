/** `sasl.jaas.config` of Java clients, read as they do: by Java's StreamTokenizer, with `-`, `_`, `$` in words. */

export interface JaasLogin {
  /** Class name of the login module. */
  readonly module: string;
  readonly options: ReadonlyMap<string, string>;
}

type Token = { readonly kind: 'text' | 'sign'; readonly text: string };

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\u000b',
};
const FLAGS: ReadonlySet<string> = new Set(['required', 'requisite', 'sufficient', 'optional']);

class Problem extends Error {}

/** `\n`, `\101`, `\"` …; a text ends at its quote, and must not run over a line. */
function quoted(text: string, from: number): readonly [string, number] {
  const quote = text[from];
  let out = '';
  for (let i = from + 1; i < text.length; i++) {
    const c = text[i] ?? '';
    if (c === quote) return [out, i + 1];
    if (c === '\n' || c === '\r') break;
    if (c !== '\\') {
      out += c;
      continue;
    }
    const octal = /^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/.exec(text.slice(i + 1, i + 4));
    if (octal === null) {
      const next = text[i + 1] ?? '';
      out += ESCAPES[next] ?? next;
      i++;
    } else {
      out += String.fromCharCode(parseInt(octal[0], 8));
      i += octal[0].length;
    }
  }
  throw new Problem('a quoted text has no end');
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < text.length;) {
    const rest = text.slice(i);
    // A lone `/` begins a comment too.
    const skipped = /^(?:[\0-\x20]+|\/\*[^]*?\*\/|\/(?!\*)[^\n\r]*)/.exec(rest);
    if (skipped !== null) {
      i += skipped[0].length;
      continue;
    }
    if (text[i] === '"' || text[i] === "'") {
      const [value, end] = quoted(text, i);
      tokens.push({ kind: 'text', text: value });
      i = end;
      continue;
    }
    const word = /^[A-Za-z_$\u00a0-\uffff][\w$.\-\u00a0-\uffff]*/.exec(rest);
    if (word === null && /^[0-9.-]/.test(rest))
      throw new Problem('a value that begins with a digit, dot or hyphen needs quotes');
    const found = word?.[0] ?? rest.slice(0, 1);
    tokens.push({ kind: word === null ? 'sign' : 'text', text: found });
    i += found.length;
  }
  return tokens;
}

/** @returns what is wrong with it, as a clause without any of its text, which has a password. */
export function parseJaasConfig(text: string): JaasLogin | string {
  try {
    return parse(tokensOf(text));
  } catch (e) {
    if (e instanceof Problem) return e.message;
    throw e;
  }
}

function parse(tokens: readonly Token[]): JaasLogin {
  const [module, flag] = tokens;
  if (module?.kind !== 'text') throw new Problem('it names no login module');
  if (flag?.kind !== 'text' || !FLAGS.has(flag.text.toLowerCase()))
    throw new Problem('behind the login module must stand `required`');
  const options = new Map<string, string>();
  let i = 2;
  for (; tokens[i]?.text !== ';' || tokens[i]?.kind !== 'sign'; i += 3) {
    const [key, equals, value] = [tokens[i], tokens[i + 1], tokens[i + 2]];
    if (key === undefined) throw new Problem('it does not end with a semicolon');
    if (key.kind !== 'text' || equals?.kind !== 'sign' || equals.text !== '=' || value?.kind !== 'text')
      throw new Problem('its options are not of the form `name="value"`');
    options.set(key.text, value.text);
  }
  if (i + 1 < tokens.length) throw new Problem('it has more than one login module');
  return { module: module.text, options };
}
