export type PathSegment = string | number;

const PLAIN = /^[A-Za-z_$][\w$-]*$/;

/** `job.content[0].reader.parameter`, or `map["a.b"]` where a key has other characters. */
export function formatPath(segments: readonly PathSegment[]): string {
  let out = '';
  for (const s of segments) {
    if (typeof s === 'number') out += `[${String(s)}]`;
    else if (!PLAIN.test(s)) out += `[${JSON.stringify(s)}]`;
    else out += out === '' ? s : `.${s}`;
  }
  return out;
}

/** The JSON pointer of a path, as ajv writes `instancePath`. */
export function formatPointer(segments: readonly PathSegment[]): string {
  return segments.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The other way round. An array index stays text: pointers do not tell it from a key. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Reads what plugins write in findings: `column[2].type`, `["a.b"].c`. */
export function parsePath(path: string): PathSegment[] {
  const out: PathSegment[] = [];
  for (const m of path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)) {
    if (m[1] !== undefined) out.push(Number(m[1]));
    else if (m[2] !== undefined) out.push(JSON.parse(`"${m[2]}"`) as string);
    else if (m[3] !== undefined) out.push(m[3]);
  }
  return out;
}
