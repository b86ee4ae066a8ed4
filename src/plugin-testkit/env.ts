import type { Reader, RowSchema, Writer } from '../plugin-api/index.js';
import type { Need } from './case.js';
import { testContext } from './context.js';
import { within } from './drive.js';
import type { ReaderHarness, ReaderSource, SeedKind, WriterHarness, WriterTarget } from './harness.js';
import { fillOptions } from './options.js';

/** What a case of a reader runs in. Everything that is opened through it is closed at the end. */
export interface ReaderEnv {
  readonly harness: ReaderHarness;
  /** How long abort and dispose may take, in ms. */
  readonly limitMs: number;
  seed(kind: SeedKind, rows: number): Promise<ReaderSource>;
  /** A reader as a new process would create it. */
  reader(source: ReaderSource, signal?: AbortSignal): Promise<Reader>;
  defer(cleanup: () => Promise<void>): void;
}

export interface WriterEnv {
  readonly harness: WriterHarness;
  target(schema: RowSchema): Promise<WriterTarget>;
  /** A writer as a new process would create it. */
  writer(target: WriterTarget, signal?: AbortSignal): Promise<Writer>;
  defer(cleanup: () => Promise<void>): void;
}

const LIMIT_MS = 2000;

class Cleanups {
  readonly #stack: (() => Promise<void>)[] = [];
  readonly #limitMs: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  readonly add = (cleanup: () => Promise<void>): void => {
    this.#stack.push(cleanup);
  };

  /** All run, last one first; the first error counts. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let c = this.#stack.pop(); c; c = this.#stack.pop()) {
      await within(this.#limitMs, 'cleaning up', c()).catch((e: unknown) => errors.push(e));
    }
    if (errors.length > 0) throw errors[0];
  }
}

export async function withReaderEnv(harness: ReaderHarness, run: (env: ReaderEnv) => Promise<void>): Promise<void> {
  const limitMs = harness.limitMs ?? LIMIT_MS;
  const cleanups = new Cleanups(limitMs);
  const env: ReaderEnv = {
    harness,
    limitMs,
    defer: cleanups.add,
    async seed(kind, rows) {
      const source = await harness.seed(kind, rows);
      cleanups.add(() => source.dispose());
      return source;
    },
    async reader(source, signal) {
      const reader = await harness.plugin.create(fillOptions(harness.plugin, source.options), testContext(signal));
      cleanups.add(async () => reader.close?.());
      return reader;
    },
  };
  await runThenClean(() => run(env), cleanups);
}

export async function withWriterEnv(harness: WriterHarness, run: (env: WriterEnv) => Promise<void>): Promise<void> {
  const cleanups = new Cleanups(LIMIT_MS * 5);
  const env: WriterEnv = {
    harness,
    defer: cleanups.add,
    async target(schema) {
      const target = await harness.target(schema);
      cleanups.add(() => target.dispose());
      return target;
    },
    async writer(target, signal) {
      const writer = await harness.plugin.create(fillOptions(harness.plugin, target.options), testContext(signal));
      cleanups.add(async () => writer.close?.());
      return writer;
    },
  };
  await runThenClean(() => run(env), cleanups);
}

/** The case's own error is the one to tell. */
async function runThenClean(run: () => Promise<void>, cleanups: Cleanups): Promise<void> {
  try {
    await run();
  } catch (e) {
    await cleanups.run().catch(() => undefined);
    throw e;
  }
  await cleanups.run();
}

export async function readerNeeds(harness: ReaderHarness): Promise<ReadonlySet<Need>> {
  const has = new Set<Need>(harness.seeds.filter((s) => s !== 'plain').map((s): Need => `seed-${s}`));
  await withReaderEnv(harness, async (env) => {
    const reader = await env.reader(await env.seed('plain', 1));
    if (reader.replayable) has.add('replayable');
  });
  return has;
}

export async function writerNeeds(harness: WriterHarness, schema: RowSchema): Promise<ReadonlySet<Need>> {
  const has = new Set<Need>();
  if (harness.badText !== undefined) has.add('bad-row');
  await withWriterEnv(harness, async (env) => {
    const target = await env.target(schema);
    const writer = await env.writer(target);
    if (target.readBack) has.add('read-back');
    if (target.leftovers) has.add('leftovers');
    if (target.damage) has.add('damage');
    if (writer.delivery === 'exactly-once') has.add('exactly-once');
    if (writer.pipelined) has.add('pipelined');
    if (writer.recoverLanes) has.add('recover-lanes');
  });
  return has;
}
