/** `sync plan` of topics: how much is there, where a run would begin and end, and that it changes nothing. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

kafkaTest('a plan tells partitions, records, the start and the end of topics', async (kafka) => {
  await using topic = await kafka.topic({ partitions: 2 });
  await topic.send([
    { value: '{"id":1}', partition: 0 },
    { value: '{"id":2}', partition: 1 },
    { value: '{"id":3}', partition: 1 },
  ]);
  const group = `${topic.name}-group`;
  await kafka.setGroupOffset(group, topic.name, 1, 1);
  const planOf = async (ws: Workspace, reader: object): Promise<string> => {
    const column = [{ name: 'id', type: 'int' }];
    const { path } = kafkaToFile(ws, kafka, { topic: topic.name, codec: 'json', column, ...reader });
    const r = await sync(['plan', path], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stdout + r.stderr);
    return r.stdout;
  };
  using ws = new Workspace();
  const whole = await planOf(ws, {});
  const reads = `2 partitions of topic ${topic.name}, json: `;
  const all = 'from the first record, to the last one that is there at the start; up to 3 records now';
  assert.ok(whole.includes(`${reads}${all}\n`), whole);
  assert.match(whole, /-1 from offset 0 to 2 {2}2 rows\n/);
  assert.match(whole, / id int32 +→ id\n/);
  const grouped = await planOf(ws, { mode: 'group-offsets', groupId: group, bounded: 'no' });
  const rest = `from the offsets of the group ${group} (where it has none, from the first record), without an end`;
  assert.ok(grouped.includes(`${reads}${rest}; up to 2 records now\n`), grouped);
  assert.match(grouped, /-1 from offset 1 on\n/);
  assert.deepEqual(
    (await kafka.groupOffsets(group)).map((o) => [o.partition, o.offset]),
    [[1, 1]],
  );
});

kafkaTest('the plan of a run that goes on says so', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send([{ value: '{"id":1}' }, { value: '{"id":2}' }]);
  using ws = new Workspace();
  const job = kafkaToFile(ws, kafka, { topic: topic.name, codec: 'json', column: ['id'] });
  const killed = await sync(['run', job.path, '--output', 'json'], { cwd: ws.dir, failpoint: 'ckpt.after' });
  assert.equal(killed.signal, 'SIGKILL', killed.stderr);
  const plan = await sync(['plan', job.path], { cwd: ws.dir });
  assert.equal(plan.code, 0, plan.stderr);
  assert.ok(
    plan.stdout.includes(`topic ${topic.name}, json: behind the last checkpoint, to the last one`),
    plan.stdout,
  );
  assertDone(await runKafka(ws, job), 2);
});
