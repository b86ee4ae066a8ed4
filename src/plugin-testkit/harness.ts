import type {
  Column,
  JsonObject,
  LogicalName,
  PluginContext,
  Reader,
  RowSchema,
  SimpleValue,
  Writer,
} from '../plugin-api/index.js';
import type { Waivers } from './case.js';

/** What the kit asks of a definition. `never`: any option type fits, without comparing the types of two whole schemas. */
export interface PluginUnderTest<Kind, Instance> {
  readonly kind: Kind;
  readonly apiVersion: number;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly options: unknown;
  create(options: never, context: PluginContext): Promise<Instance>;
}

/**
 * What the source holds. `plain`: any rows, at least two splits where the plugin can. `large`: about 64 MiB.
 * `transactions`: transactions of several rows. `bad-row`: one row in the middle that cannot be turned into cells.
 * `broken`: reading fails in the middle. `missing`: it is not there at all. `endless`: an unbounded source, idle at its end.
 */
export type SeedKind = 'plain' | 'large' | 'transactions' | 'bad-row' | 'broken' | 'missing' | 'endless';

export interface ReaderSource {
  /** As a job file gives them; validated against the plugin's schema, defaults filled in. */
  readonly options: JsonObject;
  /** Good rows that are there; for `broken`, those before the break at most. */
  readonly rows: number;
  /** For `transactions`: which transaction a row belongs to, told from its values. */
  readonly transactionOf?: (row: Readonly<Record<string, SimpleValue>>) => string;
  dispose(): Promise<void>;
}

export interface ReaderHarness {
  readonly kind: 'reader';
  readonly plugin: PluginUnderTest<'reader', Reader>;
  /** Kinds that `seed` can make; `plain` always. Each missing one needs waivers of the cases that need it. */
  readonly seeds: readonly SeedKind[];
  /** Makes a source of its own with at least `rows` good rows. */
  seed(kind: SeedKind, rows: number): Promise<ReaderSource>;
  /** How long abort and dispose may take, in ms. The contract's 2000 by default; the kit's own tests have less patience. */
  readonly limitMs?: number;
  readonly waive?: Waivers;
}

export interface WriterTarget {
  readonly options: JsonObject;
  /** All committed rows, by any run, in any order; cells in canonical form. */
  readBack?(): Promise<readonly Readonly<Record<string, SimpleValue>>[]>;
  /** Names of what is there beside committed rows: staged files, open transactions. */
  leftovers?(): Promise<readonly string[]>;
  /** Destroys by hand what is prepared and not committed. */
  damage?(): Promise<void>;
  dispose(): Promise<void>;
}

export interface WriterHarness {
  readonly kind: 'writer';
  readonly plugin: PluginUnderTest<'writer', Writer>;
  /** Makes an empty target of its own that fits rows of this schema. */
  target(schema: RowSchema): Promise<WriterTarget>;
  /** Whether prepared rows outlive the process (`survive`), or recover finds them lost (`die`: an open transaction). */
  readonly prepared: 'survive' | 'die';
  /** What `readBack` gives for a cell, where the target's format cannot say it better (say, NULL as empty text). */
  readonly asRead?: (column: Column, value: SimpleValue) => SimpleValue;
  /** Logical types that the target has no form for, each with the reason. */
  readonly withoutTypes?: Readonly<Partial<Record<LogicalName, string>>>;
  /** Text for the `text` column that the target refuses (a dirty row). */
  readonly badText?: string;
  readonly waive?: Waivers;
}

export type Harness = ReaderHarness | WriterHarness;

export function readerHarness(h: Omit<ReaderHarness, 'kind'>): ReaderHarness {
  return { ...h, kind: 'reader' };
}

export function writerHarness(h: Omit<WriterHarness, 'kind'>): WriterHarness {
  return { ...h, kind: 'writer' };
}
