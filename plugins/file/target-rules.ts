import { SyncError, type PluginContext, type RunIdentity } from 'syncx/plugin-api';
import {
  clearStaging,
  dataFiles,
  foreignStaging,
  listReplaced,
  removeReplaced,
  type StagedTarget,
  type TargetFolder,
} from 'syncx/plugin-kit';

const SUCCESS = '_SUCCESS';

export interface TargetRules {
  readonly writeMode: 'append' | 'overwrite' | 'nonConflict';
  readonly successFile: boolean;
  /** Files whose name begins otherwise are let be; null: all count. */
  readonly only: string | null;
}

/** @throws SyncError SINK_CONFLICT where `nonConflict` finds files, or the folder is none. */
export async function beginTarget(
  target: StagedTarget,
  folder: TargetFolder,
  rules: TargetRules,
  run: RunIdentity,
  log: PluginContext['log'],
): Promise<void> {
  const { storage } = target;
  await storage.makeFolder(target.folder);
  await folder.assertThere();
  if (rules.writeMode === 'nonConflict') await assertEmpty(target, run.runId, rules.only);
  for (const o of await foreignStaging(target, run.runId)) {
    log.warn(
      { folder: o.folder, run: o.runId, files: o.files },
      `the target holds ${String(o.files)} staged file(s) of run ${o.runId}, which is not this one: another job writes here too, or the state of that run is lost and its rows come a second time; once nothing writes there, remove ${o.folder}`,
    );
  }
  if (rules.writeMode !== 'overwrite') return;
  await listReplaced(target, run.runId, run.attempt, rules.only);
  // What it vouches for is about to be replaced.
  if (await storage.remove(storage.join(target.folder, SUCCESS))) await storage.syncFolder(target.folder);
}

async function assertEmpty(target: StagedTarget, runId: string, only: string | null): Promise<void> {
  const files = await dataFiles(target, runId, only);
  const [first] = files;
  if (first === undefined) return;
  const more = files.length > 1 ? ` and ${String(files.length - 1)} more` : '';
  throw new SyncError('SINK_CONFLICT', `the target folder ${target.folder} holds ${first.path}${more}`, {
    place: target.folder,
    retry: 'never',
    hint: 'writeMode nonConflict wants it empty: name another folder, move the files away, or use append or overwrite.',
  });
}

/** When all rows are published. May be cut off anywhere and done again. */
export async function completeTarget(
  target: StagedTarget,
  folder: TargetFolder,
  rules: TargetRules,
  run: RunIdentity,
  log: PluginContext['log'],
): Promise<void> {
  const { storage, failpoint } = target;
  await folder.assertThere();
  if (rules.writeMode === 'overwrite') await replace(target, run.runId, log);
  if (rules.successFile) {
    const path = storage.join(target.folder, SUCCESS);
    if ((await storage.size(path)) === null) await (await storage.create(path)).finish();
    await storage.syncFolder(target.folder);
    failpoint('file.success');
  }
  await clearStaging(target, run.runId);
}

async function replace(target: StagedTarget, runId: string, log: PluginContext['log']): Promise<void> {
  const { listed, changed } = await removeReplaced(target, runId);
  if (!listed) {
    log.warn(
      { folder: target.folder, run: runId },
      'no list of the files that the run replaces: an earlier start has removed them, or the list was taken away',
    );
  }
  const [first] = changed;
  if (first === undefined) return;
  const more = changed.length > 1 ? ` and ${String(changed.length - 1)} more` : '';
  throw new SyncError('SINK_CONFLICT', `${first}${more} changed while the run that replaces it was under way`, {
    place: first,
    retry: 'never',
    hint: 'All rows are published and the other old files are gone. Move it away, then run the job again to end it.',
  });
}
