import {
  float32Text,
  float64Text,
  type Column,
  type JsonObject,
  type RowSchema,
  type SimpleValue,
} from '../../src/plugin-api/index.js';
import { contractTests, writerHarness } from '../../src/plugin-testkit/index.js';
import { writer } from '../../plugins/mysql/index.js';
import { ownDatabase, type OwnDatabase } from '../support/databases.js';
import { MYSQL_SERVERS, serverSuite, type ServerKind, type TestServer } from '../support/services.js';
import { until } from '../support/sync.js';

const jdbc = (url: string): string => `jdbc:${url.replace(/\/\/[^@]*@/, '//')}`;

function padded(text: string, scale: number): string {
  const [whole = '', fraction = ''] = text.split('.');
  return `${whole}.${fraction.padEnd(scale, '0')}`;
}

/** A type that holds the values of a column exactly, on servers of this kind. */
function sqlType(c: Column, kind: ServerKind): string {
  const { type } = c;
  switch (type.is) {
    case 'boolean':
      return 'tinyint(1)';
    case 'int8':
      return 'tinyint';
    case 'int16':
      return 'smallint';
    case 'int32':
      return 'int';
    case 'int64':
      return 'bigint';
    case 'uint8':
      return 'tinyint unsigned';
    case 'uint16':
      return 'smallint unsigned';
    case 'uint32':
      return 'int unsigned';
    case 'uint64':
      return 'bigint unsigned';
    case 'decimal':
      return `decimal(${String(type.precision)},${String(type.scale)})`;
    case 'float32':
      return 'float';
    case 'float64':
      return 'double';
    case 'binary':
      return 'longblob';
    case 'date':
    case 'year':
    case 'geometry':
      return type.is;
    case 'time':
    case 'datetime':
    case 'timestamp':
      return kind === 'mysql55' ? 'varchar(40)' : `${type.is}(${String(type.fraction)})`;
    case 'bit':
      return `bit(${String(type.length)})`;
    case 'enum':
    case 'set':
      return `${type.is}(${(type.labels ?? []).map((l) => `'${l}'`).join(',')})`;
    default:
      return c.name === 'text' ? 'text' : 'longtext';
  }
}

/** How the value of a column is asked for, so that text is what the source said. */
function select(c: Column): string {
  if (c.type.is === 'float32') return `\`${c.name}\` * 1e0`;
  return c.type.is === 'bit' ? `\`${c.name}\` + 0` : `\`${c.name}\``;
}

/** The text of the server as canonical cell text (docs/specs/cells.md). */
function canonical({ type }: Column, value: string | Buffer | null): SimpleValue {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return Uint8Array.from(value);
  switch (type.is) {
    case 'boolean':
      return value === '1' ? 'true' : 'false';
    case 'float32':
      return float32Text(Number(value));
    case 'float64':
      return float64Text(Number(value));
    case 'time':
    case 'datetime':
    case 'timestamp':
      return value.replace(/\.?0+$/, (z) => (z.startsWith('.') ? '' : value.includes('.') ? '' : z));
    default:
      return value;
  }
}

async function makeTable(db: OwnDatabase, schema: RowSchema, kind: ServerKind): Promise<void> {
  const lines = schema.columns.map(
    (c) => `\`${c.name}\` ${sqlType(c, kind)} ${c.nullable ? 'null default null' : 'not null'}`,
  );
  await db.query(`create table t (${lines.join(', ')}, primary key (id)) engine=InnoDB`);
}

async function runsOf(db: OwnDatabase): Promise<readonly string[]> {
  const [there] = await db.query("show tables like 'syncx_commits'");
  if (there === undefined) return [];
  return (await db.query('select distinct run_id from syncx_commits')).map(([id]) => String(id));
}

/** Prepared branches of our runs: their locks would hold up the end of the test. */
async function rollBackBranches(db: OwnDatabase): Promise<void> {
  const runs = await runsOf(db);
  for (const r of await db.query('xa recover')) {
    const xid = String(r[3]);
    if (runs.some((run) => xid.includes(run))) await db.query(`xa rollback '${xid}'`);
  }
}

/** Connections of the job that hold a transaction open, by their marks in the commit table; and prepared branches. */
async function leftovers(db: OwnDatabase): Promise<readonly string[]> {
  const open = await db.query(
    `select t.trx_mysql_thread_id from information_schema.innodb_trx t
     join information_schema.processlist p on p.id = t.trx_mysql_thread_id where p.db = ?`,
    [db.name],
  );
  const runs = await runsOf(db);
  const branches = (await db.query('xa recover'))
    .map((r) => String(r[3]))
    .filter((x) => runs.some((r) => x.includes(r)));
  return [...open.map(([id]) => `transaction of connection ${String(id)}`), ...branches];
}

/** Ends all connections to the database but this one. */
async function endJob(db: OwnDatabase): Promise<void> {
  const others = async (): Promise<readonly unknown[]> =>
    (
      await db.query('select id from information_schema.processlist where db = ? and id <> connection_id()', [db.name])
    ).map(([id]) => id);
  for (const id of await others()) await db.query(`kill ${String(id)}`).catch(() => undefined);
  await until('the connections of the job are gone', async () => (await others()).length === 0);
}

function tests(server: TestServer, options: JsonObject, prepared: 'die' | 'survive'): void {
  const u = new URL(server.url);
  contractTests(
    writerHarness({
      plugin: writer,
      prepared,
      asRead: ({ type }, value) => {
        // MariaDB has no minus zero.
        if (value === '-0' && server.kind === 'mariadb') return '0';
        // DECIMAL(65,30) has 30 digits after the point, always.
        return type.is === 'decimal' && typeof value === 'string' ? padded(value, type.scale) : value;
      },
      // Longer than TEXT is.
      badText: 'x'.repeat(70_000),
      async target(schema) {
        const db = await ownDatabase(server.url);
        await makeTable(db, schema, server.kind);
        const list = schema.columns.map(select).join(', ');
        return {
          options: {
            connection: [{ jdbcUrl: jdbc(db.url), table: ['t'] }],
            username: u.username,
            password: u.password,
            ...options,
          },
          async readBack() {
            const rows = await db.query(`select ${list} from t`);
            return rows.map((r) =>
              Object.fromEntries(schema.columns.map((c, i) => [c.name, canonical(c, r[i] ?? null)])),
            );
          },
          leftovers: () => leftovers(db),
          async damage() {
            await endJob(db);
            await rollBackBranches(db);
            await db.query('delete from syncx_commits');
          },
          async dispose() {
            await endJob(db);
            await rollBackBranches(db);
            await db.dispose();
          },
        };
      },
      waive: {
        'descriptor.defaults':
          'users, passwords, TLS files and semantic have no default: what they mean without one is said',
      },
    }),
  );
}

serverSuite(MYSQL_SERVERS, 'marker protocol', (server) => {
  tests(server, {}, 'die');
});

serverSuite('mariadb', 'xa protocol', (server) => {
  tests(server, { commitProtocol: 'xa' }, 'survive');
});
