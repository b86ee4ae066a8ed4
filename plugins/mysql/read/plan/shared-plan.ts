/** What the planner tells all lanes. */
import type { JsonValue } from 'syncx/plugin-api';
import type { Shape } from '../split-spec.js';

export interface SharedPlan {
  readonly shapes: readonly Shape[];
  /** Null: the job is not `consistent`. */
  readonly snapshot: { readonly token: string } | null;
}

export const sharedPlanOf = (shared: JsonValue): SharedPlan => shared as unknown as SharedPlan;

/**
 * The server's named lock by which a lane shows the planner that its transaction on a connection has begun, so that
 * writers may go on once all have. Lane 0 tells how many lanes there are.
 */
export function snapshotLock(token: string, connection: number, lane: number, lanes: number): string {
  const count = lane === 0 ? `-of-${String(lanes)}` : '';
  return `syncx-${token}-${String(connection)}-${String(lane)}${count}`;
}
