import assert from 'node:assert/strict';
import { readSplits } from 'syncx/plugin-testkit';
import { drain, openReader } from './plan-support.js';
import { SERVERS, onServers } from './servers.js';

onServers(SERVERS, 'splits of every strategy are read to the same rows', async (db) => {
  const rows = Array.from(
    { length: 50 },
    (_, i) => `(${i % 7 === 0 ? 'null' : String(i - 20)}, 'k${String(i)}', ${String(i)})`,
  );
  await db.run(
    'create table t (n int, k varchar(9) primary key, v int, key (n))',
    `insert into t values ${rows.join(',')}`,
  );
  const all = Array.from({ length: 50 }, (_, i) => String(i)).sort();
  for (const options of [
    {},
    { splitPk: 'n' },
    { splitPk: 'n', splitStrategy: 'even' },
    { splitPk: 'n', splitStrategy: 'keyset' },
    { splitPk: 'k' },
    { consistent: true, splitPk: 'v' },
  ]) {
    await using r = await openReader(db, 't', { column: ['V'], splitSize: 400, ...options });
    const splits = await drain(await r.reader.planner(null, 3));
    assert.ok(splits.length > 2);
    const shared = r.reader.shared?.() ?? null;
    const logs = await readSplits(
      r.reader,
      splits.map((split) => ({ split, from: null })),
      { shared },
    );
    const read = [...logs.values()].flatMap((l) =>
      l.rows.map((row) => (JSON.parse(row) as [number, string, [[string, string]]])[2][0][1]),
    );
    assert.deepEqual(read.sort(), all, JSON.stringify(options));
  }
});
