import type { ZeroDate } from '../catalog/columns.js';
import type { Endpoint } from '../connect/session.js';

/** The options of a job as lanes need them. */
export interface LaneOptions {
  /** By entry of the option `connection`: alternates. */
  readonly connections: readonly (readonly Endpoint[])[];
  readonly where: string | null;
  readonly zeroDate: ZeroDate;
  /** All lanes see one state of the database; the planner holds the lock until every lane has begun. */
  readonly consistent: boolean;
  /** Of a polling job. */
  readonly polling: { readonly intervalMs: number; readonly waitMs: number };
}
