import {
  isSyncError,
  SyncError,
  type AnyWriterDefinition,
  type PluginContext,
  type Writer,
} from '../../plugin-api/index.js';
import type { RunStore } from '../checkpoint/run-store.js';
import type { JobSpec } from '../../job/job-spec.js';
import { defaultsOf } from './fingerprint.js';
import { pluginCall } from './plugin-call.js';

/**
 * The writer that a run was made with: the options it recorded, with the secrets of today's job where it still names
 * the same plugin. So the target that was used gets cleaned, not the edited one.
 * @throws SyncError PLUGIN_UNKNOWN
 */
export async function writerOfRun(
  run: RunStore,
  job: JobSpec | null,
  load: (name: string) => Promise<AnyWriterDefinition | null>,
  context: PluginContext,
): Promise<Writer> {
  const info = await run.info().catch((e: unknown) => {
    if (!job || !isSyncError(e) || e.code !== 'STATE_CORRUPT') throw e;
    context.log.warn(
      { run: run.runId, file: e.place ?? run.dir },
      'the record of the given-up run is damaged: what it left is looked for at the target that the job names today',
    );
    return null;
  });
  if (!info) return (job as JobSpec).writer.definition.create((job as JobSpec).writer.options, context);
  const { writer } = info;
  const same = job?.writer.definition.name === writer.name ? job.writer : null;
  const definition = same?.definition ?? (await load(writer.name));
  if (!definition) {
    throw new SyncError(
      'PLUGIN_UNKNOWN',
      `run ${run.runId} was written by plugin ${writer.name}, which is not installed`,
      {
        place: run.dir,
      },
    );
  }
  // Only what the record lacks comes from elsewhere: secrets from the job, and defaults of options that are newer than it.
  return definition.create({ ...defaultsOf(definition), ...(same?.options ?? {}), ...writer.options }, context);
}

/** Fences the run's earlier starts, removes what they left at the target, and notes that nobody will resume it. */
export async function abandonRun(run: RunStore, writer: Writer): Promise<number> {
  const attempt = await run.createAttempt(1);
  const record = await run.record(attempt, true);
  const report = await pluginCall('SINK_IO', async () => writer.committer?.sweep([record]));
  await run.put('abandoned', { jobId: '', runId: run.runId, attempt });
  return report?.removed ?? 0;
}
