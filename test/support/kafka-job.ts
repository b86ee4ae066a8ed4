/** Jobs that read topics into files, as tests run them. */
import assert from 'node:assert/strict';
import type { Kafka, NewRecord } from './kafka.js';
import { sync, type SyncResult } from './sync.js';
import { publishedLines, type Workspace } from './workspace.js';

const timestamp = 1_700_000_000_123;
/** No UTF-8. */
export const BYTES = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
/** Those of C43 that are the same in a copy: null and empty apart, headers in their order, bytes. */
export const RECORDS: readonly NewRecord[] = [
  { key: null, value: 'v1' },
  { key: '', value: '' },
  { key: 'k', value: null },
  { key: 'k', value: 'v4', headers: [{ key: 'h', value: null }] },
  {
    key: 'k',
    value: 'v5',
    headers: [
      { key: 'h', value: 'a' },
      { key: 'h', value: 'b' },
    ],
  },
  { key: 'k', value: BYTES },
].map((r) => ({ ...r, timestamp }));

export interface KafkaJob {
  readonly path: string;
  /** Lines that are published, sorted. */
  lines(): readonly string[];
}

/** Into JSON lines in `out`. */
export function kafkaToFile(
  ws: Workspace,
  kafka: Kafka,
  reader: Readonly<Record<string, unknown>>,
  setting: Readonly<Record<string, unknown>> = {},
  writer: Readonly<Record<string, unknown>> = {},
): KafkaJob {
  const path = ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'kafkareader',
            parameter: { brokers: kafka.brokers, mode: 'earliest-offset', bounded: 'latest-at-start', ...reader },
          },
          writer: {
            name: 'filewriter',
            parameter: { path: 'out', fileType: 'json', rollOnCheckpoint: true, ...writer },
          },
        },
      ],
      setting,
    },
  });
  return { path, lines: () => publishedLines(ws.path('out')) };
}

export const runKafka = (ws: Workspace, job: KafkaJob, args: readonly string[] = []): Promise<SyncResult> =>
  sync(['run', job.path, '--output', 'json', ...args], { cwd: ws.dir });

export function assertDone(r: SyncResult, written: number): void {
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.written, written, r.stderr);
}

/** Steps of jobs from topics into tables: around the marker, the checkpoint and the commit. */
export const KILLS_INTO_TABLES = [
  'write.after#2',
  'mysql.marker#2',
  'prepare.after#2',
  'ckpt.after#2',
  'mysql.committed#2',
  'outcome.before#3',
] as const;
