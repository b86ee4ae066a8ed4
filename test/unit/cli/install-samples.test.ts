/** The samples in install/ do what they say: their lines are run as cron and systemd would, in other folders. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { endsWithTest } from '../../support/children.js';
import { ROOT, SYNC, until } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { checkpointed, entry, start, statusOf } from './jobs.js';

const sample = (name: string): string => readFileSync(join(ROOT, 'install', name), 'utf8');

/** `[section] key` → values. */
function unitKeys(name: string): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>();
  let section = '';
  for (const line of sample(name).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) section = line;
    else {
      const [, key = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
      assert.notEqual(key, '', line);
      keys.set(`${section} ${key}`, [...(keys.get(`${section} ${key}`) ?? []), value]);
    }
  }
  return keys;
}

/** The paths of the samples, in a test's own folder, with `syncx` on its PATH. */
function installed(ws: Workspace): (line: string) => string {
  mkdirSync(ws.path('bin'));
  mkdirSync(ws.path('log'));
  symlinkSync(SYNC, ws.path('bin/syncx'));
  symlinkSync(process.execPath, ws.path('bin/node'));
  return (line) =>
    line
      .replaceAll('/usr/local/bin', ws.path('bin'))
      .replaceAll('/etc/syncx', ws.dir)
      .replaceAll('/var/log/syncx', ws.path('log'))
      .replaceAll('/var/lib/syncx', ws.path('state'));
}

const job = (ws: Workspace, name: string, content: object): string =>
  ws.job({ job: { content: [content], setting: { checkpoint: { interval: 50 } } } }, name);

test('cron: a good run prints nothing; an overlapping one names the owner and ends with 4; a bad one tells why', async () => {
  using ws = new Workspace();
  const here = installed(ws);
  const lines = here(sample('cron.sample')).split('\n');
  const env = Object.fromEntries(lines.flatMap((l) => [...l.matchAll(/^([A-Z_]+)=(.*)$/g)].map((m) => [m[1], m[2]])));
  const entries = lines.filter((l) => /^[\d*]/.test(l));
  assert.equal(entries.length, 1);
  const command = entries[0]?.replace(/^(?:\S+\s+){5}/, '') ?? '';
  assert.doesNotMatch(command, /%/, 'cron takes a % for a line end');
  // As cron does it: its own environment, sh -c, from the home folder.
  const cron = () => spawnSync(env['SHELL'] ?? '', ['-c', command], { cwd: ws.dir, env, encoding: 'utf8' });

  job(ws, 'daily.json', entry('out', 3));
  const good = cron();
  assert.deepEqual([good.status, good.stdout, good.stderr], [0, '', '']);
  const summary = JSON.parse(readFileSync(ws.path('log/daily.jsonl'), 'utf8')) as { state: string; written: number };
  assert.deepEqual([summary.state, summary.written], ['finished', 3]);

  const p = start(ws, job(ws, 'daily.json', entry('out')));
  await until('it runs', async () => (await statusOf(ws))[0]?.pid === p.child.pid);
  const began = performance.now();
  const second = cron();
  assert.ok(performance.now() - began < 10_000, 'at once');
  assert.match(
    second.stdout,
    new RegExp(
      `^sync: STATE_LOCKED: the job is already running: pid ${String(p.child.pid)} on .*\nsyncx daily ended with exit code 4\n$`,
    ),
  );
  p.child.kill('SIGTERM');
  assert.equal((await p.done).code, 143);

  writeFileSync(ws.path('daily.json'), '{}');
  assert.match(cron().stdout, /^sync: JOB_INVALID: .*\nsyncx daily ended with exit code 2\n$/);
});

/** The ExecStart line, as systemd runs it: no shell, the main process gets the signal. */
function execStart(ws: Workspace, here: (line: string) => string, name: string): ChildProcess {
  const [line = ''] = unitKeys('syncx@.service').get('[Service] ExecStart') ?? [];
  const [program = '', ...args] = here(line).replaceAll('%i', name).split(' ');
  const env = { PATH: `${ws.path('bin')}:/usr/bin:/bin`, SYNC_STATE_DIR: ws.path('state') };
  const child = spawn(program, args, { cwd: ws.dir, env, stdio: 'ignore' });
  endsWithTest(child);
  return child;
}

const exitOf = (c: ChildProcess): Promise<number | null> => new Promise((done) => c.once('exit', done));

test('systemd: a stop is a clean checkpoint whose exit code counts as success; what a restart cannot mend is not restarted', async () => {
  using ws = new Workspace();
  const here = installed(ws);
  const service = unitKeys('syncx@.service');
  const words = (key: string): readonly string[] => (service.get(key) ?? []).flatMap((v) => v.split(' '));
  assert.deepEqual(words('[Service] SuccessExitStatus'), ['130', '143']);
  assert.deepEqual(words('[Service] RestartPreventExitStatus'), ['2', '3', '4']);
  assert.deepEqual(words('[Service] Restart'), ['on-failure']);
  assert.deepEqual(words('[Service] KillSignal'), ['SIGTERM']);
  assert.ok(Number(words('[Service] TimeoutStopSec')[0]) > 10, 'longer than a stop looks for a safe point');
  assert.deepEqual(words('[Service] EnvironmentFile'), ['-/etc/syncx/%i.env']);
  assert.deepEqual(words('[Service] Environment'), ['SYNC_STATE_DIR=/var/lib/syncx']);

  job(ws, 'live.json', entry('out'));
  const child = execStart(ws, here, 'live');
  const exit = exitOf(child);
  await checkpointed(ws);
  child.kill('SIGTERM');
  assert.equal(await exit, 143);
  assert.deepEqual(
    (await statusOf(ws)).map((s) => s.state),
    ['stopped'],
  );
  writeFileSync(ws.path('bad.json'), '{}');
  assert.equal(await exitOf(execStart(ws, here, 'bad')), 2);
});

test('systemd: the timer starts the service by the clock', () => {
  const timer = unitKeys('syncx@.timer');
  assert.deepEqual(timer.get('[Timer] OnCalendar'), ['*-*-* 02:15:00']);
  assert.deepEqual(timer.get('[Timer] Persistent'), ['true']);
  assert.deepEqual(timer.get('[Install] WantedBy'), ['timers.target']);
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
test('systemd: systemd-analyze finds nothing wrong', { skip: !analyze && 'there is no systemd-analyze' }, () => {
  using ws = new Workspace();
  const here = installed(ws);
  for (const unit of ['service', 'timer']) ws.write(`syncx@demo.${unit}`, here(sample(`syncx@.${unit}`)));
  const units = [ws.path('syncx@demo.service'), ws.path('syncx@demo.timer')];
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${dirname(units[0] ?? '')}:` };
  const r = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8', env });
  assert.deepEqual([r.stderr + r.stdout, r.status], ['', 0]);
  const calendar = spawnSync('systemd-analyze', [
    'calendar',
    unitKeys('syncx@.timer').get('[Timer] OnCalendar')?.[0] ?? '',
  ]);
  assert.equal(calendar.status, 0);
});
