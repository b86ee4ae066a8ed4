/** How many columns a text takes on a terminal and in a padded table: East Asian wide characters take two. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

const MARK = /^\p{Mark}$/u;

export function textWidth(text: string): number {
  let width = 0;
  for (const c of text) width += WIDE.test(c) ? 2 : MARK.test(c) ? 0 : 1;
  return width;
}

export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}
