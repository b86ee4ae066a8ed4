/** Puts keys right that differ, through the job's own writer: the source's row is written, a row too many is deleted. */
import { randomBytes } from 'node:crypto';
import {
  BatchBuilder,
  cellKind,
  internSchema,
  OP_DELETE,
  OP_INSERT,
  OP_UPDATE_AFTER,
  OP_UPDATE_BEFORE,
  SyncError,
  type LaneWriter,
  type LogicalType,
  type PluginContext,
  type RejectedRow,
  type RowBatch,
  type RowOp,
  type RowSchema,
  type RunIdentity,
  type Writer,
} from '../../plugin-api/index.js';
import { canonicalCell } from '../../cells/cell-form.js';
import type { JobSpec } from '../../job/job-spec.js';
import { parseFailpoints, type Failpoints } from '../failpoints.js';
import { pluginCall } from '../job/plugin-call.js';
import { MetricRegistry } from '../observe/metrics.js';
import type { Pairing } from './pairing.js';
import type { KeptCell, KeptRow } from './kept-row.js';
import type { Found } from './row-differences.js';
import type { VerifyDeps } from './verify-types.js';

export class Repairer implements AsyncDisposable {
  written = 0;
  deleted = 0;
  readonly #writer: Writer;
  readonly #lane: LaneWriter;
  readonly #run: RunIdentity;
  readonly #points: Failpoints;
  readonly #signal: AbortSignal;
  readonly #end: AbortController;
  #epoch = 0;

  private constructor(
    writer: Writer,
    lane: LaneWriter,
    run: RunIdentity,
    points: Failpoints,
    signal: AbortSignal,
    end: AbortController,
  ) {
    this.#writer = writer;
    this.#lane = lane;
    this.#run = run;
    this.#points = points;
    this.#signal = signal;
    this.#end = end;
  }

  /** `options`: with which the writer takes changes (`ReadBack.changes`). */
  static async open(job: JobSpec, options: Readonly<Record<string, unknown>>, deps: VerifyDeps): Promise<Repairer> {
    const points = parseFailpoints(deps.failpoint);
    const end = new AbortController();
    const signal = AbortSignal.any([deps.signal, end.signal]);
    const context: PluginContext = {
      log: deps.log,
      metrics: new MetricRegistry(),
      signal,
      failpoint: (step) => {
        points.hit(step);
      },
    };
    const run = { jobId: `${job.jobId} (repair)`, runId: randomBytes(6).toString('hex'), attempt: 1 };
    return pluginCall('SINK_IO', async () => {
      const writer = await job.writer.definition.create(options, context);
      try {
        await writer.begin(run);
        const lane = await writer.openLane(
          { ...context, run, lane: 0, lanes: 1, batch: { bytes: 1 << 20, rows: 65_536 } },
          null,
        );
        return new Repairer(writer, lane, run, points, signal, end);
      } catch (e) {
        end.abort();
        await writer.close?.();
        throw e;
      }
    });
  }

  /** In one epoch: with an exactly-once writer all of them, or none. @throws SyncError where the target refuses a row. */
  async apply(pairing: Pairing, found: readonly Found[]): Promise<void> {
    const epoch = ++this.#epoch;
    await pluginCall('SINK_IO', async () => {
      try {
        // Rows too many go first: their values may be in the way of a unique key.
        for (const batch of batchesOf(pairing, found)) {
          refuse((await this.#lane.write(batch, this.#signal)).rejected);
          this.#points.hit('repair.batch');
        }
        this.#points.hit('repair.written');
        refuse((await this.#lane.prepare(epoch, { last: true })).rejected);
        this.#points.hit('repair.prepared');
      } catch (e) {
        await this.#lane.abort(epoch).catch(() => undefined);
        throw e;
      }
      await this.#lane.commit(epoch);
      this.#points.hit('repair.committed');
    });
    const deleted = found.filter((f) => f.is === 'extra').length;
    this.deleted += deleted;
    this.written += found.length - deleted;
  }

  async complete(): Promise<void> {
    await pluginCall('SINK_IO', () => this.#writer.complete(this.#run));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lane[Symbol.asyncDispose]();
    this.#end.abort(new SyncError('INTERNAL', 'the repair has ended'));
    await this.#writer.close?.();
  }
}

function refuse(rejected: readonly RejectedRow[] | null): void {
  const [first] = rejected ?? [];
  if (first === undefined) return;
  const column = first.column === null ? '' : ` (column \`${first.column}\`)`;
  throw new SyncError('ROW_INVALID', `the target refuses a row of the source${column}: ${first.reason}`, {
    ...(first.place === null ? {} : { place: first.place }),
    hint: 'Mend the row at the source, or the table, and repair again.',
  });
}

/** Deletes first; then the others. Each batch has one schema. */
function* batchesOf(pairing: Pairing, found: readonly Found[]): Generator<RowBatch> {
  yield* packed(
    found.filter((f) => f.is === 'extra'),
    (f) => schemaOf(pairing, f.target),
    (b, f) => {
      if (f.target) appendRow(b, f.target.cells, OP_DELETE);
    },
  );
  yield* packed(
    found.filter((f) => f.is !== 'extra'),
    (f) => schemaOf(pairing, f.source),
    (b, f) => {
      if (!f.source) return;
      if (f.target) appendRow(b, before(f.source, f.target, pairing), OP_UPDATE_BEFORE);
      appendRow(b, f.source.cells, f.target ? OP_UPDATE_AFTER : OP_INSERT);
    },
  );
}

function* packed(
  found: readonly Found[],
  schemaFor: (f: Found) => RowSchema,
  append: (b: BatchBuilder, f: Found) => void,
): Generator<RowBatch> {
  let builder: BatchBuilder | null = null;
  for (const f of found) {
    const schema = schemaFor(f);
    if (builder !== null && (builder.schema !== schema || builder.full)) {
      yield builder.finish('repair', null, 0);
      builder = null;
    }
    builder ??= new BatchBuilder(schema);
    append(builder, f);
  }
  if (builder !== null) yield builder.finish('repair', null, 0);
}

function appendRow(b: BatchBuilder, cells: readonly KeptCell[], op: RowOp): void {
  for (const cell of cells) {
    if (cell === null) b.appendNull();
    else b.appendBytes(cell);
  }
  b.endRow(op);
}

/** Columns under the target's names, with the types of the side that the row is of. */
function schemaOf(pairing: Pairing, row: KeptRow | null): RowSchema {
  const columns = pairing.columns.map((c, i) => {
    const own = row?.bound.schema.columns[row.bound.at[i] ?? -1];
    return { name: c.to, type: own?.type ?? ({ is: 'string' } as const), nullable: true };
  });
  return internSchema(columns, null, pairing.key);
}

/** The row as it is at the target, in the types of the source; the key, equal on both sides, as the source writes it. */
function before(source: KeptRow, target: KeptRow, pairing: Pairing): readonly KeptCell[] {
  const cells = target.cells;
  return source.cells.map((own, i) => {
    if (pairing.key.includes(i)) return own;
    const there = cells[i] ?? null;
    if (there === null) return null;
    const type = typeOf(source, i);
    if (cellKind(type) === 'bytes' || cellKind(typeOf(target, i)) === 'bytes') return there;
    const cell = canonicalCell(type, there.toString('utf8'));
    return cell === null ? own : Buffer.from(cell);
  });
}

function typeOf(row: KeptRow, i: number): LogicalType {
  return row.bound.schema.columns[row.bound.at[i] ?? -1]?.type ?? { is: 'string' };
}
