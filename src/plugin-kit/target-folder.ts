import { SyncError } from '../plugin-api/index.js';
import type { StagingStorage } from './staging-storage.js';

/**
 * The folder that a run publishes into, as its writer first saw it. Only `begin` makes it. One that goes away in mid-run
 * took published rows with it, or was the mount point of a disk that is gone: a new one in its place would hide that.
 */
export class TargetFolder {
  readonly #storage: StagingStorage;
  readonly #path: string;
  #first: string | null = null;

  constructor(storage: StagingStorage, path: string) {
    this.#storage = storage;
    this.#path = path;
  }

  /** @throws SyncError SINK_IO where it is not there, or is another one than before. */
  async assertThere(): Promise<void> {
    const now = await this.#storage.identity(this.#path);
    if (now !== null && (this.#first === null || this.#first === now)) {
      this.#first = now;
      return;
    }
    throw new SyncError(
      'SINK_IO',
      now === null
        ? `the target folder ${this.#path} has vanished since the run began`
        : `the target folder ${this.#path} is not the one that the run began with: another was put in its place`,
      {
        place: this.#path,
        retry: 'never',
        hint: 'What the run had published in it counts as written. Put the folder back (mount it again) and run the job again; if it is gone for good, start anew with --fresh.',
      },
    );
  }
}
