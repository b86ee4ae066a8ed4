import type {
  AnyReaderDefinition,
  AnyWriterDefinition,
  ErrorReport,
  Delivery,
  JsonObject,
  Logger,
} from '../../plugin-api/index.js';

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
}

/** A job file after parsing, validation and defaults. */
export interface JobSpec {
  readonly jobId: string;
  /** Path of the job file as the user named it, for messages. */
  readonly source: string;
  readonly reader: PluginUse<AnyReaderDefinition>;
  readonly writer: PluginUse<AnyWriterDefinition>;
  readonly settings: JobSettings;
}

/** Rows and bytes; of a lane, of a run. `written` counts rows that were handed to the writer and not rejected. */
export interface Counters {
  readonly read: number;
  readonly written: number;
  readonly dirty: number;
  readonly filtered: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export interface Progress {
  readonly phase: 'starting' | 'recovering' | 'running' | 'stopping' | 'completing' | 'done';
  /** What lanes have moved so far, committed or not. */
  readonly counters: Counters;
  readonly epochs: number;
  /** Splits read to their end, open now, and estimated bytes of those seen; bytes null where unknown. */
  readonly splits: { readonly done: number; readonly open: number; readonly bytes: number | null };
}

export interface RunSummary extends Counters {
  readonly state: 'finished' | 'failed' | 'stopped';
  readonly exitCode: number;
  readonly seconds: number;
  readonly epochs: number;
  readonly delivery: Delivery;
  readonly jobId: string;
  readonly runId: string | null;
  readonly resumed: boolean;
  /** Folder with the files of dirty rows; null where there are none. */
  readonly dirtyFiles: string | null;
  readonly error: ErrorReport | null;
}

export interface RunDeps {
  readonly log: Logger;
  /** Absolute path of the folder of all jobs' state. */
  readonly stateRoot: string;
  readonly fresh: boolean;
  readonly allowReplay: boolean;
  /** The state folder was moved here and nothing runs from its old place. */
  readonly takeOver: boolean;
  /** Aborted (reason: 'SIGTERM' | 'SIGINT') to stop cleanly at a checkpoint. */
  readonly stop: AbortSignal;
  /** How long a stop may look for a safe point; 10 s by default. */
  readonly stopTimeoutMs?: number;
  /** Called once; poll it for live progress. */
  readonly onStart?: (progress: () => Progress) => void;
  /** Loads the writer that an older run used, by plugin name, when the job now names another. */
  readonly loadWriter: (name: string) => Promise<AnyWriterDefinition | null>;
  /** The value of SYNC_FAILPOINT, or undefined. */
  readonly failpoint?: string | undefined;
}
