/** C13: a writer that takes nothing stops the fetches: memory stays as it is, whatever the topic holds. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kafkaTest } from '../support/kafka.js';
import { SYNC } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const RECORD_BYTES = 100_000;
const RECORDS = 2400;
/** Node.js itself has some 100; answers of the broker, batches and what the pipe waits for are bounded each. */
const MOST_MB = 250;

/** In MB, from its start on. */
function peakOf(pid: number): number {
  const [, kB = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kB) / 1024;
}

kafkaTest(
  'C13: a writer that stands still stops the reading of 240 MB, and all of it comes when it goes on',
  async (kafka) => {
    await using topic = await kafka.topic({ partitions: 4 });
    // The Java tool that measures producers is the fastest one.
    const lib = join(process.env['SYNC_KAFKA_LIB'] ?? '', '*');
    const producer = 'org.apache.kafka.tools.ProducerPerformance';
    const records = ['--num-records', String(RECORDS), '--record-size', String(RECORD_BYTES), '--throughput', '-1'];
    const props = ['--producer-props', `bootstrap.servers=${kafka.brokers}`];
    await promisify(execFile)('java', ['-Xmx128m', '-cp', lib, producer, '--topic', topic.name, ...records, ...props]);
    using ws = new Workspace();
    const parameter = { brokers: kafka.brokers, topic: topic.name, mode: 'earliest-offset', codec: 'text' };
    const reader = { name: 'kafkareader', parameter: { ...parameter, bounded: 'latest-at-start' } };
    const writer = { name: 'streamwriter', parameter: { format: 'text' } };
    const job = ws.job({ job: { content: [{ reader, writer }] } });
    const env = { ...process.env, SYNC_STATE_DIR: ws.path('state') };
    const child = spawn(process.execPath, [SYNC, 'run', job], { cwd: ws.dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
      const pid = child.pid ?? 0;
      // Nobody reads what it prints: it fetches until all buffers are full.
      await once(child.stdout, 'readable');
      for (let peak = 0, same = 0; same < 20; await sleep(100)) {
        const now = peakOf(pid);
        same = now > peak + 1 ? 0 : same + 1;
        peak = Math.max(peak, now);
      }
      const peak = peakOf(pid);
      assert.ok(peak < MOST_MB, `${peak.toFixed(0)} MB with a writer that takes nothing`);
      let bytes = 0;
      child.stdout.on('data', (d: Buffer) => (bytes += d.length));
      const [code] = (await once(child, 'close')) as [number];
      assert.equal(code, 0, stderr);
      assert.equal(bytes, RECORDS * (RECORD_BYTES + 1));
    } finally {
      child.kill('SIGKILL');
    }
  },
);
