import type { DATAX_OPS } from '../job/transform-spec.js';
import { type DataxSpec } from '../job/transform-spec.js';
import { ExprError } from '../expr/faults.js';
import { loadRegex } from '../expr/regex.js';

export interface ParaFault {
  /** Which of the paras; empty: all of them. */
  readonly path: readonly number[];
  readonly message: string;
  readonly hint: string | null;
}

const COUNT: Readonly<Record<(typeof DATAX_OPS)[number], number>> = {
  dx_filter: 2,
  dx_substr: 2,
  dx_pad: 3,
  dx_replace: 3,
  dx_digest: 2,
};
const OPERATORS = ['like', 'not like', '>', '<', '=', '==', '!=', '>=', '<='];
/** A text is not padded beyond. */
const LONGEST = 1 << 24;

/** What is wrong with the arguments of one of DataX's transformers. */
export async function dataxFaults({ op, paras }: DataxSpec): Promise<readonly ParaFault[]> {
  const faults: ParaFault[] = [];
  const wrong = (path: readonly number[], message: string, hint: string | null = null): void => {
    faults.push({ path, message, hint });
  };
  if (paras.length !== COUNT[op]) {
    wrong([], `${op} takes ${String(COUNT[op])} paras, not ${String(paras.length)}`);
    return faults;
  }
  const whole = (i: number): void => {
    const text = paras[i] ?? '';
    if (!/^\d+$/.test(text) || Number(text) > LONGEST)
      wrong([i], `is ${JSON.stringify(text)}; must be a whole number from 0`);
  };
  const oneOf = (i: number, known: readonly string[]): void => {
    const text = (paras[i] ?? '').trim().toLowerCase();
    if (!known.some((k) => k.toLowerCase() === text))
      wrong([i], `is ${JSON.stringify(paras[i])}; must be one of ${known.map((k) => JSON.stringify(k)).join(', ')}`);
  };
  switch (op) {
    case 'dx_filter': {
      oneOf(0, OPERATORS);
      if (paras[1] === '') wrong([1], 'must not be empty', 'for NULL write "null"');
      else if (/like/i.test(paras[0] ?? '')) {
        const bad = await patternFault(paras[1] ?? '');
        if (bad) wrong([1], bad.message, bad.hint);
      }
      break;
    }
    case 'dx_substr':
    case 'dx_replace':
      whole(0);
      whole(1);
      break;
    case 'dx_pad':
      oneOf(0, ['l', 'r']);
      whole(1);
      if (paras[2] === '') wrong([2], 'must not be empty');
      break;
    case 'dx_digest':
      oneOf(0, ['md5', 'sha1']);
      oneOf(1, ['toUpperCase', 'toLowerCase']);
      break;
  }
  return faults;
}

async function patternFault(pattern: string): Promise<ExprError | null> {
  try {
    (await loadRegex()).compile(pattern, 0);
    return null;
  } catch (e) {
    if (e instanceof ExprError) return e;
    throw e;
  }
}
