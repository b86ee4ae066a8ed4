/** The writer as the engine drives it, in this process, and a network that breaks where a test says so. */
import { createServer, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, LaneContext, LaneWriter, RunIdentity, Writer } from 'syncx/plugin-api';
import { fillOptions, plainBatch, testContext, testLane, testRun } from 'syncx/plugin-testkit';
import type { MysqlLaneWriter } from '../write/lane-writer.js';
import { writer as definition } from '../writer.js';
import type { TestDatabase } from './servers.js';

export const never: AbortSignal = new AbortController().signal;

export interface DrivenWriter {
  readonly writer: Writer;
  readonly run: RunIdentity;
  /** Messages of warnings and errors. */
  readonly warnings: string[];
  lane(n?: number, lanes?: number): Promise<LaneWriter>;
}

export interface DriveOptions extends JsonObject {
  readonly host?: string;
}

export async function drive(
  db: TestDatabase,
  { host, ...options }: DriveOptions = {},
  run: RunIdentity = testRun(),
  begins = run.attempt === 1,
): Promise<DrivenWriter> {
  const warnings: string[] = [];
  const tell = (_fields: JsonObject, message: string): void => void warnings.push(message);
  const quiet = (): void => undefined;
  const log = { debug: quiet, info: quiet, warn: tell, error: tell };
  const url = host === undefined ? db.jdbcUrl : db.jdbcUrl.replace(/\/\/[^/]*\//, `//${host}/`);
  const { username, password } = db;
  const filled = fillOptions(definition, {
    connection: [{ jdbcUrl: url, table: ['t'] }],
    username,
    password,
    loadData: 'never',
    batchSize: 1, // so that rows are sent as they come
    ...options,
  });
  const writer = await definition.create(filled, { ...testContext(), log });
  if (begins) await writer.begin(run);
  return {
    writer,
    run,
    warnings,
    lane: (n = 0, lanes = 1) => {
      const lane: LaneContext = { ...testLane(run, n, lanes), log };
      return writer.openLane(lane, null);
    },
  };
}

export async function writeIds(lane: LaneWriter, ids: readonly number[]): Promise<void> {
  const { rejected } = await lane.write(plainBatch(ids), never);
  await (lane as MysqlLaneWriter).settled();
  if (rejected !== null) throw new Error(`rows were rejected: ${JSON.stringify(rejected)}`);
}

/** One epoch. */
export async function epoch(lane: LaneWriter, n: number, ids: readonly number[]): Promise<void> {
  await writeIds(lane, ids);
  await lane.prepare(n);
  await lane.commit(n);
}

export async function idsIn(db: TestDatabase, table = 't'): Promise<readonly number[]> {
  return (await db.rows(`select id from ${table}`)).map(([id]) => Number(id)).sort((a, b) => a - b);
}

/** The lane's connection, as the commit table tells it. */
export async function connectionOf(db: TestDatabase, lane = 0): Promise<string> {
  const [row] = await db.rows(`select connection from syncx_commits where lane = ${String(lane)}`);
  return (row?.[0] ?? '').split('@')[0] ?? '';
}

export async function isThere(db: TestDatabase, connection: string): Promise<boolean> {
  return (await db.rows(`select 1 from information_schema.processlist where id = ${connection}`)).length > 0;
}

export async function until(what: string, condition: () => Promise<boolean>, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(10);
  }
}

export async function kill(db: TestDatabase, connection: string): Promise<void> {
  await db.run(`kill ${connection}`);
  await until('the connection is gone', async () => !(await isThere(db, connection)));
}

/** What becomes of the next COMMIT: `lost` never reaches the server; `answer-lost`: it does, and its answer does not come back. */
export type Cut = 'lost' | 'answer-lost';

export interface Network extends AsyncDisposable {
  readonly host: string;
  /** Of the next statement that is just this text. */
  cut(statement: string, how: Cut): void;
  /** How often it was cut. */
  readonly cuts: number;
}

/** Passes bytes on to the server of the database, until it is told to cut a connection. */
export async function network(db: TestDatabase): Promise<Network> {
  const [address] = db.endpoints[0]?.addresses ?? [];
  if (address?.port === undefined) throw new Error('no address');
  const { host, port } = address;
  let next: { readonly packet: Buffer; readonly how: Cut } | null = null;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host ?? '127.0.0.1');
    let swallow = false;
    for (const s of [client, upstream]) {
      sockets.add(s);
      s.on('error', () => undefined);
      s.on('close', () => {
        sockets.delete(s);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => {
      if (next?.packet.equals(data) === true) {
        const { how } = next;
        next = null;
        cuts++;
        swallow = true;
        if (how === 'lost') {
          client.destroy();
          return;
        }
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (swallow) client.destroy();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = server.address();
  return {
    host: `127.0.0.1:${String(typeof own === 'object' && own !== null ? own.port : 0)}`,
    get cuts() {
      return cuts;
    },
    cut(statement, how) {
      const text = Buffer.from(statement);
      const head = Buffer.from([text.length + 1, 0, 0, 0, 3]);
      next = { packet: Buffer.concat([head, text]), how };
    },
    [Symbol.asyncDispose]: async () => {
      for (const s of sockets) s.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
