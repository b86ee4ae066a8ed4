import type { JsonValue } from './json.js';

/** A safe point in a split; opaque to the engine. Null (where allowed) means: the start of the split. */
export type Position = JsonValue;

export interface PositionCodec {
  /** Format number of the positions; raised with every change of shape, together with an upgrade in the reader. */
  readonly format: number;
  /** Undefined: the two cannot be ordered (say, diverged GTID sets). Never guess. */
  compare(a: Position, b: Position): -1 | 0 | 1 | undefined;
  /** For messages and `state show`. */
  show(p: Position): string;
}
