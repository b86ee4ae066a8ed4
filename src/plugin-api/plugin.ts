import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { PluginContext } from './context.js';
import type { ReadBack } from './read-back.js';
import type { Reader } from './reader.js';
import type { RowSchema } from './row-schema.js';
import type { Delivery, Writer } from './writer.js';

/** Raised when the contract changes in a way that old plugins cannot follow. */
export const API_VERSION = 1;

/**
 * The options of a plugin: plain JSON Schema (draft 7) of type object, plus these keywords on properties:
 * `x-secret` (never leaves the config; `url`: its password and secret parameters do not, `properties`: the values of a map
 * whose names tell that they are secret), `x-state` (`identity`, the default: part of the state fingerprint; `tuning`: may
 * change between runs), `x-unit`, `x-path` (`one` or `list`, with commas: paths of this
 * machine, kept absolute in state), `x-aliases` (other accepted names), `x-values` (accepted spellings → value),
 * `x-template` (a list of names whose `${name}` the plugin replaces itself; others are parameters of the job),
 * `x-ignored` (in place of a schema: the option is accepted, has no effect, and the text says why in a warning),
 * `x-ignored-values` (a `pattern` of texts that have no effect, and `why`).
 * Everything that says something about an option is derived from it.
 */
export type OptionsSchema = JSONSchema & {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
};

/** Options as `create` receives them: validated, defaults filled in, numbers as numbers, frozen. */
export type OptionsOf<S> = S extends JSONSchema
  ? FromSchema<S, { keepDefaultedPropertiesOptional: false }>
  : Readonly<Record<string, unknown>>;

/** A finding of a plugin's own cross-option check. `path` is below `parameter`: `column[2].type`. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
  readonly level?: 'error' | 'warning';
}

interface PluginBase<S> {
  readonly apiVersion: typeof API_VERSION;
  /** Short name; job files may also say `<name>reader`, `<name>writer`, `<name>source`, `<name>sink`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly options: S;
}

/** `S`: the schema; `O`: the options that `create` gets. */
interface ReaderShape<S, O> extends PluginBase<S> {
  readonly kind: 'reader';
  /** Whether jobs with these options end by themselves. */
  boundedness(options: O): 'bounded' | 'unbounded';
  /** What readers will say of themselves, for listings; without it nothing is said. */
  readonly replayable?: boolean | 'by-options';
  /**
   * Pure: whether jobs with these options keep a cursor between runs (`increColumn`): each run then reads what lies
   * between the last one's upper bound and its own. Such a reader has `bounds`.
   */
  cursor?(options: O): boolean;
  /** Pure: no I/O. Rules that one schema cannot say. */
  check?(options: O): readonly Finding[];
  /** Pure: the columns the reader will deliver, where the options alone tell; null: known only at run time. */
  columns?(options: O): readonly string[] | null;
  create(options: O, context: PluginContext): Promise<Reader>;
}

interface WriterShape<S, O> extends PluginBase<S> {
  readonly kind: 'writer';
  /** What writers will promise, the usual first where that depends on options; for listings. */
  readonly delivery?: readonly Delivery[];
  check?(options: O): readonly Finding[];
  /** Pure: the columns the writer expects, in order; null: takes what comes. */
  columns?(options: O): readonly string[] | null;
  /** Pure: whether rows go to standard output, so that the summary must not. */
  usesStdout?(options: O): boolean;
  /**
   * Pure, for `sync verify`: how what was written of rows of this schema is read again. A schema without columns: none is
   * known, as no row came. Null: it cannot be (standard output). Without it there is nothing to compare.
   * @throws SyncError COLUMN_MISMATCH as `write` would.
   */
  readBack?(options: O, rows: RowSchema): ReadBack | null;
  create(options: O, context: PluginContext): Promise<Writer>;
}

export type ReaderDefinition<S> = ReaderShape<S, OptionsOf<S>>;
export type WriterDefinition<S> = WriterShape<S, OptionsOf<S>>;

type ForgottenOptions = Readonly<Record<string, unknown>>;

/** A reader or writer with its option type forgotten: what registry and engine hold. */
export type AnyReaderDefinition = ReaderShape<unknown, ForgottenOptions>;
export type AnyWriterDefinition = WriterShape<unknown, ForgottenOptions>;

/** Infers the option types from the schema; returns its argument. */
export function defineReader<const S extends OptionsSchema>(
  d: Omit<ReaderDefinition<S>, 'kind' | 'apiVersion'>,
): ReaderDefinition<S> {
  return Object.freeze({ ...d, kind: 'reader', apiVersion: API_VERSION });
}

/** Infers the option types from the schema; returns its argument. */
export function defineWriter<const S extends OptionsSchema>(
  d: Omit<WriterDefinition<S>, 'kind' | 'apiVersion'>,
): WriterDefinition<S> {
  return Object.freeze({ ...d, kind: 'writer', apiVersion: API_VERSION });
}
