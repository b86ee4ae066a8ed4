import { hash } from 'node:crypto';
import type { TransformSpec } from '../../job/transform-spec.js';
import type { Frame } from './frame.js';

type MaskSpec = TransformSpec & { readonly op: 'mask' };

/** Writes the mask of the loaded cell, which is not NULL, to a register. */
export type Mask = (f: Frame, register: number) => void;

export function maskOf(spec: MaskSpec): Mask {
  switch (spec.method) {
    case 'null':
      return (f, register) => {
        f.setNull(register);
      };
    case 'sha256':
      return sha256(spec.salt ?? '');
    case 'partial':
      return partial(spec);
  }
}

/** In hexadecimal digits, of the salt and then the value. */
function sha256(salt: string): Mask {
  const prefix = Buffer.from(salt);
  return (f, register) => {
    const value = f.buf.subarray(f.start, f.end);
    f.setText(register, hash('sha256', prefix.length === 0 ? value : Buffer.concat([prefix, value]), 'hex'));
  };
}

/** A text that is not longer than what would be kept is masked whole. */
function partial({ keepFirst, keepLast, with: by }: MaskSpec): Mask {
  return (f, register) => {
    const chars = [...f.text()];
    const kept = keepFirst + keepLast >= chars.length ? 0 : 1;
    const first = keepFirst * kept;
    const last = keepLast * kept;
    const middle = by.repeat(chars.length - first - last);
    f.setText(register, chars.slice(0, first).join('') + middle + (last === 0 ? '' : chars.slice(-last).join('')));
  };
}
