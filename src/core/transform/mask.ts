import { isAscii } from 'node:buffer';
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
  const most = keepFirst + keepLast;
  const byte = by.length === 1 && by < '\u0080' ? by.charCodeAt(0) : null;
  return (f, register) => {
    // In ASCII, which most such values are, a byte is a character and nothing need be decoded.
    if (byte !== null && isAscii(f.buf.subarray(f.start, f.end))) {
      const n = f.end - f.start;
      const at = f.setRoom(register, n);
      f.buf.copy(f.registerBuffer(register), at, f.start, f.end);
      const shown = most >= n ? 0 : 1;
      f.registerBuffer(register).fill(byte, at + keepFirst * shown, at + n - keepLast * shown);
      return;
    }
    const chars = [...f.text()];
    const shown = most >= chars.length ? 0 : 1;
    const [first, last] = [keepFirst * shown, keepLast * shown];
    const end = last === 0 ? '' : chars.slice(-last).join('');
    f.setText(register, chars.slice(0, first).join('') + by.repeat(chars.length - first - last) + end);
  };
}
