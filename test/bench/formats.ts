// Micro bench of the formats: `node -C development dist/test/bench/formats.js [rows] [plain]`. One JSON line a case; the
// yardstick is a plain copy of the same bytes in the same run. Without `plain` it also reads the file compressed and in
// other encodings (needs the programs gzip, zstd and bzip2); bytes are then those of the UTF-8 text.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { BatchBuilder, type RowBatch } from 'syncx/plugin-api';
import {
  ByteBuffer,
  chooseColumns,
  csvOutput,
  delimitedFormat,
  jsonLinesFormat,
  jsonLinesOutput,
} from 'syncx/plugin-kit';
import type { FileFormat, OutputFormat, RecordEncoder } from 'syncx/plugin-kit';
import { specOf } from '../../plugins/file/file-spec.js';
import { SplitReading, type Codec } from '../../plugins/file/split-reading.js';

const CHUNK = 1 << 20;
const rows = Number(process.argv[2] ?? 1_000_000);
const dir = mkdtempSync(join(tmpdir(), 'formats-'));
const dialect = { delimiter: Buffer.from(','), quote: 34, escape: null, nullText: Buffer.from('\\N') };
const csv: FileFormat = delimitedFormat({ dialect, header: true, columns: null });
const target = { bytes: CHUNK, rows: 65_536 };
const WORDS = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore'.split(
  ' ',
);

function generate(path: string): void {
  const fd = openSync(path, 'w');
  let text = 'id,name,amount,created_at,text,flag\n';
  for (let i = 1, seed = 1; i <= rows; i++) {
    let words = '';
    while (words.length < 60) words += `${WORDS[(seed = (seed * 75 + 74) % 65_537) % WORDS.length] ?? ''} `;
    const name =
      i % 7 === 0 ? `"Smith, ""J"" ${String(i)}"` : i % 11 === 0 ? `Zoë ${String(i)}` : `customer ${String(i)}`;
    const when = `2024-0${String(1 + (i % 9))}-1${String(i % 10)} 10:2${String(i % 10)}:3${String(i % 10)}.123456`;
    text += `${String(i)},${name},${(seed / 7).toFixed(2)},${when},${i % 13 === 0 ? `"${words}, etc"` : words},${String(i % 2 > 0)}\n`;
    if (text.length > CHUNK) {
      writeSync(fd, text);
      text = '';
    }
  }
  writeSync(fd, text);
  closeSync(fd);
}

function readFile(path: string, format: FileFormat, take: (batch: RowBatch) => void): void {
  const fd = openSync(path, 'r');
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let n = readSync(fd, chunk);
  const head = format.head(chunk.subarray(0, n), n < CHUNK, path);
  if (head === null) throw new Error('no head');
  const decoder = format.decoder(head, { place: path, from: null, target, columns: null });
  const builder = new BatchBuilder(decoder.schema, target);
  decoder.push(chunk.subarray(head.body.offset, n), false);
  for (;;) {
    const state = decoder.decode(builder);
    if (!builder.empty && state !== 'hungry') take(builder.finish('s', null, 0));
    if (state === 'end') break;
    if (state !== 'hungry') continue;
    n = readSync(fd, chunk);
    decoder.push(chunk.subarray(0, n), n === 0);
  }
  closeSync(fd);
}

function writeFile(path: string, format: OutputFormat): { take: (batch: RowBatch) => void; end: () => void } {
  const fd = openSync(path, 'w');
  const out = new ByteBuffer(CHUNK);
  let encoder: RecordEncoder | null = null;
  return {
    take: (batch) => {
      for (const section of batch.sections) {
        encoder ??= format.encoder(section.schema, chooseColumns(section.schema, null));
        for (let row = 0; row < section.rows;) {
          row = encoder.encode(batch, section, row, out, () => {
            throw new Error('a row was refused');
          });
          if (!out.full) continue;
          writeSync(fd, out.data, 0, out.length);
          out.clear();
        }
      }
    },
    end: () => {
      writeSync(fd, out.data, 0, out.length);
      closeSync(fd);
    },
  };
}

function clock(name: string, bytes: number): () => void {
  const t = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const seconds = (performance.now() - t) / 1000;
    const used = process.cpuUsage(cpu);
    const cpuSeconds = (used.user + used.system) / 1e6;
    const line = {
      name,
      rows,
      bytes,
      seconds: Number(seconds.toFixed(3)),
      cpuSeconds: Number(cpuSeconds.toFixed(3)),
      megabytesPerSecond: Math.round(bytes / seconds / 1e6),
      megabytesPerCpuSecond: Math.round(bytes / cpuSeconds / 1e6),
      rowsPerSecond: Math.round(rows / seconds),
      peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  };
}

function measure(name: string, bytes: number, run: () => void): void {
  const stop = clock(name, bytes);
  run();
  stop();
}

async function measureAsync(name: string, bytes: number, run: () => Promise<void>): Promise<void> {
  const stop = clock(name, bytes);
  await run();
  stop();
}

function copyFile(from: string, to: string): void {
  const a = openSync(from, 'r');
  const b = openSync(to, 'w');
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  for (let n = readSync(a, chunk); n > 0; n = readSync(a, chunk)) writeSync(b, chunk, 0, n);
  closeSync(a);
  closeSync(b);
}

/** The csv file compressed or in another encoding, read through the file reader's own sources. */
async function readThrough(path: string, compress: Codec, encoding: string | null): Promise<void> {
  const spec = specOf(path, statSync(path, { bigint: true }));
  const reading = await SplitReading.open({ format: csv, compress, encoding }, spec, null, target, null, null, null);
  if (reading === null) throw new Error('an empty file');
  const { decoder } = reading;
  const builder = new BatchBuilder(decoder.schema, target);
  let read = 0;
  for (let state = decoder.decode(builder); state !== 'end'; state = decoder.decode(builder)) {
    if (state === 'hungry') await reading.fill();
    else read += builder.finish('s', null, 0).rows;
  }
  read += builder.rows;
  await reading.close();
  if (read !== rows) throw new Error(`${path}: ${String(read)} rows`);
}

async function readVariants(input: string, text: number): Promise<void> {
  const to = (ending: string): string => `${input}.${ending}`;
  execFileSync('sh', ['-c', 'gzip -6 -c "$1" >"$1.gz"; zstd -q -3 "$1"; bzip2 -k "$1"', 'sh', input]);
  writeFileSync(to('gbk'), iconv.encode(readFileSync(input, 'utf8').replaceAll('Zoë', '佐伊'), 'gbk'));
  writeFileSync(to('utf16'), Buffer.from(readFileSync(input, 'utf8'), 'utf16le'));
  for (const round of ['first', 'second']) {
    await measureAsync(`read plain utf-8, ${round}`, text, () => readThrough(input, 'none', null));
    await measureAsync(`read gzip, ${round}`, text, () => readThrough(to('gz'), 'gzip', null));
    await measureAsync(`read zstd, ${round}`, text, () => readThrough(to('zst'), 'zstd', null));
    await measureAsync(`read bzip2, ${round}`, text, () => readThrough(to('bz2'), 'bzip2', null));
    await measureAsync(`read gbk, ${round}`, text, () => readThrough(to('gbk'), 'none', 'gbk'));
    await measureAsync(`read utf-16le, ${round}`, text, () => readThrough(to('utf16'), 'none', 'utf-16le'));
  }
}

try {
  const input = join(dir, 'in.csv');
  const output = join(dir, 'out');
  generate(input);
  const { size } = statSync(input);
  const none = (): void => undefined;
  const pipe = (path: string, from: FileFormat, to: OutputFormat): void => {
    const w = writeFile(output, to);
    readFile(path, from, w.take);
    w.end();
  };
  measure('yardstick: copy', size, () => copyFile(input, output));
  if (process.argv[3] !== 'plain') await readVariants(input, size);
  for (const round of ['first', 'second']) {
    measure(`csv read, ${round}`, size, () => readFile(input, csv, none));
    const batches: RowBatch[] = [];
    readFile(input, csv, (b) => {
      if (batches.length < 20) batches.push(b);
    });
    const some = batches.reduce((sum, b) => sum + b.rows, 0);
    measure(`csv write, ${round}`, size, () => {
      const w = writeFile(output, csvOutput({ dialect, header: false }));
      for (let n = 0; n < rows; n += some) batches.forEach(w.take);
      w.end();
    });
    measure(`csv → csv, ${round}`, size, () => pipe(input, csv, csvOutput({ dialect, header: false })));
    measure(`csv → json, ${round}`, size, () => pipe(input, csv, jsonLinesOutput()));
    const json = join(dir, 'in.jsonl');
    copyFile(output, json);
    const names = ['id', 'name', 'amount', 'created_at', 'text', 'flag'];
    const columns = names.map((name) => ({
      name,
      index: null,
      type: { is: 'string' } as const,
      value: null,
      format: null,
      meta: null,
    }));
    measure(`json → csv, ${round}`, size, () =>
      pipe(json, jsonLinesFormat(columns), csvOutput({ dialect, header: false })),
    );
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
