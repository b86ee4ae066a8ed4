import type { SchemaChange } from '../../plugin-api/index.js';
import type { SplitProgress } from '../checkpoint/format.js';
import type { BarrierReport } from './lane-host.js';

/** Something to wait for that another one opens, once. */
export class Gate {
  readonly opened: Promise<void>;
  open: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => (this.open = resolve));
  }
}

export interface PendingBarrier {
  /** Tells a barrier from a withdrawn one of the same epoch that is still in the channel. */
  readonly id: number;
  readonly epoch: number;
  readonly resolve: (r: BarrierReport) => void;
  readonly reject: (e: unknown) => void;
  /** Null until the barrier is in the channel. */
  cut: Cut | null;
  readonly released: Gate;
}

/** What stands before the barrier. */
export interface Cut {
  /** Schema changes that wait for this epoch's commit. */
  readonly changes: readonly SchemaChange[];
  readonly splits: readonly SplitProgress[];
  readonly read: number;
  readonly bytesRead: number;
  readonly filtered: number;
  /** Of cells, in this epoch. */
  readonly epochBytes: number;
}
