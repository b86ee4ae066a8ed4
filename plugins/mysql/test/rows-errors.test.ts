/** What is no fault of a row ends the write; nothing stays behind. */
import assert from 'node:assert/strict';
import { isSyncError } from 'syncx/plugin-api';
import { findTable } from '../catalog/tables.js';
import { RowWriter } from '../write/rows/row-writer.js';
import { batchOf, column, DEFAULTS, table, TestStatements, writeAll } from './rows-support.js';
import { SERVERS, onServers } from './servers.js';

const ID = column('id', 'int');
const many = () =>
  batchOf(
    [ID, column('v', 'string')],
    Array.from({ length: 20_000 }, (_, i) => [String(i), 'text of some length']),
  );

onServers(SERVERS, 'a connection that breaks, a table that goes, a signal: thrown, and said what', async (db) => {
  await db.run('create table t (id int primary key, v varchar(30)) engine=InnoDB');
  for (const load of ['never', 'auto'] as const) {
    await using session = await db.open('sink');
    const facts = await findTable(session, 't', db.name, 'sink');
    const options = { ...DEFAULTS, load, batchSize: 500, fileRows: 500 };

    const stopped = new AbortController();
    class Stops extends TestStatements {
      override async savepoint(): Promise<void> {
        if (this.sent.length === 3) stopped.abort(new Error('stop'));
        return super.savepoint();
      }
    }
    const stopping = new RowWriter(facts, options, new Stops(session));
    await session.run('start transaction', 'begin');
    await assert.rejects(stopping.write(many(), stopped.signal), /stop/);
    await session.run('rollback', 'undo');

    class Breaks extends TestStatements {
      override async savepoint(): Promise<void> {
        if (this.sent.length === 3) await db.run(`kill ${this.session.server.connectionId}`);
        return super.savepoint();
      }
    }
    const broken = new RowWriter(facts, options, new Breaks(session));
    const signal = new AbortController().signal;
    await session.run('start transaction', 'begin');
    await assert.rejects(broken.write(many(), signal), (e) => isSyncError(e) && e.code === 'SINK_IO');
    await assert.rejects(broken.flush(), (e) => isSyncError(e) && e.code === 'SINK_IO');
    await broken.clear();
    await broken.flush();
    assert.deepEqual(await table(db, 'select count(*) from t'), ['0']);

    await using other = await db.open('sink');
    const gone = new RowWriter(
      { ...facts, name: { ...facts.name, table: 'gone' } },
      options,
      new TestStatements(other),
    );
    await assert.rejects(gone.write(many(), signal), (e) => isSyncError(e) && /1146 .*gone/.test(e.message));
  }
});

onServers(SERVERS, 'after clear nothing that was kept is sent', async (db) => {
  await db.run('create table t (id int primary key) engine=InnoDB');
  await using session = await db.open('sink');
  const writer = new RowWriter(await findTable(session, 't', db.name, 'sink'), DEFAULTS, new TestStatements(session));
  const signal = new AbortController().signal;
  await writer.write(batchOf([ID], [['1'], ['2']]), signal);
  await writer.clear();
  await writer.write(batchOf([ID], [['3']]), signal);
  await writer.flush();
  assert.deepEqual(await table(db, 'select * from t'), ['3']);
});

onServers(SERVERS, 'a constraint, a trigger, a row beyond all limits: rejected rows', async (db) => {
  await db.run(
    'create table p (id int primary key) engine=InnoDB',
    'insert into p values (1)',
    'create table t (id int primary key, p int, v varchar(30), foreign key (p) references p (id)) engine=InnoDB',
    `create trigger g before insert on t for each row begin
       if new.v = 'refused' then signal sqlstate '45000' set message_text = 'no such words'; end if; end`,
  );
  const columns = [ID, column('p', 'int'), column('v', 'string')];
  for (const load of ['never', 'auto'] as const) {
    await db.run('delete from t');
    const rows = [
      ['1', '1', 'a'],
      ['2', '9', 'b'],
      ['3', '1', 'refused'],
      ['4', '1', 'd'],
      ['4', '1', 'again'],
    ];
    const { rejected } = await writeAll(db, 't', [batchOf(columns, rows)], { load });
    assert.deepEqual(await table(db, 'select * from t order by id'), ['1|1|a', '4|1|d']);
    assert.deepEqual(rejected.map((r) => r.slice(0, 7)).sort(), ['-: 1062', '-: 1452', '-: 1644']);
    assert.ok(rejected.some((r) => r.includes('no such words')));
  }
});

onServers(
  SERVERS,
  'a session that reads texts otherwise is refused; one that is not strict changes nothing',
  async (db) => {
    await db.run('create table t (id int primary key, v varchar(3)) engine=InnoDB');
    const columns = [ID, column('v', 'string')];
    const batch = () =>
      batchOf(columns, [
        ['1', "a'\\"],
        ['2', 'long'],
        ['3', null],
      ]);
    const prepare = (mode: string) => async () => {
      await using session = await db.open('sink');
      await session.run(`set session sql_mode='${mode}'`, 'set a mode');
      await session.run('start transaction', 'begin');
      const writer = new RowWriter(
        await findTable(session, 't', db.name, 'sink'),
        DEFAULTS,
        new TestStatements(session),
      );
      await writer.write(batch(), new AbortController().signal);
      await writer.flush();
      await session.run('commit', 'commit');
      return writer.takeRejected()?.map((r) => r.reason);
    };
    await assert.rejects(
      prepare('NO_BACKSLASH_ESCAPES'),
      (e) => isSyncError(e) && e.code === 'JOB_INVALID' && e.message.includes('NO_BACKSLASH_ESCAPES'),
    );
    assert.deepEqual(await prepare('ANSI_QUOTES')(), ["1265 Data truncated for column 'v'"]);
    assert.deepEqual(await table(db, 'select * from t'), ["1|a'\\", '3|∅']);
  },
);
