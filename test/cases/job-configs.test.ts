/** Every example job is run as it stands, in a folder of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { LineServer, send, type Serve } from '../../plugins/socket/test/support.js';
import { openSession, type Session } from '../support/databases.js';
import { numberOf } from '../support/mysql-job.js';
import { serverTest, type TestServer } from '../support/services.js';
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

interface Demo extends AsyncDisposable {
  readonly session: Session;
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The data of install/services/demo.sh under names of a test's own. */
async function demoData(server: TestServer): Promise<Demo> {
  const name = `sync_${randomBytes(6).toString('hex')}`;
  const script = join(ROOT, 'install', 'services', 'demo.sh');
  const env = { ...process.env, SYNC_MARIADB_URL: server.url, SYNC_DEMO_DATABASE: name };
  const { stdout } = await promisify(execFile)(script, [], { env });
  const session = await openSession(server.url);
  const told = /^ +export (.*)$/m.exec(stdout)?.[1] ?? '';
  return {
    session,
    name,
    env: Object.fromEntries(told.split(' ').map((v) => v.split('=') as [string, string])),
    [Symbol.asyncDispose]: async () => {
      await session.query(`drop database ${name}`);
      await session.query(`drop database ${name}_copy`);
      await session.close();
    },
  };
}

type DemoCheck = (ws: Workspace, demo: Demo, again: () => Promise<number>) => Promise<void>;

const equalTables = async ({ session, name }: Demo, table: string): Promise<void> => {
  const rows = (t: string) => session.query(`select * from ${t} order by id`);
  assert.deepEqual(await rows(`${name}_copy.${table}`), await rows(`${name}.orders`));
};

/** `again` runs the job once more; it gives the rows that were read. */
const DEMO_CHECKS: Readonly<Record<string, DemoCheck>> = {
  'mysql-to-file.json': (ws) => {
    const [file = ''] = readdirSync(ws.path('out/customers')).filter((n) => n.endsWith('.csv'));
    const lines = readFileSync(ws.path('out/customers', file), 'utf8').split('\n');
    assert.deepEqual(lines.slice(0, 2), [
      'id,name,email,country,born,credit,created_at',
      '1,Linus Müller,user1@example.com,FR,1950-01-20,79.19,2024-01-01 01:06:41.000123',
    ]);
    assert.equal(lines.length, 1 + 889 + 1);
    return Promise.resolve();
  },
  'mysql-to-mysql.json': async (_ws, demo, again) => {
    await equalTables(demo, 'orders');
    assert.equal(await again(), 5000);
    await equalTables(demo, 'orders');
  },
  'file-to-mysql.json': async (_ws, { session, name }, again) => {
    assert.equal(await again(), 31);
    assert.equal(await numberOf(session, `select count(*) from ${name}_copy.countries`), 31);
    const flag = await session.query(`select flag from ${name}_copy.countries where code = 'ZA'`);
    assert.deepEqual(flag, [['🇿🇦']]);
  },
  'mysql-incremental.json': async (_ws, demo, again) => {
    await equalTables(demo, 'latest_orders');
    assert.equal(await again(), 0);
    await demo.session.query(`update ${demo.name}.orders set note = 'changed', updated_at = now(6) where id in (7, 9)`);
    assert.equal(await again(), 2);
    await equalTables(demo, 'latest_orders');
  },
};

const names = readdirSync(join(ROOT, 'job-configs')).filter((n) => n.endsWith('.json') && n !== 'job.schema.json');

test('every example job has a check here', () => {
  assert.deepEqual(names.sort(), [...Object.keys(CHECKS), ...Object.keys(DEMO_CHECKS)].sort());
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

for (const [name, check] of Object.entries(DEMO_CHECKS)) {
  serverTest('mariadb', `${name} runs on the data of demo.sh`, async (server) => {
    using ws = new Workspace();
    await using demo = await demoData(server);
    cpSync(join(ROOT, 'job-configs'), ws.path('job-configs'), { recursive: true });
    const run = async (): Promise<number> => {
      const options = { cwd: ws.dir, env: demo.env };
      const r = await sync(['run', `job-configs/${name}`, '--output', 'json'], options);
      assert.equal(r.code, 0, r.stderr);
      assert.doesNotMatch(r.stderr, /warning/);
      assert.equal(r.summary?.written, r.summary?.read);
      return r.summary?.read ?? -1;
    };
    assert.ok((await run()) > 0);
    await check(ws, demo, run);
  });
}
