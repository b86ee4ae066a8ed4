/** A topic gets more partitions while it is written: records go to them too, and none is lost or doubled. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

for (const semantic of ['exactly-once', 'at-least-once'] as const) {
  kafkaTest(`partitions that are added to a target get records, ${semantic}`, async (kafka) => {
    await using from = await kafka.topic();
    await using to = await kafka.topic();
    using ws = new Workspace();
    const reader = { brokers: kafka.brokers, topic: from.name, mode: 'earliest-offset', bounded: 'no', codec: 'text' };
    const writer = { brokers: kafka.brokers, topic: to.name, codec: 'text', semantic, metadataMaxAge: 200 };
    const job = ws.job({
      job: {
        content: [
          { reader: { name: 'kafkareader', parameter: reader }, writer: { name: 'kafkawriter', parameter: writer } },
        ],
        setting: { checkpoint: { interval: 100 } },
      },
    });
    const run = startSync(['run', job, '--output', 'json'], { cwd: ws.dir });
    let sent = 0;
    const send = () => from.send(Array.from({ length: 600 }, () => ({ value: String(sent++) })));
    const read = () => to.records();
    await send();
    await until('it has begun', async () => (await read()).length === 600);
    await to.addPartitions(3);
    await until('all partitions have records', async () => {
      await send();
      return new Set((await read()).map((r) => r.partition)).size === 3 || run.child.exitCode !== null;
    });
    await until('all is there', async () => (await read()).length >= sent || run.child.exitCode !== null);
    run.child.kill('SIGTERM');
    const r = await run.done;
    assert.equal(r.code, 143, r.stderr);
    assert.match(r.stderr, /has 3 partitions now; records go to all of them/);
    const values = (await read()).map((v) => Number(String(v.value))).sort((a, b) => a - b);
    assert.deepEqual(
      values,
      Array.from({ length: sent }, (_, i) => i),
    );
  });
}
