/** Scripted jobs for engine tests, and what their target must hold. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { readTarget, runsOf, strayFiles } from '../../../plugins/scripted/target.js';
import { scriptedRow } from '../../../plugins/scripted/rows.js';
import type { RunDeps } from '../../../src/core/job/run-types.js';
import type { JobSpec } from '../../../src/job/job-spec.js';
import type { JsonObject, JsonValue } from '../../../src/plugin-api/index.js';
import { writer } from '../../../plugins/scripted/index.js';
import { runJob } from '../../../src/core/job/run-job.js';
import { memoryLog, specOf, type EngineJob, type EngineRun, type LogLine } from '../../support/engine.js';
import { tree, type Workspace } from '../../support/workspace.js';

export interface Split {
  readonly id: string;
  readonly rows: number;
  readonly bounded?: boolean;
  readonly after?: readonly string[];
  readonly transaction?: number;
}

export interface ReaderEvent {
  readonly split: string;
  readonly at: number;
  readonly do: 'dirty' | 'pause' | 'fail' | 'idle' | 'schema';
  readonly until?: string;
  readonly times?: number;
  readonly add?: string;
}

/** Splits of which each is read after the one before it is committed: one epoch each, numbered from 1. */
export function chain(...rows: readonly number[]): readonly Split[] {
  return rows.map((n, i) => ({ id: `s${String(i)}`, rows: n, after: i === 0 ? [] : [`s${String(i - 1)}`] }));
}

export interface Script {
  readonly splits: readonly Split[];
  readonly events?: readonly ReaderEvent[];
  readonly reader?: JsonObject;
  readonly writer?: JsonObject;
  readonly more?: Partial<Omit<EngineJob, 'reader' | 'writer'>>;
}

/** One job in a folder of its own: starts it again and again, and knows what its target must hold. */
export class Scripted {
  readonly ws: Workspace;
  readonly script: Script;
  readonly target: string;
  readonly state: string;
  /** Checking options costs more than a short run: once a job, not once a start. */
  #spec: JobSpec | null = null;

  constructor(ws: Workspace, script: Script, name = '') {
    this.ws = ws;
    this.script = script;
    this.target = ws.path(`target${name}`);
    this.state = ws.path('state');
  }

  with(change: Partial<Script>): Scripted {
    return new Scripted(this.ws, { ...this.script, ...change });
  }

  job(): EngineJob {
    const { splits, events, reader, writer, more } = this.script;
    return {
      reader: {
        splits: splits as unknown as JsonValue,
        events: (events ?? []) as unknown as JsonValue,
        folder: this.ws.path('reader'),
        ...reader,
      },
      writer: { path: this.target, ...writer },
      ...more,
    };
  }

  async run(deps: Partial<RunDeps> = {}): Promise<EngineRun> {
    const logs: LogLine[] = [];
    this.#spec ??= specOf(this.job());
    const summary = await runJob(this.#spec, {
      log: memoryLog(logs),
      stateRoot: this.state,
      fresh: false,
      allowReplay: false,
      takeOver: false,
      stop: new AbortController().signal,
      loadWriter: (name) => Promise.resolve(name === 'scripted' ? writer : null),
      ...deps,
    });
    return { ...summary, logs };
  }

  /** Starts until the job is finished; fails after `most` starts, or where a start ends with another exit code than 1. */
  async finish(most = 4): Promise<EngineRun> {
    for (let i = 1; ; i++) {
      const r = await this.run();
      if (r.state === 'finished') return r;
      const text = JSON.stringify(r.error);
      assert.equal(r.exitCode, 1, text);
      assert.ok(i < most, `not finished after ${String(most)} starts: ${text}`);
    }
  }

  expected(times = 1): readonly string[] {
    const { splits, events = [], writer = {}, reader = {} } = this.script;
    const padding = Number(reader['padding'] ?? 0);
    const refused = new Set((writer['reject'] ?? []) as readonly string[]);
    const rows: string[] = [];
    for (const s of splits) {
      const mine = events.filter((e) => e.split === s.id).sort((a, b) => a.at - b.at);
      const dirty = new Set(mine.filter((e) => e.do === 'dirty').map((e) => e.at));
      for (let n = 1; n <= s.rows; n++) {
        if (dirty.has(n) || refused.has(`${s.id}:${String(n)}`)) continue;
        const added = mine.filter((e) => e.do === 'schema' && e.at <= n).map((e) => e.add ?? 'added');
        rows.push(JSON.stringify(scriptedRow(s.id, n, { added, padding })));
      }
    }
    return Array.from({ length: times }, () => rows)
      .flat()
      .sort();
  }

  async rows(): Promise<readonly string[]> {
    return (await readTarget(this.target)).map((r) => JSON.stringify(r.values)).sort();
  }

  /** Every row once (or `times` times), nothing left over, the summary true, the run begun and completed. */
  async assertExact(r: EngineRun, times = 1): Promise<void> {
    assert.equal(r.error, null, JSON.stringify(r.error));
    assert.equal(r.state, 'finished');
    assert.equal(r.exitCode, 0);
    await this.assertRows(times);
    const total = this.script.splits.reduce((n, s) => n + s.rows, 0);
    const written = this.expected().length;
    assert.deepEqual([r.read, r.written, r.dirty], [total, written, total - written], 'read, written, dirty');
    const runs = await runsOf(this.target);
    assert.deepEqual(runs.complete, runs.begun);
    assert.equal(runs.complete.length, times);
  }

  async assertRows(times = 1): Promise<void> {
    assert.deepEqual(await this.rows(), this.expected(times));
    assert.deepEqual(await strayFiles(this.target), []);
  }

  /** Whether a file of this name is in the state folder, in whatever run. */
  has(name: string): boolean {
    return tree(this.state).some((p) => p.endsWith(`/${name}`));
  }

  /** Makes a file that a gate or a pause waits for. */
  open(name: string): void {
    writeFileSync(this.ws.path(name), '');
  }

  close(name: string): void {
    rmSync(this.ws.path(name), { force: true });
  }
}

export function assertFails(r: EngineRun, code: string, exit: number, ...words: readonly string[]): void {
  assert.equal(r.error?.code, code, JSON.stringify(r.error));
  assert.equal(r.exitCode, exit);
  assert.equal(r.state, 'failed');
  const text = `${r.error?.message ?? ''} ${r.error?.place ?? ''} ${r.error?.hint ?? ''}`;
  for (const w of words) assert.ok(text.includes(w), `'${w}' is not in: ${text}`);
}

/** Runs tasks, a few at a time: they mostly wait for the disk. */
export async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>, atOnce = 6): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
