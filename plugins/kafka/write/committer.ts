/** What became of transactions whose process died, from any process. Facts: the table at the head of kafka-client.ts. */
import type { Committable, Committer, RecoverAnswer, RunIdentity, RunRecord, SweepReport } from 'syncx/plugin-api';
import { brokerErrorName } from '../client/broker-errors.js';
import type { KafkaClient } from '../client/kafka-client.js';
import {
  commitTransaction,
  groupOf,
  idsOf,
  preparedOf,
  readMarker,
  transactionalIdOf,
  type PreparedTransaction,
} from './epoch-marker.js';

/** Words that say that the ids cannot end the transaction any more. */
const FENCED: ReadonlySet<string> = new Set(['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE']);
const FORGOTTEN = 'INVALID_PRODUCER_ID_MAPPING';
/** Brokers keep markers 7 days by default; only within less than that the lack of one is an answer. */
const EVIDENCE_MS = 6 * 24 * 3600 * 1000;
/** Lanes that highWater looks at, at most. */
const MOST_LANES = 256;

export class KafkaCommitter implements Committer {
  readonly #client: KafkaClient;
  readonly #markerTopic: string;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #failpoint: (step: string) => void;

  constructor(
    client: KafkaClient,
    o: {
      readonly markerTopic: string;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly failpoint: (step: string) => void;
    },
  ) {
    this.#client = client;
    this.#markerTopic = o.markerTopic;
    this.#timeoutMs = o.timeoutMs;
    this.#signal = o.signal;
    this.#failpoint = o.failpoint;
  }

  async recover(_run: RunIdentity, committables: readonly Committable[]): Promise<readonly RecoverAnswer[]> {
    const answers: RecoverAnswer[] = [];
    for (const c of committables) {
      answers.push(await this.#recoverOne(preparedOf(c)));
      this.#failpoint('kafka.recovered');
    }
    return answers;
  }

  async #recoverOne(p: PreparedTransaction): Promise<RecoverAnswer> {
    // Not stable: the transaction may be open, and would be waited for.
    if (await this.#isMarked(p, false)) return 'committed';
    try {
      await commitTransaction(this.#client, idsOf(p), this.#signal);
      return 'committed';
    } catch (e) {
      const word = brokerErrorName(e);
      if (word === FORGOTTEN) return (await this.#isMarked(p, true)) ? 'committed' : 'unknown';
      if (word === null || !FENCED.has(word)) throw e;
    }
    if (await this.#isMarked(p, true)) return 'committed';
    const state = await this.#client.describeTransaction(p.transactionalId, this.#signal);
    const ours = state?.producerId === BigInt(p.producerId);
    // The broker ended it: by its timeout (a later epoch), or because we had told it to.
    if (ours && state.state === 'CompleteAbort' && state.epoch - p.producerEpoch <= 1) return 'lost';
    if (ours && state.state === 'CompleteCommit' && state.epoch === p.producerEpoch) return 'committed';
    // A later start has begun under this id, or it has expired. A commit would have left the marker, while brokers keep it.
    return Date.now() - p.preparedAt < EVIDENCE_MS ? 'lost' : 'unknown';
  }

  async #isMarked(p: PreparedTransaction, stable: boolean): Promise<boolean> {
    return ((await readMarker(this.#client, p.group, p.topic, stable, this.#signal)) ?? -1) >= p.epoch;
  }

  /** Aborts what their starts left open, and fences those of them that still live. */
  async sweep(runs: readonly RunRecord[]): Promise<SweepReport> {
    let removed = 0;
    for (const run of runs) {
      for (const attempt of run.attempts) {
        for (let lane = 0; lane < run.lanes; lane++) {
          if (await this.#end(transactionalIdOf(run.runId, lane, attempt))) removed++;
        }
      }
    }
    return { removed };
  }

  /** @returns whether a transaction was open. */
  async #end(transactionalId: string): Promise<boolean> {
    const state = await this.#client.describeTransaction(transactionalId, this.#signal);
    if (state === null || state.state === 'Dead') return false;
    await this.#client.initProducerId(transactionalId, this.#timeoutMs, this.#signal);
    return state.state === 'Ongoing';
  }

  async highWater(runId: string): Promise<number> {
    let highest = 0;
    for (let lane = 0, absent = 0; lane < MOST_LANES && absent < 4; lane++) {
      const epoch = await readMarker(this.#client, groupOf(runId, lane), this.#markerTopic, false, this.#signal);
      absent = epoch === null ? absent + 1 : 0;
      highest = Math.max(highest, epoch ?? 0);
    }
    return highest;
  }
}
