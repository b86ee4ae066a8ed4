/** Packs the tool, and makes and installs the sample plugin by following docs/write-a-plugin.md word for word. */
import { spawn, type ChildProcess } from 'node:child_process';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, type Summary } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

export const SAMPLE = join(ROOT, 'test/plugin-package/sample');

export interface Block {
  readonly language: string;
  /** The file that it shows; commands and their output have none. */
  readonly file: string | null;
  readonly text: string;
}

export function pageBlocks(): readonly Block[] {
  const page = readFileSync(join(ROOT, 'docs/write-a-plugin.md'), 'utf8');
  return [...page.matchAll(/^```(\S*)(?: file=(\S+)| output)?\n([^]*?)^```$/gm)].map(
    ([, language = '', file, text = '']) => ({
      language,
      file: file ?? null,
      text,
    }),
  );
}

/** What the page says that `describe` prints. */
export function shownDescription(): string {
  return pageBlocks().find((b) => b.language === 'text')?.text ?? '';
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly child: ChildProcess;
  readonly done: Promise<Ended>;
}

export function start(
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Program {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (s: string) => (stdout += s));
  child.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  const done = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, done };
}

/** The summary of `run --output json`. */
export function summaryOf(r: Ended): Summary {
  return JSON.parse(r.stdout.trimEnd().split('\n').at(-1) ?? '') as Summary;
}

/** For npm: quick, quiet, and no more than the page needs. */
const NPM = {
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_ignore_scripts: 'true',
  npm_config_prefer_offline: 'true',
  npm_config_loglevel: 'error',
  NODE_TEST_CONTEXT: undefined,
  COLUMNS: undefined, // what is printed is as wide as on the page
};

export class Installed implements Disposable {
  readonly #ws = new Workspace();
  /** The page's folder of jobs: its node_modules has the tool and the plugin. */
  readonly jobs = this.#ws.path('jobs');
  /** The plugin as its author has it. */
  readonly plugin = this.#ws.path('syncx-plugin-counter');
  /** What the commands of the page printed. */
  log = '';

  async install(): Promise<void> {
    mkdirSync(this.#ws.path('syncx'));
    await this.#run(['npm', 'pack', '--pack-destination', this.#ws.path('syncx')], ROOT);
    const done = pageBlocks().filter((b) => b.language !== 'text');
    const steps = done.map((b) =>
      b.file === null ? b.text : `cat > '${b.file}' <<'END_OF_BLOCK'\n${b.text}END_OF_BLOCK\n`,
    );
    this.#ws.write('steps.sh', `set -eu\n${steps.join('')}`);
    this.log = await this.#run(['bash', this.#ws.path('steps.sh')], this.#ws.dir);
  }

  async #run(command: readonly string[], cwd: string): Promise<string> {
    const r = await start(command, cwd, { ...NPM, SYNC_STATE_DIR: this.#ws.path('state') }).done;
    assert.equal(r.code, 0, `${command.join(' ')}\n${r.stdout.slice(-4000)}${r.stderr}`);
    return r.stdout;
  }

  path(...parts: readonly string[]): string {
    return this.#ws.path(...parts);
  }

  job(name: string, job: unknown): string {
    this.#ws.write(`jobs/${name}`, typeof job === 'string' ? job : JSON.stringify(job));
    return name;
  }

  /** The installed `sync`, in the folder of jobs unless said otherwise. */
  sync(
    args: readonly string[],
    where: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Program {
    const program = join(this.jobs, 'node_modules/syncx/bin/sync');
    const env = { SYNC_STATE_DIR: this.path('state'), ...where.env };
    return start([process.execPath, program, ...args], where.cwd ?? this.jobs, env);
  }

  [Symbol.dispose](): void {
    this.#ws[Symbol.dispose]();
  }
}
