import { defineReader } from 'syncx/plugin-api';
import { CounterLaneReader } from './lane-reader.js';
import { READER_OPTIONS } from './options.js';
import { CounterPlanner } from './planner.js';

export const reader = defineReader({
  name: 'counter',
  aliases: [],
  summary: 'Counts from 1.',
  options: READER_OPTIONS,
  boundedness: () => 'bounded',
  replayable: true,
  columns: () => ['id', 'text'],
  create: async (options) => ({
    replayable: true,
    positions: {
      format: 1,
      compare: (a, b) => (a === b ? 0 : Number(a) < Number(b) ? -1 : 1),
      show: (p) => `number ${p}`,
    },
    planner: async (saved) => new CounterPlanner(options.count, options.splits, saved),
    openLane: async (lane) => new CounterLaneReader(options.text, lane),
  }),
});
