/**
 * SQL's LIKE: `%` stands for any text, `_` for one character, a backslash takes either as it is. Matched without going
 * back more than to the last `%`.
 */
export function likeMatcher(pattern: string): (text: string) => boolean {
  const items: (string | null)[] = []; // null: %; '': _
  const chars = [...pattern];
  for (let i = 0; i < chars.length; i++) {
    const c = chars[i] ?? '';
    if (c === '%') {
      if (items.at(-1) !== null || items.length === 0) items.push(null);
    } else if (c === '_') items.push('');
    else if (c === '\\' && i + 1 < chars.length) items.push(chars[++i] ?? '');
    else items.push(c);
  }
  return (text) => {
    const t = [...text];
    let p = 0;
    let i = 0;
    let star = -1;
    let from = 0;
    while (i < t.length) {
      const item = items[p];
      if (item === null) {
        star = p++;
        from = i;
      } else if (item !== undefined && (item === '' || item === t[i])) {
        p++;
        i++;
      } else if (star >= 0) {
        p = star + 1;
        i = ++from;
      } else return false;
    }
    while (items[p] === null) p++;
    return p === items.length;
  };
}
