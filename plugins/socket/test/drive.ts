import {
  toObjects,
  type JsonObject,
  type LaneReader,
  type Position,
  type ReadItem,
  type Reader,
  type RejectedRow,
} from 'syncx/plugin-api';
import { fillOptions, testContext, testLane, testRun } from 'syncx/plugin-testkit';
import { reader } from '../index.js';

export interface Read {
  readonly rows: (readonly unknown[])[];
  readonly rejected: RejectedRow[];
  readonly logs: string[];
  readonly positions: Position[];
  ended: boolean;
}

const never = new AbortController().signal;

/** A lane that reads what the options say; `logs` gets the messages. */
export async function openLane(
  options: JsonObject,
  logs: string[],
): Promise<{ readonly lane: LaneReader; readonly split: string; readonly reader: Reader }> {
  const note = (fields: JsonObject, message: string): void => {
    logs.push(typeof fields['text'] === 'string' ? `${message}: ${fields['text']}` : message);
  };
  const log = { debug: note, info: note, warn: note, error: note };
  const made = await reader.create(fillOptions(reader, options), { ...testContext(), log });
  const split = await (await made.planner(null)).next(never);
  if (split === 'end') throw new Error('no split');
  const lane = await made.openLane({ ...testLane(testRun()), log }, null);
  lane.assign(split, null);
  return { lane, split: split.id, reader: made };
}

/** Reads until the stream ends, or `enough` says so. @throws what the reader throws. */
export async function drive(
  options: JsonObject,
  enough: (r: Read) => boolean = () => false,
  onItem: (item: ReadItem) => Promise<void> | void = () => undefined,
): Promise<Read> {
  const read: Read = { rows: [], rejected: [], logs: [], positions: [], ended: false };
  const { lane } = await openLane(options, read.logs);
  await using _ = lane;
  const abort = new AbortController();
  for await (const item of lane.read(abort.signal)) {
    await onItem(item);
    if (item.is === 'splitEnd') read.ended = true;
    if (item.is === 'batch') {
      for (const row of toObjects(item)) read.rows.push(Object.values(row));
      read.rejected.push(...(item.rejected ?? []));
    }
    if (item.is !== 'schema') read.positions.push(item.position);
    if (read.ended || enough(read)) abort.abort();
  }
  return read;
}
