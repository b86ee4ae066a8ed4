/** MySQL cases: a table to a csv file and to another table, beside the clients that come with MariaDB. */
import { execFileSync } from 'node:child_process';
import { openSync, closeSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '../support/own-server.js';
import { openSession, type Session } from '../support/databases.js';
import { SYNC } from '../support/sync.js';
import { measureNode, median, wallMs, type Usage } from './measure.js';

export interface MysqlBench {
  readonly rows: number;
  readonly repeat: number;
  readonly work: string;
  say(line: Readonly<Record<string, unknown>>): void;
}

const DATABASE = 'sync_bench';
const round = (n: number, digits = 2): number => Number(n.toFixed(digits));

/** The server of install/services, or the user's own. */
function serverUrl(): URL {
  const given = process.env['SYNC_MARIADB_URL'] ?? '';
  if (given !== '') return new URL(given);
  execFileSync(SERVICES, ['start', 'mariadb'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const env = execFileSync(SERVICES, ['env', 'mariadb'], { encoding: 'utf8' });
  const m = /SYNC_MARIADB_URL=(\S+)/.exec(env);
  if (m?.[1] === undefined) throw new Error('services.sh env names no SYNC_MARIADB_URL');
  return new URL(m[1]);
}

/** 1M rows × 6 columns of the kinds that tables have most. */
async function makeTable(admin: Session, rows: number): Promise<string> {
  const table = `t${String(rows)}`;
  await admin.query(`create database if not exists ${DATABASE}`);
  await admin.query(`use ${DATABASE}`);
  const there = await admin.query(
    `select 1 from information_schema.tables where table_schema = '${DATABASE}' and table_name = '${table}' and table_comment = 'whole'`,
  );
  if (there.length > 0) return table;
  await admin.query(`drop table if exists ${DATABASE}.${table}`);
  await admin.query(`create table ${DATABASE}.${table} (id int primary key, name varchar(40) not null, amount decimal(12,2),
    at datetime(6), note varchar(60), big bigint) engine=InnoDB`);
  await admin.query(`insert into ${DATABASE}.${table} select seq, concat('name ', seq), seq * 1.37,
    date_add('2024-01-01', interval seq * 1000003 microsecond), concat('note of row ', seq, ' é'), seq * 9007199254
    from seq_1_to_${String(rows)}`);
  await admin.query(`analyze table ${DATABASE}.${table}`);
  await admin.query(`alter table ${DATABASE}.${table} comment = 'whole'`);
  return table;
}

interface Bench extends MysqlBench {
  readonly url: URL;
  readonly admin: Session;
  readonly table: string;
  readonly client: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

async function withBench(o: MysqlBench, body: (b: Bench) => Promise<void>): Promise<void> {
  const url = serverUrl();
  await using admin = await openSession(url.href);
  const table = await makeTable(admin, o.rows);
  const client = ['-h', url.hostname, '-P', url.port, '-u', decodeURIComponent(url.username)];
  process.env['MYSQL_PWD'] = decodeURIComponent(url.password);
  await body({ ...o, url, admin, table, client, env: process.env });
}

const connection = (b: Bench, table: string) => ({
  username: decodeURIComponent(b.url.username),
  password: decodeURIComponent(b.url.password),
  connection: [{ jdbcUrl: `jdbc:mysql://${b.url.host}/${DATABASE}`, table: [table] }],
});

function jobFile(b: Bench, name: string, writer: object, setting: object, reader: object = {}): string {
  const path = join(b.work, `${name}.json`);
  const source = { name: 'mysqlreader', parameter: { ...connection(b, b.table), column: ['*'], ...reader } };
  const job = { content: [{ reader: source, writer }], setting: { speed: { channel: 1 }, ...setting } };
  writeFileSync(path, JSON.stringify({ job }));
  return path;
}

function measureRun(b: Bench, job: string, more: readonly string[] = []): Promise<Usage> {
  const state = join(b.work, 'state');
  rmSync(state, { recursive: true, force: true });
  return measureNode([SYNC, 'run', job, '--state-dir', state, '--output', 'json', ...more], b.work);
}

/** `mariadb --quick -N` writes tab-separated text without quoting: less work than a csv file. */
export async function mysqlToCsv(o: MysqlBench): Promise<void> {
  await withBench(o, async (b) => {
    const output = join(b.work, 'out-mysql');
    const writer = { name: 'filewriter', parameter: { path: output, fileType: 'csv' } };
    const job = jobFile(b, 'mysql-to-csv', writer, {});
    const ours: Usage[] = [];
    const theirs: number[] = [];
    for (let i = 0; i < b.repeat; i++) {
      rmSync(output, { recursive: true, force: true });
      ours.push(await measureRun(b, job));
      mkdirSync(output, { recursive: true });
      const select = `select * from ${DATABASE}.${b.table}`;
      theirs.push(await toFile('mariadb', [...b.client, '--quick', '-N', '-e', select], join(output, 'theirs.tsv')));
    }
    rmSync(output, { recursive: true, force: true });
    tell(b, 'mysql-to-csv', ours, 'mariadb --quick -N to a file', theirs);
  });
}

async function toFile(command: string, args: readonly string[], path: string): Promise<number> {
  closeSync(openSync(path, 'w'));
  return (await wallMs('sh', ['-c', `exec "$@" > "$0"`, path, command, ...args], '/')) / 1000;
}

function tell(
  b: Bench,
  name: string,
  ours: readonly Usage[],
  yardstick: string,
  theirs: readonly number[],
  more: object = {},
): void {
  const our = median(ours.map((u) => u.seconds));
  b.say({
    case: name,
    rows: b.rows,
    seconds: round(our),
    rowsPerSecond: Math.round(b.rows / our),
    cpuSeconds: round(median(ours.map((u) => u.cpu))),
    peakRssMiB: Math.round(Math.max(...ours.map((u) => u.rss))),
    yardstick,
    yardstickSeconds: round(median(theirs)),
    ratio: round(median(theirs) / our),
    ...more,
    repeat: b.repeat,
  });
}

async function emptyCopy(b: Bench): Promise<void> {
  await b.admin.query(`drop table if exists ${DATABASE}.copy`);
  await b.admin.query(`create table ${DATABASE}.copy like ${DATABASE}.${b.table}`);
}

/** The dump goes through a pipe into the client, into a database of its own. */
async function dumpAndLoad(b: Bench): Promise<number> {
  await b.admin.query('drop database if exists sync_bench_dump');
  await b.admin.query('create database sync_bench_dump');
  const pipe = `mariadb-dump "$@" --skip-lock-tables --single-transaction ${DATABASE} ${b.table} | mariadb "$@" sync_bench_dump`;
  const seconds = (await wallMs('bash', ['-o', 'pipefail', '-c', pipe, 'bash', ...b.client], b.work)) / 1000;
  await b.admin.query('drop database sync_bench_dump');
  return seconds;
}

/** One and two channels, exactly-once (the default) and at-least-once, alternating with the dump. */
export async function mysqlToMysql(o: MysqlBench): Promise<void> {
  await withBench(o, async (b) => {
    const kinds: Readonly<Record<string, readonly [channel: number, writer: object]>> = {
      'mysql-to-mysql': [1, {}],
      'mysql-to-mysql-2': [2, {}],
      'mysql-to-mysql-at-least-once': [1, { semantic: 'at-least-once' }],
    };
    const ours = new Map(Object.keys(kinds).map((k): [string, Usage[]] => [k, []]));
    const logs = new Map<string, string>();
    const theirs: number[] = [];
    for (let i = 0; i < b.repeat; i++) {
      for (const [kind, [channel, options]] of Object.entries(kinds)) {
        await emptyCopy(b);
        const writer = { name: 'mysqlwriter', parameter: { ...connection(b, 'copy'), column: ['*'], ...options } };
        const job = jobFile(b, kind, writer, { speed: { channel } }, { splitPk: 'id' });
        const usage = await measureRun(b, job, ['--log-level', 'debug', '--log-format', 'json']);
        ours.get(kind)?.push(usage);
        logs.set(kind, usage.stderr);
        const [row] = await b.admin.query(`select count(*) from ${DATABASE}.copy`);
        if (Number(row?.[0]) !== b.rows) throw new Error(`${kind}: the copy has ${String(row?.[0])} rows`);
      }
      theirs.push(await dumpAndLoad(b));
    }
    await b.admin.query(`drop table ${DATABASE}.copy`);
    const plain = ours.get('mysql-to-mysql-at-least-once') ?? [];
    for (const [kind, usages] of ours) {
      const held = [...(logs.get(kind) ?? '').matchAll(/"heldMs":(\d+)/g)].map((m) => Number(m[1]));
      tell(b, kind, usages, 'mariadb-dump | mariadb', theirs, {
        epochs: held.length,
        heldMs: held.reduce((x, y) => x + y, 0),
        ofAtLeastOnce: round(median(plain.map((u) => u.seconds)) / median(usages.map((u) => u.seconds))),
      });
    }
  });
}

/** What comparing costs, beside the copy that it is about. */
export async function mysqlVerify(o: MysqlBench): Promise<void> {
  await withBench(o, async (b) => {
    const writer = { name: 'mysqlwriter', parameter: { ...connection(b, 'copy'), column: ['*'] } };
    const job = jobFile(b, 'mysql-verify', writer, {}, { splitPk: 'id' });
    const state = join(b.work, 'state');
    const copies: number[] = [];
    const verified: Usage[] = [];
    for (let i = 0; i < b.repeat; i++) {
      await emptyCopy(b);
      copies.push((await measureRun(b, job)).seconds);
      verified.push(await measureNode([SYNC, 'verify', job, '--state-dir', state, '--output', 'json'], b.work));
    }
    await b.admin.query(`drop table ${DATABASE}.copy`);
    tell(b, 'mysql-verify', verified, 'the copy, one channel', copies);
  });
}
