/** Which node leads which partition: from metadata, forgotten when a broker says that it is not so any more. */
import { Backoff } from './backoff.js';
import { brokerError, errorWord, isStaleLeader, linkError, type Asked, type Side } from './broker-errors.js';
import type { Metadata, Topic, TopicPartition } from './kafka-client.js';
import { LinkFailure } from './link-failure.js';
import type { Nodes } from './nodes.js';
import type { Api, PartitionCode } from './protocol/api.js';
import { METADATA, type MetadataTopic } from './protocol/cluster-apis.js';
import { rightsOf } from './rights.js';
import { showPartition } from './partition-error.js';

const isSame = (a: TopicPartition, b: TopicPartition): boolean => a.partition === b.partition && a.topic === b.topic;

export class Leaders {
  readonly #nodes: Nodes;
  readonly #side: Side;
  readonly #limitMs: number;
  readonly #leaders = new Map<string, number>();

  constructor(nodes: Nodes, side: Side, limitMs: number) {
    this.#nodes = nodes;
    this.#side = side;
    this.#limitMs = limitMs;
  }

  async metadata(topics: readonly string[] | null, rights: boolean, signal: AbortSignal): Promise<Metadata> {
    const names = topics === null ? 'all topics' : topics.join(', ');
    const doing = topics?.length === 0 ? 'ask for the brokers' : `look at ${names}`;
    const asked = { side: this.#side, api: 'Metadata', doing, place: names, resource: names };
    const answer = await this.#nodes.sendToAny(METADATA, { topics, rights }, this.#limitMs, signal, asked);
    if (answer === null) throw new Error('metadata without an answer');
    this.#nodes.learn(answer.brokers);
    for (const t of answer.topics) {
      for (const p of t.partitions) this.#learn({ topic: t.topic, partition: p.partition }, p.leader);
    }
    return {
      brokers: answer.brokers,
      cluster: answer.cluster,
      controller: answer.controller,
      topics: answer.topics.map(topicOf),
    };
  }

  #learn(at: TopicPartition, leader: number): void {
    if (leader < 0) this.#leaders.delete(showPartition(at));
    else this.#leaders.set(showPartition(at), leader);
  }

  /** Where a broker's word tells that it does not lead the partition. */
  forgetStale(parts: readonly PartitionCode[]): void {
    for (const p of parts) if (isStaleLeader(errorWord(p.code))) this.#leaders.delete(showPartition(p));
  }

  /** After a node did not answer. */
  forgetNode(node: number): void {
    for (const [at, leader] of this.#leaders) if (leader === node) this.#leaders.delete(at);
  }

  /** Waits for one where there is none now. */
  async leaderOf(at: TopicPartition, signal: AbortSignal): Promise<number> {
    const backoff = new Backoff(this.#limitMs, signal);
    for (;;) {
      signal.throwIfAborted();
      const known = this.#leaders.get(showPartition(at));
      if (known !== undefined) return known;
      const { topics } = await this.metadata([at.topic], false, signal);
      const now = this.#leaders.get(showPartition(at));
      if (now !== undefined) return now;
      const word = wordOf(topics[0], at.partition);
      // A topic that was made a moment ago is unknown to some brokers for a while; one that nobody knows stays so.
      const final = !isStaleLeader(word) || (word === 'UNKNOWN_TOPIC_OR_PARTITION' && backoff.tries >= 5);
      if (final || !(await backoff.pause()))
        throw brokerError(word, null, this.#asked('Metadata', 'find the leader of', at));
    }
  }

  #asked(api: string, verb: string, at: TopicPartition): Asked {
    return {
      side: this.#side,
      api,
      doing: `${verb} ${showPartition(at)}`,
      place: showPartition(at),
      resource: at.topic,
    };
  }

  /**
   * Asks the leaders of all the partitions, again where a leader has moved.
   * @param request for those partitions that one node leads. @param verb for messages: `list the offsets of`.
   * @returns in the order of `parts`. @throws SyncError of the first partition that fails.
   */
  async ask<T extends TopicPartition, Q, A extends PartitionCode>(
    api: Api<Q, readonly A[]>,
    parts: readonly T[],
    verb: string,
    request: (parts: readonly T[]) => Q,
    signal: AbortSignal,
  ): Promise<readonly A[]> {
    const answers = new Map<T, A>();
    const backoff = new Backoff(this.#limitMs, signal);
    for (let todo = parts; todo.length > 0; todo = parts.filter((p) => !answers.has(p))) {
      const [first] = todo;
      if (first === undefined) break;
      const requests: { readonly node: number; readonly mine: T[] }[] = [];
      for (const p of todo) {
        const node = await this.leaderOf(p, signal);
        // One request must not have a partition twice: INVALID_REQUEST.
        const open = requests.find((r) => r.node === node && !r.mine.some((m) => isSame(m, p)));
        if (open === undefined) requests.push({ node, mine: [p] });
        else open.mine.push(p);
      }
      const troubles: Error[] = [];
      const ask = async ({ node, mine }: (typeof requests)[number]): Promise<void> => {
        try {
          const got = (await this.#sendTo(node, api, request(mine), signal)) ?? [];
          this.forgetStale(got);
          for (const p of mine) {
            const a = got.find((g) => isSame(g, p));
            const word = errorWord(a?.code ?? -1) ?? '';
            if (a?.code === 0) answers.set(p, a);
            else if (isStaleLeader(word) || word === 'REQUEST_TIMED_OUT')
              troubles.push(brokerError(word, null, this.#asked(api.name, verb, p)));
            else throw brokerError(word, null, this.#asked(api.name, verb, p));
          }
        } catch (e) {
          if (!(e instanceof LinkFailure)) throw e;
          const failure = linkError(e, this.#asked(api.name, verb, mine[0] ?? first));
          if (e.trouble === 'refused') throw failure;
          this.forgetNode(node);
          troubles.push(failure);
        }
      };
      await Promise.all(requests.map(ask));
      const [trouble] = troubles;
      if (trouble !== undefined && !(await backoff.pause())) throw trouble;
    }
    return parts.flatMap((p) => answers.get(p) ?? []);
  }

  async #sendTo<Q, A>(node: number, api: Api<Q, A>, q: Q, signal: AbortSignal): Promise<A | null> {
    const at = this.#nodes.addressOf(node);
    if (at === null)
      throw new LinkFailure('lost', `node ${String(node)}`, 'the metadata does not name it any more', null);
    return this.#nodes.send(at, api, q, this.#limitMs, signal);
  }
}

function wordOf(topic: Topic | undefined, partition: number): string {
  if (topic === undefined) return 'UNKNOWN_TOPIC_OR_PARTITION';
  if (topic.error !== null) return topic.error;
  return topic.partitions.some((p) => p.partition === partition)
    ? 'LEADER_NOT_AVAILABLE'
    : 'UNKNOWN_TOPIC_OR_PARTITION';
}

function topicOf(t: MetadataTopic): Topic {
  return {
    topic: t.topic,
    id: t.id,
    error: errorWord(t.code),
    internal: t.internal,
    partitions: t.partitions
      .map(({ partition, leader }) => ({ partition, leader }))
      .sort((a, b) => a.partition - b.partition),
    rights: t.operations === null ? null : rightsOf(t.operations),
  };
}
