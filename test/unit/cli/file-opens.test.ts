/** Reading ten files costs ten file opens: counted in the process itself, where the file system is entered. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sync } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';

const HOOK = `
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { open } = fs.promises;
fs.promises.open = function (path, ...rest) {
  if (/\\.csv$/.test(String(path)) && /\\/in\\//.test(String(path))) fs.appendFileSync(process.env.OPENED, path + '\\n');
  return open.call(this, path, ...rest);
};
syncBuiltinESMExports();
`;

for (const column of [['*'], ['id', 'v']]) {
  test(`ten csv files, columns ${column.join()}`, async () => {
    using ws = new Workspace();
    mkdirSync(ws.path('in'));
    for (let i = 0; i < 10; i++) writeFileSync(ws.path('in', `${String(i)}.csv`), `id,v\n${String(i)},x\n`);
    writeFileSync(ws.path('hook.cjs'), HOOK);
    const content = [
      {
        reader: { name: 'filereader', parameter: { path: 'in', isFirstLineHeader: true, column } },
        writer: { name: 'filewriter', parameter: { path: 'out' } },
      },
    ];
    writeFileSync(ws.path('job.json'), JSON.stringify({ job: { content } }));
    const env = { OPENED: ws.path('opened'), NODE_OPTIONS: `--require ${ws.path('hook.cjs')}` };
    const r = await sync(['run', 'job.json', '--output', 'json'], { cwd: ws.dir, env });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.written, 10);
    const opened = readFileSync(ws.path('opened'), 'utf8').trimEnd().split('\n').sort();
    assert.deepEqual(
      opened,
      Array.from({ length: 10 }, (_, i) => ws.path('in', `${String(i)}.csv`)),
    );
  });
}
