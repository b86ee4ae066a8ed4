/** Codec csv, both ways: one record is one line, whatever stands within quotes. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, kafkaToFile, runKafka } from '../support/kafka-job.js';
import { sync, type SyncResult } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ROWS = [
  { id: '9007199254740993', name: 'plain', note: 'b' },
  { id: '2', name: 'say "no"; twice', note: 'line 1\nline 2\r\n' },
  { id: '3', name: '', note: null },
  { id: '4', name: '\\N', note: 'é🙂;' },
];
const CSV = { codec: 'csv', fieldDelimiter: ';' };

function dirtyText(r: SyncResult): string {
  const dir = String(r.summary?.['dirtyFiles']);
  return readdirSync(dir)
    .map((n) => readFileSync(join(dir, n), 'utf8'))
    .join('');
}

kafkaTest('rows written as csv are these lines, and read back the same', async (kafka) => {
  await using topic = await kafka.topic();
  using ws = new Workspace();
  writeFileSync(ws.path('in.jsonl'), ROWS.map((r) => `${JSON.stringify(r)}\n`).join(''));
  const { brokers } = kafka;
  const reader = {
    name: 'filereader',
    parameter: { path: 'in.jsonl', fileType: 'json', column: ['id', 'name', 'note'] },
  };
  const writer = { name: 'kafkawriter', parameter: { brokers, topic: topic.name, keyColumns: ['id'], ...CSV } };
  const r = await sync(['run', ws.job({ job: { content: [{ reader, writer }] } }), '--output', 'json'], {
    cwd: ws.dir,
  });
  assertDone(r, ROWS.length);
  assert.deepEqual(
    (await topic.records()).map((x) => [x.key?.toString(), x.value?.toString()]),
    [
      ['9007199254740993', '9007199254740993;plain;b'],
      ['2', '2;"say ""no""; twice";"line 1\nline 2\r\n"'],
      ['3', '3;;\\N'],
      ['4', '4;"\\N";"é🙂;"'],
    ],
  );

  using back = new Workspace();
  const column = [{ name: 'id', type: 'bigint' }, { name: 'at', meta: 'offset' }, 'name', 'note'];
  const columns = { column: ['id', 'name', 'note', 'at'] };
  const job = kafkaToFile(back, kafka, { topic: topic.name, column, ...CSV }, {}, columns);
  assertDone(await runKafka(back, job), ROWS.length);
  const expected = ROWS.map(({ id, name, note }, at) => JSON.stringify({ id: 0, name, note, at }).replace('0', id));
  assert.deepEqual(job.lines(), expected.sort());
});

kafkaTest('what is not one line of the columns is dirty, and told by its place', async (kafka) => {
  await using topic = await kafka.topic();
  const bad = ['1;2\n3;4', '1', '1;2;3', 'x;2', '', '1;"2', Buffer.from([0x31, 0x3b, 0xff])];
  await topic.send(['1;"a\nb"', ...bad, '2;b\n'].map((value) => ({ value })));
  using ws = new Workspace();
  const column = [{ name: 'a', type: 'int' }, 'b'];
  const job = kafkaToFile(ws, kafka, { topic: topic.name, column, ...CSV }, { errorLimit: { record: bad.length } });
  const r = await runKafka(ws, job);
  assertDone(r, 2);
  assert.equal(r.summary?.dirty, bad.length);
  assert.deepEqual(job.lines(), ['{"a":1,"b":"a\\nb"}', '{"a":2,"b":"b"}']);
  const told = dirtyText(r);
  const reasons = [
    'more than one line',
    'has 1 fields',
    'has 3 fields',
    'valid int32',
    'is empty',
    'never closed',
    'UTF-8',
  ];
  reasons.forEach((reason, i) => {
    const line = told.split('\n').find((l) => l.includes(`${topic.name}-0@${String(i + 1)}"`));
    assert.ok(line?.includes(reason), `${reason} in ${line ?? 'no line'}`);
  });
});
