/** Standard streams that are closed, or nobody's: loud, where rows would go there or come from there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { test } from 'node:test';
import { SYNC } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

interface Ended {
  readonly code: number | null;
  /** The last line of stderr. */
  readonly said: string;
}

/** Runs bin/sync itself, as a shell does; `redirect` in words of the shell. */
function runIn(ws: Workspace, reader: string, writer: object, redirect: string): Ended {
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'filereader', parameter: { path: reader } },
          writer: { name: 'path' in writer ? 'filewriter' : 'streamwriter', parameter: writer },
        },
      ],
    },
  });
  const r = spawnSync('bash', ['-c', `set -o pipefail; "$0" run "$1" --fresh ${redirect}`, SYNC, job], {
    cwd: ws.dir,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      SYNC_STATE_DIR: ws.path('state'),
    },
  });
  return { code: r.status, said: r.stderr.trimEnd().split('\n').at(-1) ?? '' };
}

const PRINT = { print: true };
const STDOUT = { path: '-' };

test('rows for a standard output that is closed, full or left by its reader end the job with exit 1', () => {
  using ws = new Workspace();
  ws.write('in/a.csv', '1,a\n'.repeat(100_000));
  for (const [writer, redirect, said] of [
    [STDOUT, '>&-', /^sync: SINK_IO: .*standard output: it is closed/],
    [PRINT, '>&-', /^sync: SINK_IO: .*stdout is closed/],
    [STDOUT, '>/dev/full', /^sync: SINK_FULL: /],
    [PRINT, '>/dev/full', /^sync: SINK_FULL: /],
    [STDOUT, '| head -n 1', /^sync: SINK_IO: .*EPIPE/],
    [PRINT, '| head -n 1', /^sync: SINK_IO: .*EPIPE/],
  ] as const) {
    const r = runIn(ws, 'in', writer, redirect);
    assert.match(r.said, said, redirect);
    assert.equal(r.code, 1, redirect);
  }
});

test('rows from a standard input that is closed or a folder end the job with exit 1', () => {
  using ws = new Workspace();
  for (const [redirect, said] of [
    ['<&-', /^sync: SOURCE_IO: cannot read standard input: it is closed/],
    ['<.', /^sync: SOURCE_IO: standard input is a folder/],
  ] as const) {
    const r = runIn(ws, '-', { print: false }, redirect);
    assert.match(r.said, said, redirect);
    assert.equal(r.code, 1, redirect);
  }
});

test('/dev/null that was asked for is taken for what it is, and streams that no row uses may be closed', () => {
  using ws = new Workspace();
  ws.write('in/a.csv', '1,a\n');
  for (const [reader, writer, redirect] of [
    ['in', STDOUT, '>/dev/null'],
    ['in', PRINT, '>>/dev/null'],
    ['in', PRINT, '1<>/dev/null'],
    ['-', PRINT, '</dev/null'],
    ['-', PRINT, '0<>/dev/null'],
    ['in', { path: 'out' }, '<&- >&-'],
  ] as const) {
    assert.equal(runIn(ws, reader, writer, redirect).code, 0, redirect);
  }
});
