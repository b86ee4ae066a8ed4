/** CSV files that are compressed or in another encoding, and what reads them beside us. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/sync.js';
import { measureNode, wallMs } from './measure.js';

export interface InputForm {
  readonly name: string;
  readonly suffix: string;
  /** Program and arguments that make it of the plain file, on stdout. */
  readonly make: readonly [string, ...string[]];
  /** Options of our reader. */
  readonly reader: object;
  readonly says: string;
  /** @returns seconds. */
  yardstick(input: string, output: string): Promise<number>;
}

async function duckdb(input: string, output: string): Promise<number> {
  const program = join(ROOT, 'test/bench/duckdb.mjs');
  return (await measureNode([program, input, join(output, 'x'), 'csv'], dirname(output))).seconds;
}

/** Takes it apart and copies nothing else: no rows are looked at. */
async function decoded(command: string, input: string, output: string): Promise<number> {
  return (await wallMs('sh', ['-c', `${command} > "$1"`, 'sh', join(output, 'x'), input], dirname(output))) / 1000;
}

export const INPUT_FORMS: readonly InputForm[] = [
  {
    name: 'gzip',
    suffix: '.gz',
    make: ['gzip', '-6', '-c'],
    reader: {},
    says: 'duckdb, 1 thread',
    yardstick: duckdb,
  },
  {
    name: 'zstd',
    suffix: '.zst',
    make: ['zstd', '-3', '-q', '-c'],
    reader: {},
    says: 'duckdb, 1 thread',
    yardstick: duckdb,
  },
  {
    name: 'bzip2',
    suffix: '.bz2',
    make: ['bzip2', '-9', '-c'],
    reader: {},
    says: 'bzip2 -dc to a file, no rows',
    yardstick: (input, output) => decoded('bzip2 -dc "$2"', input, output),
  },
  {
    name: 'gbk',
    suffix: '.gbk',
    make: ['iconv', '-f', 'utf-8', '-t', 'gbk'],
    reader: { encoding: 'gbk' },
    says: 'iconv to a file, then duckdb, 1 thread',
    yardstick: async (input, output) =>
      (await decoded('iconv -f gbk -t utf-8 "$2"', input, output)) + (await duckdb(join(output, 'x'), output)),
  },
];

/** Makes the file unless it is there. @returns its path. */
export function makeForm(form: InputForm, plain: string): string {
  const path = plain + form.suffix;
  if (existsSync(path)) return path;
  const temp = `${path}.tmp`;
  const fd = openSync(temp, 'w');
  const [program, ...args] = form.make;
  execFileSync(program, [...args, plain], { stdio: ['ignore', fd, 'inherit'] });
  closeSync(fd);
  renameSync(temp, path);
  return path;
}
