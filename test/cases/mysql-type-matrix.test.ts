/** Every MySQL type × its edges → MySQL, the other MySQL, CSV, JSON lines, and back: equal to the last bit. */
import assert from 'node:assert/strict';
import { openSession, ownDatabase, type OwnDatabase, type ServerRow } from '../support/databases.js';
import {
  assertDone,
  csvWriter,
  dirtyRows,
  mysqlReader,
  mysqlWriter,
  numberOf,
  type JobParts,
  type Json,
} from '../support/mysql-job.js';
import { MYSQL_SERVERS, serverTest, testServer, type ServerKind } from '../support/services.js';
import { sync } from '../support/sync.js';
import {
  columnsFor,
  createSql,
  DAY_TABLE,
  insertsSql,
  looksSql,
  MATRIX,
  type MatrixColumn,
  type MatrixTable,
} from '../support/type-matrix.js';
import { Workspace } from '../support/workspace.js';

/** Runs the entries one after another; exactly these rows are refused. */
async function runAll(ws: Workspace, name: string, jobs: readonly JobParts[], refused: readonly string[] = []) {
  const setting = { errorLimit: { record: 1000 }, dirty: { path: 'dirty' } };
  const file = ws.job({ job: { content: jobs.map(({ reader, writer }) => ({ reader, writer })), setting } }, name);
  const r = await sync(['run', file, '--output', 'json'], { cwd: ws.dir });
  const dirty = dirtyRows(ws).map(({ column, reason, row }) => `${String(column)} of ${String(row['id'])}: ${reason}`);
  assert.deepEqual(dirty.sort(), [...refused].sort(), `${name}\n${r.stderr}`);
  assertDone(r);
}

/** Documented differences of a route. Null: equal. */
function exceptionOf(what: string, column: string, wanted: unknown): unknown {
  // MariaDB has no minus zero, whatever is written.
  if (what.endsWith(' to mariadb') && wanted === '-0') return '0';
  // A line has one `null`, for SQL's and JSON's; and it is one line, so white space between tokens goes.
  if (what === 'shapes by json' && column === 'json') {
    if (wanted === looked('null')) return null;
    if (wanted === looked(' [1 ,2 ]\n')) return looked('[1 ,2 ]');
  }
  return wanted;
}

/** As the matrix looks at bytes. */
const looked = (text: string): string =>
  `${String(Buffer.byteLength(text))}:${Buffer.from(text).toString('hex').toUpperCase()}`;

/** Equal, and where not, which columns of which row are not: a whole row is too much to read. */
function assertSame(seen: readonly ServerRow[], wanted: readonly ServerRow[], names: readonly string[], what: string) {
  const differing = wanted.flatMap((row, r) =>
    row.flatMap((v, c) => {
      const got = seen[r]?.[c];
      if (got === v || got === exceptionOf(what, names[c] ?? '', v)) return [];
      return [`${what}, row ${String(row[0])}, ${names[c] ?? ''}: ${short(v)} became ${short(got)}`];
    }),
  );
  assert.deepEqual(differing, []);
  assert.equal(seen.length, wanted.length, what);
}

const short = (v: unknown): string => String(v).slice(0, 120);

async function create(db: OwnDatabase, name: string, columns: readonly MatrixColumn[]): Promise<void> {
  await db.query(createSql(name, columns));
}

const fileColumns = (columns: readonly MatrixColumn[], typed: boolean): readonly Json[] => [
  { name: 'id', type: 'int' },
  ...columns.map(({ name, file }) => ({ name, type: file !== undefined && (typed || file === 'binary') ? file : 'string' })), // prettier-ignore
];

const filePart = (path: string, fileType: string, column: readonly Json[]) => ({
  name: 'filereader',
  parameter: { path, fileType, column },
});

const other = (kind: ServerKind): ServerKind => (kind === 'mariadb' ? 'mysql55' : 'mariadb');

serverTest(MYSQL_SERVERS, 'types: every type and edge by every route', async (server) => {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  const second = testServer(other(server.kind));
  const far = second === null ? null : await ownDatabase(second.url);
  await using _ = { [Symbol.asyncDispose]: async () => far?.dispose() };
  await db.query("set session sql_mode = 'ALLOW_INVALID_DATES'");
  const there: JobParts[] = [];
  const back: JobParts[] = [];
  const ends: { db: OwnDatabase; name: string; table: MatrixTable; columns: readonly MatrixColumn[]; what: string }[] = []; // prettier-ignore
  for (const table of MATRIX) {
    const columns = columnsFor(table, [server.kind]);
    await create(db, table.name, columns);
    for (const sql of insertsSql(table.name, columns)) await db.query(sql);
    const target = async (how: string): Promise<string> => {
      const name = `${table.name}_${how}`;
      await create(db, name, columns);
      ends.push({ db, name, table, columns, what: `${table.name} by ${how}` });
      return name;
    };
    const reader = mysqlReader(db, table.name);
    there.push({ reader, writer: mysqlWriter(db, await target('load')) });
    there.push({ reader, writer: mysqlWriter(db, await target('insert'), { loadData: 'never' }) });
    for (const fileType of ['csv', 'json']) {
      const out = `out/${fileType}/${table.name}`;
      // What the server computes is no input of the way back.
      const written = columns.filter((c) => c.generated !== true);
      const named = ['id', ...written.map((c) => c.name)];
      there.push({
        reader: mysqlReader(db, table.name, { column: named }),
        writer: csvWriter({ path: out, fileType }),
      });
      const file = filePart(out, fileType, fileColumns(written, fileType === 'json'));
      back.push({ reader: file, writer: mysqlWriter(db, await target(fileType)) });
    }
    if (far === null) continue;
    const shared = columnsFor(table, MYSQL_SERVERS);
    await create(far, table.name, shared);
    ends.push({ db: far, name: table.name, table, columns: shared, what: `${table.name} to ${other(server.kind)}` });
    there.push({ reader: mysqlReader(db, table.name, { column: ['id', ...shared.map((c) => c.name)] }), writer: mysqlWriter(far, table.name) }); // prettier-ignore
  }
  await runAll(ws, 'there.json', there);
  const days = await db.query('select id, cast(date as char) from days where date is not null');
  const refused = days.map(
    ([id, day]) => `date of ${String(id)}: \`date\` cannot hold '${String(day)}' unchanged: it is date`,
  );
  await runAll(ws, 'back.json', back, [...refused, ...refused]);
  for (const { db: at, name, table, columns, what } of ends) {
    await using session = await openSession(at.url);
    const names = ['id', ...columns.map((c) => c.name)];
    const wanted = await db.query(looksSql(table.name, columns));
    const kept = table === DAY_TABLE && /_(csv|json)$/.test(name) ? wanted.filter((row) => row[1] === null) : wanted;
    assertSame(await session.query(looksSql(name, columns)), kept, names, what);
  }
});

/** Values that no route may carry in silence: each a row of its own, refused for a reason that names it. */
serverTest(MYSQL_SERVERS, 'types: what cannot be carried is refused, not changed', async (server) => {
  using ws = new Workspace();
  await using db = await ownDatabase(server.url);
  const charsets = ['ascii', 'cp1250', 'cp1251', 'cp1256', 'cp1257', 'greek', 'hebrew', 'tis620', 'gbk', 'gb2312', 'big5', 'euckr']; // prettier-ignore
  const lost: Readonly<Record<string, string>> = { cp1251: '98', tis620: 'a0', gbk: 'aaa1', gb2312: 'a2a1', big5: 'f9fe', euckr: 'a2e8', greek: 'a4', hebrew: 'a1', ascii: 'e9', cp1256: '8a' }; // prettier-ignore
  const columns = charsets.map((c) => `c_${c} varchar(9) character set ${c}`).join(', ');
  for (const name of ['t', 't2']) {
    await db.query(
      `create table ${name} (id int primary key, ${columns}, e enum('a','b'), f enum('','a')) engine=InnoDB`,
    );
  }
  const wanted: string[] = [];
  for (const [i, c] of charsets.entries()) {
    await db.query(`insert into t (id, c_${c}) values (?, x'${lost[c] ?? '81'}3f'), (?, '?a?')`, [i, 100 + i]);
    wanted.push(
      `c_${c} of ${String(i)}: column \`c_${c}\` of ${db.name}.t holds bytes that are no characters of its character set`,
    );
  }
  await db.query("insert into t (id, e) values (200, 'none of these')");
  await db.query("insert into t (id, f) values (201, 'none of these')");
  wanted.push("e of 200: 1265 Data truncated for column 'e'");
  await runAll(ws, 'job.json', [{ reader: mysqlReader(db, 't'), writer: mysqlWriter(db, 't2') }], wanted);
  assert.equal(await numberOf(db, 'select count(*) from t2 where id >= 100 and id < 200'), charsets.length);
  // Exception: where the empty text is a label too, it stands for the value that was none. The text stays the same.
  assert.deepEqual(await db.query('select id, f+0, f from t2 where id >= 200'), [['201', '1', '']]);
});
