/** What the config makes of a job file and the engine runs. */
import type { AnyReaderDefinition, AnyWriterDefinition, JsonObject } from '../plugin-api/index.js';
import type { TransformSpec } from './transform-spec.js';

/** A plugin with its options, as the job asks for it. */
export interface PluginUse<D> {
  readonly definition: D;
  /** Validated, defaults filled in, frozen. Secrets inside: never log or persist it. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The options without secrets: what run records keep, so that a later start can sweep the target that was used. */
  readonly publicOptions: JsonObject;
  /** The `x-state: identity` options without secrets: the plugin's part of the state fingerprint. */
  readonly identity: JsonObject;
}

export interface CheckpointSettings {
  readonly intervalMs: number;
  readonly minPauseMs: number;
  /** For the barrier and the prepare of one epoch. */
  readonly timeoutMs: number;
  readonly tolerableFailed: number;
  readonly numRetained: number;
  readonly numRetainedRuns: number;
  readonly onCancel: 'retain' | 'delete';
  readonly resume: boolean;
  readonly resumeMaxAgeMs: number;
}

/** When a failed job starts again by itself. Times in ms. Errors that a restart cannot mend end the job at once. */
export type RestartSettings =
  | { readonly strategy: 'none' }
  | { readonly strategy: 'fixed-delay'; readonly attempts: number; readonly delayMs: number }
  | {
      readonly strategy: 'failure-rate';
      /** Failures within the interval that are borne; one more ends the job. */
      readonly maxFailures: number;
      readonly intervalMs: number;
      readonly delayMs: number;
    }
  | {
      readonly strategy: 'exponential-delay';
      readonly initialMs: number;
      readonly maxMs: number;
      readonly multiplier: number;
      /** The delay is initialMs again after this long without a failure. */
      readonly resetMs: number;
      /** Share of the delay that is added or taken away at random. */
      readonly jitter: number;
      /** Null: no end. */
      readonly attempts: number | null;
    };

export interface JobSettings {
  /** Lanes asked for. */
  readonly channel: number;
  /** 0: no limit. Both for the whole job. */
  readonly bytesPerSecond: number;
  readonly rowsPerSecond: number;
  /** Null: not checked. Percentage in percent of rows read, 0 to 100. */
  readonly errorLimit: { readonly record: number | null; readonly percentage: number | null };
  /** Where files of dirty rows go; null: `dirty` in the run's state folder. */
  readonly dirtyDir: string | null;
  readonly checkpoint: CheckpointSettings;
  /** Once the run is finished source and target are compared. */
  readonly verify: boolean;
  readonly restart: RestartSettings;
}

/** A job file after parsing, validation and defaults. */
export interface JobSpec {
  readonly jobId: string;
  /** Runs of another name are independent of this one's: `default`, or what the parameters of this start name. */
  readonly runName: string;
  /** What `${now}` was (ms since 1970) where times in the job must stay what they were at the run's first start; else null. */
  readonly clock: number | null;
  /** True: the job is refused where reader and writer together cannot deliver exactly once. */
  readonly exactlyOnce: boolean;
  /** Each run reads on from where the last one ended. */
  readonly cursor: boolean;
  /** Path of the job file as the user named it, for messages. */
  readonly source: string;
  readonly reader: PluginUse<AnyReaderDefinition>;
  readonly writer: PluginUse<AnyWriterDefinition>;
  /** What is done to rows between the two, in this order. Secrets inside. */
  readonly transform: readonly TransformSpec[];
  readonly settings: JobSettings;
  /** What must not be told, to keep it out of texts that plugins write. Never log or persist it. */
  readonly secrets: readonly string[];
}
