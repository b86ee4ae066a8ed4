/** Configuration keys of Flink, FlinkX and ChunJun, and what they are here. */
import { SETTING_SCHEMA } from '../job-schema.js';
import { propertyOf, type SchemaNode } from '../schema.js';

/** What a key does. `to`: below `job.setting`. */
export type KeyUse =
  | { readonly to: readonly string[] }
  | { readonly ignored: string }
  | { readonly refused: string; readonly hint: string };

const to = (path: string): KeyUse => ({ to: path.split('.') });

const SAVEPOINT: KeyUse = {
  refused: 'a savepoint of Flink cannot be read',
  hint: 'leave it out: an interrupted job goes on from its own last checkpoint, see "sync state show"',
};

export const CONF_KEYS: Readonly<Record<string, KeyUse>> = {
  'execution.checkpointing.interval': to('checkpoint.interval'),
  'execution.checkpointing.min-pause': to('checkpoint.minPause'),
  'execution.checkpointing.timeout': to('checkpoint.timeout'),
  'execution.checkpointing.tolerable-failed-checkpoints': to('checkpoint.tolerableFailed'),
  'execution.checkpointing.externalized-checkpoint-retention': to('checkpoint.onCancel'),
  'execution.checkpointing.max-concurrent-checkpoints': { ignored: 'there is one checkpoint at a time' },
  'execution.checkpointing.mode': { ignored: 'what the pair delivers stands in the summary' },
  'execution.checkpointing.unaligned': { ignored: 'lanes share nothing, so that no barrier waits for another' },
  'execution.savepoint.path': SAVEPOINT,
  'execution.savepoint.ignore-unclaimed-state': { ignored: 'no savepoint is read' },
  'state.checkpoints.dir': to('checkpoint.dir'),
  'state.checkpoints.num-retained': to('checkpoint.numRetained'),
  'state.savepoints.dir': { ignored: 'state is kept in state.checkpoints.dir' },
  'state.backend': { ignored: 'state is kept in files' },
  'flink.checkpoint.interval': to('checkpoint.interval'),
  'flink.checkpoint.timeout': to('checkpoint.timeout'),
  'flink.checkpoint.minPause': to('checkpoint.minPause'),
  'flink.checkpoint.stateBackend': { ignored: 'state is kept in files; their folder is state.checkpoints.dir' },
  'parallelism.default': to('speed.channel'),
  'chunjun.dirty-data.max-rows': to('errorLimit.record'),
  'chunjun.dirty-data.max-collect-failed-rows': { ignored: 'a dirty row that cannot be kept fails the job' },
  'chunjun.dirty-data.output-type': { ignored: 'dirty rows go to files in setting.dirty.path' },
  'chunjun.dirty-data.dir': { ignored: 'no plugin collects dirty rows; their files stand in setting.dirty.path' },
  'chunjun.delay_period_mill': { ignored: 'the job ends as soon as it is done' },
  'chunjun.cluster.execution-mode': { ignored: 'the job runs in this process' },
};

const DIRTY = 'dirty rows go to files in setting.dirty.path';
const CLUSTER = 'the job runs in this process, not in a cluster';

/** Beginnings of keys that say nothing here. */
const IGNORED_GROUPS: Readonly<Record<string, string>> = {
  'chunjun.dirty-data.jdbc.': DIRTY,
  'chunjun.dirty-data.log.': DIRTY,
  'metrics.': 'counts stand in the summary',
  'state.backend.': 'state is kept in files',
  ...Object.fromEntries(
    ['akka', 'blob', 'classloader', 'env', 'heartbeat', 'high-availability', 'jobmanager', 'kubernetes', 'pipeline']
      .concat(['rest', 'security', 'taskmanager', 'web', 'yarn'])
      .map((group) => [`${group}.`, CLUSTER]),
  ),
};

/** Flink's own restart keys are aliases of `setting.restart`. */
const RESTART = SETTING_SCHEMA.properties?.['restart'] ?? {};

function restartKeys(): readonly (readonly [string, string])[] {
  return Object.entries(RESTART.properties ?? {}).flatMap(([name, s]) =>
    (s['x-aliases'] ?? []).filter((a) => a.startsWith('restart-strategy')).map((a) => [a, name] as const),
  );
}

/** Null: the key is not known. Also `checkpoint.interval` and the like, as they stand below `job.setting`. */
export function useOfKey(key: string): KeyUse | null {
  if (Object.hasOwn(CONF_KEYS, key)) return CONF_KEYS[key] ?? null;
  const restart = restartKeys().find(([alias]) => alias === key);
  if (restart) return { to: ['restart', restart[1]] };
  const own = key.split('.');
  if (isSetting(own)) return { to: own };
  const group = Object.keys(IGNORED_GROUPS).find((g) => key.startsWith(g));
  return group === undefined ? null : { ignored: IGNORED_GROUPS[group] ?? CLUSTER };
}

function isSetting(path: readonly string[]): boolean {
  let at: SchemaNode | null = SETTING_SCHEMA;
  for (const name of path) at = at === null ? null : propertyOf(at, name);
  return at !== null && at['x-ignored'] === undefined && at.type !== 'object';
}

/** All keys by their full names, for hints and for the page of aliases. */
export function knownKeys(): readonly string[] {
  return [...Object.keys(CONF_KEYS), ...restartKeys().map(([alias]) => alias)];
}

/** Beginnings of keys that are known, and why they say nothing. */
export function ignoredGroups(): readonly (readonly [string, string])[] {
  return Object.entries(IGNORED_GROUPS);
}
