/** Canary secrets in every place of a job: nothing that a run prints or leaves behind has them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tree, Workspace } from '../support/workspace.js';
import { sync, type SyncResult } from '../support/sync.js';

const CANARIES = {
  password: 'canary-password-"\\é',
  url: 'canary url/pass',
  parameter: 'canary-parameter',
  jaas: 'canary-jaas',
  token: 'canary-token',
  environment: 'canary-environment',
  file: 'canary-file',
} as const;
/** How they may look: as they are, in JSON, in a URL. Short enough to be found in all of them. */
const MARK = /canary/i;

function secrets(): Readonly<Record<string, unknown>> {
  return {
    url: `jdbc:mysql://root:${encodeURIComponent(CANARIES.url)}@db:3306/shop?user=u&password=${CANARIES.parameter}&useSSL=false`,
    properties: {
      'sasl.jaas.config': `org.example.Login required username="u" password="${CANARIES.jaas}";`,
      'auth.token': CANARIES.token,
      'client.id': 'shown',
    },
  };
}

interface Variation {
  readonly reader?: object;
  readonly writer?: object;
  readonly setting?: object;
  readonly password?: string;
}

function jobOf(ws: Workspace, v: Variation): string {
  ws.write('secret', `${CANARIES.file}\n`);
  return ws.job({
    job: {
      content: [
        {
          reader: {
            name: 'scripted',
            parameter: {
              splits: [
                { id: 'a', rows: 30 },
                { id: 'b', rows: 5 },
              ],
              password: CANARIES.password,
              leak: true,
              ...secrets(),
              ...v.reader,
            },
          },
          writer: {
            name: 'scripted',
            parameter: {
              path: 'target',
              password: v.password ?? '${env:CANARY}',
              leak: true,
              ...secrets(),
              ...v.writer,
            },
          },
        },
      ],
      setting: { checkpoint: { interval: 20 }, errorLimit: { record: 100 }, ...v.setting },
    },
  });
}

/** @returns how many files there were to look at. */
function assertNone(ws: Workspace, job: string, ...runs: readonly SyncResult[]): number {
  for (const r of runs) {
    assert.doesNotMatch(r.stdout, MARK);
    assert.doesNotMatch(r.stderr, MARK);
  }
  let files = 0;
  for (const name of tree(ws.dir)) {
    assert.doesNotMatch(name, MARK);
    if (name.endsWith('/') || join(ws.dir, name) === job || name === 'secret') continue;
    files++;
    assert.doesNotMatch(readFileSync(join(ws.dir, name), 'latin1'), MARK, name);
  }
  return files;
}

const DIRTY = {
  events: [
    { split: 'a', at: 7, do: 'dirty' },
    { split: 'b', at: 2, do: 'dirty' },
  ],
};
const FAIL = { folder: 'events', events: [{ split: 'a', at: 20, do: 'fail' }] };

for (const [what, variation, code] of [
  ['a clean run', {}, 0],
  ['dirty rows', { reader: DIRTY, writer: { reject: ['a:3'] } }, 0],
  ['dirty rows in worker lanes', { reader: DIRTY, setting: { speed: { channel: 2 } } }, 0],
  ['too many dirty rows', { reader: DIRTY, setting: { errorLimit: { record: 1 } } }, 3],
  ['a failing reader', { reader: FAIL }, 1],
  ['a failing reader in worker lanes', { reader: FAIL, setting: { speed: { channel: 2 } } }, 1],
  [
    'a failing reader that is restarted',
    { reader: FAIL, setting: { restart: { strategy: 'fixed-delay', delay: 1 } } },
    0,
  ],
  ['a failing commit', { writer: { failOn: [{ step: 'commit' }] } }, 1],
  ['a failing begin', { writer: { failOn: [{ step: 'begin' }] } }, 1],
  ['a password of a file', { password: '${file:secret}', writer: { failOn: [{ step: 'write' }] } }, 1],
  ['a throw that nobody awaits', { writer: { failOn: [{ step: 'write', how: 'throw-async' }] } }, 1],
  ['a job that does not validate', { reader: { batchRows: 0, nonsense: 1 } }, 2],
] as const) {
  test(`${what}: no secret anywhere`, async () => {
    using ws = new Workspace();
    const job = jobOf(ws, variation);
    const env = { CANARY: CANARIES.environment };
    const all = [];
    for (const args of [
      ['--output', 'json', '--log-level', 'debug'],
      ['--log-format', 'pretty'],
    ]) {
      all.push(await sync(['run', job, ...args], { cwd: ws.dir, env }));
    }
    assert.equal(all[0]?.code, code, all[0]?.stderr);
    for (const command of ['validate', 'plan']) {
      all.push(await sync([command, job, '--output', 'json'], { cwd: ws.dir, env }));
      all.push(await sync([command, job], { cwd: ws.dir, env }));
    }
    all.push(await sync(['status'], { cwd: ws.dir, env }));
    for (const args of [
      ['state', 'list'],
      ...(code === 2
        ? []
        : [
            ['state', 'show', job],
            ['state', 'reset', job],
          ]),
    ]) {
      all.push(await sync(args, { cwd: ws.dir, env }));
    }
    const files = assertNone(ws, job, ...all);
    if (code === 2) return;
    assert.ok(files > 0);
    // It was told, and kept back: else nothing is proved.
    assert.match(all[0]?.stderr ?? '', /connecting \(\{.*\*\*\*/);
    assert.match(all[0]?.stderr ?? '', /client\.id/);
  });
}

test('killed: what is on the disk has no secret, and a URL keeps what is not one', async () => {
  using ws = new Workspace();
  const job = jobOf(ws, {});
  const env = { CANARY: CANARIES.environment };
  const killed = await sync(['run', job], { cwd: ws.dir, env, failpoint: 'ckpt.after' });
  assert.equal(killed.signal, 'SIGKILL');
  assertNone(ws, job, killed);
  const shown = await sync(['state', 'show', job], { cwd: ws.dir, env });
  assert.match(shown.stdout, /"jdbc:mysql:\/\/root:\*\*\*@db:3306\/shop\?user=u&password=\*\*\*&useSSL=false"/);
  assert.match(shown.stdout, /"client\.id": "shown"/);
  // A new password goes on with the run: secrets are not what the job is about.
  const other = await sync(['run', job, '--output', 'json'], { cwd: ws.dir, env: { CANARY: 'canary-other' } });
  assert.equal(other.code, 0, other.stderr);
  assert.equal(other.summary?.['resumed'], true);
});
