/** C19: kill -9 around the two commits of the MySQL writer, two channels, a target without a key. */
import assert from 'node:assert/strict';
import { assertKilled, atOnce, run, zombieAt } from '../support/crash.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { roundsOf } from '../support/lane-job.js';
import { assertMysqlExact, branchesOf, KEYLESS, mysqlJob, type MysqlJob } from '../support/mysql-jobs.js';
import { lateCommits } from '../support/mysql-network.js';
import { MYSQL_SERVERS, serverTest, type ServerKind, type TestServer } from '../support/services.js';
import { startSync, until } from '../support/sync.js';
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
  ['mysql.prepared@0#3'], // (a), and the other lane may have prepared or not
  ['prepare.after#6'], // (a)
  ['ckpt.before#3'], // (a)
  ['ckpt.after#3'], // (b)
  ['mysql.committing@1#3'], // (b), and the other lane may have committed or not
  ['mysql.committed@0#3'], // (c)
  ['commit.data#5'], // (c)
  ['outcome.before#3'], // (c)
  ['outcome.after#3'],
  ['ckpt.after#3', 'mysql.fenced'], // (d)
  ['ckpt.after#3', 'mysql.recovered#2'], // (d)
  ['mysql.committed@1#3', 'mysql.recovered'], // (d)
  ['outcome.before#3', 'recover.outcome'],
  ['ckpt.after#3', 'takeover.before'],
  ['ckpt.after#3', 'sweep.after'],
  ['ckpt.after#3', 'ckpt.after'], // (e)
  ['ckpt.after#3', 'ckpt.after', 'mysql.committed', 'mysql.recovered', 'ckpt.after#2'],
  ['complete.before'],
  ['complete.after'],
];

const PROTOCOLS = [
  { protocol: 'marker', kinds: MYSQL_SERVERS },
  { protocol: 'xa', kinds: ['mariadb'] },
] as const satisfies readonly { protocol: string; kinds: readonly ServerKind[] }[];

async function withJob(
  server: TestServer,
  writer: Readonly<Record<string, unknown>>,
  body: (j: MysqlJob, db: OwnDatabase) => Promise<void>,
): Promise<void> {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  await db.query(KEYLESS);
  const j = mysqlJob(ws, db, { splits: SPLITS, writer });
  try {
    await body(j, db);
  } finally {
    for (const xid of await branchesOf(j)) await db.query(`xa rollback '${xid}'`).catch(() => undefined);
  }
}

for (const { protocol, kinds } of PROTOCOLS) {
  const writer = { commitProtocol: protocol };

  serverTest(kinds, `C19 ${protocol}: killed around the two commits`, async (server, t) => {
    await atOnce(2, SEQUENCES, async (sequence) => {
      await t.test(sequence.join(' then '), async () => {
        await withJob(server, writer, async (j) => {
          for (const point of sequence) assertKilled(await run(j.ws, j, point), point);
          await assertMysqlExact(j, await run(j.ws, j), sequence.join(', '));
        });
      });
    });
  });

  serverTest(kinds, `C19 ${protocol}: a zombie that wakes when the next start has finished`, async (server, t) => {
    const points = [
      'write.after#9',
      'mysql.marker@0#3',
      'prepare.after#5',
      'ckpt.before#3',
      'ckpt.after#3',
      'mysql.committed@1#3',
    ];
    await atOnce(2, points, async (point) => {
      await t.test(point, async () => {
        await withJob(server, writer, async (j) => {
          await zombieAt(j.ws, j, point, async () => {
            await assertMysqlExact(j, await run(j.ws, j), point);
          });
          const [count] = await j.db.query('select count(*), count(distinct id) from t');
          assert.deepEqual(count, ['10000', '10000'], 'after it woke');
          assert.deepEqual(await branchesOf(j), []);
        });
      });
    });
  });
}

/** The client dies when it has just sent COMMIT; the server sees it later, with the next start at work. */
serverTest(
  MYSQL_SERVERS,
  'C19 marker: killed in the middle of COMMIT, and the server finishes late',
  async (server, t) => {
    for (const [name, holdMs, ended] of [
      ['before the fence ends the connection', 800, 0],
      ['never, as the fence ends the connection', null, 1],
    ] as const) {
      await t.test(name, async () => {
        await withJob(server, {}, async (j, db) => {
          await using net = await lateCommits(db.url, 5, holdMs);
          const through = mysqlJob(j.ws, { ...db, url: net.url }, { splits: SPLITS });
          const first = startSync(['run', through.job, '--output', 'json'], { cwd: j.ws.dir });
          await until('a COMMIT is on its way', () => net.held || first.child.exitCode !== null);
          first.child.kill('SIGKILL');
          const killed = await first.done;
          assert.equal(killed.signal, 'SIGKILL', JSON.stringify(killed));
          const r = await run(j.ws, through);
          await assertMysqlExact(j, r, name);
          assert.equal(r.stderr.split('its connection was ended').length - 1, ended);
        });
      });
    }
  },
);

serverTest('mysql55', 'xa is refused where prepared branches do not outlive their connection', async (server) => {
  await withJob(server, { commitProtocol: 'xa' }, async (j) => {
    const r = await run(j.ws, j);
    assert.equal(r.code, 2, r.stderr);
    assert.equal(r.summary?.error?.code, 'JOB_INVALID');
    assert.match(r.summary.error.message, /rolls back prepared transactions when their connection ends/);
    assert.deepEqual(await j.db.query('select count(*) from t'), [['0']]);
  });
});
