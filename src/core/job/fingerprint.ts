import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../plugin-api/index.js';
import type { PluginRecord, RunInfo } from '../checkpoint/format.js';
import type { JobSpec, PluginUse } from '../../job/job-spec.js';
import { publicTransform } from '../../job/transform-spec.js';

/** JSON with sorted keys: equal values give equal text. */
export function canonical(v: JsonValue): string {
  if (Array.isArray(v)) return `[${(v as readonly JsonValue[]).map(canonical).join(',')}]`;
  if (v !== null && typeof v === 'object') {
    const o = v as Readonly<Record<string, JsonValue>>;
    const keys = Object.keys(o).sort();
    return `{${keys.map((k) => `${JSON.stringify(k)}:${canonical(o[k] ?? null)}`).join(',')}}`;
  }
  return JSON.stringify(v);
}

export function pluginRecord(use: PluginUse<{ readonly name: string }>): PluginRecord {
  return { name: use.definition.name, options: use.publicOptions, identity: use.identity };
}

/** Identity options only, never secrets: what must be the same for saved positions to mean the same. */
export function fingerprintOf(job: JobSpec): string {
  const parts: JsonValue[] = [job.reader, job.writer].map((u) => ({ name: u.definition.name, identity: u.identity }));
  // Left out where there is none: jobs without one have the fingerprints that they had before there were any.
  if (job.transform.length > 0) parts.push({ transform: job.transform.map(publicTransform) });
  return createHash('sha256').update(canonical(parts)).digest('hex');
}

/** Defaults of a plugin's options, by name. */
export function defaultsOf(definition: { readonly options: unknown }): JsonObject {
  const { properties = {} } = definition.options as { readonly properties?: Readonly<Record<string, unknown>> };
  const out: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const value = (schema as { readonly default?: JsonValue }).default;
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/**
 * The options that differ between a saved run and the job, by path. An option that the record lacks had no other value
 * than today's default: the version that wrote it may not have known the option yet.
 */
export function differences(saved: RunInfo, job: JobSpec): readonly string[] {
  const out: string[] = [];
  for (const side of ['reader', 'writer'] as const) {
    const was = saved[side];
    const is = job[side];
    if (was.name !== is.definition.name) {
      out.push(`${side}.name (${was.name} → ${is.definition.name})`);
      continue;
    }
    const defaults = defaultsOf(is.definition);
    const keys = new Set([...Object.keys(was.identity), ...Object.keys(is.identity)]);
    for (const k of [...keys].sort()) {
      const a = canonical(was.identity[k] ?? defaults[k] ?? null);
      const b = canonical(is.identity[k] ?? null);
      if (a !== b) out.push(`${side}.parameter.${k} (${a} → ${b})`);
    }
  }
  const was = saved.transform ?? [];
  const is = job.transform.map(publicTransform);
  for (let i = 0; i < Math.max(was.length, is.length); i++) {
    const [a, b] = [was[i], is[i]].map((x) => (x === undefined ? 'none' : canonical(x)));
    if (a !== b) out.push(`transform[${String(i)}] (${a ?? ''} → ${b ?? ''})`);
  }
  return out;
}
