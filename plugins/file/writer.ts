import { resolve } from 'node:path';
import { defineWriter, type Finding, type OptionsOf, type PluginContext, type Writer } from 'syncx/plugin-api';
import {
  StagedLane,
  csvOutput,
  foreignStaging,
  jsonLinesOutput,
  textOutput,
  TargetFolder,
  localStorage,
  stagedCommitter,
  stagingFolderName,
  type OutputFormat,
  type StagedTarget,
} from 'syncx/plugin-kit';
import { STDIN } from './file-list.js';
import { checkFormat, csvDialect, textDialect } from './format-options.js';
import { FileLaneWriter, type WritingOptions } from './lane-writer.js';
import { WRITER_OPTIONS } from './options.js';
import { StdoutLaneWriter } from './stdout-writer.js';

type Options = OptionsOf<typeof WRITER_OPTIONS>;

const SUFFIX = { csv: '.csv', json: '.jsonl', text: '.txt' } as const;

function wantedColumns(o: Options): readonly string[] | null {
  const names = o.column.map((c) => (typeof c === 'string' ? c : c.name));
  return names.length === 0 || (names.length === 1 && names[0] === '*') ? null : names;
}

function check(o: Options): readonly Finding[] {
  const findings = [...checkFormat(o)];
  if (o.writeMode !== 'append') {
    findings.push({
      path: 'writeMode',
      message: `writeMode \`${o.writeMode}\` is not known to this writer yet`,
      hint: 'Use append, and give each run a folder of its own if it must stand alone.',
    });
  }
  const names = wantedColumns(o) ?? [];
  names.forEach((name, i) => {
    const path = `column[${String(i)}]`;
    if (name === '*') findings.push({ path, message: '`*` stands beside other columns' });
    if (names.indexOf(name) !== i) findings.push({ path, message: `the column \`${name}\` stands here twice` });
  });
  return findings;
}

function formatOf(o: Options): OutputFormat {
  const header = o.isFirstLineHeader;
  switch (o.fileType) {
    case 'csv':
      return csvOutput({ dialect: csvDialect(o), header });
    case 'json':
      return jsonLinesOutput();
    case 'text':
      return textOutput({ dialect: textDialect(o), header });
  }
}

function targetOf(o: Options, context: PluginContext): StagedTarget {
  return {
    storage: localStorage,
    folder: resolve(o.path),
    prefix: o.fileName === undefined ? o.fileNamePrefix : `${o.fileName}-`,
    suffix: o.fileNameSuffix ?? `${SUFFIX[o.fileType]}${o.compress === 'gzip' ? '.gz' : ''}`,
    failpoint: (step) => context.failpoint(step),
  };
}

function createWriter(o: Options, context: PluginContext): Writer {
  const writing: WritingOptions = {
    format: formatOf(o),
    gzip: o.compress === 'gzip',
    columns: wantedColumns(o),
    header: o.isFirstLineHeader,
    maxFileSize: o.maxFileSize,
  };
  const done = (): Promise<void> => Promise.resolve();
  if (o.path === STDIN) {
    return {
      delivery: 'at-least-once',
      maxLanes: 1,
      begin: done,
      openLane: () => Promise.resolve(new StdoutLaneWriter(writing)),
      complete: done,
    };
  }
  const target = targetOf(o, context);
  const folder = new TargetFolder(target.storage, target.folder);
  return {
    delivery: 'exactly-once',
    begin: async (run) => {
      await localStorage.makeFolder(target.folder);
      await folder.assertThere();
      for (const o of await foreignStaging(target, run.runId)) {
        context.log.warn(
          { folder: o.folder, run: o.runId, files: o.files },
          `the target holds ${String(o.files)} staged file(s) of run ${o.runId}, which is not this one: another job writes here too, or the state of that run is lost and its rows come a second time; once nothing writes there, remove ${o.folder}`,
        );
      }
    },
    openLane: (lane) => Promise.resolve(new FileLaneWriter(writing, new StagedLane(target, lane.run, lane.lane))),
    committer: stagedCommitter(target),
    complete: async (run) => {
      await folder.assertThere();
      await localStorage.removeEmptyFolder(localStorage.join(target.folder, stagingFolderName(run.runId)));
    },
  };
}

export const writer = defineWriter({
  name: 'file',
  aliases: ['filewriter', 'txtfile', 'txtfilewriter', 'localfilewriter'],
  summary: 'Writes local files (csv, JSON lines, text; plain or gzip), exactly once, or standard output.',
  options: WRITER_OPTIONS,
  check,
  usesStdout: (o) => o.path === STDIN,
  columns: wantedColumns,
  create: (o, context) => Promise.resolve(createWriter(o, context)),
});
