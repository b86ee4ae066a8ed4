/**
 * Benchmarks: one JSON line a case, each with its yardstick measured in the same run, alternating, medians.
 * `npm run bench -- [--rows 1000000] [--repeat 5] [case …]`
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, SYNC } from '../support/sync.js';
import { makeCsv } from './data.js';
import { measureNode, median, wallMs, type Usage } from './measure.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '1000000' }, repeat: { type: 'string', default: '5' } },
});
const ROWS = Number(values.rows);
const REPEAT = Number(values.repeat);
const WORK = join(ROOT, '.work', 'bench');

function jobFile(name: string, input: string, output: string, fileType: string): string {
  const path = join(WORK, `${name}.json`);
  const job = {
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path: input, fileType: 'csv', isFirstLineHeader: true } },
          writer: { name: 'filewriter', parameter: { path: output, fileType, isFirstLineHeader: fileType === 'csv' } },
        },
      ],
      setting: { speed: { channel: 1 } },
    },
  };
  writeFileSync(path, JSON.stringify(job));
  return path;
}

function say(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const round = (n: number, digits = 2): number => Number(n.toFixed(digits));

async function convert(format: 'csv' | 'json', rows: number): Promise<void> {
  const input = join(WORK, `rows-${String(rows)}.csv`);
  const bytes = makeCsv(input, rows);
  const output = join(WORK, `out-${format}`);
  const job = jobFile(`csv-to-${format}`, input, output, format);
  const ours: Usage[] = [];
  const theirs: Usage[] = [];
  const state = join(WORK, 'state');
  for (let i = 0; i < REPEAT; i++) {
    rmSync(output, { recursive: true, force: true });
    rmSync(state, { recursive: true, force: true });
    ours.push(await measureNode([SYNC, 'run', job, '--state-dir', state, '--output', 'json'], WORK));
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output);
    theirs.push(await measureNode([join(ROOT, 'test/bench/duckdb.mjs'), input, join(output, 'x'), format], WORK));
  }
  rmSync(output, { recursive: true, force: true });
  const our = median(ours.map((u) => u.seconds));
  const their = median(theirs.map((u) => u.seconds));
  say({
    case: `csv-to-${format}`,
    rows,
    bytes,
    seconds: round(our),
    rowsPerSecond: Math.round(rows / our),
    cpuSeconds: round(median(ours.map((u) => u.cpu))),
    peakRssMiB: Math.round(Math.max(...ours.map((u) => u.rss))),
    yardstick: 'duckdb, 1 thread',
    yardstickSeconds: round(their),
    yardstickCpuSeconds: round(median(theirs.map((u) => u.cpu))),
    ratio: round(their / our),
    repeat: REPEAT,
  });
}

async function startUp(): Promise<void> {
  const input = join(WORK, 'ten.csv');
  rmSync(input, { force: true });
  makeCsv(input, 10);
  const job = jobFile('ten', input, join(WORK, 'out-ten'), 'csv');
  const ours: number[] = [];
  const bare: number[] = [];
  const state = join(WORK, 'state-ten');
  const repeat = Math.max(15, REPEAT);
  for (let i = 0; i < repeat; i++) {
    rmSync(join(WORK, 'out-ten'), { recursive: true, force: true });
    rmSync(state, { recursive: true, force: true });
    ours.push(await wallMs(process.execPath, [SYNC, 'run', job, '--state-dir', state], WORK));
    bare.push(await wallMs(process.execPath, ['-e', '0'], WORK));
  }
  say({
    case: 'start-up',
    ms: round(median(ours), 1),
    yardstick: 'node -e 0',
    yardstickMs: round(median(bare), 1),
    ratio: round(median(ours) / median(bare)),
    repeat,
  });
}

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  'csv-to-csv': () => convert('csv', ROWS),
  'csv-to-json': () => convert('json', ROWS),
  'start-up': startUp,
};

if (!existsSync(join(ROOT, 'test/bench/node_modules'))) {
  throw new Error('the yardsticks are not installed: run `npm run bench`, which does it');
}
mkdirSync(WORK, { recursive: true });
for (const name of positionals.length > 0 ? positionals : Object.keys(CASES)) {
  const run = CASES[name];
  if (!run) throw new Error(`no such case: ${name}; there are ${Object.keys(CASES).join(', ')}`);
  await run();
}
