/** C03: TIMESTAMP is an instant, DATETIME is not; both survive daylight saving, whatever zone server and process have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownDatabase, openSession } from '../support/databases.js';
import { csvWriter, mustRun, mysqlReader, mysqlWriter, outLines, ownServerSuite } from '../support/mysql-job.js';
import { MYSQL_SERVERS } from '../support/services.js';
import { Workspace } from '../support/workspace.js';

const ZONES = ['UTC', 'Asia/Shanghai', 'America/New_York'];

ownServerSuite(MYSQL_SERVERS, 'C03', (server) => {
  // MySQL 5.5 has no fractions of seconds.
  const setUp = async () => {
    const fraction = server().kind === 'mariadb';
    {
      await using admin = await openSession(server().url);
      await admin.query(`set global time_zone = 'America/New_York'`);
    }
    const db = await ownDatabase(server().url);
    const [six, f] = fraction ? ['(6)', '.123456'] : ['', ''];
    const zeros = fraction ? '.000000' : '';
    const ddl = `(id int primary key, a timestamp${six} null, b datetime${six})`;
    await db.query(`create table ts ${ddl}`);
    await db.query(`create table ts2 ${ddl}`);
    await db.query(`insert into ts values
      (1,'2024-11-03 05:30:00${f}','2024-11-03 01:30:00${f}'),
      (2,'2024-11-03 06:30:00${f}','2024-11-03 01:30:00${f}'),
      (3,'2024-03-10 07:30:00','2024-03-10 02:30:00')`);
    return { db, f, zeros };
  };

  test('three time zones of the process give the same bytes and the same instants', async () => {
    const { db, f, zeros } = await setUp();
    await using _ = db;
    for (const TZ of ZONES) {
      using ws = new Workspace();
      await mustRun(ws, { reader: mysqlReader(db, 'ts'), writer: csvWriter() }, { env: { TZ } });
      assert.deepEqual(
        outLines(ws),
        [
          `1,2024-11-03 05:30:00${f},2024-11-03 01:30:00${f}`,
          `2,2024-11-03 06:30:00${f},2024-11-03 01:30:00${f}`,
          `3,2024-03-10 07:30:00${zeros},2024-03-10 02:30:00${zeros}`,
        ],
        TZ,
      );
      await db.query('truncate table ts2');
      await mustRun(
        ws,
        { reader: mysqlReader(db, 'ts'), writer: mysqlWriter(db, 'ts2') },
        { env: { TZ }, name: 'b.json' },
      );
      assert.deepEqual(
        await db.query('select unix_timestamp(a), b from ts2 order by id'),
        [
          [`1730611800${f}`, `2024-11-03 01:30:00${f}`],
          [`1730615400${f}`, `2024-11-03 01:30:00${f}`],
          [`1710055800${zeros}`, `2024-03-10 02:30:00${zeros}`],
        ],
        TZ,
      );
    }
  });

  test('from CSV back, by every way of writing, and with a zone of the driver in the URL', async () => {
    const { db } = await setUp();
    await using _ = db;
    for (const more of [{}, { loadData: 'never' }, { writeMode: 'update' }, { writeMode: 'replace' }]) {
      using ws = new Workspace();
      await db.query('truncate table ts2');
      const params = 'serverTimezone=Asia/Shanghai&useLegacyDatetimeCode=false';
      await mustRun(
        ws,
        { reader: mysqlReader(db, 'ts', {}, params), writer: csvWriter() },
        { env: { TZ: 'Asia/Shanghai' } },
      );
      const column = [
        { name: 'id', type: 'int' },
        { name: 'a', type: 'timestamp(6)' },
        { name: 'b', type: 'datetime(6)' },
      ];
      const reader = { name: 'filereader', parameter: { path: 'out', fileType: 'csv', column, nullFormat: '\\N' } };
      const writer = mysqlWriter(db, 'ts2', more, params);
      await mustRun(ws, { reader, writer }, { name: 'back.json', env: { TZ: 'America/New_York' } });
      const rows = (t: string) => db.query(`select id, unix_timestamp(a), b from ${t} order by id`);
      assert.deepEqual(await rows('ts2'), await rows('ts'), JSON.stringify(more));
    }
  });

  test('an instant as split key, across the hour that comes twice: each row once', async () => {
    const { db } = await setUp();
    await using _ = db;
    await db.query('create table h (a timestamp null, id int auto_increment primary key, key (a))');
    // 2024-11-03 04:00 to 08:00 UTC, a row every 30 s, and some without a time.
    const times = Array.from({ length: 480 }, (_, i) => `(from_unixtime(1730606400 + ${String(i * 30)}))`);
    await db.query(`insert into h (a) values ${times.join(',')}, (null), (null), (null)`);
    for (const splitStrategy of ['even', 'sampled', 'keyset']) {
      using ws = new Workspace();
      const reader = mysqlReader(db, 'h', { splitPk: 'a', splitStrategy, splitSize: 1000 });
      await mustRun(ws, { reader, writer: csvWriter({}), setting: { speed: { channel: 3 } } });
      const ids = outLines(ws).map((l) => Number(l.split(',')[1]));
      assert.deepEqual(
        ids.sort((x, y) => x - y),
        Array.from({ length: 483 }, (_, i) => i + 1),
        splitStrategy,
      );
      assert.equal(new Set(outLines(ws).map((l) => l.split(',')[0])).size, 481, 'as many instants, and NULL');
    }
  });

  test('an instant as incremental column: nothing of the hour that comes twice is lost', async () => {
    const { db } = await setUp();
    await using _ = db;
    using ws = new Workspace();
    const reader = mysqlReader(db, 'ts', { increColumn: 'a' });
    const job = { reader, writer: mysqlWriter(db, 'ts2', { writeMode: 'update' }) };
    await db.query('delete from ts where id <> 1');
    await mustRun(ws, job);
    assert.deepEqual(await db.query('select id from ts2'), [['1']]);
    await db.query(
      `insert into ts values (2,'2024-11-03 06:30:00','2024-11-03 01:30:00'), (4,'2024-11-03 06:29:59', null)`,
    );
    const r = await mustRun(ws, job);
    assert.equal(r.summary?.read, 2);
    assert.deepEqual(await db.query('select id from ts2 order by id'), [['1'], ['2'], ['4']]);
  });

  test('the ends of what TIMESTAMP and DATETIME hold', async () => {
    const { db } = await setUp();
    await using _ = db;
    using ws = new Workspace();
    await db.query('truncate table ts');
    await db.query(`insert into ts values (1,'1970-01-01 00:00:01','1000-01-01 00:00:00'),
      (2,'2038-01-19 03:14:07','9999-12-31 23:59:59'), (3,null,null), (4,'2024-07-01 00:00:00','0001-01-01 00:00:00')`);
    await mustRun(
      ws,
      { reader: mysqlReader(db, 'ts'), writer: mysqlWriter(db, 'ts2') },
      { env: { TZ: 'Asia/Shanghai' } },
    );
    assert.deepEqual(await db.query('select * from ts2 order by id'), await db.query('select * from ts order by id'));
  });
});
