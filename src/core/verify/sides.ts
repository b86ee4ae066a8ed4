/** Opens both sides of a job for one reading. */
import {
  internSchema,
  SyncError,
  toSyncError,
  type ReadBack,
  type RowSchema,
  type Split,
  type WrittenColumn,
} from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { pluginCall } from '../job/plugin-call.js';
import type { RowTransform } from '../transform/row-transform.js';
import { Pairing } from './pairing.js';
import { ReadSide, type SideContext, type SideUse } from './read-side.js';
import { SideRows } from './side-rows.js';
import type { VerifyDeps } from './verify-types.js';

/** Of a reading that is under way. */
export interface Opened extends AsyncDisposable {
  readonly source: SideRows;
  readonly target: SideRows;
  readonly pairing: Pairing;
}

/** Splits of both readers, where not everything is read. */
export interface GivenSplits {
  readonly source: readonly Split[];
  readonly target: readonly Split[];
}

export class Sides {
  readonly #job: JobSpec;
  readonly #deps: VerifyDeps;
  readonly #source: SideUse;
  readonly #context: SideContext;
  /** Of the last reading. */
  back: ReadBack | null = null;
  /** Why the target has no rows; null: it is there. */
  missing: string | null = null;

  constructor(job: JobSpec, deps: VerifyDeps, source: SideUse) {
    this.#job = job;
    this.#deps = deps;
    this.#source = source;
    this.#context = { jobId: job.jobId, log: deps.log, signal: deps.signal };
  }

  openSource(): Promise<ReadSide> {
    return ReadSide.open(this.#source, this.#context);
  }

  /** Null: there is none yet, which is as good as an empty one. */
  async openTarget(rows: RowSchema): Promise<ReadSide | null> {
    const back = this.readBack(rows);
    this.back = back;
    const use = await this.#deps.useReader(back);
    try {
      const side = await ReadSide.open({ use, bounds: undefined }, this.#context);
      this.missing = null;
      return side;
    } catch (e) {
      const error = toSyncError(e);
      if (error.code !== 'SOURCE_MISSING') throw error;
      this.missing = error.message;
      return null;
    }
  }

  /** @throws SyncError JOB_INVALID where the target cannot be read again. */
  readBack(rows: RowSchema): ReadBack {
    const { definition, options } = this.#job.writer;
    const back = definition.readBack?.(options, rows) ?? null;
    if (back !== null) return back;
    throw new SyncError('JOB_INVALID', `what the ${definition.name} writer has written cannot be read again by it`, {
      place: 'writer',
      hint: 'Verify jobs that write files in a folder, or tables.',
    });
  }

  written(rows: RowSchema): readonly WrittenColumn[] {
    return this.readBack(rows).columns;
  }

  async transform(): Promise<RowTransform | null> {
    if (this.#job.transform.length === 0) return null;
    const { RowTransform: loaded } = await import('../transform/row-transform.js');
    return loaded.load(this.#job.transform);
  }

  /** What the source says its rows will be, where none comes. */
  async #announced(side: ReadSide, transform: RowTransform | null): Promise<RowSchema> {
    const facts = await pluginCall('SOURCE_IO', async () => (await side.reader.explain?.()) ?? null);
    const { definition, options } = this.#job.reader;
    const columns = facts?.columns ?? definition.columns?.(options)?.map((name) => ({ name, type: null })) ?? [];
    const schema = internSchema(columns.map((c) => ({ ...c, type: c.type ?? { is: 'string' } })));
    return transform && columns.length > 0 ? transform.output(schema) : schema;
  }

  async open(splits?: GivenSplits): Promise<Opened> {
    const transform = await this.transform();
    const sourceSide = await this.openSource();
    const source = new SideRows(sourceSide, transform, splits?.source);
    let target: SideRows | null = null;
    try {
      const first = await source.schema();
      const schema = first ?? (await this.#announced(sourceSide, transform));
      target = new SideRows(await this.openTarget(schema), null, splits?.target);
      const pairing = new Pairing({
        source: first ?? (schema.columns.length > 0 ? schema : null),
        target: await target.schema(),
        written: (rows) => this.written(rows),
        key: this.#deps.key,
      });
      return { source, target, pairing, [Symbol.asyncDispose]: () => closeBoth(source, target) };
    } catch (e) {
      await closeBoth(source, target).catch(() => undefined);
      throw e;
    }
  }
}

async function closeBoth(a: SideRows, b: SideRows | null): Promise<void> {
  try {
    await a[Symbol.asyncDispose]();
  } finally {
    await b?.[Symbol.asyncDispose]();
  }
}
