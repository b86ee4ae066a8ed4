/** Every example job is run as it stands, in a folder of its own; those of MySQL on the demo data of install/services. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { LineServer, send, type Serve } from '../../plugins/socket/test/support.js';
import { kafkaTest } from '../support/kafka.js';
import { openSession, type ServerRow } from '../support/databases.js';
import { serverTest, testServer, type TestServer } from '../support/services.js';
import { ROOT, sync } from '../support/sync.js';
import { publishedLines, Workspace } from '../support/workspace.js';

type Check = (ws: Workspace) => void;

const CHECKS: Readonly<Record<string, Check>> = {
  'file-to-file.json': (ws) => {
    const rows = publishedLines(ws.path('out/countries')).map((l) => JSON.parse(l) as Record<string, unknown>);
    assert.equal(rows.length, 31);
    assert.deepEqual(
      rows.find((r) => r['code'] === 'ZA'),
      {
        code: 'ZA',
        name: 'South Africa',
        native_name: 'South Africa',
        flag: '🇿🇦',
        capital: 'Pretoria, Cape Town, Bloemfontein',
        population: 60414000,
        independence: '1910-05-31',
        note: 'Three capitals:\nexecutive, legislative, judicial',
      },
    );
    assert.equal(rows.find((r) => r['code'] === 'CI')?.['note'], null, '\\N is NULL');
    assert.equal(rows.find((r) => r['code'] === 'KE')?.['note'], '', 'an empty field is an empty text');
  },
  'file-transform.json': (ws) => {
    const rows = publishedLines(ws.path('out/large-countries')).map((l) => JSON.parse(l) as Record<string, unknown>);
    assert.deepEqual(
      rows.find((r) => r['code'] === 'EG'),
      { code: 'EG', name: 'Egypt', capital: 'C****', millions: 112.7, year: 1922, source: 'countries' },
    );
  },
  'socket-to-file.json': (ws) => {
    assert.deepEqual(publishedLines(ws.path('out/lines')), ['{"id":1,"colour":"red"}', '{"id":2,"colour":"green"}']);
  },
  'socket-to-stream.json': () => undefined,
  'stream-to-stream.json': () => undefined,
};

const once =
  (text: string): Serve =>
  async (s) => {
    await send(s, text);
    s.end();
  };

/** What must run beside a job. */
const SERVERS: Readonly<Record<string, () => Promise<AsyncDisposable>>> = {
  'socket-to-file.json': () => LineServer.listen([once('1,red\n2,green\n')], 19_064),
  'socket-to-stream.json': () => LineServer.listen([once('{"id":1,"user":{"name":"é"}}\n{"id":2}')], 19_065),
};

/** A name of its own: tests run side by side. */
const DATABASE = `demo_${randomBytes(4).toString('hex')}`;

/** Made anew by each call, as the user's command does. @returns what it exports. */
function demo(server: TestServer): Readonly<Record<string, string>> {
  const env = { ...process.env, SYNC_MARIADB_URL: server.url, SYNC_DEMO_DATABASE: DATABASE };
  const out = execFileSync(join(ROOT, 'install/services/demo.sh'), {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return Object.fromEntries([...out.matchAll(/(SYNC_DEMO_\w+)=(\S+)/g)].map((m) => [m[1] ?? '', m[2] ?? '']));
}

async function ask(server: TestServer, sql: string): Promise<readonly ServerRow[]> {
  await using session = await openSession(server.url);
  await session.query(`use ${DATABASE}`);
  return session.query(sql);
}

after(async () => {
  const server = testServer('mariadb');
  if (server !== null)
    await ask(server, 'select 1').then(
      () => ask(server, `drop database ${DATABASE}`),
      () => undefined,
    );
});

type Run = () => Promise<number>;

/** What is right after a run, and whether another one does the right thing. */
const MYSQL: Readonly<Record<string, (ws: Workspace, server: TestServer, again: Run) => Promise<void>>> = {
  'mysql-to-mysql.json': async (_ws, server, again) => {
    const differ =
      'select count(*) from orders a left join orders_copy b using (id) where not (a.note <=> b.note and a.amount = b.amount and a.updated_at = b.updated_at)';
    assert.deepEqual(await ask(server, `select (select count(*) from orders_copy), (${differ})`), [['10000', '0']]);
    assert.equal(await again(), 10_000);
    assert.deepEqual(await ask(server, 'select count(*) from orders_copy'), [['10000']]);
  },
  'mysql-to-file.json': async (ws) => {
    const lines = publishedLines(ws.path('out/paid-orders')); // sorted
    assert.ok(lines.includes('id,name,country,amount,note,updated_at'));
    assert.equal(lines.length, 3335);
    assert.ok(lines.includes('1,Customer 2,EG,1.37,Bestellung № 1,2024-05-01 00:01:01.000003'));
    return Promise.resolve();
  },
  'file-to-mysql.json': async (_ws, server, again) => {
    assert.equal(await again(), 31);
    assert.deepEqual(await ask(server, "select count(*), max(if(code = 'KE', capital, '')) from countries"), [
      ['31', 'Nairobi'],
    ]);
  },
  'mysql-incremental.json': async (_ws, server, again) => {
    const [[first]] = (await ask(server, 'select count(*) from orders_copy')) as [[string]];
    assert.equal(first, '7168');
    assert.equal(await again(), 0);
    await ask(server, "update orders set status = 'new', updated_at = '2024-06-01' where id = 1");
    assert.equal(await again(), 1);
    assert.deepEqual(await ask(server, 'select count(*), max(updated_at) from orders_copy'), [
      ['7169', '2024-06-01 00:00:00.000000'],
    ]);
  },
};

const names = readdirSync(join(ROOT, 'job-configs')).filter((n) => n.endsWith('.json') && n !== 'job.schema.json');

const KAFKA = [
  'file-to-kafka.json',
  'kafka-changes-to-mysql.json',
  'kafka-to-file.json',
  'kafka-to-kafka.json',
  'kafka-to-mysql.json',
  'mysql-to-kafka.json',
  'words-to-table.json',
  'words-to-topic.json',
];

test('every example job has a check here', () => {
  assert.deepEqual(names.sort(), [...Object.keys(CHECKS), ...Object.keys(MYSQL), ...KAFKA].sort());
});

for (const name of Object.keys(CHECKS)) {
  test(`${name} runs`, async () => {
    using ws = new Workspace();
    await using _ = (await SERVERS[name]?.()) ?? null;
    cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
    const r = await sync(['run', `job-configs/${name}`, '--output', 'json'], { cwd: ws.dir });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.summary?.state, 'finished');
    assert.ok(r.summary.read > 0);
    assert.equal(r.summary.written + Number(r.summary['filtered']), r.summary.read);
    CHECKS[name]?.(ws);
  });
}

for (const [name, check] of Object.entries(MYSQL)) {
  serverTest('mariadb', `${name} runs`, async (server) => {
    using ws = new Workspace();
    cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
    const env = demo(server);
    const run = async (): Promise<number> => {
      const r = await sync(['run', `job-configs/${name}`, '--output', 'json'], { cwd: ws.dir, env });
      assert.equal(r.code, 0, r.stderr);
      assert.ok(r.summary && r.summary.state === 'finished' && r.summary.written === r.summary.read);
      return r.summary.read;
    };
    assert.ok((await run()) > 0);
    await check(ws, server, run);
  });
}

const order = (id: number) => ({
  partition: id % 2,
  value: JSON.stringify({ id, customer: { name: `Customer ${String(id)}` }, amount: id * 1.25 }),
});
const HUNDRED = Array.from({ length: 100 }, (_, i) => order(i + 1));

kafkaTest('kafka-to-file.json runs', async (kafka) => {
  await using topic = await kafka.topic({ partitions: 2 });
  await topic.send(HUNDRED);
  using ws = new Workspace();
  cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
  const env = { SYNC_KAFKA_BROKERS: kafka.brokers };
  const args = ['run', 'job-configs/kafka-to-file.json', '-p', `topic=${topic.name}`, '--output', 'json'];
  const r = await sync(args, { cwd: ws.dir, env });
  assert.equal(r.code, 0, r.stderr);
  const lines = publishedLines(ws.path('out/kafka-to-file'));
  assert.equal(lines.length, 101);
  assert.ok(lines.includes('1,Customer 1,1.25,0'));
});

kafkaTest('kafka-to-mysql.json runs', async (kafka, t) => {
  const server = testServer('mariadb');
  if (server === null) {
    t.skip('no server: SYNC_MARIADB_URL is not set');
    return;
  }
  await using topic = await kafka.topic({ partitions: 2 });
  await topic.send(HUNDRED);
  using ws = new Workspace();
  cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
  const env = { ...demo(server), SYNC_KAFKA_BROKERS: kafka.brokers };
  const args = ['run', 'job-configs/kafka-to-mysql.json', '-p', `topic=${topic.name}`, '--output', 'json'];
  const r = await sync(args, { cwd: ws.dir, env });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.delivery, 'exactly-once');
  const sum = 'select count(*), sum(id), sum(amount), max(customer) from topic_orders';
  assert.deepEqual(await ask(server, sum), [['100', '5050', '6312.50', 'Customer 99']]);
});

kafkaTest('kafka-changes-to-mysql.json runs', async (kafka, t) => {
  const server = testServer('mariadb');
  if (server === null) {
    t.skip('no server: SYNC_MARIADB_URL is not set');
    return;
  }
  await using topic = await kafka.topic();
  const row = (id: number, credit: string | null) => ({ id: String(id), name: `Customer ${String(id)}`, credit });
  const change = (type: string, data: readonly object[], old: readonly object[] | null = null) => ({
    value: JSON.stringify({ database: 'shop', table: 'customers', type, isDdl: false, data, old }),
  });
  await topic.send([
    change('INSERT', [row(1, '1.50'), row(2, null), row(3, '3.50')]),
    change('UPDATE', [row(2, '2.50'), row(4, '3.50')], [{ credit: null }, { id: '3', name: 'Customer 3' }]),
    change('DELETE', [row(1, '1.50')]),
  ]);
  using ws = new Workspace();
  const env = { ...demo(server), SYNC_KAFKA_BROKERS: kafka.brokers };
  assert.equal(await runExample(ws, 'kafka-changes-to-mysql.json', [`topic=${topic.name}`], env), 8);
  assert.deepEqual(await ask(server, 'select id, name, credit from topic_customers order by id'), [
    ['2', 'Customer 2', '2.50'],
    ['4', 'Customer 4', '3.50'],
  ]);
});

/** Runs an example with `-p` parameters. @returns the rows that were written. */
async function runExample(ws: Workspace, name: string, parameters: readonly string[], env: NodeJS.ProcessEnv) {
  cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
  const args = ['run', `job-configs/${name}`, ...parameters.flatMap((p) => ['-p', p]), '--output', 'json'];
  const r = await sync(args, { cwd: ws.dir, env: env as Record<string, string> });
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.summary?.delivery, 'exactly-once');
  return r.summary.written;
}

kafkaTest('file-to-kafka.json runs', async (kafka) => {
  await using topic = await kafka.topic({ partitions: 3 });
  using ws = new Workspace();
  const env = { SYNC_KAFKA_BROKERS: kafka.brokers };
  assert.equal(await runExample(ws, 'file-to-kafka.json', [`topic=${topic.name}`], env), 31);
  const za = (await topic.records()).find((r) => r.key?.toString() === 'ZA');
  assert.equal(za?.value?.toString(), '{"code":"ZA","name":"South Africa","population":60414000}');
});

kafkaTest('kafka-to-kafka.json runs', async (kafka) => {
  await using from = await kafka.topic({ partitions: 2 });
  await using to = await kafka.topic({ partitions: 2 });
  await from.send(HUNDRED);
  using ws = new Workspace();
  const env = { SYNC_KAFKA_BROKERS: kafka.brokers };
  assert.equal(await runExample(ws, 'kafka-to-kafka.json', [`from=${from.name}`, `to=${to.name}`], env), 100);
  const values = async (topic: typeof from) => (await topic.records()).map((r) => r.value?.toString()).sort();
  assert.deepEqual(await values(to), await values(from));
});

kafkaTest('mysql-to-kafka.json runs', async (kafka, t) => {
  const server = testServer('mariadb');
  if (server === null) {
    t.skip('no server: SYNC_MARIADB_URL is not set');
    return;
  }
  await using topic = await kafka.topic({ partitions: 2 });
  using ws = new Workspace();
  const env = { ...demo(server), SYNC_KAFKA_BROKERS: kafka.brokers };
  assert.equal(await runExample(ws, 'mysql-to-kafka.json', [`topic=${topic.name}`], env), 10_000);
  const records = await topic.records();
  assert.equal(records.length, 10_000);
  const first = records.find((r) => r.key?.toString() === '1');
  assert.match(
    first?.value?.toString() ?? '',
    /^\{"id":1,"customer":\d+,"amount":1\.37,"updated_at":"2024-05-01 00:01:01\.000003"\}$/,
  );
});

kafkaTest(
  'kafka-demo.sh kills words-to-topic.json and words-to-table.json, and each word is there as often',
  async (kafka, t) => {
    const server = testServer('mariadb');
    if (server === null) {
      t.skip('no server: SYNC_MARIADB_URL is not set');
      return;
    }
    const env = {
      ...process.env,
      SYNC_KAFKA_BROKERS: kafka.brokers,
      SYNC_MARIADB_URL: server.url,
      SYNC_DEMO_DATABASE: DATABASE,
    };
    const { stdout, stderr } = await promisify(execFile)(join(ROOT, 'install/services/kafka-demo.sh'), { env });
    assert.equal(stderr.split('killed with -9').length, 3, stderr);
    const lines = stdout.trimEnd().split('\n');
    const counts = lines.map((l) => l.split(' ').slice(1).map(Number));
    assert.deepEqual(
      [0, 1, 2].map((i) => counts.reduce((sum, c) => sum + (c[i] ?? 0), 0)),
      [10_000, 10_000, 10_000],
    );
    assert.deepEqual(
      lines.map((l) => l.split(' ')[0]),
      ['be', 'is', 'not', 'or', 'question', 'that', 'the', 'to'],
    );
    const sums = 'select count(*), count(distinct id), min(id), max(id) from t_test';
    assert.deepEqual(await ask(server, sums), [['10000', '10000', '1', '10000']]);
  },
);
