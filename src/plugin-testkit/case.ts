/**
 * What a case may need. The first group is declared by the plugin itself: a case that needs one of them does not apply
 * without it. The second comes from the harness: without it the case must be waived, with a reason.
 */
export const DECLARED = ['replayable', 'exactly-once', 'pipelined', 'recover-lanes'] as const;
export const SUPPLIED = [
  'seed-large',
  'seed-transactions',
  'seed-bad-row',
  'seed-broken',
  'seed-missing',
  'seed-endless',
  'read-back',
  'leftovers',
  'damage',
  'bad-row',
] as const;
export type Need = (typeof DECLARED)[number] | (typeof SUPPLIED)[number];

/** One rule of the contract, as data. `run` throws where the plugin breaks it. */
export interface ContractCase<Env> {
  /** `group.name`; what waivers name. Never reused for another rule. */
  readonly id: string;
  readonly title: string;
  readonly needs: readonly Need[];
  run(env: Env): Promise<void>;
}

/** Case id → the reason why this plugin cannot pass it. A waiver of a case that would pass is an error. */
export type Waivers = Readonly<Record<string, string>>;

export type Verdict =
  | { readonly is: 'run' }
  | { readonly is: 'skip'; readonly why: string }
  | { readonly is: 'waived'; readonly why: string; readonly runnable: boolean }
  | { readonly is: 'fail'; readonly why: string };

/** How to treat a case: pure, so that the rules about waivers can be tested by themselves. */
export function judge(c: Pick<ContractCase<never>, 'id' | 'needs'>, has: ReadonlySet<Need>, waive: Waivers): Verdict {
  const missing = c.needs.filter((n) => !has.has(n));
  const undeclared = missing.filter((n) => (DECLARED as readonly Need[]).includes(n));
  const why = Object.hasOwn(waive, c.id) ? waive[c.id] : undefined;
  if (undeclared.length > 0) {
    if (why === undefined) return { is: 'skip', why: `the plugin does not declare ${undeclared.join(', ')}` };
    return {
      is: 'fail',
      why: `${c.id} is waived but does not apply: the plugin does not declare ${undeclared.join(', ')}`,
    };
  }
  if (why !== undefined) {
    if (why.trim().length < 10) return { is: 'fail', why: `the waiver of ${c.id} needs a reason` };
    return { is: 'waived', why, runnable: missing.length === 0 };
  }
  if (missing.length > 0) {
    return {
      is: 'fail',
      why: `the harness does not supply ${missing.join(', ')}: supply it, or waive ${c.id} with a reason`,
    };
  }
  return { is: 'run' };
}

/** Runs a waived case: it must fail, or the waiver is stale. */
export async function expectFailure(id: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch {
    return;
  }
  throw new Error(`${id} is waived but passes: remove the waiver`);
}

export function unknownWaivers(cases: readonly { readonly id: string }[], waive: Waivers): readonly string[] {
  const ids = new Set(cases.map((c) => c.id));
  return Object.keys(waive).filter((id) => !ids.has(id));
}
