import type { Committable, Committer, RecoverAnswer, RunRecord, SweepReport } from '../plugin-api/index.js';
import { publishStaged, stagedFileOf, type StagedFile, type StagedTarget } from './staged-files.js';
import { attemptOfName, epochOfName, isRunsOwn, runOfStagingFolder, stagingFolderName } from './staged-names.js';
import { TargetFolder } from './target-folder.js';

/** Whether the file can be rolled forward: it is there, or staged, with the length that was recorded. */
async function isKnown(target: StagedTarget, f: StagedFile): Promise<boolean> {
  const there = await target.storage.size(f.target);
  if (there !== null) return there === f.size; // another length is not ours to judge
  return (await target.storage.size(f.staged)) === f.size;
}

/**
 * The recovery side of staged files. It never answers `lost`: a file that is in neither place was moved or consumed by
 * someone, so that writing its rows again could double them.
 */
export function stagedCommitter(target: StagedTarget): Committer {
  const { storage } = target;
  return {
    async recover(_run, committables: readonly Committable[]) {
      // Without its folder nothing can be told: a disk that is not mounted must not look like rows that are gone.
      await new TargetFolder(storage, target.folder).assertThere();
      const answers: RecoverAnswer[] = [];
      const known: StagedFile[] = [];
      for (const c of committables) {
        const f = stagedFileOf(c.data);
        const ok = await isKnown(target, f);
        if (ok) known.push(f);
        answers.push(ok ? 'committed' : 'unknown');
      }
      await publishStaged(target, known);
      return answers;
    },

    async sweep(runs: readonly RunRecord[]): Promise<SweepReport> {
      let removed = 0;
      for (const run of runs) {
        const folder = storage.join(target.folder, stagingFolderName(run.runId));
        // A sweep may come late: what a newer start has staged in the meantime is alive.
        const newest = Math.max(0, ...run.attempts);
        for (const name of (await storage.list(folder)) ?? []) {
          if ((attemptOfName(name) ?? 0) > newest) continue;
          // A lane's state may name it; only where nobody goes on its rows are read again.
          if (!run.givenUp && isRunsOwn(name)) continue;
          if (await storage.remove(storage.join(folder, name))) removed++;
        }
        await storage.removeEmptyFolder(folder);
      }
      return { removed };
    },

    async highWater(runId) {
      let highest = 0;
      const look = async (folder: string, deep: boolean): Promise<void> => {
        for (const name of (await storage.list(folder)) ?? []) {
          const epoch = epochOfName(name, runId);
          highest = Math.max(highest, epoch ?? 0);
          if (deep && epoch === null && !name.startsWith('.')) await look(storage.join(folder, name), false);
        }
      };
      await look(target.folder, target.buckets === true);
      return highest;
    },
  };
}

/** Removes all that is left of a run, when all its rows are published. */
export async function clearStaging(target: StagedTarget, runId: string): Promise<void> {
  const { storage } = target;
  const folder = storage.join(target.folder, stagingFolderName(runId));
  for (const name of (await storage.list(folder)) ?? []) await storage.remove(storage.join(folder, name));
  await storage.removeEmptyFolder(folder);
}

export interface ForeignStaging {
  readonly runId: string;
  readonly folder: string;
  readonly files: number;
}

/** Staged files of other runs in the target folder: another job writes there too, or the state of a run is lost. */
export async function foreignStaging(target: StagedTarget, runId: string): Promise<readonly ForeignStaging[]> {
  const { storage } = target;
  const found: ForeignStaging[] = [];
  for (const name of (await storage.list(target.folder)) ?? []) {
    const other = runOfStagingFolder(name);
    if (other === null || other === runId) continue;
    const folder = storage.join(target.folder, name);
    const files = (await storage.list(folder))?.length ?? 0;
    if (files > 0) found.push({ runId: other, folder, files });
  }
  return found;
}
