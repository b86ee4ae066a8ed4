import {
  SyncError,
  defineWriter,
  type LaneContext,
  type LaneWriter,
  type PlanColumn,
  type WriterFacts,
  type Logger,
  type PluginContext,
  type RowBatch,
  type RunIdentity,
  type Writer,
} from 'syncx/plugin-api';
import { lookUpTable, type TableFacts } from './catalog/tables.js';
import { endpointsOf, showEndpoint } from './connect/connection-options.js';
import { openSession, type Endpoint, type Session } from './connect/session.js';
import { showTable, type TableName } from './sql/names.js';
import { PLAIN_TRANSACTION } from './write/brackets.js';
import { MysqlCommitter } from './write/committer.js';
import { createTableSql } from './write/create-table.js';
import { EpochTransaction } from './write/epoch-transaction.js';
import { MysqlLaneWriter } from './write/lane-writer.js';
import { MarkerProtocol, PlainProtocol, adoption, type LaneProtocol, type MarkerParts } from './write/protocol.js';
import { TableSink, TablesSink } from './write/row-sink.js';
import { assertRowsFit } from './write/fit-rows.js';
import { RowWriter, isTransactional } from './write/rows/row-writer.js';
import { runStep, type StepParts } from './write/run-steps.js';
import { assertSwappable, beginSwap, completeSwap, dropShadow, shadowOf } from './write/swap.js';
import { listBranches, rollBackListed } from './write/xa.js';
import { tiesOf } from './write/ties.js';
import { assertXa } from './write/xa-probe.js';
import { LaneBranch, XaProtocol } from './write/xa-protocol.js';
import { isInnodb, lookAtTarget, triggersNote, type Target } from './write/target.js';
import {
  ALL_TABLES,
  WRITER_OPTIONS,
  checkWriter,
  keyOption,
  wantedColumns,
  type WriterOptions,
} from './writer-options.js';
import { readBackTable } from './verify/read-back.js';

/** A source transaction may be so much larger than an epoch should be. */
const HARD_BYTES = 512 << 20;

class MysqlWriter {
  readonly #o: WriterOptions;
  readonly #context: PluginContext;
  readonly #endpoints: readonly Endpoint[];
  readonly #target: Target;

  constructor(o: WriterOptions, context: PluginContext, endpoints: readonly Endpoint[], target: Target) {
    this.#o = o;
    this.#context = context;
    this.#endpoints = endpoints;
    this.#target = target;
  }

  asWriter(): Writer {
    const { exactlyOnce, delivery, commitTable } = this.#target;
    const bytes = this.#o.epochBytes;
    return {
      delivery,
      replacesTarget: this.#o.writeStrategy === 'swap',
      ...(exactlyOnce ? { epochLimit: { bytes, hardBytes: Math.max(HARD_BYTES, 4 * bytes) } } : {}),
      explain: (from) => this.#explain(from),
      begin: (run, coming) => this.#begin(run, coming ?? []),
      openLane: (lane) => this.#openLane(lane),
      // Lanes keep no state: whatever they are, the markers of the run are in the table.
      recoverLanes: (_states, lanes) => Array.from({ length: lanes }, () => null),
      committer: new MysqlCommitter({
        open: () => this.#open(),
        table: commitTable,
        exactlyOnce,
        xa: this.#o.commitProtocol === 'xa',
        giveUp: async (session, runId) => {
          if (this.#o.writeStrategy === 'swap') await dropShadow(session, this.#target, runId);
        },
        log: this.#context.log,
        failpoint: (step) => this.#context.failpoint(step),
      }),
      branches: {
        list: () =>
          this.#withSession(async (s) => (await listBranches(s)).map(({ xid, ...of }) => ({ id: xid, ...of }))),
        rollBack: (id) => this.#withSession((s) => rollBackListed(s, id)),
      },
      complete: (run) => this.#complete(run),
    };
  }

  #open(): Promise<Session> {
    return openSession(this.#endpoints, { side: 'sink' }, this.#context.signal);
  }

  async #withSession<T>(f: (session: Session) => Promise<T>): Promise<T> {
    await using session = await this.#open();
    return await f(session);
  }

  async #explain(from: readonly PlanColumn[] | null): Promise<WriterFacts> {
    const { explainTarget } = await import('./write/explain.js'); // only for plans
    await using session = await this.#open();
    return await explainTarget({ session, options: this.#o, target: this.#target, where: this.#where(), from });
  }

  async #begin(run: RunIdentity, coming: readonly (readonly PlanColumn[])[]): Promise<void> {
    assertRowsFit(this.#o, this.#target, coming);
    const { exactlyOnce, commitTable, downgraded, why, delivery } = this.#target;
    const { log } = this.#context;
    await using session = await this.#open();
    if (exactlyOnce) await commitTable.create(session);
    if (exactlyOnce && this.#o.commitProtocol === 'xa') await assertXa(() => this.#open(), commitTable, run.runId);
    if (downgraded) log.warn({ delivery }, `this run is ${delivery}, not exactly-once: ${why ?? ''}`);
    const triggers = triggersNote(this.#target);
    if (triggers !== null) log.info({ triggers: [...this.#target.triggers] }, triggers);
    await runStep(this.#stepParts(session, run), 'preSql');
    if (this.#o.writeStrategy === 'swap') await beginSwap(session, this.#target, run);
  }

  async #complete(run: RunIdentity): Promise<void> {
    const { exactlyOnce, commitTable } = this.#target;
    await using session = await this.#open();
    const parts = this.#stepParts(session, run);
    if (this.#o.writeStrategy === 'swap') await completeSwap(parts);
    await runStep(parts, 'postSql');
    if (!exactlyOnce) return;
    await commitTable.forgetOld(session, run.runId).catch((e: unknown) => {
      this.#context.log.debug({ table: commitTable.shown }, `old rows stay in the commit table: ${String(e)}`);
    });
  }

  #stepParts(session: Session, run: RunIdentity): StepParts {
    const { log } = this.#context;
    const failpoint = (step: string): void => {
      this.#context.failpoint(step);
    };
    return { session, options: this.#o, target: this.#target, run, log, failpoint };
  }

  async #openLane(lane: LaneContext): Promise<LaneWriter> {
    const { exactlyOnce, commitTable, name, facts } = this.#target;
    const place = showTable(name);
    const id = { runId: lane.run.runId, lane: lane.lane, attempt: lane.run.attempt };
    const branch = exactlyOnce && this.#o.commitProtocol === 'xa' ? new LaneBranch(commitTable, id) : null;
    const tx = new EpochTransaction({
      open: () => openSession(this.#endpoints, { side: 'sink' }, lane.signal),
      adopt: branch?.adopt ?? (exactlyOnce ? adoption(commitTable, id) : () => Promise.resolve()),
      brackets: branch ?? PLAIN_TRANSACTION,
      transactional: facts === null || isTransactional(facts),
      place,
      log: lane.log,
      signal: lane.signal,
    });
    const protocol = this.#protocol({ tx, table: commitTable, id, lane, place: `${this.#where()}, ${place}` }, branch);
    const into = this.#o.writeStrategy === 'swap' ? shadowOf(name, lane.run.runId) : name;
    const writer = new MysqlLaneWriter({
      tx,
      protocol,
      openRows: (first) => {
        if (name.table !== ALL_TABLES) return this.#openRows(first, tx, into, lane.log);
        const one = (table: string): Promise<TableSink> =>
          this.#openRows(first, tx, { database: name.database, table }, lane.log);
        return Promise.resolve(new TablesSink(one));
      },
    });
    try {
      await tx.ready();
      return writer;
    } catch (e) {
      await writer[Symbol.asyncDispose]();
      throw e;
    }
  }

  #protocol(parts: MarkerParts, branch: LaneBranch | null): LaneProtocol {
    if (!this.#target.exactlyOnce) return new PlainProtocol(parts.tx);
    return branch === null ? new MarkerProtocol(parts) : new XaProtocol(parts, branch);
  }

  async #openRows(first: RowBatch, tx: EpochTransaction, into: TableName, log: Logger): Promise<TableSink> {
    const { session } = tx;
    const wanted = wantedColumns(this.#o);
    let facts = await lookUpTable(session, into);
    const schema = first.sections[0]?.schema;
    if (facts === null && this.#o.createTable === 'auto' && schema !== undefined) {
      await session.run(createTableSql(into, schema, wanted, session.server), `create ${showTable(into)}`);
      facts = await lookUpTable(session, into);
    }
    if (facts === null) {
      throw new SyncError('SINK_IO', `there is no table ${showTable(into)}`, {
        place: showTable(into),
        retry: 'never',
        blame: 'config',
        hint: 'Create it, or set createTable to auto.',
      });
    }
    if (this.#target.exactlyOnce && !isInnodb(facts)) {
      throw new SyncError(
        'SINK_IO',
        `${showTable(into)} is not an InnoDB table, so that nothing in it can be rolled back`,
        {
          place: showTable(into),
          retry: 'never',
          blame: 'config',
          hint: 'Make it InnoDB, or set semantic to at-least-once.',
        },
      );
    }
    const isTied = async (): Promise<boolean> => (await tiesOf(tx.session, into, 'its database')).length > 0;
    if (this.#target.name.table !== ALL_TABLES)
      return new TableSink(
        this.#rowWriter(facts, async () => !(await isTied()), tx, log),
        false,
      );
    const tied = await isTied();
    return new TableSink(
      this.#rowWriter(facts, () => Promise.resolve(!tied), tx, log),
      tied,
    );
  }

  #rowWriter(facts: TableFacts, mayReorder: () => Promise<boolean>, tx: EpochTransaction, log: Logger): RowWriter {
    const { writeMode, allReplace, batchSize, loadData } = this.#o;
    const key = keyOption(this.#o);
    const options = {
      writeMode,
      allReplace,
      batchSize,
      columns: wantedColumns(this.#o),
      uniqueKey: key.length === 0 ? null : key,
      load: loadData,
      maxStatementBytes: null,
      fileRows: null,
      mayReorder,
      log,
    };
    return new RowWriter(facts, options, tx);
  }

  #where(): string {
    const [first] = this.#endpoints;
    return first === undefined ? '' : showEndpoint(first);
  }
}

async function createWriter(o: WriterOptions, context: PluginContext): Promise<Writer> {
  const [entry] = o.connection;
  if (entry === undefined) throw new SyncError('JOB_INVALID', 'connection is empty', { place: 'writer.parameter' });
  const endpoints = endpointsOf(o, entry);
  await using session = await openSession(endpoints, { side: 'sink' }, context.signal);
  const target = await lookAtTarget(session, o, endpoints[0]?.database ?? null);
  if (o.writeStrategy === 'swap') await assertSwappable(session, target);
  return new MysqlWriter(o, context, endpoints, target).asWriter();
}

export const writer = defineWriter({
  name: 'mysql',
  aliases: ['mysqld', 'mariadb'],
  summary: 'Writes tables of MySQL and MariaDB, exactly once.',
  options: WRITER_OPTIONS,
  delivery: ['exactly-once', 'effectively-once-by-key', 'at-least-once'],
  check: checkWriter,
  columns: wantedColumns,
  readBack: readBackTable,
  create: createWriter,
});
