/** Every example job is run as it stands, in a folder of its own. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LineServer, send, type Serve } from '../../plugins/socket/test/support.js';
import { ROOT, sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

type Check = (ws: Workspace) => void;

const CHECKS: Readonly<Record<string, Check>> = {
  'file-to-file.json': (ws) => {
    const rows = publishedLines(ws.path('out/countries')).map((l) => JSON.parse(l) as Record<string, unknown>);
    assert.equal(rows.length, 31);
    assert.deepEqual(
      rows.find((r) => r['code'] === 'ZA'),
      {
        code: 'ZA',
        name: 'South Africa',
        native_name: 'South Africa',
        flag: '🇿🇦',
        capital: 'Pretoria, Cape Town, Bloemfontein',
        population: 60414000,
        independence: '1910-05-31',
        note: 'Three capitals:\nexecutive, legislative, judicial',
      },
    );
    assert.equal(rows.find((r) => r['code'] === 'CI')?.['note'], null, '\\N is NULL');
    assert.equal(rows.find((r) => r['code'] === 'KE')?.['note'], '', 'an empty field is an empty text');
  },
  'file-transform.json': (ws) => {
    const rows = publishedLines(ws.path('out/large-countries')).map((l) => JSON.parse(l) as Record<string, unknown>);
    assert.deepEqual(
      rows.find((r) => r['code'] === 'EG'),
      { code: 'EG', name: 'Egypt', capital: 'C****', millions: 112.7, year: 1922, source: 'countries' },
    );
  },
  'socket-to-file.json': (ws) => {
    assert.deepEqual(publishedLines(ws.path('out/lines')), ['{"id":1,"colour":"red"}', '{"id":2,"colour":"green"}']);
  },
  'socket-to-stream.json': () => undefined,
  'stream-to-stream.json': () => undefined,
};

const once =
  (text: string): Serve =>
  async (s) => {
    await send(s, text);
    s.end();
  };

/** What must run beside a job. */
const SERVERS: Readonly<Record<string, () => Promise<AsyncDisposable>>> = {
  'socket-to-file.json': () => LineServer.listen([once('1,red\n2,green\n')], 19_064),
  'socket-to-stream.json': () => LineServer.listen([once('{"id":1,"user":{"name":"é"}}\n{"id":2}')], 19_065),
};

const names = readdirSync(join(ROOT, 'job-configs')).filter((n) => n.endsWith('.json') && n !== 'job.schema.json');

test('every example job has a check here', () => {
  assert.deepEqual(names.sort(), Object.keys(CHECKS).sort());
});

for (const name of names) {
  test(`${name} runs`, async () => {
    using ws = new Workspace();
    await using _ = (await SERVERS[name]?.()) ?? null;
    cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
    const r = await sync(['run', `job-configs/${name}`, '--output', 'json'], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.state, 'finished');
    assert.ok(r.summary.read > 0);
    assert.equal(r.summary.written + Number(r.summary['filtered']), r.summary.read);
    CHECKS[name]?.(ws);
  });
}
