import type { AnyReaderDefinition, AnyWriterDefinition, JsonObject, SyncError } from '../plugin-api/index.js';
import type { Problem } from './problem.js';
import type { JobSettings } from './settings.js';
import type { ValidateFunction } from './validate-options.js';

export interface PluginUse<D> {
  readonly definition: D;
  /** Validated, defaults filled in, frozen. Secrets inside: never log or persist it. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly publicOptions: JsonObject;
  readonly identity: JsonObject;
}

/** A valid job, frozen: what core's `JobSpec` is. */
export interface Job {
  readonly jobId: string;
  readonly source: string;
  readonly reader: PluginUse<AnyReaderDefinition>;
  readonly writer: PluginUse<AnyWriterDefinition>;
  readonly settings: JobSettings;
}

/** Where plugins come from. The registry is one; the config knows no plugin by itself. */
export interface PluginSource {
  /** @throws SyncError PLUGIN_UNKNOWN, PLUGIN_BROKEN */
  reader(name: string): Promise<AnyReaderDefinition>;
  /** @throws SyncError PLUGIN_UNKNOWN, PLUGIN_BROKEN */
  writer(name: string): Promise<AnyWriterDefinition>;
  /** The validator that the build made for a schema (`job`, `reader.file`), or null: then it is compiled now. */
  validator(schema: string): Promise<ValidateFunction | null>;
}

export interface JobInput {
  /** The file's text. */
  readonly text: string;
  /** The file as the user named it, for messages. */
  readonly name: string;
  /** Job id where neither the file nor the command line gives one. */
  readonly defaultJobId: string;
  /** Job id of the command line: it wins. */
  readonly jobId?: string | undefined;
}

export type JobResult =
  | {
      readonly ok: true;
      readonly job: Job;
      /** `setting.checkpoint.dir`, or null. */
      readonly stateDir: string | null;
      /** Warnings only. */
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly error: SyncError; readonly problems: readonly Problem[] };
