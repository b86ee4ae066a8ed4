import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const FILE = { name: 'file', parameter: { path: 'in.csv' } };

function jobOf(ws: Workspace, reader: object, writer: object, semantic: string): string {
  ws.write('in.csv', 'a\n');
  return ws.job({ job: { content: [{ reader, writer: { ...writer, semantic } }] } });
}

test('semantic exactly-once: a pair that cannot do it is refused, and says why', async () => {
  using ws = new Workspace();
  const socket = { name: 'socket', parameter: { address: '127.0.0.1:1' } };
  const out = { name: 'file', parameter: { path: 'out' } };
  for (const [reader, writer, said] of [
    [
      socket,
      out,
      'socket → file is at-most-once: what was read cannot be read again, so rows under way are lost in a crash',
    ],
    [FILE, { name: 'stream', parameter: {} }, 'file → stream is at-least-once: the writer promises no more'],
  ] as const) {
    const job = jobOf(ws, reader, writer, 'exactly-once');
    for (const command of ['run', 'plan']) {
      const r = await sync([command, job], { cwd: ws.dir });
      assert.equal(r.code, 2, r.stderr);
      assert.ok(r.stderr.includes(`the job asks for exactly-once, and ${said}`), r.stderr);
    }
    assert.equal(existsSync(ws.path('out')), false);
  }
});

test('what the pair does anyway is taken, whatever is asked', async () => {
  for (const semantic of ['exactly-once', 'Exactly-Once', 'at-least-once', 'none']) {
    using ws = new Workspace();
    const r = await sync(
      ['run', jobOf(ws, FILE, { name: 'file', parameter: { path: 'out' } }, semantic), '--output', 'json'],
      {
        cwd: ws.dir,
      },
    );
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.delivery, 'exactly-once');
    assert.deepEqual(publishedLines(ws.path('out')), ['a']);
  }
});
