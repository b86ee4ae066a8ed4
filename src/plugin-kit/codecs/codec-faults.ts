import { SyncError } from '../../plugin-api/index.js';
import type { PendingInput } from './pending-input.js';

/** What is wrong with a compressed file, in the words that all codecs share. */
export class CodecFaults {
  readonly #place: string;
  readonly #format: string;
  readonly #endings: string;
  readonly #input: PendingInput;

  constructor(place: string, format: string, endings: string, input: PendingInput) {
    this.#place = place;
    this.#format = format;
    this.#endings = endings;
    this.#input = input;
  }

  /** At the first byte of the file, or behind data that is whole. */
  notThis(): SyncError {
    const { buffer, start, end, used } = this.#input;
    const format = this.#format;
    if (used > 0) {
      const message = `${this.#place} goes on with something else behind its ${format} data`;
      return new SyncError('SOURCE_FORMAT', message, {
        place: `${this.#place}, behind compressed byte ${String(used)}`,
        hint: 'Cut the file there, if what follows is not wanted.',
      });
    }
    const begins = [...buffer.subarray(start, Math.min(end, start + 4))].map((b) => b.toString(16).padStart(2, '0'));
    const message = `${this.#place} is not a ${format} file: it begins with the bytes ${begins.join(' ')}`;
    const hint = `Check compress: set it to none if the file is not compressed. With auto, names that end in ${this.#endings} are taken for ${format}.`;
    return new SyncError('SOURCE_FORMAT', message, { place: this.#place, hint });
  }

  cut(): SyncError {
    return this.#broken(
      `is a ${this.#format} file that was cut: it ends in the middle`,
      this.#input.used + this.#input.size,
    );
  }

  damaged(why: string, cause?: unknown): SyncError {
    return this.#broken(`is a damaged ${this.#format} file`, this.#input.used, why, cause);
  }

  /** The file may be fine, but it asks for what is not there. */
  refused(why: string): SyncError {
    return new SyncError('SOURCE_FORMAT', `${this.#place}: ${why}`, { place: this.#place });
  }

  #broken(what: string, at: number, why?: string, cause?: unknown): SyncError {
    const about = `about compressed byte ${String(at)}`;
    const because = why === undefined ? '' : ` (${why})`;
    return new SyncError('SOURCE_FORMAT', `${this.#place} ${what}, at ${about}${because}`, {
      place: `${this.#place}, at ${about}`,
      ...(cause === undefined ? {} : { cause }),
      hint: 'The file may have been copied in part, or as text. Get it again, or check what compress says.',
    });
  }
}
