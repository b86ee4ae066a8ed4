import { SOURCE_LAG } from '../../plugin-api/index.js';
import type { LaneHost } from '../lane/lane-host.js';
import { metricKey } from './metrics.js';

const LAG = metricKey(SOURCE_LAG);

/** Records of the source that no lane has read yet; null: it has an end, or does not say. */
export function sourceLag(lanes: readonly LaneHost[]): number | null {
  const told = lanes.map((l) => l.metrics()[LAG]).filter((n) => typeof n === 'number');
  return told.length === 0 ? null : told.reduce((n, m) => n + m, 0);
}
