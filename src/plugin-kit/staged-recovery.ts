import type { Committable, Committer, RecoverAnswer, RunRecord, SweepReport } from '../plugin-api/index.js';
import { stagedFileOf, type StagedFile, type StagedTarget } from './staged-files.js';
import { epochOfName, stagingFolderName } from './staged-names.js';

async function recoverOne(target: StagedTarget, f: StagedFile): Promise<RecoverAnswer> {
  const { storage } = target;
  const there = await storage.size(f.target);
  const staged = await storage.size(f.staged);
  // A staged file of another length is not what was prepared; a target of another length is not ours to judge.
  if (there === null ? staged !== f.size : there !== f.size) return 'unknown';
  const r = await storage.publish(f.staged, f.target, f.size, () => target.failpoint('file.commit.between'));
  return r === 'published' || r === 'already' ? 'committed' : 'unknown';
}

/**
 * The recovery side of staged files. It never answers `lost`: a file that is in neither place was moved or consumed by
 * someone, so that writing its rows again could double them.
 */
export function stagedCommitter(target: StagedTarget): Committer {
  const { storage } = target;
  return {
    async recover(_run, committables: readonly Committable[]) {
      const answers: RecoverAnswer[] = [];
      const folders = new Set<string>();
      for (const c of committables) {
        const f = stagedFileOf(c.data);
        const answer = await recoverOne(target, f);
        if (answer === 'committed') folders.add(storage.folderOf(f.target));
        answers.push(answer);
      }
      for (const folder of folders) await storage.syncFolder(folder);
      return answers;
    },

    async sweep(runs: readonly RunRecord[]): Promise<SweepReport> {
      let removed = 0;
      for (const run of runs) {
        const folder = storage.join(target.folder, stagingFolderName(run.runId));
        for (const name of (await storage.list(folder)) ?? []) {
          if (await storage.remove(storage.join(folder, name))) removed++;
        }
        await storage.removeEmptyFolder(folder);
      }
      return { removed };
    },

    async highWater(runId) {
      let highest = 0;
      for (const name of (await storage.list(target.folder)) ?? []) {
        highest = Math.max(highest, epochOfName(name, runId) ?? 0);
      }
      return highest;
    },
  };
}
