/** Topics made, grown and dropped, and their settings. */
import { Backoff } from './backoff.js';
import { brokerError, errorWord, isStaleLeader, linkError, type Asked, type Side } from './broker-errors.js';
import type { NewTopic } from './kafka-client.js';
import type { Leaders } from './leaders.js';
import { LinkFailure } from './link-failure.js';
import type { Nodes } from './nodes.js';
import type { Api } from './protocol/api.js';
import {
  CREATE_PARTITIONS,
  CREATE_TOPICS,
  DELETE_TOPICS,
  DESCRIBE_CONFIGS,
  LATEST,
  LIST_OFFSETS,
  type ConfigResource,
  type TopicCode,
} from './protocol/topic-apis.js';

/** Another broker, or the same a little later, will do it. */
const AGAIN: ReadonlySet<string> = new Set([
  'NOT_CONTROLLER',
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
  'THROTTLING_QUOTA_EXCEEDED',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);
const NEW_TOPIC_TRIES = 5;

/** There are that many or more, perhaps since an earlier try whose answer was lost. */
const isEnough = (word: string): boolean => word === 'INVALID_PARTITIONS';

export class TopicAdmin {
  readonly #nodes: Nodes;
  readonly #leaders: Leaders;
  readonly #side: Side;
  readonly #limitMs: number;

  constructor(nodes: Nodes, leaders: Leaders, side: Side, limitMs: number) {
    this.#nodes = nodes;
    this.#leaders = leaders;
    this.#side = side;
    this.#limitMs = limitMs;
  }

  #asked(api: string, doing: string, place: string): Asked {
    return { side: this.#side, api, doing, place, resource: place };
  }

  /** By the controller, whom brokers since Kafka 2.8 pass it on to. */
  async #change<Q>(
    api: Api<Q, readonly TopicCode[]>,
    q: Q,
    verb: string,
    names: readonly string[],
    done: (word: string) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const backoff = new Backoff(this.#limitMs, signal);
    const asked = this.#asked(api.name, `${verb} ${names.join(', ')}`, names.join(', '));
    for (;;) {
      const { controller } = await this.#leaders.metadata([], false, signal);
      const at = this.#nodes.addressOf(controller);
      let trouble: Error | null = null;
      let again = true;
      try {
        const codes =
          at === null
            ? await this.#nodes.sendToAny(api, q, 2 * this.#limitMs, signal, asked)
            : await this.#nodes.send(at, api, q, 2 * this.#limitMs, signal);
        for (const { topic, code, message } of codes ?? []) {
          const word = errorWord(code);
          if (word === null || done(word)) continue;
          trouble = brokerError(word, message, this.#asked(api.name, `${verb} ${topic}`, topic));
          again &&= AGAIN.has(word) && (word !== 'UNKNOWN_TOPIC_OR_PARTITION' || backoff.tries < NEW_TOPIC_TRIES);
        }
      } catch (e) {
        if (!(e instanceof LinkFailure)) throw e;
        trouble = linkError(e, asked);
        again = e.trouble === 'lost';
      }
      if (trouble === null) return;
      if (!again || !(await backoff.pause())) throw trouble;
    }
  }

  async createTopics(topics: readonly NewTopic[], signal: AbortSignal): Promise<void> {
    if (topics.length === 0) return;
    const names = topics.map((t) => t.topic);
    const q = { topics: topics.map((t) => ({ ...t, configs: Object.entries(t.configs) })), timeoutMs: this.#limitMs };
    await this.#change(CREATE_TOPICS, q, 'create topic', names, (word) => word === 'TOPIC_ALREADY_EXISTS', signal);
    await this.#untilThere(names, (t) => t.error === null && t.leaders > 0 && t.leaders === t.partitions, signal);
    await this.#untilLed(names, signal);
  }

  async createPartitions(topic: string, count: number, signal: AbortSignal): Promise<void> {
    const q = { topic, count, timeoutMs: this.#limitMs };
    await this.#change(CREATE_PARTITIONS, q, 'add partitions to topic', [topic], isEnough, signal);
    await this.#untilThere([topic], (t) => t.leaders >= count, signal);
    await this.#untilLed([topic], signal);
  }

  async deleteTopics(topics: readonly string[], signal: AbortSignal): Promise<void> {
    if (topics.length === 0) return;
    const q = { topics, timeoutMs: this.#limitMs };
    await this.#change(DELETE_TOPICS, q, 'delete topic', topics, () => false, signal);
    await this.#untilThere(topics, (t) => t.error === 'UNKNOWN_TOPIC_OR_PARTITION', signal);
  }

  /** The metadata names a leader a moment before that one knows of it (NOT_LEADER_OR_FOLLOWER). */
  async #untilLed(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { topics } = await this.#leaders.metadata(names, false, signal);
    const parts = topics.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition }) => ({ topic, partition, timestamp: LATEST })),
    );
    const request = (mine: Readonly<typeof parts>) => ({ committedOnly: false, parts: mine });
    await this.#leaders.ask(LIST_OFFSETS, parts, 'see the new partition', request, signal);
  }

  /** Brokers hear of a change one after another. Of several brokers only the one that we ask is waited for. */
  async #untilThere(
    names: readonly string[],
    there: (t: { readonly error: string | null; readonly partitions: number; readonly leaders: number }) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const backoff = new Backoff(this.#limitMs, signal);
    for (;;) {
      const { topics } = await this.#leaders.metadata(names, false, signal);
      const late = topics.find(
        (t) =>
          !there({
            error: t.error,
            partitions: t.partitions.length,
            leaders: t.partitions.filter((p) => p.leader >= 0).length,
          }),
      );
      if (late === undefined) return;
      const word = late.error ?? 'LEADER_NOT_AVAILABLE';
      if ((late.error !== null && !isStaleLeader(late.error)) || !(await backoff.pause()))
        throw brokerError(word, null, this.#asked('Metadata', `see the change of topic ${late.topic}`, late.topic));
    }
  }

  async #configs(resource: ConfigResource, doing: string, signal: AbortSignal): Promise<Map<string, string | null>> {
    const asked = this.#asked('DescribeConfigs', doing, resource.name);
    const backoff = new Backoff(this.#limitMs, signal);
    for (;;) {
      // A broker answers for itself only.
      const at = resource.kind === 'broker' ? this.#nodes.addressOf(Number(resource.name)) : null;
      const answers = await this.#ask(at, resource, asked, signal);
      const [answer] = answers;
      const word = errorWord(answer?.code ?? -1);
      if (word === null) return new Map(answer?.values ?? []);
      const again = word === 'UNKNOWN_TOPIC_OR_PARTITION' ? backoff.tries < NEW_TOPIC_TRIES : AGAIN.has(word);
      if (!again || !(await backoff.pause())) throw brokerError(word, answer?.message ?? null, asked);
    }
  }

  async #ask(at: ReturnType<Nodes['addressOf']>, resource: ConfigResource, asked: Asked, signal: AbortSignal) {
    if (at === null)
      return (await this.#nodes.sendToAny(DESCRIBE_CONFIGS, resource, this.#limitMs, signal, asked)) ?? [];
    try {
      return (await this.#nodes.send(at, DESCRIBE_CONFIGS, resource, this.#limitMs, signal)) ?? [];
    } catch (e) {
      throw e instanceof LinkFailure ? linkError(e, asked) : e;
    }
  }

  topicConfigs(topic: string, signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
    return this.#configs({ kind: 'topic', name: topic, keys: null }, `read the settings of topic ${topic}`, signal);
  }

  async brokerConfigs(signal: AbortSignal): Promise<ReadonlyMap<string, string | null>> {
    const { brokers } = await this.#leaders.metadata([], false, signal);
    const name = String(brokers[0]?.node ?? -1);
    return this.#configs({ kind: 'broker', name, keys: null }, `read the settings of broker ${name}`, signal);
  }
}
