/** A table that is altered while splits of it are still to be read. */
import assert from 'node:assert/strict';
import { findTable } from '../catalog/tables.js';
import { checkFields } from '../read/check-fields.js';
import { shapeColumn } from '../read/plan/shapes.js';
import { readShape, type ReadShape } from '../read/read-shape.js';
import { SERVERS, onServers, type TestDatabase } from './servers.js';

const TYPES =
  'tinyint, smallint unsigned, int, bigint, int(8) zerofill, decimal(10,2), decimal(8,2) zerofill, float, double, float(7,2), bit(9), ' +
  "year, date, time, datetime, timestamp null, char(5), varchar(5) character set gbk, text, enum('a'), set('a'), " +
  'binary(3), varbinary(5), blob, geometry';

async function shapeOf(db: TestDatabase): Promise<ReadShape> {
  const facts = await findTable(db.session, 't', db.name, 'source');
  const columns = facts.columns.map((c) => shapeColumn(c));
  return readShape({
    connection: 0,
    database: db.name,
    table: 't',
    query: null,
    columns,
    orderKey: [],
    primaryKey: [],
  });
}

async function check(db: TestDatabase, shape: ReadShape): Promise<void> {
  const list = shape.columns.map((c) => c.select).join(', ');
  checkFields(shape, await db.session.describe(`select ${list} from t limit 0`, 'look'));
}

onServers(SERVERS, 'columns as they were are read on, with an index, a column or a default more, too', async (db) => {
  const list = TYPES.split(/, (?=[a-z])/).map((t, i) => `c${String(i)} ${t}`);
  await db.run(`create table t (${list.join(', ')}) engine=InnoDB`);
  const shape = await shapeOf(db);
  assert.equal(shape.columns.length, list.length);
  await check(db, shape);
  await db.run('alter table t add index (c2), add more int first, alter c3 set default 5');
  await check(db, shape);
});

const CHANGES = [
  ['int', 'decimal(10,2)'],
  ['int', 'varchar(9)'],
  ['decimal(10,2)', 'decimal(12,4)'],
  ['decimal(10,2)', 'double'],
  ['date', 'datetime'],
  ['datetime', 'timestamp null'],
  ['varchar(9)', 'int'],
  ['varbinary(9)', 'varchar(9)'],
  ['bit(8)', 'varchar(9)'],
] as const;

onServers(
  SERVERS,
  'a column of another type is not read as the old one, by lanes that have read none of it too',
  async (db) => {
    for (const [was, is] of CHANGES) {
      await db.run(`create table t (n ${was}) engine=InnoDB`);
      const [fresh, used] = [await shapeOf(db), await shapeOf(db)];
      await check(db, used);
      await db.run(`alter table t modify n ${is}`);
      for (const shape of [fresh, used]) {
        const wanted = { code: 'SOURCE_CHANGED', message: /^the column `n` of .*\.t was .* when the run began/ };
        await assert.rejects(check(db, shape), wanted, `${was} → ${is}`);
      }
      await db.run('drop table t');
    }
  },
);

onServers(SERVERS, 'a wider integer is another column to a lane that has read of the narrow one', async (db) => {
  await db.run('create table t (n int) engine=InnoDB');
  const shape = await shapeOf(db);
  await check(db, shape);
  await db.run('alter table t modify n bigint');
  await assert.rejects(check(db, shape), { code: 'SOURCE_CHANGED' });
});
