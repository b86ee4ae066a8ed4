import { resolve } from 'node:path';
import { defineWriter } from 'syncx/plugin-api';
import { localStorage, stagedCommitter, StagedLane } from 'syncx/plugin-kit';
import { LinesLaneWriter } from './lane-writer.js';
import { WRITER_OPTIONS } from './options.js';

export const writer = defineWriter({
  name: 'counter',
  aliases: [],
  summary: 'Writes rows as JSON lines into a folder, exactly once.',
  options: WRITER_OPTIONS,
  delivery: ['exactly-once'],
  create: async (options, context) => {
    const target = {
      storage: localStorage,
      folder: resolve(options.path),
      prefix: 'part-',
      suffix: '.jsonl',
      failpoint: context.failpoint,
    };
    return {
      delivery: 'exactly-once',
      begin: () => localStorage.makeFolder(target.folder),
      openLane: async (lane) => new LinesLaneWriter(new StagedLane(target, lane.run, lane.lane)),
      // Any later process can tell from the staged files whether an epoch was committed, and finish it.
      committer: stagedCommitter(target),
      complete: async () => {},
    };
  },
});
