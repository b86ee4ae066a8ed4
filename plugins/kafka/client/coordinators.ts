/**
 * Calls to the broker that looks after a group or a transactional id. All of them may be sent twice: each says what shall be, and
 * with producer ids of its own. So they are sent again, within a limit, where the coordinator moves, loads, is busy with
 * the end of a transaction, or does not answer.
 */
import { isSyncError } from 'syncx/plugin-api';
import { Backoff } from './backoff.js';
import { brokerError, errorWord, linkError, type Asked } from './broker-errors.js';
import { LinkFailure } from './link-failure.js';
import type { BrokerAddress } from './node-link.js';
import type { Nodes } from './nodes.js';
import type { Api } from './protocol/api.js';
import { FIND_COORDINATOR, type CoordinatorKind } from './protocol/cluster-apis.js';

/** Ask for the coordinator again. */
const MOVED: ReadonlySet<string> = new Set(['COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR']);
/** The same coordinator will answer otherwise before long. */
const BUSY: ReadonlySet<string> = new Set([
  'COORDINATOR_LOAD_IN_PROGRESS',
  'CONCURRENT_TRANSACTIONS',
  'UNSTABLE_OFFSET_COMMIT',
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
]);

/** Of a new topic, until all brokers know it. */
const UNKNOWN_FOR_A_WHILE = 'UNKNOWN_TOPIC_OR_PARTITION';
const NEW_TOPIC_TRIES = 5;

export interface Coordinated {
  readonly kind: CoordinatorKind;
  /** Group, or transactional id. */
  readonly key: string;
}

/** Where an answer says that it failed. */
export interface Refusal {
  readonly code: number;
  /** What it is about, where that is not the whole call: `orders-0`, and the topic. */
  readonly place?: string;
  readonly resource?: string;
}

export class Coordinators {
  readonly #nodes: Nodes;
  readonly #limitMs: number;
  readonly #known = new Map<string, BrokerAddress>();

  constructor(nodes: Nodes, limitMs: number) {
    this.#nodes = nodes;
    this.#limitMs = limitMs;
  }

  /**
   * @param refused how an answer says no; null: it says yes.
   * @throws SyncError; the signal's reason.
   */
  async call<Q, A>(
    of: Coordinated,
    api: Api<Q, A>,
    q: Q,
    asked: Asked,
    refused: (answer: A) => Refusal | null,
    signal: AbortSignal,
  ): Promise<A> {
    const backoff = new Backoff(this.#limitMs, signal);
    for (;;) {
      const { answer, trouble, word } = await this.#once(of, api, q, asked, refused, signal);
      if (trouble === null) return answer;
      if (word === null || MOVED.has(word)) this.#known.delete(keyOf(of));
      const again = word === null || MOVED.has(word) || BUSY.has(word);
      const perhapsNew = word === UNKNOWN_FOR_A_WHILE && backoff.tries < NEW_TOPIC_TRIES;
      if (!(again || perhapsNew) || !(await backoff.pause())) throw trouble;
    }
  }

  /** @returns `word` null with a trouble: no answer came. */
  async #once<Q, A>(
    of: Coordinated,
    api: Api<Q, A>,
    q: Q,
    asked: Asked,
    refused: (answer: A) => Refusal | null,
    signal: AbortSignal,
  ): Promise<
    | { readonly trouble: null; readonly answer: A; readonly word: null }
    | { readonly trouble: Error; readonly word: string | null; readonly answer?: undefined }
  > {
    try {
      const found = await this.#find(of, asked, signal);
      if ('code' in found) {
        const word = errorWord(found.code) ?? '';
        return { trouble: brokerError(word, null, { ...asked, api: 'FindCoordinator', resource: of.key }), word };
      }
      const answer = await this.#nodes.send(found, api, q, this.#limitMs, signal);
      if (answer === null) throw new Error(`${api.name} without an answer`);
      const no = refused(answer);
      if (no === null) return { trouble: null, answer, word: null };
      const word = errorWord(no.code) ?? '';
      const { place, resource } = { ...asked, ...no };
      const doing = no.place === undefined ? asked.doing : `${asked.doing} (${no.place})`;
      return { trouble: brokerError(word, null, { ...asked, doing, place, resource }), word };
    } catch (e) {
      const failure = e instanceof LinkFailure ? e : isSyncError(e) ? e.cause : null; // of sendToAny: told already
      if (!(failure instanceof LinkFailure) || !(e instanceof Error)) throw e;
      const trouble = e === failure ? linkError(failure, asked) : e;
      if (failure.trouble === 'refused') throw trouble;
      return { trouble, word: null };
    }
  }

  async #find(of: Coordinated, asked: Asked, signal: AbortSignal): Promise<BrokerAddress | { readonly code: number }> {
    const known = this.#known.get(keyOf(of));
    if (known !== undefined) return known;
    const found = await this.#nodes.sendToAny(FIND_COORDINATOR, of, this.#limitMs, signal, asked);
    if (found === null || found.code !== 0) return { code: found?.code ?? -1 };
    this.#nodes.learn([found]);
    const at = { host: found.host, port: found.port };
    this.#known.set(keyOf(of), at);
    return at;
  }

  /** False: the coordinator has no such request. Where it cannot be reached now a call will tell. */
  async supports(of: Coordinated, api: Api<never, unknown>, asked: Asked, signal: AbortSignal): Promise<boolean> {
    const found = await this.#find(of, asked, signal);
    if ('code' in found) return true;
    try {
      return (await this.#nodes.versionOf(found, api, signal)) !== null;
    } catch (e) {
      if (e instanceof LinkFailure) return true;
      throw e;
    }
  }
}

const keyOf = (of: Coordinated): string => `${of.kind} ${of.key}`;
