import { join } from 'node:path';
import type {
  Committable,
  Committer,
  PluginContext,
  RecoverAnswer,
  RunIdentity,
  RunRecord,
  SweepReport,
} from 'syncx/plugin-api';
import { createExclusive, listNames, removeIfThere } from './durable.js';
import { meant, type Faults } from './faults.js';
import { pieceOf, type Piece } from './lane-writer.js';
import type { WriterOptions } from './options.js';
import type { Store } from './store.js';

export class ScriptedCommitter implements Committer {
  readonly #options: WriterOptions;
  readonly #store: Store;
  readonly #faults: Faults;
  readonly #context: PluginContext;

  constructor(options: WriterOptions, store: Store, faults: Faults, context: PluginContext) {
    this.#options = options;
    this.#store = store;
    this.#faults = faults;
    this.#context = context;
  }

  recover(run: RunIdentity, committables: readonly Committable[]): Promise<readonly RecoverAnswer[]> {
    return this.#faults.around('recover', {}, this.#context.signal, async () => {
      await this.#store.make();
      const answers: RecoverAnswer[] = [];
      for (const c of committables) answers.push(await this.#recoverOne(run, c.data as unknown as Piece));
      this.#context.failpoint('scripted.recovered');
      return answers;
    });
  }

  async #recoverOne(run: RunIdentity, piece: Piece): Promise<RecoverAnswer> {
    const { runId, lane } = piece;
    const hadLog = (await this.#store.entries(runId, lane)).length > 0;
    // First the fence, then the question: a commit of the dead process may be on its way, and would land after the
    // answer. A parent run's lanes (start from a savepoint) are not ours to fence.
    const attempt = runId === run.runId ? run.attempt : piece.attempt;
    if (runId === run.runId) await this.#store.fence(runId, lane, run.attempt);
    const entries = await this.#store.entries(runId, lane);
    if (this.#options.unknown.some((u) => meant(u, piece))) return 'unknown';
    if (entries.some((e) => e.commit?.file === piece.file)) return 'committed';
    // The marker is past this epoch, yet not by these rows: somebody wrote here who should not have.
    if (entries.some((e) => e.epoch >= piece.epoch)) return 'unknown';
    const known = await listNames(this.#store.lost);
    if (known.includes(piece.file)) return 'lost';
    if (this.#options.protocol === 'marker') {
      // Every lane makes its marker before its first epoch. Without one the evidence is gone.
      if (!hadLog) return 'unknown';
      await this.#lose(piece);
      return 'lost';
    }
    if (this.#options.lose.some((l) => meant(l, piece))) {
      await this.#lose(piece);
      return 'lost';
    }
    // Removed or cut by hand: it was prepared whole, and whether somebody used it cannot be told.
    if ((await this.#store.sizeOf(piece.file)) !== piece.size) return 'unknown';
    await this.#store.commit(runId, lane, attempt, pieceOf(piece));
    return 'committed';
  }

  /** The note comes first, so that a second recover after a kill in between still knows. */
  async #lose(piece: Piece): Promise<void> {
    await createExclusive(this.#store.lost, piece.file, '');
    await removeIfThere(join(this.#store.data, piece.file));
  }

  sweep(runs: readonly RunRecord[]): Promise<SweepReport> {
    return this.#faults.around('sweep', {}, this.#context.signal, async () => {
      await this.#store.make();
      let removed = 0;
      for (const run of runs) removed += await this.#sweepRun(run);
      return { removed };
    });
  }

  async #sweepRun(run: RunRecord): Promise<number> {
    // Fence before looking: what is not visible now must not become visible after its rows were removed.
    const newest = Math.max(0, ...run.attempts);
    for (const log of await this.#store.logs()) {
      if (log.runId === run.runId) await this.#store.fence(run.runId, log.lane, newest);
    }
    const visible = await this.#store.visibleFiles(run.runId);
    let removed = 0;
    for (const file of await listNames(this.#store.data)) {
      // What a newer start has staged is alive: this one may be a zombie that was checked just before it was overtaken.
      if (!run.attempts.some((k) => file.startsWith(`${run.runId}.${String(k)}.`)) || visible.has(file)) continue;
      if (await removeIfThere(join(this.#store.data, file))) removed++;
    }
    return removed;
  }

  async highWater(runId: string): Promise<number> {
    let epoch = 0;
    for (const log of await this.#store.logs()) {
      if (log.runId !== runId) continue;
      for (const e of await this.#store.entries(runId, log.lane)) epoch = Math.max(epoch, e.epoch);
    }
    return epoch;
  }
}
