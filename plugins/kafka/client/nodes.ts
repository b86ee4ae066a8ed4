/** The brokers that we know, and a connection to each as it is needed. */
import { setMaxListeners } from 'node:events';
import { orAborted } from 'syncx/plugin-kit';
import { linkError, type Asked, type Side } from './broker-errors.js';
import { LinkFailure } from './link-failure.js';
import { NodeLink, showAddress, type BrokerAddress, type LinkSettings } from './node-link.js';
import type { Api } from './protocol/api.js';

/** A fetch waits at the broker, which answers the requests of a connection one after another: it has one of its own. */
type Use = 'calls' | 'fetch';

export class Nodes {
  readonly #links = new Map<string, NodeLink>();
  readonly #known = new Map<number, BrokerAddress>();
  readonly #seeds: readonly BrokerAddress[];
  readonly #settings: LinkSettings;
  readonly #side: Side;
  #closed = false;

  constructor(seeds: readonly BrokerAddress[], settings: LinkSettings, side: Side) {
    this.#seeds = seeds;
    this.#settings = settings;
    this.#side = side;
  }

  learn(brokers: readonly (BrokerAddress & { readonly node: number })[]): void {
    for (const b of brokers) if (b.node >= 0) this.#known.set(b.node, { host: b.host, port: b.port });
  }

  /** Null: no metadata has named it yet. */
  addressOf(node: number): BrokerAddress | null {
    return this.#known.get(node) ?? null;
  }

  #link(at: BrokerAddress, use: Use): NodeLink {
    if (this.#closed) throw new LinkFailure('refused', showAddress(at), 'the client is closed', null);
    const key = `${showAddress(at)} ${use}`;
    const known = this.#links.get(key);
    if (known !== undefined && !known.dead) return known;
    const link = new NodeLink(at, this.#settings);
    this.#links.set(key, link);
    return link;
  }

  /**
   * @returns null: the request has no answer.
   * @throws LinkFailure; the signal's reason.
   */
  async send<Q, A>(at: BrokerAddress, api: Api<Q, A>, q: Q, limitMs: number, signal: AbortSignal): Promise<A | null> {
    signal.throwIfAborted();
    setMaxListeners(0, signal); // each call in flight listens: many are no leak
    const fetching = api.name === 'Fetch';
    const link = this.#link(at, fetching ? 'fetch' : 'calls');
    try {
      return await orAborted(link.send(api, q, limitMs), signal);
    } catch (e) {
      // The next fetch would wait behind the one that nobody wants.
      if (fetching && signal.aborted) link.close('the fetch was aborted');
      throw e;
    }
  }

  /** @returns null: the broker has none that we speak. @throws LinkFailure; the signal's reason. */
  async versionOf(at: BrokerAddress, api: Api<never, unknown>, signal: AbortSignal): Promise<number | null> {
    signal.throwIfAborted();
    return orAborted(this.#link(at, 'calls').versionOf(api), signal);
  }

  /**
   * To whichever broker answers: those with a connection first, then those that we know, then those of the job.
   * @throws SyncError that tells of each broker that was tried; the signal's reason.
   */
  async sendToAny<Q, A>(api: Api<Q, A>, q: Q, limitMs: number, signal: AbortSignal, asked: Asked): Promise<A | null> {
    const tried = new Map<string, LinkFailure>();
    const connected = (a: BrokerAddress): boolean => this.#links.get(`${showAddress(a)} calls`)?.dead === false;
    const candidates = [...this.#known.values(), ...this.#seeds];
    for (const at of [...candidates.filter(connected), ...candidates]) {
      if (tried.has(showAddress(at))) continue;
      try {
        return await this.send(at, api, q, limitMs, signal);
      } catch (e) {
        if (!(e instanceof LinkFailure)) throw e;
        if (e.trouble === 'refused') throw linkError(e, { side: this.#side, doing: asked.doing });
        tried.set(showAddress(at), e);
      }
    }
    throw linkError(summed([...tried.values()]), { side: this.#side, doing: asked.doing });
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }
}

/** Of several brokers, each with its reason. */
function summed(failures: readonly LinkFailure[]): LinkFailure {
  const [first] = failures;
  if (first === undefined) return new LinkFailure('refused', '', 'no broker is named', 'Name the brokers of the job.');
  if (failures.length === 1) return first;
  const message = failures.map((f) => `${f.address}: ${f.message}`).join('; ');
  return new LinkFailure('lost', failures.map((f) => f.address).join(','), message, first.hint, first);
}
