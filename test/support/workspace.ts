import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of a test's own, removed at its end. */
export class Workspace implements Disposable {
  /** Without links: what the tool persists names it so. */
  readonly dir: string;

  constructor(root = tmpdir()) {
    this.dir = realpathSync(mkdtempSync(join(root, 'syncx-test-')));
  }

  path(...parts: readonly string[]): string {
    return join(this.dir, ...parts);
  }

  write(name: string, data: string | Uint8Array): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data);
    return path;
  }

  job(job: unknown, name = 'job.json'): string {
    return this.write(name, JSON.stringify(job));
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Every name below a folder, hidden ones too, sorted; folders end with a slash. */
export function tree(dir: string): readonly string[] {
  const out: string[] = [];
  const walk = (d: string, prefix: string): void => {
    for (const e of readdirSync(d, { withFileTypes: true })) {
      if (e.isDirectory()) {
        out.push(`${prefix}${e.name}/`);
        walk(join(d, e.name), `${prefix}${e.name}/`);
      } else out.push(prefix + e.name);
    }
  };
  try {
    walk(dir, '');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
  }
  return out.sort();
}

/** All lines of the visible files of a folder, sorted: the multiset that a job published. */
export function publishedLines(dir: string): readonly string[] {
  const lines: string[] = [];
  for (const name of tree(dir)) {
    if (name.endsWith('/') || name.split('/').some((p) => p.startsWith('.') || p.startsWith('_'))) continue;
    const text = readFileSync(join(dir, name), 'utf8');
    if (text !== '' && !text.endsWith('\n')) throw new Error(`${name} does not end in a newline`);
    lines.push(...text.split('\n').slice(0, -1));
  }
  return lines.sort();
}
