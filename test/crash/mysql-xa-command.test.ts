/** `sync xa`: what a killed job has prepared is listed, rolled back, and written again by the run that goes on. */
import assert from 'node:assert/strict';
import { assertKilled, run } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { roundsOf } from '../support/lane-job.js';
import { assertMysqlExact, branchesOf, KEYLESS, mysqlJob } from '../support/mysql-jobs.js';
import { serverTest } from '../support/services.js';
import { sync } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

interface Listed {
  readonly id: string;
  readonly runId: string;
  readonly attempt: number;
  readonly lane: number;
}

serverTest('mariadb', 'sync xa list and rollback', async (server) => {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  await db.query(KEYLESS);
  const j = mysqlJob(ws, db, { splits: roundsOf(4, 2, 20), writer: { commitProtocol: 'xa' } });
  assertKilled(await run(ws, j, 'ckpt.after#2'), 'ckpt.after#2');
  const xa = (...args: readonly string[]) => sync(['xa', ...args], { cwd: ws.dir });
  const mine = await branchesOf(j);
  assert.equal(mine.length, 2);

  const listed = await xa('list', j.job, '--output', 'json');
  assert.equal(listed.code, 0, listed.stderr);
  const branches = (JSON.parse(listed.stdout) as Listed[]).filter((b) => mine.includes(b.id));
  assert.deepEqual(branches.map((b) => [b.attempt, b.lane]).sort(), [
    [1, 0],
    [1, 1],
  ]);
  const [first, second] = branches;
  assert.ok(first && second);
  assert.match((await xa('list', j.job)).stdout, new RegExp(`${first.id} +${first.runId} +1 +${String(first.lane)}\n`));

  const one = await xa('rollback', j.job, first.id, 'syncx-nothing-1-0-1');
  assert.equal(one.code, 1);
  assert.equal(one.stdout, `${first.id}  rolled back\nsyncx-nothing-1-0-1  not there, or its connection still lives\n`);
  assert.deepEqual(await branchesOf(j), [second.id]);
  const rest = await xa('rollback', j.job, '--run', first.runId);
  assert.deepEqual([rest.code, rest.stdout], [0, `${second.id}  rolled back\n`]);
  assert.equal((await xa('rollback', j.job)).code, 2);

  await assertMysqlExact(j, await run(ws, j), 'the run writes them again');
});

serverTest('mariadb', 'sync xa on a target without prepared transactions', async () => {
  using ws = new Workspace();
  const job = ws.job({
    job: {
      content: [
        {
          reader: { name: 'stream', parameter: { column: [{ name: 'id', type: 'int' }], sliceRecordCount: [1] } },
          writer: { name: 'stream', parameter: {} },
        },
      ],
    },
  });
  const r = await sync(['xa', 'list', job], { cwd: ws.dir });
  assert.equal(r.code, 2);
  assert.match(r.stderr, /USAGE: the target of stream keeps no prepared transactions/);
});
