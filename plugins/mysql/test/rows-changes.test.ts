/** Rows with operations: by key, in order. */
import assert from 'node:assert/strict';
import { isSyncError, type RowOp } from 'syncx/plugin-api';
import { batchOf, column, table, writeAll, type Value } from './rows-support.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

const COLUMNS = [column('id', 'int'), column('k', 'string'), column('v', 'int')];
const I: RowOp = 0;
const B: RowOp = 1;
const A: RowOp = 2;
const D: RowOp = 3;

type Change = readonly [RowOp, ...Value[]];

const changes = (...rows: readonly Change[]) =>
  batchOf(
    COLUMNS,
    rows.map(([, ...cells]) => cells),
    rows.map(([op]) => op),
  );

const CREATE = 'create table t (id int primary key, k varchar(10), v int default 77) engine=InnoDB';
const rowsOf = (db: TestDatabase) => table(db, 'select * from t order by id');

onServers(SERVERS, 'changes of the same key keep their order', async (db) => {
  await db.run(CREATE, `insert into t values (1,'a',1),(2,'b',2),(3,'c',3)`);
  const batch = changes(
    [B, '1', 'a', '1'],
    [A, '1', 'a', '10'],
    [D, '2', 'b', '2'],
    [I, '2', 'new', '20'],
    [B, '2', 'new', '20'],
    [A, '2', 'new', '21'],
    [D, '3', 'c', '3'],
    [I, '4', 'd', '4'],
    [D, '4', 'd', '4'],
    [I, '5', 'e', '5'],
    // The key changes, to one that was freed just now, and on.
    [B, '5', 'e', '5'],
    [A, '4', 'e', '5'],
    [B, '4', 'e', '5'],
    [A, '6', 'e', null],
  );
  for (let replay = 0; replay < 2; replay++) {
    const { rejected } = await writeAll(db, 't', [changesAgain(batch)]);
    assert.deepEqual(rejected, []);
    assert.deepEqual(await rowsOf(db), ['1|a|10', '2|new|21', '6|e|∅']);
  }
});

/** The batch with buffers of its own: writing wipes them. */
const changesAgain = (b: ReturnType<typeof changes>) => ({
  ...b,
  data: Uint8Array.from(b.data),
  ends: Uint32Array.from(b.ends),
});

onServers(SERVERS, 'partial images set their columns only, and a row that is not there is told', async (db) => {
  await db.run(CREATE, `insert into t values (1,'a',1),(2,'b',2)`);
  const { rejected } = await writeAll(db, 't', [
    changes(
      [B, '1', undefined, undefined],
      [A, undefined, undefined, '9'],
      [B, '2', undefined, undefined],
      [A, '5', null, undefined],
      [A, '5', 'z', undefined],
      [B, '8', undefined, undefined],
      [A, undefined, undefined, '9'],
      [I, '7', 'i', undefined],
      [D, '1', undefined, undefined],
    ),
  ]);
  assert.deepEqual(await rowsOf(db), ['5|z|2', '7|i|77']);
  assert.deepEqual(rejected, ['-: the target has no row with this key, and the change has not all of its columns']);
});

onServers(SERVERS, 'keys: of several columns, with NULLs, and of no unique key', async (db) => {
  await db.run('create table t (id int, k varchar(10), v int) engine=InnoDB');
  await db.run(`insert into t values (1,'a',1),(1,null,2),(2,'a',3),(null,'a',4)`);
  const batch = () =>
    changes(
      [D, '1', null, '2'],
      [D, null, 'a', '4'],
      [B, '2', 'a', '3'],
      [A, '2', 'a', '30'],
      [I, '3', "q'\\", '5'],
      [D, '3', "q'\\", '5'],
    );
  await writeAll(db, 't', [batch()], { uniqueKey: ['ID', 'k'] });
  assert.deepEqual(await rowsOf(db), ['1|a|1', '2|a|30']);
  await assert.rejects(
    writeAll(db, 't', [batch()]),
    (e) =>
      isSyncError(e) && e.code === 'COLUMN_MISMATCH' && e.message.includes('no key') && /uniqueKey/.test(e.hint ?? ''),
  );
  // Inserts need none.
  await writeAll(db, 't', [changes([I, '9', 'i', '1'])]);
  assert.deepEqual(await table(db, 'select * from t where id = 9'), ['9|i|1']);
});

onServers(SERVERS, 'a key that is no value of its column deletes nothing', async (db) => {
  await db.run('create table t (id int primary key, v int) engine=InnoDB', 'insert into t values (0,1),(1,1)');
  const columns = [column('id', 'string'), column('v', 'int')];
  const { rejected } = await writeAll(db, 't', [
    batchOf(
      columns,
      [
        ['x', '1'],
        ['1x', '1'],
        ['1', '1'],
      ],
      [D, D, D],
    ),
  ]);
  assert.deepEqual(await table(db, 'select * from t'), ['0|1']);
  assert.equal(rejected.length, 2);
});

onServers(SERVERS, 'many deletes and upserts share statements', async (db) => {
  await db.run('create table t (id int primary key, k float unique, v int) engine=InnoDB');
  await db.run('insert into t values (-1, 0.1, 1), (-2, 16777216, 1)');
  const columns = [column('id', 'int'), column('k', 'float32'), column('v', 'int')];
  const put = Array.from({ length: 3000 }, (_, i) => [String(i), null, '1']);
  const { to } = await writeAll(db, 't', [
    batchOf(
      columns,
      put,
      put.map(() => I),
    ),
    batchOf(
      columns,
      put.slice(1000),
      put.slice(1000).map(() => D),
    ),
  ]);
  assert.deepEqual(await table(db, 'select count(*), max(id) from t'), ['1002|999']);
  assert.equal(to.sent.length, 3 + 4);
  await writeAll(
    db,
    't',
    [
      batchOf(
        columns,
        [
          ['9', '0.1', '1'],
          ['9', '16777216', '1'],
        ],
        [D, D],
      ),
    ],
    { uniqueKey: ['k'] },
  );
  assert.deepEqual(await table(db, 'select count(*) from t where id < 0'), ['0']);
});
