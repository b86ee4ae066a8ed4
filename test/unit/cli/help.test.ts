import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { wantsColour } from '../../../src/cli/colour.js';
import { COMMANDS } from '../../../src/cli/commands.js';
import { EXAMPLES } from '../../../src/cli/examples.js';
import { ROOT, SYNC, sync } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';
import { assertGolden } from './golden.js';

const ESC = '\u001b';

test('sync --help', async () => {
  const r = await sync(['--help'], { cwd: ROOT });
  assert.equal(r.code, 0);
  assertGolden('help.txt', r.stdout);
});

for (const c of COMMANDS) {
  test(`sync ${c.name} --help ends in examples of it, and the exit codes`, async () => {
    const examples = EXAMPLES[c.name] ?? [];
    assert.ok(examples.length > 0, `src/cli/examples.ts has none of ${c.name}`);
    const r = await sync([...c.name.split(' '), '--help'], { cwd: ROOT });
    const tail = r.stdout.split('\nExamples:\n')[1]?.replace(/\s+/g, ' ') ?? '';
    for (const [line] of examples) {
      assert.ok(line.includes(`sync ${c.name}`), line);
      const first = line.split(' ').slice(0, 3).join(' ');
      assert.ok(tail.includes(first), `${first} is not in ${tail}`);
    }
    assert.match(r.stdout, /Exit codes: 0 done, 1 failed/);
  });
}

test('every example parses: its options are those of its command', async () => {
  using ws = new Workspace();
  for (const [name, lines] of Object.entries(EXAMPLES)) {
    if (!COMMANDS.some((c) => c.name === name)) continue;
    for (const [line] of lines) {
      const words = /(?:^|\()sync ([^)>]*)/.exec(line)?.[1]?.trim().split(/\s+/) ?? [];
      const r = await sync(words, { cwd: ws.dir });
      assert.doesNotMatch(r.stderr, /Unknown argument|Invalid values|no command/, line);
    }
  }
});

describe('colours', () => {
  const tty = { isTTY: true };
  const file = {};
  for (const [env, onTerminal, elsewhere] of [
    [{}, true, false],
    [{ NO_COLOR: '1' }, false, false],
    [{ NO_COLOR: '' }, true, false],
    [{ FORCE_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '0' }, false, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, false, false],
    [{ TERM: 'dumb' }, false, false],
  ] as const) {
    test(JSON.stringify(env), () => {
      assert.equal(wantsColour(tty, env), onTerminal);
      assert.equal(wantsColour(file, env), elsewhere);
    });
  }

  test('nothing but the log of a run is coloured, and that only when asked for in a pipe', async () => {
    using ws = new Workspace();
    const job = ws.job({
      job: {
        content: [
          {
            reader: { name: 'stream', parameter: { column: [{ name: 'id', type: 'id' }], sliceRecordCount: 1 } },
            writer: { name: 'stream', parameter: { print: false } },
          },
        ],
      },
    });
    const run = (env: Readonly<Record<string, string>>) =>
      sync(['run', job, '--log-format', 'pretty'], { cwd: ws.dir, env });
    const [plain, forced, never] = [
      await run({ NO_COLOR: '', FORCE_COLOR: '' }),
      await run({ NO_COLOR: '', FORCE_COLOR: '1' }),
      await run({ NO_COLOR: '1', FORCE_COLOR: '1' }),
    ];
    assert.ok(forced.stderr.includes(ESC) && !forced.stdout.includes(ESC));
    assert.ok(!plain.stderr.includes(ESC) && !never.stderr.includes(ESC), plain.stderr + never.stderr);
    for (const args of [['--help'], ['plan', job], ['status'], ['state', 'list']]) {
      const r = await sync(args, { cwd: ws.dir, env: { FORCE_COLOR: '1' } });
      assert.ok(!r.stdout.includes(ESC), args.join(' '));
    }
  });
});

describe('completion', () => {
  /** What bash offers for these words, the last of which is under the cursor. */
  function offered(cwd: string, script: string, ...words: readonly string[]): readonly string[] {
    const quoted = words.map((w) => `'${w}'`).join(' ');
    const ask = `COMP_WORDS=(sync ${quoted}); COMP_CWORD=${String(words.length)}; _sync_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const r = spawnSync('bash', ['-c', `${script}\n${ask}`], { cwd, encoding: 'utf8' });
    assert.equal(r.stderr, '');
    return r.stdout.split('\n').filter((l) => l !== '');
  }

  test('bash', { skip: !existsSync('/bin/bash') && !existsSync('/usr/bin/bash') }, async () => {
    using ws = new Workspace();
    ws.write('my job.json', '{}');
    ws.write('other.txt', '');
    mkdirSync(ws.path('jobs'));
    const { stdout: script } = await sync(['completion', 'bash'], { cwd: ws.dir });
    assert.deepEqual(offered(ws.dir, script, 'sta'), ['status', 'state']);
    assert.deepEqual(offered(ws.dir, script, 'state', 're'), ['resolve', 'reset']);
    assert.deepEqual(offered(ws.dir, script, 'run', '--f'), ['--fresh']);
    assert.deepEqual(offered(ws.dir, script, 'run', '--output', ''), ['text', 'json']);
    assert.deepEqual(offered(ws.dir, script, 'run', 'my'), ['my job.json']);
    assert.deepEqual([...offered(ws.dir, script, 'plan', '')].sort(), ['jobs', 'my job.json', 'other.txt']);
    assert.deepEqual(offered(ws.dir, script, 'state', 'resolve', 'x', '--as', ''), ['committed', 'lost']);
    assert.deepEqual(offered(ws.dir, script, 'completion', ''), ['bash', 'zsh', 'fish']);
    const all = offered(ws.dir, script, '');
    for (const c of COMMANDS) assert.ok(all.includes(c.name.split(' ')[0] ?? ''), c.name);
    const registered = spawnSync('bash', ['-c', `${script}\ncomplete -p sync syncx`], { encoding: 'utf8' });
    assert.match(registered.stdout, /-F _sync_complete sync\n.*-F _sync_complete syncx\n/);
  });

  for (const shell of ['zsh', 'fish'] as const) {
    const there = spawnSync(shell, ['--version']).status === 0;
    test(`${shell} names every command and option`, async () => {
      using ws = new Workspace();
      const { stdout } = await sync(['completion', shell], { cwd: ws.dir });
      for (const c of COMMANDS) for (const w of c.name.split(' ')) assert.ok(stdout.includes(w), w);
      for (const flag of ['fresh', 'dry-run', 'savepoint', 'timeout', 'log-level'])
        assert.ok(stdout.includes(flag), flag);
    });
    test(`${shell} takes the script`, { skip: !there && `${shell} is not installed` }, async () => {
      using ws = new Workspace();
      const { stdout } = await sync(['completion', shell], { cwd: ws.dir });
      const r = spawnSync(shell, ['-n', ws.write('script', stdout)], { encoding: 'utf8' });
      assert.equal(r.status, 0, r.stderr);
    });
  }

  test('an unknown shell is a usage error', () => {
    const r = spawnSync(process.execPath, [SYNC, 'completion', 'tcsh'], { encoding: 'utf8' });
    assert.equal(r.status, 2);
    assert.match(r.stderr, /^sync: USAGE: Invalid values:/);
  });
});
