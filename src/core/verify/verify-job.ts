/** `sync verify`: compares what a job reads with what it has written, and puts right what differs where that is asked for. */
import { reportError, SyncError, type CursorBounds } from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { assertNotLocked, lockJob } from '../checkpoint/job-lock.js';
import { JobStore } from '../checkpoint/job-store.js';
import { parseFailpoints } from '../failpoints.js';
import { isBounded } from '../job/choose-run.js';
import { pluginCall } from '../job/plugin-call.js';
import { digestLook } from './digest-look.js';
import type { Look } from './look.js';
import { ReadSide } from './read-side.js';
import { Repairer } from './repair.js';
import { rowsLook } from './rows-look.js';
import { Sides } from './sides.js';
import { Tally } from './tally.js';
import type { VerifyDeps, VerifyOutcome, VerifyProgress, VerifyResult } from './verify-types.js';

/** One outcome for each content entry, in their order. Never rejects. */
export async function verifyParts(parts: readonly JobSpec[], deps: VerifyDeps): Promise<readonly VerifyOutcome[]> {
  const outcomes: VerifyOutcome[] = [];
  for (const job of parts) {
    try {
      outcomes.push({ is: 'compared', result: await verifyJob(job, deps) });
    } catch (e) {
      outcomes.push({ is: 'failed', jobId: job.jobId, error: reportError(e) });
    }
  }
  return outcomes;
}

/** @throws SyncError where the two cannot be compared, or not be repaired. */
export async function verifyJob(job: JobSpec, deps: VerifyDeps): Promise<VerifyResult> {
  if (!isBounded(job)) {
    const why = 'the job does not end by itself, so its target is never all that its source holds';
    throw new SyncError('JOB_INVALID', why, { place: 'reader', hint: 'Verify jobs that end.' });
  }
  const jobs = new JobStore(deps.stateRoot, job.jobId, parseFailpoints(undefined));
  const verifier = new JobVerifier(job, deps, jobs);
  if (!deps.repair) {
    await assertNotLocked(jobs.dir, job.jobId);
    return verifier.run();
  }
  // What a run writes at the same time would be taken for a difference, and undone.
  await jobs.open();
  await using lock = await lockJob(jobs.dir, job.jobId);
  void lock;
  return await verifier.run(); // not before the end of it is the lock given back
}

class JobVerifier {
  readonly #job: JobSpec;
  readonly #deps: VerifyDeps;
  readonly #jobs: JobStore;
  readonly #notes: string[] = [];

  constructor(job: JobSpec, deps: VerifyDeps, jobs: JobStore) {
    this.#job = job;
    this.#deps = deps;
    this.#jobs = jobs;
  }

  async run(): Promise<VerifyResult> {
    const began = performance.now();
    const sides = new Sides(this.#job, this.#deps, {
      use: this.#job.reader,
      bounds: this.#job.cursor ? await this.#bounds() : undefined,
    });
    const tally = new Tally();
    const look = await this.#look(sides, 'comparing');
    let repaired: VerifyResult['repaired'] = null;
    try {
      if (this.#deps.repair && !look.same) repaired = await this.#repair(sides, look, tally);
      else await tellDifferences(look, tally);
    } finally {
      await look[Symbol.asyncDispose]();
    }
    const { source, target, pairing } = look;
    const left = repaired === null ? tally.differences : repaired.left;
    const equal = left.missing + left.extra + left.different === 0 && left.complete && target.unreadable === 0;
    this.#tellUnreadable(look);
    if (sides.missing !== null)
      this.#notes.push(`The target is not there, which counts as an empty one: ${sides.missing}.`);
    if (equal && repaired === null && !look.same)
      this.#notes.push(
        'Rows that differed at first were equal when they were looked at again: something changed them in the meantime.',
      );
    return {
      jobId: this.#job.jobId,
      equal,
      by: look.by,
      notes: this.#notes,
      source,
      target,
      columns: pairing().columns,
      key: pairing().keyNames,
      chunks: look.chunks,
      differences: tally.differences,
      repaired,
      seconds: Math.round(performance.now() - began) / 1000,
    };
  }

  async #look(sides: Sides, phase: VerifyProgress['phase']): Promise<Look> {
    const progress = (p: VerifyProgress): void => {
      this.#deps.onProgress?.(phase === 'comparing' || p.phase === 'looking closer' ? p : { ...p, phase });
    };
    const plain = this.#job.transform.length === 0 && !this.#job.cursor;
    const byDigest = plain ? await digestLook(sides, this.#deps.key, progress) : null;
    return byDigest ?? rowsLook(sides, progress);
  }

  /** All that runs have read so far, or what the first one would. */
  async #bounds(): Promise<CursorBounds> {
    const upper = await this.#jobs.cursor();
    if (upper !== null) {
      this.#notes.push('Compared is what the runs so far have read: rows up to the cursor of the last finished one.');
      return { lower: null, upper };
    }
    this.#notes.push('No run is finished yet: compared is all that the first one would read.');
    const context = { jobId: this.#job.jobId, log: this.#deps.log, signal: this.#deps.signal };
    await using side = await ReadSide.open({ use: this.#job.reader, bounds: { lower: null, upper: null } }, context);
    const bounds = await pluginCall('SOURCE_IO', async () => side.reader.bounds?.(null));
    return bounds ?? { lower: null, upper: null };
  }

  #tellUnreadable({ source, target }: Look): void {
    const of = (n: number): string => (n === 1 ? '1 row' : `${String(n)} rows`);
    if (source.unreadable > 0) {
      this.#notes.push(
        `${of(source.unreadable)} of the source cannot be read, as in a run, and ${source.unreadable === 1 ? 'is' : 'are'} not compared: ${source.why ?? ''}`,
      );
    }
    if (target.unreadable > 0) {
      this.#notes.push(
        `${of(target.unreadable)} of the target cannot be read as what was written: ${target.why ?? ''}`,
      );
    }
  }

  /** @throws SyncError JOB_INVALID where nothing can, or may, be put right. */
  async #repair(sides: Sides, look: Look, tally: Tally): Promise<NonNullable<VerifyResult['repaired']>> {
    const changes = this.#assertRepairable(sides, look);
    const options = await this.#deps.useWriterOptions(this.#job.writer.definition.name, changes);
    this.#deps.onProgress?.({ phase: 'repairing', sourceRows: look.source.rows, targetRows: look.target.rows });
    await using repairer = await Repairer.open(this.#job, options, this.#deps);
    for await (const { pairing, found } of look.closer()) {
      // Where only rows are missing nothing must be found.
      if (!pairing.keyOfTarget && found.some((f) => f.is !== 'missing')) throw noKey();
      tally.add(pairing, found);
      await repairer.apply(pairing, found);
    }
    await repairer.complete();
    const after = new Tally();
    const again = (await look.again()) ?? (await this.#look(sides, 'comparing again'));
    try {
      await tellDifferences(again, after);
    } finally {
      await again[Symbol.asyncDispose]();
    }
    return { written: repairer.written, deleted: repairer.deleted, left: after.differences };
  }

  #assertRepairable(sides: Sides, look: Look) {
    const { definition } = this.#job.writer;
    const refused = (why: string, hint: string): SyncError =>
      new SyncError('JOB_INVALID', `nothing was repaired: ${why}`, { place: 'writer', hint });
    const changes = sides.back?.changes ?? null;
    if (changes === null) {
      const hint = 'Run the job again into an empty target.';
      throw refused(`the ${definition.name} writer can only add rows, not change or remove them`, hint);
    }
    if (this.#job.cursor) {
      const why = 'in a job with a cursor a row that was changed since the last run looks like one too many';
      throw refused(why, 'The next run reads it again; or repair with a job of the same tables without increColumn.');
    }
    if (look.source.unreadable > 0 || look.target.unreadable > 0) {
      const side = look.source.unreadable > 0 ? 'source' : 'target';
      throw refused(`rows of the ${side} cannot be read, and would be taken for missing ones`, 'Mend them first.');
    }
    return changes;
  }
}

function noKey(): SyncError {
  return new SyncError(
    'JOB_INVALID',
    'nothing was repaired: the target has no key among the columns that are written, by which one row could be found',
    {
      place: 'writer',
      hint: 'Give the table a primary key, or run the job again into an empty one.',
    },
  );
}

/** Of the first group only: each costs another reading. */
async function tellDifferences(look: Look, tally: Tally): Promise<void> {
  if (look.same) return;
  let looked = 0;
  for await (const { pairing, found } of look.closer()) {
    tally.add(pairing, found);
    if (++looked < look.groups) tally.complete = false;
    break;
  }
}
