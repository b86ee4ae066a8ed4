/** The server itself is killed -9: with prepared branches on it, and under a job that is at work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertKilled, run } from '../support/crash.js';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import { roundsOf } from '../support/lane-job.js';
import { assertMysqlExact, branchesOf, KEYLESS, mysqlJob } from '../support/mysql-jobs.js';
import { ownServer, type OwnServer } from '../support/own-server.js';
import { testServer } from '../support/services.js';
import { isStopped, startSync, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const skip =
  testServer('mariadb') === null ? 'no server: SYNC_MARIADB_URL is not set; see install/services/README.md' : false;
const SPLITS = roundsOf(6, 2, 100);

/** On the server that was killed and is there again. */
async function again(db: OwnDatabase): Promise<OwnDatabase> {
  return { ...db, ...(await openSession(db.url)) };
}

async function killAndStart(server: OwnServer): Promise<void> {
  await server.kill9();
  await server.start();
}

test('C19 xa: the server is killed with prepared branches, and has them when it is back', { skip }, async () => {
  using ws = new Workspace();
  await using server = await ownServer('mariadb');
  const db = await ownDatabase(server.url);
  await db.query(KEYLESS);
  const writer = { commitProtocol: 'xa' };
  const j = mysqlJob(ws, db, { splits: SPLITS, writer });
  assertKilled(await run(ws, j, 'ckpt.after#3'), 'ckpt.after#3');
  assert.equal((await branchesOf(j)).length, 2);
  await db.close();
  await killAndStart(server);
  const after = { ...j, db: await again(db) };
  assert.equal((await branchesOf(after)).length, 2);
  await assertMysqlExact(after, await run(ws, j), 'the next start');
  await after.db.close();
});

for (const protocol of ['marker', 'xa']) {
  test(`${protocol}: the server is killed and started again under a job`, { skip }, async (t) => {
    for (const point of ['write.after#4', 'prepare.after#4', 'ckpt.after#2', 'commit.data#4']) {
      await t.test(point, async () => {
        using ws = new Workspace();
        await using server = await ownServer('mariadb');
        const db = await ownDatabase(server.url);
        await db.query(KEYLESS);
        const restart = { strategy: 'fixed-delay', attempts: 3, delay: 100 };
        const j = mysqlJob(ws, db, { splits: SPLITS, writer: { commitProtocol: protocol }, restart });
        await db.close();
        const args = ['run', j.job, '--output', 'json'];
        const job = startSync(args, { cwd: ws.dir, failpoint: `${point}=stop` });
        const pid = job.child.pid ?? 0;
        await until(`it stops at ${point}`, () => isStopped(pid) || job.child.exitCode !== null);
        await server.kill9();
        // Before the server is back: what a stopped process does not read keeps the port taken.
        process.kill(pid, 'SIGCONT');
        await server.start();
        const after = { ...j, db: await again(db) };
        await assertMysqlExact(after, await job.done, point);
        await after.db.close();
      });
    }
  });
}
