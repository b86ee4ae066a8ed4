/** Runs the engine in this process on the scripted plugin. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { RunDeps, RunSummary } from '../../src/core/job/run-types.js';
import type { JobSettings, JobSpec } from '../../src/job/job-spec.js';
import { runJob } from '../../src/core/job/run-job.js';
import type { JsonObject, Logger } from '../../src/plugin-api/index.js';
import { reader, writer } from '../../plugins/scripted/index.js';

export interface EngineJob {
  readonly jobId?: string;
  readonly reader: JsonObject;
  readonly writer: JsonObject;
  readonly checkpoint?: Partial<JobSettings['checkpoint']>;
  readonly errorLimit?: JobSettings['errorLimit'];
  readonly channel?: number;
  readonly restart?: JobSettings['restart'];
  readonly rowsPerSecond?: number;
  readonly bytesPerSecond?: number;
  readonly dirtyDir?: string;
  readonly transform?: JobSpec['transform'];
}

export const SETTINGS: JobSettings = {
  channel: 1,
  bytesPerSecond: 0,
  rowsPerSecond: 0,
  errorLimit: { record: 0, percentage: null },
  dirtyDir: null,
  verify: false,
  restart: { strategy: 'none' },
  checkpoint: {
    intervalMs: 10_000,
    minPauseMs: 0,
    timeoutMs: 60_000,
    tolerableFailed: 0,
    numRetained: 3,
    numRetainedRuns: 3,
    onCancel: 'retain',
    resume: true,
    resumeMaxAgeMs: 12 * 3_600_000,
  },
};

const ajv = new Ajv({ useDefaults: true, strict: false, allErrors: true });
/** Compiling one costs more than a short run. */
const validators = new Map<unknown, ValidateFunction>();

function validatorOf(schema: unknown): ValidateFunction {
  const known = validators.get(schema) ?? ajv.compile(schema as object);
  validators.set(schema, known);
  return known;
}

function defaulted(schema: unknown, options: JsonObject): Readonly<Record<string, unknown>> {
  const copy = structuredClone(options) as Record<string, unknown>;
  const validate = validatorOf(schema);
  if (!validate(copy)) throw new Error(ajv.errorsText(validate.errors ?? []));
  return Object.freeze(copy);
}

function tuning(schema: unknown, options: JsonObject): JsonObject {
  const { properties } = schema as { readonly properties: Readonly<Record<string, { readonly 'x-state'?: string }>> };
  return Object.fromEntries(Object.entries(options).filter(([k]) => properties[k]?.['x-state'] !== 'tuning'));
}

export function specOf(j: EngineJob): JobSpec {
  return {
    jobId: j.jobId ?? 'test-job',
    runName: 'default',
    clock: null,
    cursor: false,
    exactlyOnce: false,
    secrets: [],
    source: 'test',
    reader: {
      definition: reader,
      options: defaulted(reader.options, j.reader),
      publicOptions: j.reader,
      identity: tuning(reader.options, j.reader),
    },
    writer: {
      definition: writer,
      options: defaulted(writer.options, j.writer),
      publicOptions: j.writer,
      identity: tuning(writer.options, j.writer),
    },
    transform: j.transform ?? [],
    settings: {
      ...SETTINGS,
      channel: j.channel ?? 1,
      restart: j.restart ?? SETTINGS.restart,
      rowsPerSecond: j.rowsPerSecond ?? 0,
      bytesPerSecond: j.bytesPerSecond ?? 0,
      errorLimit: j.errorLimit ?? SETTINGS.errorLimit,
      dirtyDir: j.dirtyDir ?? null,
      checkpoint: { ...SETTINGS.checkpoint, ...j.checkpoint },
    },
  };
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: JsonObject;
}

export function memoryLog(lines: LogLine[]): Logger {
  const at =
    (level: string) =>
    (fields: JsonObject, message: string): void => {
      lines.push({ level, message, fields });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export interface EngineRun extends RunSummary {
  readonly logs: readonly LogLine[];
}

export async function runEngine(job: EngineJob, stateRoot: string, deps: Partial<RunDeps> = {}): Promise<EngineRun> {
  const logs: LogLine[] = [];
  const summary = await runJob(specOf(job), {
    log: memoryLog(logs),
    stateRoot,
    fresh: false,
    allowReplay: false,
    takeOver: false,
    stop: new AbortController().signal,
    loadWriter: (name) => Promise.resolve(name === 'scripted' ? writer : null),
    ...deps,
  });
  return { ...summary, logs };
}
