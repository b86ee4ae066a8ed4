/** The same rows by LOAD DATA and by INSERT give the same table, byte for byte. */
import assert from 'node:assert/strict';
import { batchOf, column, table, writeAll, type Value } from './rows-support.js';
import { SERVERS, onServers } from './servers.js';

/** A generator of the same numbers at each run. */
function numbers(seed: number): () => number {
  let n = seed;
  return () => (n = (Math.imul(n, 1_103_515_245) + 12_345) >>> 0) >>> 8;
}

const NASTY = [
  '',
  '\\N',
  'NULL',
  '\\',
  '\\\\',
  "'",
  "''",
  '"',
  "\\'",
  '\t',
  '\n',
  '\r\n',
  '\0',
  '\\0',
  '\x1a',
  'a\tb\\',
  '\\t',
  '\\n',
  '`;-- ',
  '😀',
  '😀\\😀\t測\n',
  ' leading',
  '%_',
  '\u00a0',
  '\ufeffx',
  ...Array.from({ length: 128 }, (_, i) => `${String.fromCharCode(i)}|${String.fromCharCode(i)}`),
];

function nastyRows(): Value[][] {
  const next = numbers(7);
  const rows: Value[][] = [];
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => next() & 255));
  const text = (parts: number): string => Array.from({ length: parts }, () => NASTY[next() % NASTY.length]).join('');
  NASTY.forEach((t) => rows.push([String(rows.length), t, t, Buffer.from(t), '0']));
  for (let b = 0; b < 256; b++)
    rows.push([String(rows.length), '', '', Buffer.from([b, 9, b, 10, b, 92, b, 39]), String(b)]);
  for (let n = 0; n < 1500; n++) {
    const t = n % 7 === 0 ? null : text(next() % 12);
    rows.push([String(rows.length), t, n % 5 === 0 ? null : text(30), n % 3 === 0 ? null : bytes(next() % 300), null]);
  }
  return rows;
}

onServers(SERVERS, 'nasty bytes are the same by LOAD DATA and by INSERT', async (db) => {
  const ddl =
    '(id int primary key, v varchar(400) character set utf8mb4, t text character set utf8mb4, b blob, n bit(8)) engine=InnoDB';
  await db.run(`create table a ${ddl}`, `create table b ${ddl}`);
  const columns = [
    column('id', 'int'),
    column('v', 'string'),
    column('t', 'string'),
    column('b', 'binary'),
    column('n', 'bit(8)'),
  ];
  const rows = nastyRows();
  const inserted = await writeAll(db, 'a', [batchOf(columns, rows)], { batchSize: 100 });
  const loaded = await writeAll(db, 'b', [batchOf(columns, rows)], { load: 'auto', batchSize: 1000 });
  assert.deepEqual([inserted.rejected, loaded.rejected], [[], []]);
  assert.ok(inserted.to.sent.every((s) => s.startsWith('insert')));
  assert.ok(loaded.to.sent.every((s) => s.startsWith('load')));
  assert.equal(loaded.to.sent.length, Math.ceil(rows.length / 1000));
  const hexes = rows.map((row) =>
    row
      .map((v, i) =>
        v === null || v === undefined
          ? '∅'
          : i === 0 || i === 4
            ? String(v)
            : Buffer.from(v).toString('hex').toUpperCase(),
      )
      .join('|'),
  );
  for (const name of ['a', 'b']) {
    assert.deepEqual(await table(db, `select id, hex(v), hex(t), hex(b), n+0 from ${name} order by id`), hexes, name);
  }
});

onServers(SERVERS, 'a file with a bad row is undone, and its rows come by INSERT once', async (db) => {
  await db.run('create table t (a tinyint, b varchar(5)) engine=InnoDB');
  const rows = Array.from({ length: 3000 }, (_, i) => [i === 1500 ? '300' : '1', i === 2999 ? 'toolong' : 'b']);
  const { rejected, to, writer } = await writeAll(
    db,
    't',
    [batchOf([column('a', 'int'), column('b', 'string')], rows)],
    {
      load: 'auto',
      batchSize: 1000,
    },
  );
  assert.deepEqual(await table(db, 'select count(*), sum(a) from t'), ['2998|2998']);
  assert.deepEqual(
    rejected.map((r) => r.slice(0, 8)),
    ['a: 1264 ', 'b: 1406 '],
  );
  assert.equal(to.sent.filter((s) => s.startsWith('load')).length, 3);
  assert.equal(writer.path, 'LOAD DATA');
});

onServers(
  SERVERS,
  'where most files are refused, INSERT takes over; rows with ABSENT cells never go by a file',
  async (db) => {
    await db.run(`create table t (id int primary key, b varchar(5) default 'dflt') engine=InnoDB`);
    const columns = [column('id', 'int'), column('b', 'string')];
    const rows = Array.from({ length: 1000 }, (_, i) => [
      String(i),
      i % 100 === 50 ? 'toolong' : i % 100 === 3 ? undefined : 'b',
    ]);
    const { rejected, to, writer } = await writeAll(db, 't', [batchOf(columns, rows)], { load: 'auto', batchSize: 50 });
    assert.deepEqual(await table(db, `select count(*), sum(b = 'dflt'), sum(b = 'b') from t`), ['990|10|980']);
    assert.equal(rejected.length, 10);
    assert.equal(writer.path, 'LOAD DATA');
    const files = to.sent.filter((s) => s.startsWith('load')).length;
    assert.ok(files > 4, String(files));
    const worse = rows.map((_, i) => [String(1000 + i), i % 50 === 0 ? 'toolong' : 'b']);
    const again = await writeAll(db, 't', [batchOf(columns, worse)], { load: 'auto', batchSize: 50 });
    assert.equal(again.writer.path, 'INSERT');
    assert.equal(again.to.sent.filter((s) => s.startsWith('load')).length, 4);
    assert.deepEqual(await table(db, 'select count(*) from t where id >= 1000'), ['980']);
    assert.equal(again.rejected.length, 20);
  },
);

onServers(SERVERS, 'one column, empty texts', async (db) => {
  await db.run('create table t (v varchar(5)) engine=InnoDB');
  const rows = [[''], [null], ['x'], ['']];
  const { to } = await writeAll(db, 't', [batchOf([column('v', 'string')], rows)], { load: 'auto' });
  assert.deepEqual(await table(db, 'select v from t order by v'), ['∅', '', '', 'x']);
  assert.equal(to.sent.length, 1);
});
