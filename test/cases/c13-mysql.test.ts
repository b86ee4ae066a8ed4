/** C13: a slow sink must neither kill nor bloat the read. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openSession, ownDatabase, type OwnDatabase } from '../support/databases.js';
import { jobFile, mysqlReader, ownServerSuite } from '../support/mysql-job.js';
import { MYSQL_SERVERS } from '../support/services.js';
import { SYNC, until } from '../support/sync.js';
import { Workspace } from '../support/workspace.js';

const ROWS = 60_000;

interface Outcome {
  readonly code: number | null;
  readonly rows: number;
  /** Of the lines as they came. */
  readonly hash: string;
  readonly stderr: string;
  readonly peakMb: number;
}

/** Rows go to stdout, which nobody reads until `meanwhile` is over: a sink that sleeps. */
async function intoSlowPipe(ws: Workspace, job: string, meanwhile: () => Promise<void>): Promise<Outcome> {
  const child = spawn(process.execPath, [SYNC, 'run', job], {
    cwd: ws.dir,
    env: { ...process.env, SYNC_STATE_DIR: ws.path('state'), NODE_OPTIONS: '--max-old-space-size=256' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  let stderr = '';
  let rows = 0;
  let peakMb = 0;
  const hash = createHash('sha1');
  child.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${String(child.pid)}/status`, 'utf8');
      peakMb = Math.max(peakMb, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // it has ended
    }
  }, 20);
  try {
    await meanwhile();
    child.stdout.on('data', (b: Buffer) => {
      hash.update(b);
      for (let at = b.indexOf(10); at >= 0; at = b.indexOf(10, at + 1)) rows++;
    });
    return { code: await closed, rows, hash: hash.digest('hex'), stderr, peakMb };
  } finally {
    clearInterval(watch);
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

const line = (i: number): string => `${String(i)},${String(i).repeat(1000).slice(0, 1000)}\n`;

function wanted(): string {
  const hash = createHash('sha1');
  for (let i = 1; i <= ROWS; i++) hash.update(line(i));
  return hash.digest('hex');
}

async function fill(db: OwnDatabase): Promise<void> {
  await db.query('create table t (id int primary key, v varchar(1000) character set latin1)');
  const digits =
    '(select 0 n union select 1 union select 2 union select 3 union select 4 union select 5 union select 6 union select 7 union select 8 union select 9)';
  const ids = `select a.n + b.n * 10 + c.n * 100 + d.n * 1000 + e.n * 10000 + 1 as id
    from ${digits} a, ${digits} b, ${digits} c, ${digits} d, ${digits} e`;
  await db.query(
    `insert into t select id, left(repeat(id, 1000), 1000) from (${ids}) x where id <= ${String(ROWS)} order by id`,
  );
}

ownServerSuite(MYSQL_SERVERS, 'C13', (server) => {
  let db: OwnDatabase | null = null;
  const source = async (): Promise<OwnDatabase> => {
    if (db === null) {
      db = await ownDatabase(server().url);
      await fill(db);
      await db.query('set global net_write_timeout = 1');
    }
    return db;
  };
  const job = (ws: Workspace, at: OwnDatabase, params = ''): string =>
    jobFile(ws, {
      reader: mysqlReader(at, 't', {}, params),
      writer: { name: 'filewriter', parameter: { path: '-', fileType: 'csv' } },
    });

  /** How long, in s, the server has been waiting for somebody to take rows of the table; null: it is not. */
  const waiting = async (admin: OwnDatabase | Awaited<ReturnType<typeof openSession>>, at: OwnDatabase) => {
    const rows = await admin.query('select time from information_schema.processlist where db = ? and state like ?', [
      at.name,
      '%net%',
    ]);
    return rows.length === 0 ? null : Math.max(...rows.map(([t]) => Number(t)));
  };

  test('60,000 rows of 1 KB into a sink that sleeps longer than net_write_timeout: all, with little memory', async () => {
    const at = await source();
    using ws = new Workspace();
    await using admin = await openSession(server().url);
    const r = await intoSlowPipe(ws, job(ws, at), async () => {
      await until('the server has waited 3 s for the reader', async () => ((await waiting(admin, at)) ?? 0) >= 3);
    });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.rows, ROWS);
    assert.equal(r.hash, wanted(), 'every row as it is, in the order of the key');
    assert.ok(r.peakMb > 20 && r.peakMb < 400, `${String(r.peakMb)} MB`);
    assert.doesNotMatch(r.stderr, /connection lost|reconnect|connection broke/i);
  });

  test('the server does cut connections that wait so long, where the URL asks for it; the read goes on from its last key', async () => {
    const at = await source();
    using ws = new Workspace();
    await using admin = await openSession(server().url);
    const r = await intoSlowPipe(
      ws,
      job(ws, at, 'sessionVariables=net_write_timeout=1,net_retry_count=1'),
      async () => {
        const mine = async () => {
          // Not a short answer of the planner's session, which lives on.
          const sql = `select id from information_schema.processlist where db = ? and state like '%writing to net%'
            and info like 'select%order by%' and info not like '%limit%'`;
          return String((await admin.query(sql, [at.name]))[0]?.[0] ?? '');
        };
        let id = '';
        await until('the server waits for the reader', async () => (id = await mine()) !== '');
        await until('the server has cut the connection', async () => {
          return (await admin.query('select id from information_schema.processlist where id = ?', [id])).length === 0;
        });
      },
    );
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.rows, ROWS);
    assert.equal(r.hash, wanted());
    assert.match(r.stderr, /connection|reconnect/i, 'and says so');
  });
});
