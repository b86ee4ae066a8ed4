/** Records without a value: what the reader makes of them is for the job to say. */
import assert from 'node:assert/strict';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { Workspace } from '../support/workspace.js';

kafkaTest('nullValues: skip, row, reject', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send([
    { key: 'k1', value: '{"id":1}' },
    { key: 'k1', value: null },
    { key: 'k2', value: null },
  ]);
  const column = [
    { name: 'id', type: 'int' },
    { name: 'k', meta: 'key' },
  ];
  const json = { topic: topic.name, codec: 'json', column };
  const columns = { column: ['id', 'k'] };
  const run = async (reader: object, dirty = 0) => {
    using ws = new Workspace();
    const job = kafkaToFile(ws, kafka, { ...json, ...reader }, { errorLimit: { record: dirty } }, columns);
    const r = await runKafka(ws, job);
    return { ...r, lines: job.lines() };
  };
  const skip = await run({});
  assertDone(skip, 1);
  assert.deepEqual(skip.lines, ['{"id":1,"k":"k1"}']);
  const told = skip.stderr.split('\n').filter((line) => line.includes('without a value'));
  assert.equal(told.length, 1, skip.stderr);
  assert.ok(told[0]?.includes(`${topic.name}-0@1`));

  const row = await run({ nullValues: 'row' });
  assertDone(row, 3);
  assert.deepEqual(row.lines, ['{"id":1,"k":"k1"}', '{"id":null,"k":"k1"}', '{"id":null,"k":"k2"}']);

  const reject = await run({ nullValues: 'reject' }, 2);
  assertDone(reject, 1);
  assert.equal(reject.summary?.dirty, 2);
  const refused = await run({ nullValues: 'reject' }, 1);
  assert.equal(refused.code, 3);
  assert.match(refused.stderr + refused.stdout, new RegExp(`${topic.name}-0@[12]`));
});

kafkaTest('nullValues of codec raw: rows unless they are skipped', async (kafka) => {
  await using topic = await kafka.topic();
  await topic.send([
    { key: 'a', value: null },
    { key: 'b', value: '' },
  ]);
  for (const [nullValues, rows] of [
    [undefined, 2],
    ['skip', 1],
  ] as const) {
    using ws = new Workspace();
    const job = kafkaToFile(ws, kafka, { topic: topic.name, codec: 'raw', nullValues });
    assertDone(await runKafka(ws, job), rows);
  }
});
