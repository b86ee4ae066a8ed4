/** What a feed hands out next, and what is left of it then. */
import type { Split } from 'syncx/plugin-api';
import { specJson, type CursorWindow, type KeyRange, type ShapeColumn } from '../split-spec.js';
import type { Feed, PartsFeed, WalkFeed, WholeFeed } from './saved-plan.js';

/** The key at the end of the next part of a walk; null: the part has no end. */
export type FindKey = (feed: WalkFeed) => Promise<readonly string[] | null>;

export interface Handout {
  readonly split: Split;
  /** Null: nothing. */
  readonly rest: Feed | null;
}

interface Rows {
  readonly name: string;
  readonly range: KeyRange | null;
  readonly nullsOf: ShapeColumn | null;
  readonly rows: number | null;
  readonly bounded?: boolean;
}

function splitOf(feed: Feed, window: CursorWindow | null, r: Rows): Split {
  const weight = r.rows === null || feed.rowBytes === null ? null : Math.round(r.rows * feed.rowBytes);
  return {
    id: `${String(feed.shape)}-${r.name}`,
    bounded: r.bounded ?? true,
    spec: specJson({ format: 1, shape: feed.shape, range: r.range, nullsOf: r.nullsOf, window }),
    weight,
  };
}

/** Stable: the same feed gives the same split, where `find` does. */
export async function takeSplit(feed: Feed, window: CursorWindow | null, find: FindKey): Promise<Handout> {
  switch (feed.is) {
    case 'whole':
      return { split: wholeSplit(feed, window), rest: null };
    case 'parts':
      return takePart(feed, window);
    case 'walk':
      return takeStep(feed, window, await endOf(feed, find));
  }
}

function wholeSplit(feed: WholeFeed, window: CursorWindow | null): Split {
  const all = { range: null, nullsOf: null, rows: feed.rows };
  return splitOf(feed, window, feed.polls ? { ...all, name: 'poll', bounded: false } : { ...all, name: 'all' });
}

const nullSplit = (feed: Feed, window: CursorWindow | null, column: ShapeColumn): Split =>
  splitOf(feed, window, { name: 'null', range: null, nullsOf: column, rows: 0 });

function takePart(feed: PartsFeed, window: CursorWindow | null): Handout {
  const [rows, ...more] = feed.rows;
  if (rows === undefined) return { split: nullSplit(feed, window, feed.column), rest: null };
  const [end, ...cuts] = feed.cuts;
  const range: KeyRange = {
    columns: [feed.column],
    ...(feed.from === null ? {} : { from: [feed.from] }),
    ...(end === undefined ? {} : { before: [end] }),
  };
  const split = splitOf(feed, window, { name: `p${String(feed.part)}`, range, nullsOf: null, rows });
  const rest = more.length > 0 || feed.nulls;
  return { split, rest: rest ? { ...feed, part: feed.part + 1, from: end ?? null, cuts, rows: more } : null };
}

async function endOf(feed: WalkFeed, find: FindKey): Promise<readonly string[] | null> {
  if (feed.ended) return null;
  const end = await find(feed);
  // A key that reads back as the one before (a text that utf8 cannot say) would be walked from for ever.
  return end !== null && JSON.stringify(end) === JSON.stringify(feed.after) ? null : end;
}

function takeStep(feed: WalkFeed, window: CursorWindow | null, end: readonly string[] | null): Handout {
  const [first] = feed.columns;
  if (feed.ended && first !== undefined) return { split: nullSplit(feed, window, first), rest: null };
  const range: KeyRange = {
    columns: feed.columns,
    ...(feed.after === null ? {} : { after: feed.after }),
    ...(end === null ? {} : { upTo: end }),
  };
  const split = splitOf(feed, window, { name: `k${String(feed.part)}`, range, nullsOf: null, rows: feed.step });
  const ended = end === null;
  const rest = !ended || feed.nulls;
  return { split, rest: rest ? { ...feed, part: feed.part + 1, after: end, ended } : null };
}

/** Splits to come; null: not known yet. */
export function remainingOf(feed: Feed): number | null {
  switch (feed.is) {
    case 'whole':
      return 1;
    case 'parts':
      return feed.rows.length + (feed.nulls ? 1 : 0);
    case 'walk':
      return feed.ended ? 1 : null;
  }
}
