/** One big file in parts on several lanes: killed while it is scanned and while parts are read, the next run is exact. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertExact, assertKilled, inPairs } from '../support/crash.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ROWS = 3000;

/** Writes the file. @returns the lines that a run publishes. */
function bigFile(ws: Workspace): readonly string[] {
  const expected: string[] = [];
  let csv = 'id,text\n';
  for (let i = 1; i <= ROWS; i++) {
    const text = i % 3 === 0 ? 'say "hi",\nthen go' : `row ${String(i)} ${'x'.repeat(i % 40)}`;
    csv += `${String(i)},"${text.replaceAll('"', '""')}"\n`;
    expected.push(JSON.stringify({ id: String(i), text }));
  }
  ws.write('in/big.csv', csv);
  return expected.sort();
}

/** A part for every 4 KB or so; 3,000 rows a second give several epochs. */
function jobFile(ws: Workspace, channel: number): string {
  const reader = { name: 'filereader', parameter: { path: 'in/big.csv', isFirstLineHeader: true, splitSize: 4000 } };
  const writer = { name: 'filewriter', parameter: { path: 'out', fileType: 'json', rollOnCheckpoint: true } };
  const setting = { speed: { channel, record: 3000 }, checkpoint: { interval: 20 } };
  return ws.job({ job: { content: [{ reader, writer }], setting } }, `channel-${String(channel)}.json`);
}

const POINTS = [
  'file.range.found',
  'file.range.found#5',
  'file.range.found#20',
  'planner.after',
  'write.after#9',
  'prepare.after#3',
  'ckpt.after',
  'ckpt.after#2',
  'file.commit.between#2',
  'outcome.after#2',
];

test('killed anywhere, a later start with any number of lanes makes it exact', async (t) => {
  await inPairs(POINTS, async (point) => {
    await t.test(point, async () => {
      using ws = new Workspace();
      const expected = bigFile(ws);
      const run = (channel: number, failpoint?: string): ReturnType<typeof sync> =>
        sync(['run', jobFile(ws, channel), '--output', 'json', '--job-id', 'ranges'], {
          cwd: ws.dir,
          ...(failpoint === undefined ? {} : { failpoint }),
        });
      assertKilled(await run(3, point), point);
      assertKilled(await run((POINTS.indexOf(point) % 3) + 1, 'ckpt.before#2'), `after ${point}`);
      const r = await run(3);
      assert.equal(r.code, 0, r.stderr);
      assert.equal(r.summary?.state, 'finished');
      assert.equal(r.summary.written, ROWS);
      assertExact({ job: '', out: ws.path('out'), expected });
    });
  });
});
