import type { JobSpec } from '../job/job-spec.js';
import type { AnyReaderDefinition, AnyWriterDefinition, SyncError } from '../plugin-api/index.js';
import type { GivenConf } from './conf/given.js';
import type { GivenParameters } from './parameters/given.js';
import type { Problem } from './problem.js';
import type { ValidateFunction } from './validate-options.js';

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
  /** Of the command line. */
  readonly parameters?: GivenParameters | undefined;
  /** Settings of the command line: they win over the file's. */
  readonly conf?: readonly GivenConf[] | undefined;
  /** What the clock shows (ms since 1970); null: what it shows now. */
  readonly now?: number | null | undefined;
  /** Variables for `${env:…}`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export type JobResult =
  | {
      readonly ok: true;
      /** One for each `content` entry, in their order; at least one. */
      readonly parts: readonly [JobSpec, ...JobSpec[]];
      /** How many parts run side by side. */
      readonly contentParallelism: number;
      /** `setting.checkpoint.dir`, or null. */
      readonly stateDir: string | null;
      /** The command line says what the clock shows: a run that is gone on with does not set it back. */
      readonly clockGiven: boolean;
      /** Warnings only. */
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly error: SyncError; readonly problems: readonly Problem[] };
