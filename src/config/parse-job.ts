import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { formatPath, type PathSegment } from './json-path.js';
import type { Problem } from './problem.js';
import type { SourceText } from './source-text.js';

export interface ParsedJob {
  /** Null where the text is not JSON; then there is exactly one problem. */
  readonly root: Node | null;
  readonly problems: readonly Problem[];
}

const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'not a JSON value',
  InvalidNumberFormat: 'not a JSON number',
  PropertyNameExpected: 'a property name in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'a closing } is expected here',
  CloseBracketExpected: 'a closing ] is expected here',
  EndOfFileExpected: 'there is text after the end of the JSON',
  InvalidCommentToken: 'not a comment',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  UnexpectedEndOfNumber: 'a number ends too early',
  InvalidUnicode: 'not a \\uXXXX escape',
  InvalidEscapeCharacter: 'not an escape that JSON knows',
  InvalidCharacter: 'a control character must be escaped',
};

/**
 * Reads JSON with comments and trailing commas; a byte order mark is skipped. Of syntax errors only the first is told:
 * those after it are mostly its echo. Duplicate keys are all told.
 */
export function parseJob(source: SourceText): ParsedJob {
  if (source.text.trim() === '') {
    const hint = 'a job file holds {"job": {"content": [...], "setting": {...}}}';
    return { root: null, problems: [fileProblem(source, 0, 'the file is empty', hint)] };
  }
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(quoteBare(source.text), errors, { allowTrailingComma: true, disallowComments: false });
  } catch (e) {
    if (!(e instanceof RangeError)) throw e; // the parser recurses; its stack overflow is the file's fault
    return { root: null, problems: [fileProblem(source, 0, 'arrays or objects are nested too deeply', null)] };
  }
  const first = errors[0];
  if (first) return { root: null, problems: [syntaxProblem(source, first)] };
  if (!root) return { root: null, problems: [fileProblem(source, 0, 'there is no JSON in the file', null)] };
  const problems: Problem[] = [];
  findDuplicates(source, root, [], problems);
  return { root, problems };
}

/**
 * `"channel": ${n}` is read as a reference in quotes. The text keeps its length, so that places stay what they are; that
 * a value had no quotes is seen in the original.
 */
export function quoteBare(text: string): string {
  if (!text.includes('${')) return text;
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\$\{[^"}\\\n]*\}/g, (token) =>
    token.startsWith('${') ? `"${token.slice(1, -1)}"` : token,
  );
}

function syntaxProblem(source: SourceText, e: ParseError): Problem {
  const rest = source.text.slice(e.offset);
  // What the parser stumbles on is at or before the end: nothing but white space after it means a cut-off file.
  if (rest.trim() === '' || printParseErrorCode(e.error).startsWith('UnexpectedEndOf')) {
    const open = /^\s*$/.test(rest) ? source.text.trimEnd().length : e.offset;
    const what = printParseErrorCode(e.error);
    const message = what.startsWith('UnexpectedEndOf')
      ? (WORDS[what] ?? what)
      : 'the file ends in the middle of the JSON';
    return fileProblem(source, open, message, 'is the file cut off?');
  }
  if (rest.startsWith("'") || source.text[e.offset] === "'") {
    return fileProblem(source, e.offset, "a string in single quotes is not JSON: '", 'write "…" in double quotes');
  }
  const name = printParseErrorCode(e.error);
  const token = /^[^\s,:{}[\]]{1,20}/.exec(rest)?.[0] ?? rest.slice(0, 1);
  return fileProblem(source, e.offset, `${WORDS[name] ?? name}, not ${JSON.stringify(token)}`, null);
}

function fileProblem(source: SourceText, offset: number, message: string, hint: string | null): Problem {
  return { code: 'JOB_FILE', level: 'error', file: source.name, ...source.place(offset), path: '', message, hint };
}

function findDuplicates(source: SourceText, node: Node, path: readonly PathSegment[], problems: Problem[]): void {
  if (node.type === 'array') {
    node.children?.forEach((child, i) => {
      findDuplicates(source, child, [...path, i], problems);
    });
    return;
  }
  if (node.type !== 'object') return;
  const seen = new Map<string, number>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (!key) continue;
    const name = key.value as string;
    const here = [...path, name];
    const before = seen.get(name);
    if (before === undefined) seen.set(name, key.offset);
    else {
      const lines = `lines ${String(source.place(before).line)} and ${String(source.place(key.offset).line)}`;
      problems.push({
        code: 'JOB_INVALID',
        level: 'error',
        file: source.name,
        ...source.place(key.offset),
        path: formatPath(here),
        message: `the key stands twice in its object, on ${lines}`,
        hint: 'keep the one that is meant',
      });
    }
    if (value) findDuplicates(source, value, here, problems);
  }
}
