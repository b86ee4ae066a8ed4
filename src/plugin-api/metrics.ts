/** What a metric is; constants of the plugin, never built per row. Units: bytes, rows, ms, seconds, splits, epochs. */
export interface MetricSpec {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'meter' | 'histogram';
  /** Groups name the part that measures: `file`, `kafka.partition` … They become labels or prefixes on export. */
  readonly group: string;
  readonly unit: string;
  readonly help: string;
}

/**
 * Gauge for readers of sources without an end: records that stand in the source behind the ones that the lane has delivered.
 * `sync status` and the progress line show the sum over the lanes.
 */
export const SOURCE_LAG = {
  name: 'lag',
  kind: 'gauge',
  group: 'source',
  unit: 'rows',
  help: 'Records of the source that were not read yet.',
} as const satisfies MetricSpec;

export interface Counter {
  add(n: number): void;
}
export interface Gauge {
  set(value: number): void;
}
/** Events per second, over the last minute and in total. */
export interface Meter {
  mark(n: number): void;
}
export interface Histogram {
  record(value: number): void;
}

/** Metrics of one lane or of the coordinator. The same spec gives the same instrument. */
export interface Metrics {
  counter(spec: MetricSpec & { readonly kind: 'counter' }): Counter;
  gauge(spec: MetricSpec & { readonly kind: 'gauge' }): Gauge;
  meter(spec: MetricSpec & { readonly kind: 'meter' }): Meter;
  histogram(spec: MetricSpec & { readonly kind: 'histogram' }): Histogram;
}
