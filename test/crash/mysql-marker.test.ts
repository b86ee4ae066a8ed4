/** C19 by the marker protocol: kill -9 around the two commits, two channels, a target without a key. */
import { assertKilled, atOnce, run } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { roundsOf } from '../support/lane-job.js';
import { assertMysqlExact, KEYLESS, mysqlJob, type MysqlJob } from '../support/mysql-jobs.js';
import { MYSQL_SERVERS, serverTest } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

/** A round is an epoch: 500 rows, 250 a lane. */
const SPLITS = roundsOf(20, 2, 250);

/** Each is one or more starts that are killed, before the one that ends. */
const SEQUENCES: readonly (readonly string[])[] = [
  ['begin.before'],
  ['begin.after'],
  ['lanes.opened'],
  ['write.after#3'],
  ['mysql.marker@1#2'],
  ['mysql.prepared@0#3'], // (a) and one lane has not prepared
  ['prepare.after#6'], // (a)
  ['ckpt.before#3'],
  ['ckpt.after#3'], // (b)
  ['mysql.committing@1#3'], // (b) and the other lane may have committed
  ['mysql.committed@0#3'], // (c)
  ['commit.data#5'],
  ['outcome.before#3'], // (c)
  ['outcome.after#3'],
  ['ckpt.after#3', 'mysql.fenced'], // (d)
  ['ckpt.after#3', 'mysql.recovered#2'],
  ['mysql.committed@1#3', 'mysql.recovered'],
  ['outcome.before#3', 'recover.outcome'],
  ['ckpt.after#3', 'takeover.before'],
  ['ckpt.after#3', 'sweep.after'],
  ['ckpt.after#3', 'ckpt.after'], // (e)
  ['ckpt.after#3', 'ckpt.after', 'mysql.committed', 'mysql.recovered', 'ckpt.after#2'],
  ['complete.before'],
  ['complete.after'],
];

async function c19(j: MysqlJob, sequence: readonly string[]): Promise<void> {
  for (const point of sequence) assertKilled(await run(j.ws, j, point), point);
  await assertMysqlExact(j, await run(j.ws, j), sequence.join(', '));
}

serverTest(MYSQL_SERVERS, 'C19 marker: killed around the two commits', async (server, t) => {
  await atOnce(2, SEQUENCES, async (sequence) => {
    await t.test(sequence.join(' then '), async () => {
      using ws = new Workspace();
      await using db = await ownDatabase(server.url);
      await db.query(KEYLESS);
      await c19(mysqlJob(ws, db, { splits: SPLITS }), sequence);
    });
  });
});
