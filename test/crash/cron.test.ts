/** A job as cron starts it: a parameter a day, and one of the days fails in the middle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishedLines, Workspace } from '../support/workspace.js';
import { sync } from '../support/sync.js';

const ROWS = 3000;
const DAYS = ['2026-11-27', '2026-11-28', '2026-11-29'] as const;

const rowsOf = (day: string): readonly string[] =>
  Array.from({ length: ROWS }, (_, i) => `${day},${String(i).padStart(6, '0')}`);

function dailyJob(ws: Workspace, reader: string, writer: Readonly<Record<string, unknown>>): string {
  for (const day of DAYS)
    ws.write(
      `in/${day}.csv`,
      rowsOf(day)
        .map((r) => `${r}\n`)
        .join(''),
    );
  return ws.job({
    job: {
      content: [
        {
          reader: { name: 'file', parameter: { path: reader, format: 'csv' } },
          writer: { name: 'file', parameter: { format: 'csv', rollOnCheckpoint: true, ...writer } },
        },
      ],
      setting: { speed: { record: 6000 }, checkpoint: { interval: 20 } },
    },
  });
}

test('three days by a parameter: the second fails, the third runs, the second goes on with its own parameter', async () => {
  using ws = new Workspace();
  const job = dailyJob(ws, 'in/${day}.csv', { path: 'out' });
  const run = (day: string, failpoint?: string) =>
    sync(['run', job, '--output', 'json', '-p', `day=${day}`], {
      cwd: ws.dir,
      ...(failpoint === undefined ? {} : { failpoint }),
    });

  assert.equal((await run(DAYS[0])).code, 0);
  assert.equal((await run(DAYS[1], 'outcome.after#2')).signal, 'SIGKILL');
  const third = await run(DAYS[2]);
  assert.equal(third.code, 0, third.stderr);
  assert.equal(third.summary?.['resumed'], false);
  assert.match(third.stderr, /run \w+ of day=2026-11-28 is unfinished; it goes on when the job starts with them/);

  const second = await run(DAYS[1]);
  assert.equal(second.code, 0, second.stderr);
  assert.equal(second.summary?.['resumed'], true);
  assert.equal(second.summary.read, ROWS);
  assert.deepEqual(publishedLines(ws.path('out')), DAYS.flatMap(rowsOf).sort());

  const list = await sync(['state', 'list', '--output', 'json'], { cwd: ws.dir });
  const states = JSON.parse(list.stdout) as readonly { readonly state: string; readonly parameters: string }[];
  assert.deepEqual(
    states.map((s) => [s.state, s.parameters]),
    DAYS.map((d) => ['finished', `day=${d}`]),
  );
});

test('the same with ${now-1d:…}: no parameter is given but the clock', async () => {
  using ws = new Workspace();
  const job = dailyJob(ws, 'in/${now-1d:yyyy-MM-dd}.csv', { path: 'out' });
  const at = (moment: string, failpoint?: string) =>
    sync(['run', job, '--output', 'json', '-p', `now=${moment}`], {
      cwd: ws.dir,
      ...(failpoint === undefined ? {} : { failpoint }),
    });

  assert.equal((await at('2026-11-28T02:00')).code, 0);
  assert.equal((await at('2026-11-29T02:00', 'outcome.after#2')).signal, 'SIGKILL');
  assert.equal((await at('2026-11-30T02:00')).code, 0);
  const late = await at('2026-11-29T23:59');
  assert.equal(late.code, 0, late.stderr);
  assert.equal(late.summary?.['resumed'], true);
  assert.deepEqual(publishedLines(ws.path('out')), DAYS.flatMap(rowsOf).sort());
});

test('a time below a day stays what it was at the first start of the run', async () => {
  using ws = new Workspace();
  const job = dailyJob(ws, `in/${DAYS[0]}.csv`, { path: 'out/${now:yyyyMMdd-HHmmssSSS}' });
  const killed = await sync(['run', job], { cwd: ws.dir, failpoint: 'outcome.after#2' });
  assert.equal(killed.signal, 'SIGKILL');
  const again = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(again.summary?.['resumed'], true);
  assert.deepEqual(publishedLines(ws.path('out')), rowsOf(DAYS[0]));
  const next = await sync(['run', job, '--output', 'json'], { cwd: ws.dir });
  assert.equal(next.code, 0, next.stderr);
  assert.equal(next.summary?.['resumed'], false);
  assert.equal(publishedLines(ws.path('out')).length, 2 * ROWS);
});

test('runs of old days are dropped, unfinished ones are not', async () => {
  using ws = new Workspace();
  for (let day = 1; day <= 6; day++) ws.write(`in/${String(day)}.csv`, 'x,1\n');
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'file', parameter: { path: 'in/${day}.csv', format: 'csv' } },
          writer: { name: 'file', parameter: { path: 'out', format: 'csv' } },
        },
      ],
      setting: { checkpoint: { numRetainedRuns: 2 } },
    },
  });
  for (let day = 1; day <= 6; day++) {
    const r = await sync(['run', job, '-p', `day=${String(day)}`], {
      cwd: ws.dir,
      ...(day === 2 ? { failpoint: 'ckpt.after' } : {}),
    });
    assert.equal(r.code, day === 2 ? null : 0, r.stderr);
  }
  const list = await sync(['state', 'list', '--output', 'json'], { cwd: ws.dir });
  const states = JSON.parse(list.stdout) as readonly { readonly parameters: string }[];
  assert.deepEqual(
    states.map((s) => s.parameters),
    ['day=2', 'day=5', 'day=6'],
  );
  const back = await sync(['run', job, '-p', 'day=2'], { cwd: ws.dir });
  assert.equal(back.code, 0, back.stderr);
  assert.equal(publishedLines(ws.path('out')).length, 6);
});
