/**
 * Whether to colour what goes to a stream: on a terminal that can, unless NO_COLOR is set; FORCE_COLOR colours anything,
 * or with 0 nothing. NO_COLOR comes first (https://no-color.org: set and not empty).
 */
export function wantsColour(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: term } = env;
  if (no !== '') return false;
  if (force !== '') return force !== '0' && force !== 'false';
  return stream.isTTY === true && term !== 'dumb';
}
