import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

test('a constant keeps the digits of the job file', async () => {
  using ws = new Workspace();
  ws.write('in.csv', 'x\n1\n');
  // As text: JSON.stringify would round it before the tool could.
  const column =
    '[{"name":"x"},{"name":"m","type":"bigint","value":9007199254740993},{"name":"d","type":"decimal","value":1.10}]';
  const reader = `{"name":"filereader","parameter":{"path":"in.csv","isFirstLineHeader":true,"column":${column}}}`;
  const writer = '{"name":"filewriter","parameter":{"path":"out","fileType":"json"}}';
  const job = ws.write('job.json', `{"job":{"content":[{"reader":${reader},"writer":${writer}}]}}`);
  const r = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(r.code, 0, r.stderr);
  assert.deepEqual(publishedLines(ws.path('out')), ['{"x":"1","m":9007199254740993,"d":1.10}']);
});
