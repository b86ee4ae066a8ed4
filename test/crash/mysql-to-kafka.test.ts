/** A table into a topic, exactly once, killed with -9 inside of splits and around the commit. */
import assert from 'node:assert/strict';
import { atOnce } from '../support/crash.js';
import { ownDatabase } from '../support/databases.js';
import { kafkaTest } from '../support/kafka.js';
import { assertDone, mysqlReader } from '../support/mysql-job.js';
import { isInsideSplit, makeSource, runKilled, slow, type SourceTable } from '../support/mysql-source.js';
import { testServer } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const TABLE: SourceTable = {
  columns: { id: 'bigint', v: 'varchar(80)' },
  keys: 'primary key (id)',
  rows: 1000,
  row: (n) => [String((n - 300) * 7), n % 11 === 0 ? null : `é "${String(n)}"`],
};
/** Jobs that mostly wait, for the rate limit. */
const AT_ONCE = 4;

const KILLS: readonly (readonly string[])[] = [
  ['write.after#3', 'kafka.prepared#2', 'ckpt.after#2', 'kafka.recovered', 'kafka.committed#2', 'outcome.before'],
  ['kafka.marker', 'ckpt.before#2', 'kafka.committing', 'kafka.committing', 'sweep.after', 'kafka.begun'],
];
const CASES = KILLS.flatMap((kills) => [1, 2].map((channel) => ({ kills, channel })));

kafkaTest('a table into a topic: killed at any step, each row is there once', async (kafka, t) => {
  const server = testServer('mariadb');
  if (server === null) {
    t.skip('no server: SYNC_MARIADB_URL is not set');
    return;
  }
  await using db = await ownDatabase(server.url);
  await makeSource(db, TABLE);
  await atOnce(AT_ONCE, CASES, async ({ kills, channel }) => {
    await t.test(`${String(channel)} lanes: ${kills.join(', ')}`, async () => {
      await using topic = await kafka.topic({ partitions: 3 });
      using ws = new Workspace();
      const parameter = { brokers: kafka.brokers, topic: topic.name, keyColumns: ['id'], semantic: 'exactly-once' };
      const reader = mysqlReader(db, 's', { splitSize: 10_000 });
      let inside = 0;
      const r = await runKilled({
        ws,
        job: { reader, writer: { name: 'kafkawriter', parameter }, setting: slow(channel, 20) },
        kills,
        between: () => {
          if (isInsideSplit(ws)) inside++;
          return Promise.resolve();
        },
      });
      assertDone(r, [TABLE.rows, TABLE.rows]);
      assert.equal(r.summary?.delivery, 'exactly-once');
      assert.ok(inside > 0, 'no kill was inside of a split');
      const committed = await topic.read();
      const rows = committed.records.map((x) => {
        const { id, v } = JSON.parse(x.value?.toString() ?? '') as { id: number; v: string | null };
        assert.equal(x.key?.toString(), String(id));
        return { id, v };
      });
      const want = Array.from({ length: TABLE.rows }, (_, i) => TABLE.row(i + 1)).map(([id, v]) => ({
        id: Number(id),
        v,
      }));
      assert.deepEqual(
        rows.sort((a, b) => a.id - b.id),
        want,
      );
      const all = await topic.read({ isolation: 'read_uncommitted' });
      assert.deepEqual(committed.ends, all.ends, 'a transaction is still open');
    });
  });
});
