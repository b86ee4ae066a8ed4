import type { AnyReaderDefinition, ErrorReport, JsonObject, Logger, ReadBack } from '../../plugin-api/index.js';
import type { PluginUse } from '../../job/job-spec.js';

export type SideName = 'source' | 'target';
export type DifferenceKind = 'missing' | 'extra' | 'different';

/** A key that is not the same on both sides. Values are texts; bytes as base64; null: NULL. */
export interface Difference {
  readonly is: DifferenceKind;
  /** By name of column at the target; without a key the whole row. */
  readonly key: Readonly<Record<string, string | null>>;
  /** Where it is `different`: the columns that are, with both values. */
  readonly columns: readonly {
    readonly name: string;
    readonly source: string | null;
    readonly target: string | null;
  }[];
}

export interface SideCount {
  readonly rows: number;
  /** Rows that the reader, or a transform, could not make cells of. */
  readonly unreadable: number;
  /** The first reason; null: there is none. */
  readonly why: string | null;
}

export interface Differences {
  readonly missing: number;
  readonly extra: number;
  readonly different: number;
  /** False: there are more than could be looked at, and the counts are of those that were. */
  readonly complete: boolean;
  /** The first few. */
  readonly first: readonly Difference[];
}

export interface VerifyResult {
  readonly jobId: string;
  readonly equal: boolean;
  /** `digest`: by sums that both sides computed, and rows only where these differed. */
  readonly by: 'rows' | 'digest';
  /** What was not compared, or is peculiar; sentences. */
  readonly notes: readonly string[];
  readonly source: SideCount & { readonly filtered: number };
  readonly target: SideCount;
  readonly columns: readonly { readonly from: string; readonly to: string }[];
  /** Columns of the target; empty: the whole row. */
  readonly key: readonly string[];
  /** Of `digest`: how many stretches, and how many of them differed. */
  readonly chunks: { readonly all: number; readonly differing: number } | null;
  readonly differences: Differences;
  /** Null: not asked for, or nothing to do. Else `differences` are those that were there, and `left` those that still are. */
  readonly repaired: { readonly written: number; readonly deleted: number; readonly left: Differences } | null;
  readonly seconds: number;
}

/** One content entry: compared, or why it could not be. */
export type VerifyOutcome =
  | { readonly is: 'compared'; readonly result: VerifyResult }
  | { readonly is: 'failed'; readonly jobId: string; readonly error: ErrorReport };

export interface VerifyProgress {
  readonly phase: 'comparing' | 'looking closer' | 'repairing' | 'comparing again';
  readonly sourceRows: number;
  readonly targetRows: number;
}

export interface VerifyDeps {
  readonly log: Logger;
  readonly stateRoot: string;
  readonly signal: AbortSignal;
  /** Key columns by name at the target; null: to be found. */
  readonly key: readonly string[] | null;
  readonly repair: boolean;
  /** Makes a plugin's own options whole, as those of a job file. @throws SyncError PLUGIN_UNKNOWN, PLUGIN_BROKEN */
  useReader(
    back: Pick<ReadBack, 'reader' | 'options'>,
  ): Promise<Pick<PluginUse<AnyReaderDefinition>, 'definition' | 'options'>>;
  useWriterOptions(writer: string, options: JsonObject): Promise<Readonly<Record<string, unknown>>>;
  onProgress?(progress: VerifyProgress): void;
  readonly failpoint?: string | undefined;
}
