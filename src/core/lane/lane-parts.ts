import type { EpochLimit, JsonValue, LaneReader, LaneWriter } from '../../plugin-api/index.js';
import type { DirtyRows } from '../dirty/dirty-rows.js';
import type { Failpoints } from '../failpoints.js';
import type { RateLimit } from '../limits/rate-limit.js';
import type { RowTransform } from '../transform/row-transform.js';
import type { LaneEvents } from './lane-host.js';

/** What a lane is made of. */
export interface LaneParts {
  readonly lane: number;
  readonly reader: LaneReader;
  readonly writer: LaneWriter;
  readonly pipelined: boolean;
  readonly epochLimit: EpochLimit | null;
  readonly writerState: JsonValue | null;
  readonly events: LaneEvents;
  readonly dirty: DirtyRows;
  readonly rate: RateLimit;
  readonly points: Failpoints;
  /** Between reader and channel; null: rows stay as they are. */
  readonly transform: RowTransform | null;
}
