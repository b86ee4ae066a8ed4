import { SyncError } from '../../plugin-api/index.js';

/** The largest record that is written in one piece, in bytes. */
const MAX_OUTPUT = 0x7fff_fff0;

/** A growing output buffer. `data` and `length` are open to hot loops: `reserve`, read `data` again, write, move `length` on. */
export class ByteBuffer {
  data: Buffer;
  length = 0;
  /** `full` from this many bytes on. */
  readonly target: number;

  constructor(target: number) {
    this.target = target;
    this.data = Buffer.allocUnsafeSlow(target + (target >> 3));
  }

  get full(): boolean {
    return this.length >= this.target;
  }

  /** Makes room for `bytes` more. @throws SyncError ROW_TOO_LARGE past 2 GiB. */
  reserve(bytes: number): void {
    const need = this.length + bytes;
    if (need <= this.data.length) return;
    if (need > MAX_OUTPUT) throw new SyncError('ROW_TOO_LARGE', `a record may need ${String(need)} bytes when written`);
    const grown = Buffer.allocUnsafeSlow(
      Math.min(MAX_OUTPUT, Math.max(need, this.data.length + (this.data.length >> 1))),
    );
    this.data.copy(grown, 0, 0, this.length);
    this.data = grown;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.data.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Empties it; a buffer that a huge record had blown up is given back. */
  clear(): void {
    this.length = 0;
    if (this.data.length > this.target * 4) this.data = Buffer.allocUnsafeSlow(this.target + (this.target >> 3));
  }
}
