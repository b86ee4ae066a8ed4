/** C64: socket lines across packets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byteByByte, LineServer, send, type Serve } from '../../plugins/socket/test/support.js';
import { startSync, until, type SyncProcess } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

const TEXT = '1,测试\r\n2,b\n\n3,😀\n4,last';
const ROWS = ['1,测试', '2,b', '3,😀', '4,last'];

interface Job extends SyncProcess {
  /** What the log says so far. */
  log(): string;
  /** The lines that are published so far, sorted. */
  rows(): readonly unknown[];
}

function start(ws: Workspace, reader: Readonly<Record<string, unknown>>): Job {
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'socketreader', parameter: { reconnectDelay: 200, ...reader } },
          writer: { name: 'filewriter', parameter: { path: 'out', fileType: 'json', rollOnCheckpoint: true } },
        },
      ],
      setting: { checkpoint: { interval: 50 } },
    },
  });
  const p = startSync(['run', job, '--output', 'json', '--log-format', 'json'], { cwd: ws.dir });
  let log = '';
  p.child.stderr?.on('data', (s: string) => (log += s));
  const rows = (): readonly unknown[] =>
    publishedLines(ws.path('out')).map((l) => (JSON.parse(l) as { readonly message: string }).message);
  return { ...p, log: () => log, rows };
}

const whole: Serve = async (s) => {
  await send(s, TEXT);
  s.end();
};
const bytewise: Serve = async (s) => {
  await byteByByte(s, TEXT, 5);
  s.end();
};

for (const [how, serve] of [
  ['in a single write', whole],
  ['one byte per write, 5 ms apart', bytewise],
] as const) {
  test(`C64 ${how}: the same four rows`, async () => {
    using ws = new Workspace();
    await using server = await LineServer.listen([serve]);
    const job = start(ws, { address: server.address, reconnect: false });
    const r = await job.done;
    assert.equal(r.code, 0, r.stderr);
    assert.deepEqual([r.summary?.state, r.summary?.read, r.summary?.written, r.summary?.dirty], ['finished', 4, 4, 0]);
    assert.equal(r.summary?.delivery, 'at-most-once');
    assert.deepEqual(job.rows(), ROWS);
    assert.match(r.stderr, /reconnect is off, so this is the end of the stream/);
  });
}

/** Sends `5,half`; the reset comes when the job has connected. */
function half(connected: () => boolean): Serve {
  return async (s) => {
    await until('the job has connected', connected);
    await send(s, '5,half');
    s.resetAndDestroy();
  };
}

test('C64 reconnect on: a normal close, a reset after half a line, a server that is back after 3 s', async () => {
  using ws = new Workspace();
  let log = (): string => '';
  const connections = (n: number) => (): boolean => (log().match(/"connected to /g) ?? []).length >= n;
  const server = await LineServer.listen([whole, half(connections(2))]);
  const job = start(ws, { address: server.address });
  log = job.log;
  await until('the reset is noticed', () => /was cut off after 6 bytes and is no row/.test(log()));
  assert.match(log(), /"text":"5,half"/);
  await server[Symbol.asyncDispose]();
  const gone = performance.now();
  await until('it was tried in vain for 3 s', () => performance.now() - gone > 3000 && /ECONNREFUSED/.test(log()));
  await using again = await LineServer.listen([(s) => send(s, '6,x\n')], server.port);
  await until('6,x has arrived', () => job.rows().length === 5);
  assert.equal(again.connections, 1);
  job.child.kill('SIGTERM');
  const r = await job.done;
  assert.equal(r.code, 143, r.stderr);
  assert.deepEqual([r.summary?.state, r.summary?.read, r.summary?.dirty], ['stopped', 5, 0]);
  assert.deepEqual(job.rows(), [...ROWS, '6,x']);
});

test('C64 reconnect off: a reset is loud, and half a line is no row', async () => {
  using ws = new Workspace();
  let log = (): string => '';
  await using server = await LineServer.listen([half(() => log().includes('"connected to '))]);
  const job = start(ws, { address: server.address, reconnect: false });
  log = job.log;
  const r = await job.done;
  assert.equal(r.code, 1, r.stderr);
  assert.equal(r.summary?.state, 'failed');
  assert.equal(r.summary?.error?.code, 'SOURCE_IO');
  assert.equal(r.summary?.error?.place, server.address);
  assert.match(
    r.summary?.error?.message ?? '',
    /the connection to 127\.0\.0\.1:\d+ is gone: it was reset \(ECONNRESET\)/,
  );
  assert.deepEqual(job.rows(), []);
  assert.match(r.stderr, /was cut off after 6 bytes and is no row/);
});

test('after a restart the job goes on with the next lines, and says that those in between are gone', async () => {
  using ws = new Workspace();
  let n = 0;
  await using server = await LineServer.listen([(s) => send(s, `${String(++n)},row\n`)]);
  const first = start(ws, { address: server.address });
  await until('the first row is published', () => first.rows().length === 1);
  first.child.kill('SIGKILL');
  await first.done;
  const second = start(ws, { address: server.address });
  await until('the second row is published', () => second.rows().length === 2);
  second.child.kill('SIGTERM');
  const r = await second.done;
  assert.equal(r.code, 143, r.stderr);
  assert.match(second.log(), /a socket cannot be read again: what 127\.0\.0\.1:\d+ sent after the last checkpoint/);
  assert.deepEqual(second.rows(), ['1,row', '2,row']);
});
