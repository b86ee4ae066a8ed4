// Run by std-streams.test.ts in a process of its own: copies standard input to standard output through the plugin.
import { laneOf, nextItem, openReader, openWriter, RUN, type ReaderOptions, type WriterOptions } from './drive.js';

const [readerJson = '{}', writerJson = '{}', again = ''] = process.argv.slice(2);
const r = await openReader({ path: '-', ...(JSON.parse(readerJson) as Partial<ReaderOptions>) });
const w = await openWriter({ path: '-', ...(JSON.parse(writerJson) as Partial<WriterOptions>) });
const stop = new AbortController();
const planner = await r.planner(null);
const split = await planner.next(stop.signal);
if (split === 'end') throw new Error('no split');
const lane = await r.openLane(laneOf(), r.shared?.() ?? null);
const out = await w.openLane(laneOf(), null);
await w.begin(RUN);
lane.assign(split, null);
const items = lane.read(stop.signal)[Symbol.asyncIterator]();
for (;;) {
  const item = await nextItem(items);
  if (item.is === 'splitEnd') break;
  if (item.is === 'batch') await out.write(item, stop.signal);
}
if (again === 'again') lane.assign(split, null);
if (again === 'again') await nextItem(items);
await out.prepare(1);
await out.commit(1);
stop.abort();
await items.next();
await lane[Symbol.asyncDispose]();
await out[Symbol.asyncDispose]();
