/** How far a job is behind its topic: `sync status`, while records come and are read. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { startSync, sync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

interface Status {
  readonly lag: number | null;
  readonly rows: number | null;
}

kafkaTest('status tells how many records of the topic were not read yet', async (kafka) => {
  await using topic = await kafka.topic({ partitions: 3 });
  const send = (from: number, count: number) =>
    topic.send(Array.from({ length: count }, (_, i) => ({ partition: i % 3, value: String(from + i) })));
  using ws = new Workspace();
  const parameter = { brokers: kafka.brokers, topic: topic.name, mode: 'earliest-offset', codec: 'text' };
  const job = (record: number): string =>
    ws.job({
      job: {
        content: [
          { reader: { name: 'kafkareader', parameter }, writer: { name: 'filewriter', parameter: { path: 'out' } } },
        ],
        setting: { speed: { channel: 2, ...(record === 0 ? {} : { record }) }, checkpoint: { interval: 200 } },
      },
    });
  const status = async (): Promise<Status | undefined> => {
    const r = await sync(['status', '--output', 'json'], { cwd: ws.dir });
    return (JSON.parse(r.stdout) as readonly Status[])[0];
  };
  const isAt = async (count: number): Promise<boolean> => {
    const s = await status();
    return s?.lag === 0 && s.rows === count;
  };
  await send(0, 3000);
  const slow = startSync(['run', job(100)], { cwd: ws.dir });
  let told: Status | undefined;
  await until('it has read some', async () => ((told = await status())?.rows ?? 0) > 0 && (told?.lag ?? 0) > 0);
  const { lag, rows } = told as unknown as { readonly lag: number; readonly rows: number };
  assert.ok(lag < 3000 && lag + rows <= 3000 && lag > 2000, JSON.stringify(told));
  assert.match((await sync(['status'], { cwd: ws.dir })).stdout, / LAG .*\nrunning +\d+ +[\d,]+ +\S+ +[12],\d{3} /);
  slow.child.kill('SIGTERM');
  assert.equal((await slow.done).code, 143);
  const quick = startSync(['run', job(0)], { cwd: ws.dir });
  await until('it has caught up', () => isAt(3000));
  await send(3000, 30);
  await until('and again', () => isAt(3030));
  quick.child.kill('SIGTERM');
  const r = await quick.done;
  assert.equal(r.code, 143);
  assert.equal((await status())?.lag, null, 'only of a running job');
});
