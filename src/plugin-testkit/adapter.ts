import { describe, test } from 'node:test';
import { expectFailure, judge, unknownWaivers, type ContractCase, type Need, type Waivers } from './case.js';
import { commitCases } from './cases/commit.js';
import { descriptorCases, type DescriptorEnv } from './cases/descriptor.js';
import { flowCases, troubleCases } from './cases/flow.js';
import { planningCases } from './cases/planning.js';
import { recoverCases } from './cases/recover.js';
import { resumeCases } from './cases/resume.js';
import { unfinishedCases } from './cases/unfinished.js';
import { valueCases } from './cases/values.js';
import { readerNeeds, withReaderEnv, withWriterEnv, writerNeeds, type ReaderEnv, type WriterEnv } from './env.js';
import type { Harness } from './harness.js';
import { PLAIN } from './sample-rows.js';

const TIMEOUT_MS = 30_000;

export const readerCases: readonly ContractCase<ReaderEnv>[] = [
  ...planningCases,
  ...resumeCases,
  ...flowCases,
  ...troubleCases,
];
export const writerCases: readonly ContractCase<WriterEnv>[] = [
  ...commitCases,
  ...recoverCases,
  ...unfinishedCases,
  ...valueCases,
];

/** A case bound to a harness: what an adapter for any test runner needs. */
export interface BoundCase {
  readonly id: string;
  readonly title: string;
  readonly needs: readonly Need[];
  run(): Promise<void>;
}

export function boundCases(h: Harness): readonly BoundCase[] {
  const bind = <E>(cases: readonly ContractCase<E>[], run: (c: ContractCase<E>) => Promise<void>): BoundCase[] =>
    cases.map((c) => ({ id: c.id, title: c.title, needs: c.needs, run: () => run(c) }));
  const descriptor = bind<DescriptorEnv>(descriptorCases, (c) => c.run({ harness: h }));
  const own =
    h.kind === 'reader'
      ? bind(readerCases, (c) => withReaderEnv(h, (env) => c.run(env)))
      : bind(writerCases, (c) => withWriterEnv(h, (env) => c.run(env)));
  return [...descriptor, ...own];
}

export function needsOf(h: Harness): Promise<ReadonlySet<Need>> {
  return h.kind === 'reader' ? readerNeeds(h) : writerNeeds(h, PLAIN);
}

/** Runs one case as the waivers say. @returns why it was skipped, or null where it ran. */
export async function runCase(c: BoundCase, has: ReadonlySet<Need>, waive: Waivers): Promise<string | null> {
  const verdict = judge(c, has, waive);
  switch (verdict.is) {
    case 'fail':
      throw new Error(verdict.why);
    case 'skip':
      return verdict.why;
    case 'run':
      await c.run();
      return null;
    case 'waived':
      if (verdict.runnable) await expectFailure(c.id, c.run);
      return `waived: ${verdict.why}`;
  }
}

/** Makes a node:test test of every case of the contract that concerns this plugin. */
export function contractTests(h: Harness): void {
  const waive = h.waive ?? {};
  const cases = boundCases(h);
  let has: Promise<ReadonlySet<Need>> | null = null;
  describe(`contract of the ${h.plugin.name} ${h.kind}`, () => {
    test('waivers name cases that exist', () => {
      const unknown = unknownWaivers(cases, waive);
      if (unknown.length > 0) throw new Error(`there is no case ${unknown.join(', ')}`);
    });
    for (const c of cases) {
      test(`${c.id}: ${c.title}`, { timeout: TIMEOUT_MS }, async (t) => {
        const skipped = await runCase(c, await (has ??= needsOf(h)), waive);
        if (skipped !== null) t.skip(skipped);
      });
    }
  });
}
