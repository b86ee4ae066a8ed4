/** What a job does to rows between reader and writer: plain JSON, validated, aliases and defaults worked in. */
import type { JsonObject } from '../plugin-api/index.js';

export type TransformSpec =
  /** These columns, in this order. */
  | { readonly op: 'select'; readonly columns: readonly (string | { readonly name: string; readonly as: string })[] }
  /** Old name → new name. */
  | { readonly op: 'rename'; readonly columns: Readonly<Record<string, string>> }
  | { readonly op: 'drop'; readonly columns: readonly string[] }
  | { readonly op: 'filter'; readonly where: string }
  | {
      readonly op: 'cast';
      readonly column: string;
      readonly type: string;
      readonly format?: string;
      readonly onError: 'dirty' | 'null';
    }
  | { readonly op: 'constant'; readonly column: string; readonly value: string | null; readonly type: string }
  | { readonly op: 'compute'; readonly column: string; readonly expression: string; readonly type?: string }
  | {
      readonly op: 'mask';
      readonly columns: readonly string[];
      readonly method: 'sha256' | 'partial' | 'null';
      /** Secret. */
      readonly salt?: string;
      readonly keepFirst: number;
      readonly keepLast: number;
      readonly with: string;
    }
  | DataxSpec;

/** DataX's transformers; `columnIndex` counts from 0. */
export interface DataxSpec {
  readonly op: DataxOp;
  readonly columnIndex: number;
  readonly paras: readonly string[];
}

export const DATAX_OPS = ['dx_filter', 'dx_substr', 'dx_pad', 'dx_replace', 'dx_digest'] as const;
export type DataxOp = (typeof DATAX_OPS)[number];

export function isDatax(spec: TransformSpec): spec is DataxSpec {
  return (DATAX_OPS as readonly string[]).includes(spec.op);
}

/** Names of options that never leave the process. */
export const SECRET_TRANSFORM_OPTIONS: readonly string[] = ['salt'];

/** What run records and fingerprints hold of a transform. */
export function publicTransform(spec: TransformSpec): JsonObject {
  return Object.fromEntries(
    Object.entries(spec as unknown as JsonObject).filter(([k]) => !SECRET_TRANSFORM_OPTIONS.includes(k)),
  );
}
