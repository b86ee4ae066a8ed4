import { resolve } from 'node:path';
import {
  SyncError,
  defineWriter,
  type Finding,
  type JsonValue,
  type LaneContext,
  type LaneWriter,
  type OptionsOf,
  type PluginContext,
  type Writer,
} from 'syncx/plugin-api';
import {
  StagedLane,
  csvDialect,
  csvOutput,
  jsonLinesOutput,
  textOutput,
  TargetFolder,
  localStorage,
  encodingHint,
  encodingName,
  stagedCommitter,
  keptFilesOf,
  spelledOut,
  spreadKept,
  type OutputFormat,
  type StagedTarget,
} from 'syncx/plugin-kit';
import { DEFAULT_BUCKET_FORMAT, checkBucketFormat } from './bucket-names.js';
import type { BucketOptions } from './bucketing.js';
import { STDIN } from './file-list.js';
import { openCharset } from './charset.js';
import { encodedOutput } from './encoded-output.js';
import type { TargetToExplain } from './explain-target.js';
import { checkFormat, layoutText, textDialect } from './format-options.js';
import { FileLaneWriter, type WritingOptions } from './lane-writer.js';
import { WRITER_OPTIONS } from './options.js';
import { readBackFiles } from './read-back.js';
import type { Rolling } from './rolling.js';
import { beginTarget, completeTarget, type TargetRules } from './target-rules.js';

type Options = OptionsOf<typeof WRITER_OPTIONS>;

const SUFFIX = { csv: '.csv', json: '.jsonl', text: '.txt' } as const;
/** For what begins names and what ends them: file systems take 255 bytes, of which run, lane, epoch and number take 28. */
const MOST_NAME_BYTES = 100;
const ENDING = { none: '', gzip: '.gz', zstd: '.zst' } as const;

function wantedColumns(o: Options): readonly string[] | null {
  const names = o.column.map((c) => (typeof c === 'string' ? c : c.name));
  return names.length === 0 || (names.length === 1 && names[0] === '*') ? null : names;
}

function check(o: Options): readonly Finding[] {
  const findings = [...checkFormat({ ...o, encoding: 'utf-8' }), ...checkBuckets(o), ...checkNames(o)];
  if (encodingName(o.encoding) === null) {
    const message = `encoding \`${o.encoding}\` is not known`;
    findings.push({ path: 'encoding', message, hint: encodingHint(o.encoding) });
  }
  if (o.path === STDIN && o.writeMode !== 'append') {
    findings.push({ path: 'writeMode', message: 'standard output holds nothing to replace' });
  }
  if (o.path === STDIN && o.successFile) {
    findings.push({ path: 'successFile', message: 'standard output has no files beside it' });
  }
  if (o.path === STDIN && o.compress !== 'none') {
    const hint = 'Pipe the output into the program that compresses.';
    findings.push({ path: 'compress', message: 'standard output is not compressed', hint });
  }
  const named = wantedColumns(o);
  if (o.header !== undefined && o.fileType === 'json') {
    findings.push({ path: 'header', level: 'warning', message: 'JSON lines have no header line; it has no effect' });
  } else if (o.header !== undefined && named?.includes('*') === false && named.length !== o.header.length) {
    const message = `the header has ${String(o.header.length)} names, column ${String(named.length)}`;
    findings.push({ path: 'header', message, hint: 'Give each column one.' });
  }
  const names = named ?? [];
  names.forEach((name, i) => {
    const path = `column[${String(i)}]`;
    if (names.indexOf(name) !== i) findings.push({ path, message: `the column \`${name}\` stands here twice` });
  });
  return findings;
}

const hasHeader = (o: Options): boolean => o.isFirstLineHeader || o.header !== undefined;

function formatOf(o: Options): OutputFormat {
  const { header: names } = o;
  const format = plainFormatOf(o, hasHeader(o));
  return names === undefined || o.fileType === 'json' ? format : withHeader(format, names);
}

/** The names of the header are the job's, not those of the columns. */
function withHeader(format: OutputFormat, names: readonly string[]): OutputFormat {
  return {
    selfDescribing: format.selfDescribing,
    encoder: (schema, { projection, names: own }) => {
      if (own.length === names.length) return format.encoder(schema, { projection, names });
      const message = `the header names ${String(names.length)} columns, the rows have ${String(own.length)}`;
      const hint = `Their columns: ${own.join(', ')}.`;
      throw new SyncError('COLUMN_MISMATCH', message, { place: 'writer.parameter.header', retry: 'never', hint });
    },
  };
}

function plainFormatOf(o: Options, header: boolean): OutputFormat {
  switch (o.fileType) {
    case 'csv':
      return csvOutput({ dialect: csvDialect(o), header });
    case 'json':
      return jsonLinesOutput();
    case 'text':
      return textOutput({ dialect: textDialect(o), header });
  }
}

const prefixOf = (o: Options): string => (o.fileName === undefined ? o.fileNamePrefix : `${o.fileName}-`);
const suffixOf = (o: Options): string => o.fileNameSuffix ?? `${SUFFIX[o.fileType]}${ENDING[o.compress]}`;

function targetOf(o: Options, context: PluginContext): StagedTarget {
  return {
    storage: localStorage,
    folder: resolve(o.path),
    prefix: prefixOf(o),
    buckets: o.bucket !== 'none',
    suffix: suffixOf(o),
    failpoint: (step) => context.failpoint(step),
  };
}

/** DataX minds only files of the job's own name. */
function rulesOf(o: Options): TargetRules {
  const { writeMode, successFile, fileName } = o;
  const own = fileName ?? (o.fileNamePrefix === '' ? null : o.fileNamePrefix);
  if (writeMode === 'truncate') return { writeMode: 'overwrite', successFile, only: own };
  return { writeMode, successFile, only: writeMode === 'nonConflict' ? (fileName ?? null) : null };
}

function rollingOf(o: Options): Rolling {
  const { maxFileSize, rollInterval, inactivityInterval, rollOnCheckpoint } = o;
  return { maxFileSize, rollInterval, inactivityInterval, onCheckpoint: rollOnCheckpoint };
}

function bucketOf(o: Options): BucketOptions {
  const format = o.bucketFormat ?? (o.bucket === 'column' ? null : DEFAULT_BUCKET_FORMAT);
  return { by: o.bucket, column: o.bucketColumn ?? null, format };
}

function checkBuckets(o: Options): readonly Finding[] {
  const findings: Finding[] = [];
  if (o.bucket === 'column' && o.bucketColumn === undefined) {
    findings.push({ path: 'bucketColumn', message: '`bucket: column` needs the name of the column' });
  }
  if (o.bucket !== 'column' && o.bucketColumn !== undefined) {
    const message = 'it has no effect without `bucket: column`';
    findings.push({ path: 'bucketColumn', message });
  }
  if (o.bucketFormat !== undefined) findings.push(...checkBucketFormat(o.bucketFormat));
  if (o.bucket !== 'none' && o.path === STDIN) {
    findings.push({ path: 'bucket', message: 'standard output has no folders' });
  }
  return findings;
}

/** Names that no file can have show only when the first one is published, and then in every start. */
function checkNames(o: Options): readonly Finding[] {
  const begins = { path: o.fileName === undefined ? 'fileNamePrefix' : 'fileName', text: prefixOf(o) };
  const findings: Finding[] = [];
  for (const { path, text } of [begins, { path: 'fileNameSuffix', text: suffixOf(o) }]) {
    if (text.includes('\0')) findings.push({ path, message: 'a name of a file holds no NUL character' });
    if (Buffer.byteLength(text) <= MOST_NAME_BYTES) continue;
    findings.push({ path, message: `it is longer than ${String(MOST_NAME_BYTES)} bytes, too long for names of files` });
  }
  return findings;
}

/** Two starts with the same layout may write to one file. */
function layoutOf(o: Options): string {
  const { fileType, fieldDelimiter, quoteChar, escapeChar, nullFormat, isFirstLineHeader, encoding } = o;
  const layout = [fileType, fieldDelimiter, quoteChar, escapeChar, nullFormat, isFirstLineHeader, encoding];
  return JSON.stringify(o.header === undefined ? layout : [...layout, o.header]);
}

async function openLane(
  writing: WritingOptions,
  target: StagedTarget,
  lane: LaneContext,
  restored: JsonValue | null,
): Promise<LaneWriter> {
  const kept = keptFilesOf(restored);
  const writer = new FileLaneWriter(writing, new StagedLane(target, lane.run, lane.lane, kept));
  try {
    await writer.adopt(kept);
    return writer;
  } catch (e) {
    await writer[Symbol.asyncDispose]();
    throw e;
  }
}

async function encodedFormatOf(o: Options): Promise<OutputFormat> {
  const format = formatOf(o);
  const encoding = encodingName(o.encoding) ?? 'utf-8';
  if (encoding === 'utf-8') return format;
  const charset = await openCharset(encoding);
  for (const path of ['fieldDelimiter', 'quoteChar', 'escapeChar', 'nullFormat'] as const) {
    if (charset.encode(spelledOut(o[path])) !== null) continue;
    throw new SyncError('JOB_INVALID', `${path} cannot be written in ${encoding}`, {
      place: `writer.parameter.${path}`,
      hint: 'Use another one, or utf-8.',
    });
  }
  return encodedOutput(format, charset);
}

function toExplain(o: Options): TargetToExplain {
  const { fileType, nullFormat, compress } = o;
  const encoding = encodingName(o.encoding) ?? 'utf-8';
  const layout = layoutText({ ...o, encoding, isFirstLineHeader: hasHeader(o) }, compress);
  return { ...rulesOf(o), fileType, layout, nullFormat, encoding };
}

async function createWriter(o: Options, context: PluginContext): Promise<Writer> {
  const format = await encodedFormatOf(o);
  const writing: WritingOptions = {
    format,
    compress: o.compress,
    columns: wantedColumns(o),
    header: hasHeader(o),
    rolling: rollingOf(o),
    bucket: bucketOf(o),
    maxOpen: o.bucket === 'none' ? 1 : o.maxOpenBuckets,
    selfDescribing: format.selfDescribing,
    layout: layoutOf(o),
  };
  const done = (): Promise<void> => Promise.resolve();
  if (o.path === STDIN) {
    return {
      delivery: 'at-least-once',
      maxLanes: 1,
      begin: done,
      openLane: async () => new (await import('./stdout-writer.js')).StdoutLaneWriter(writing),
      explain: async (from) => {
        const { explainStdout } = await import('./explain-target.js'); // only for plans
        return explainStdout(toExplain(o), from);
      },
      complete: done,
    };
  }
  const target = targetOf(o, context);
  const folder = new TargetFolder(target.storage, target.folder);
  const rules = rulesOf(o);
  return {
    delivery: 'exactly-once',
    replacesTarget: rules.writeMode === 'overwrite',
    begin: (run) => beginTarget(target, folder, rules, run, context.log),
    openLane: (lane, restored) => openLane(writing, target, lane, restored),
    recoverLanes: spreadKept,
    committer: stagedCommitter(target),
    explain: async (from, resumes) => {
      const { explainFolder } = await import('./explain-target.js');
      return explainFolder(target, toExplain(o), from, resumes);
    },
    complete: (run) => completeTarget(target, folder, rules, run, context.log),
  };
}

export const writer = defineWriter({
  name: 'file',
  aliases: ['filewriter', 'txtfile', 'txtfilewriter', 'localfilewriter'],
  summary: 'Writes local files (csv, JSON lines, text; plain, gzip or zstd), exactly once, or standard output.',
  options: WRITER_OPTIONS,
  delivery: ['exactly-once', 'at-least-once'], // the latter to standard output
  check,
  usesStdout: (o) => o.path === STDIN,
  columns: (o) => {
    const names = wantedColumns(o);
    return names?.includes('*') === true ? null : names;
  },
  readBack: (o, rows) =>
    o.path === STDIN
      ? null
      : readBackFiles(o, rows, { columns: wantedColumns(o), prefix: prefixOf(o), suffix: suffixOf(o) }),
  create: createWriter,
});
