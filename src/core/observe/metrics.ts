import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Counter, Gauge, Histogram, JsonObject, Meter, Metrics, MetricSpec } from '../../plugin-api/index.js';

const WINDOW_MS = 60_000;

class LiveMeter implements Meter {
  total = 0;
  readonly #since = performance.now();
  #windowStart = this.#since;
  #window = 0;
  #lastRate = 0;

  mark(n: number): void {
    this.total += n;
    this.#window += n;
    const now = performance.now();
    if (now - this.#windowStart < WINDOW_MS) return;
    this.#lastRate = (this.#window / (now - this.#windowStart)) * 1000;
    this.#windowStart = now;
    this.#window = 0;
  }

  /** Per second: of the last whole minute, or since the start before there is one. */
  get rate(): number {
    if (this.#windowStart !== this.#since) return this.#lastRate;
    const ms = performance.now() - this.#since;
    return ms > 0 ? (this.total / ms) * 1000 : 0;
  }
}

/** Instruments of one lane or of the coordinator, by group and name. Cheap enough for once a batch, not for once a row. */
export class MetricRegistry implements Metrics {
  readonly #counters = new Map<string, { value: number }>();
  readonly #gauges = new Map<string, { value: number }>();
  readonly #meters = new Map<string, LiveMeter>();
  readonly #histograms = new Map<string, RecordableHistogram>();

  counter(spec: MetricSpec): Counter {
    const c = get(this.#counters, spec, () => ({ value: 0 }));
    return { add: (n) => void (c.value += n) };
  }

  gauge(spec: MetricSpec): Gauge {
    const g = get(this.#gauges, spec, () => ({ value: 0 }));
    return { set: (v) => void (g.value = v) };
  }

  meter(spec: MetricSpec): Meter {
    return get(this.#meters, spec, () => new LiveMeter());
  }

  histogram(spec: MetricSpec): Histogram {
    const h = get(this.#histograms, spec, () => createHistogram());
    // The histogram of perf_hooks takes whole numbers from 1.
    return {
      record: (v) => {
        h.record(Math.max(1, Math.round(v)));
      },
    };
  }

  snapshot(): JsonObject {
    const out: Record<string, number> = {};
    for (const [k, c] of this.#counters) out[k] = c.value;
    for (const [k, g] of this.#gauges) out[k] = g.value;
    for (const [k, m] of this.#meters) {
      out[k] = m.total;
      out[`${k}.rate`] = m.rate;
    }
    for (const [k, h] of this.#histograms) {
      if (h.count === 0) continue;
      out[`${k}.p50`] = h.percentile(50);
      out[`${k}.p99`] = h.percentile(99);
      out[`${k}.count`] = h.count;
    }
    return out;
  }
}

/** Key of a metric in a snapshot. */
export const metricKey = (spec: MetricSpec): string => `${spec.group}.${spec.name}`;

function get<T>(map: Map<string, T>, spec: MetricSpec, make: () => T): T {
  const key = metricKey(spec);
  let v = map.get(key);
  if (v === undefined) map.set(key, (v = make()));
  return v;
}
