/** Patterns of RE2: matched in time that grows with the text only, so that no pattern can hang a job. */
import { ExprError } from './faults.js';

export interface RegexEngine {
  /** `at`: where the pattern stands in the expression. @throws ExprError */
  compile(pattern: string, at: number): { find(text: string): boolean; whole(text: string): boolean };
}

/** Loaded only where an expression asks for it: it is as large as the rest of the engine. */
export async function loadRegex(): Promise<RegexEngine> {
  const { RE2JS } = await import('re2js');
  return {
    compile(pattern, at) {
      try {
        const re = RE2JS.compile(pattern);
        return { find: (text) => re.matcher(text).find(), whole: (text) => re.matches(text) };
      } catch (e) {
        const why = e instanceof Error ? e.message : String(e);
        throw new ExprError(why, at, 'patterns are those of RE2: no lookaround, no references to groups');
      }
    },
  };
}
