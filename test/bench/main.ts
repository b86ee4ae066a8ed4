/**
 * Benchmarks: one JSON line a case, each with its yardstick measured in the same run, alternating, medians.
 * `npm run bench -- [--rows 1000000] [--repeat 5] [case …]`
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, SYNC } from '../support/sync.js';
import { makeCsv } from './data.js';
import { INPUT_FORMS, makeForm, type InputForm } from './input-forms.js';
import { kafkaConsume, kafkaLatency, kafkaProduce, kafkaToCsv, kafkaToKafka } from './kafka.js';
import { measureNode, median, wallMs, type Usage } from './measure.js';
import { mysqlToCsv, mysqlToMysql, mysqlVerify } from './mysql.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '1000000' }, repeat: { type: 'string', default: '5' } },
});
const ROWS = Number(values.rows);
const REPEAT = Number(values.repeat);
const WORK = join(ROOT, '.work', 'bench');

interface JobParts {
  readonly setting?: object;
  readonly reader?: object;
  readonly transform?: readonly object[];
}

function jobFile(
  name: string,
  input: string,
  output: string,
  fileType: string,
  { setting = {}, reader = {}, transform = [] }: JobParts = {},
): string {
  const path = join(WORK, `${name}.json`);
  const job = {
    job: {
      content: [
        {
          reader: {
            name: 'filereader',
            parameter: { path: input, fileType: 'csv', isFirstLineHeader: true, ...reader },
          },
          writer: { name: 'filewriter', parameter: { path: output, fileType, isFirstLineHeader: fileType === 'csv' } },
          ...(transform.length === 0 ? {} : { transform }),
        },
      ],
      setting: { speed: { channel: 1 }, ...setting },
    },
  };
  writeFileSync(path, JSON.stringify(job));
  return path;
}

function say(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const round = (n: number, digits = 2): number => Number(n.toFixed(digits));

/** Our own run of a job, with nothing left of the one before. */
function measureRun(job: string, output: string, more: readonly string[] = []): Promise<Usage> {
  const state = join(WORK, 'state');
  rmSync(output, { recursive: true, force: true });
  rmSync(state, { recursive: true, force: true });
  return measureNode([SYNC, 'run', job, '--state-dir', state, '--output', 'json', ...more], WORK);
}

async function convert(format: 'csv' | 'json', rows: number): Promise<void> {
  const input = join(WORK, `rows-${String(rows)}.csv`);
  const bytes = makeCsv(input, rows);
  const output = join(WORK, `out-${format}`);
  const job = jobFile(`csv-to-${format}`, input, output, format);
  const ours: Usage[] = [];
  const theirs: Usage[] = [];
  for (let i = 0; i < REPEAT; i++) {
    ours.push(await measureRun(job, output));
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
    ours.push(await wallMs(SYNC, ['run', job, '--state-dir', state], WORK));
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

const PARTS = 8;

/** Files of ROWS rows together. */
function partFiles(): string {
  const dir = join(WORK, `parts-${String(ROWS)}`);
  for (let i = 0; i < PARTS; i++) makeCsv(join(dir, `${String(i)}.csv`), Math.ceil(ROWS / PARTS));
  return join(dir, '*.csv');
}

/** csv → csv with each kind of transform, alternating; the yardstick is the same job without one. */
async function transforms(): Promise<void> {
  const kinds: Readonly<Record<string, readonly object[]>> = {
    plain: [],
    rename: [{ op: 'rename', columns: { id: 'number', text: 'words' } }],
    select: [{ op: 'select', columns: [{ name: 'flag', as: 'ok' }, 'id', 'name', 'text', 'created_at', 'amount'] }],
    drop: [{ op: 'drop', columns: ['flag'] }],
    'filter-all-stay': [{ op: 'filter', where: "flag = 'true' or flag = 'false'" }],
    'filter-a-third': [{ op: 'filter', where: "flag = 'true'" }],
    'cast-filter': [
      { op: 'cast', column: 'id', type: 'bigint' },
      { op: 'filter', where: 'id % 2 = 0' },
    ],
    compute: [{ op: 'compute', column: 'name', expression: "concat(upper(name), '-', id)" }],
    'mask-partial': [{ op: 'mask', columns: ['name'], method: 'partial', keepFirst: 1, keepLast: 1 }],
    'mask-sha256': [{ op: 'mask', columns: ['name'], method: 'sha256' }],
    matches: [{ op: 'filter', where: "matches(name, '^[a-z]+ ')" }],
  };
  const input = join(WORK, `rows-${String(ROWS)}.csv`);
  makeCsv(input, ROWS);
  const usages = new Map(Object.keys(kinds).map((k): [string, Usage[]] => [k, []]));
  const output = join(WORK, 'out-transforms');
  for (let i = 0; i < REPEAT; i++) {
    for (const [kind, steps] of Object.entries(kinds)) {
      const job = jobFile(`transform-${kind}`, input, output, 'csv', { transform: steps });
      usages.get(kind)?.push(await measureRun(job, output));
    }
  }
  rmSync(output, { recursive: true, force: true });
  const seconds = (k: string): number => median((usages.get(k) ?? []).map((u) => u.seconds));
  const cpu = (k: string): number => median((usages.get(k) ?? []).map((u) => u.cpu));
  for (const kind of Object.keys(kinds).slice(1)) {
    say({
      case: `transform-${kind}`,
      rows: ROWS,
      seconds: round(seconds(kind)),
      cpuSeconds: round(cpu(kind)),
      peakRssMiB: Math.round(Math.max(...(usages.get(kind) ?? []).map((u) => u.rss))),
      yardstick: 'the same without a transform',
      yardstickSeconds: round(seconds('plain')),
      yardstickCpuSeconds: round(cpu('plain')),
      ratio: round(seconds('plain') / seconds(kind)),
      cpuRatio: round(cpu('plain') / cpu(kind)),
      repeat: REPEAT,
    });
  }
}

/** csv → csv over several files with the settings of each kind, alternating. */
async function compare(
  settings: Readonly<Record<string, object>>,
  each: (kind: string, usage: Usage, log: string) => void,
  input = partFiles(),
): Promise<void> {
  const output = join(WORK, 'out-compare');
  for (let i = 0; i < REPEAT; i++) {
    for (const [kind, setting] of Object.entries(settings)) {
      const job = jobFile(`compare-${kind}`, input, output, 'csv', { setting });
      const u = await measureRun(job, output, ['--log-level', 'debug', '--log-format', 'json']);
      each(kind, u, u.stderr);
    }
  }
  rmSync(output, { recursive: true, force: true });
}

/** A compressed or otherwise encoded CSV → CSV; the yardstick reads the same, or what `before` makes of it. */
async function inputForm(form: InputForm): Promise<void> {
  const plain = join(WORK, `rows-${String(ROWS)}.csv`);
  const bytes = makeCsv(plain, ROWS);
  const input = makeForm(form, plain);
  const output = join(WORK, 'out-form');
  const job = jobFile(`form-${form.name}`, input, output, 'csv', { reader: form.reader });
  const ours: Usage[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < REPEAT; i++) {
    ours.push(await measureRun(job, output));
    rmSync(output, { recursive: true, force: true });
    mkdirSync(output);
    theirs.push(await form.yardstick(input, output));
  }
  rmSync(output, { recursive: true, force: true });
  const our = median(ours.map((u) => u.seconds));
  say({
    case: form.name,
    rows: ROWS,
    bytes,
    seconds: round(our),
    rowsPerSecond: Math.round(ROWS / our),
    cpuSeconds: round(median(ours.map((u) => u.cpu))),
    peakRssMiB: Math.round(Math.max(...ours.map((u) => u.rss))),
    yardstick: form.says,
    yardstickSeconds: round(median(theirs)),
    ratio: round(median(theirs) / our),
    repeat: REPEAT,
  });
}

/** The same rows on one lane and on two worker lanes. `input`: in 8 files, or in one that is read in byte ranges. */
async function channels(name = 'channels', input?: string): Promise<void> {
  const usages: Record<string, Usage[]> = { one: [], two: [] };
  const settings = { one: { speed: { channel: 1 } }, two: { speed: { channel: 2 } } };
  await compare(settings, (kind, u) => void usages[kind]?.push(u), input);
  const seconds = (k: string): number => median((usages[k] ?? []).map((u) => u.seconds));
  say({
    case: name,
    rows: ROWS,
    files: input === undefined ? PARTS : 1,
    seconds: round(seconds('two')),
    cpuSeconds: round(median((usages['two'] ?? []).map((u) => u.cpu))),
    peakRssMiB: Math.round(Math.max(...(usages['two'] ?? []).map((u) => u.rss))),
    yardstick: 'one channel',
    yardstickSeconds: round(seconds('one')),
    ratio: round(seconds('one') / seconds('two')),
    repeat: REPEAT,
  });
}

/** One big file, which two lanes read in byte ranges. */
async function ranges(): Promise<void> {
  const input = join(WORK, `rows-${String(ROWS)}.csv`);
  makeCsv(input, ROWS);
  await channels('ranges', input);
}

/** What checkpoints cost: the same job with one at its end only, every 10 s, and every second. */
async function checkpoints(): Promise<void> {
  const seconds: Record<string, number[]> = { end: [], ten: [], one: [] };
  const held: Record<string, number[]> = { end: [], ten: [], one: [] };
  const epochs: Record<string, number[]> = { end: [], ten: [], one: [] };
  const every = (interval: number): object => ({ checkpoint: { interval } });
  await compare({ end: every(3_600_000), ten: every(10_000), one: every(1000) }, (kind, u, log) => {
    const ms = [...log.matchAll(/"heldMs":(\d+)/g)].map((m) => Number(m[1]));
    seconds[kind]?.push(u.seconds);
    held[kind]?.push(ms.reduce((a, b) => a + b, 0));
    epochs[kind]?.push(ms.length);
  });
  for (const kind of ['ten', 'one']) {
    say({
      case: `checkpoints-${kind === 'ten' ? '10s' : '1s'}`,
      rows: ROWS,
      seconds: round(median(seconds[kind] ?? [])),
      epochs: median(epochs[kind] ?? []),
      heldMs: median(held[kind] ?? []),
      yardstick: 'one checkpoint, at the end',
      yardstickSeconds: round(median(seconds['end'] ?? [])),
      yardstickHeldMs: median(held['end'] ?? []),
      ratio: round(median(seconds['end'] ?? []) / median(seconds[kind] ?? [])),
      repeat: REPEAT,
    });
  }
}

const SERVED = { rows: ROWS, repeat: REPEAT, work: WORK, say };
/** 500,000 records, unless --rows says otherwise. */
const KAFKA = { ...SERVED, rows: ROWS / 2 };
const CASES: Readonly<Record<string, () => Promise<void>>> = {
  'csv-to-csv': () => convert('csv', ROWS),
  'csv-to-json': () => convert('json', ROWS),
  'start-up': startUp,
  channels: () => channels(),
  ranges,
  checkpoints,
  ...Object.fromEntries(INPUT_FORMS.map((f) => [f.name, () => inputForm(f)])),
  transforms,
  'mysql-to-csv': () => mysqlToCsv(SERVED),
  'mysql-to-mysql': () => mysqlToMysql(SERVED),
  'mysql-verify': () => mysqlVerify(SERVED),
  'kafka-produce': () => kafkaProduce(KAFKA),
  'kafka-consume': () => kafkaConsume(KAFKA),
  'kafka-to-kafka': () => kafkaToKafka(KAFKA),
  'kafka-to-csv': () => kafkaToCsv(KAFKA),
  'kafka-latency': () => kafkaLatency(KAFKA),
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
