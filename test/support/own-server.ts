/** A server of a test's own, to be killed and started again on the same data and port. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { urlVariable, type ServerKind, type TestServer } from './services.js';
import { ROOT, until } from './sync.js';
import { Workspace } from './workspace.js';

export const SERVICES = join(ROOT, 'install', 'services', 'services.sh');

/** A folder for a server: one that the run clears when it is cut off. */
export const serverFolder = (): Workspace => new Workspace(process.env['SYNC_OWN_SERVERS_DIR'] ?? tmpdir());

export interface OwnServer extends TestServer, AsyncDisposable {
  /** SYNC_SERVICES_DIR of it. */
  readonly dir: string;
  /** The running one's; null: stopped or killed. */
  pid(): number | null;
  start(): Promise<void>;
  /** A clean shutdown. */
  stop(): Promise<void>;
  kill9(): Promise<void>;
}

export interface ServicesResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs services.sh for a folder to its end; ports that the environment gives are not used. */
export async function services(
  dir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServicesResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^SYNC_.*_PORT$/.test(name));
  const options = { env: { ...Object.fromEntries(inherited), SYNC_SERVICES_DIR: dir, ...env } };
  try {
    return { code: 0, ...(await promisify(execFile)(SERVICES, args, options)) };
  } catch (e) {
    const failed = e as { readonly code?: unknown; readonly stdout: string; readonly stderr: string };
    if (typeof failed.code !== 'number') throw e;
    return { code: failed.code, stdout: failed.stdout, stderr: failed.stderr };
  }
}

async function mustRun(dir: string, args: readonly string[]): Promise<string> {
  const r = await services(dir, args);
  if (r.code !== 0) throw new Error(`services.sh ${args.join(' ')}: exit ${String(r.code)}: ${r.stderr}`);
  return r.stdout;
}

/**
 * Started, in a folder that is removed at its end: `await using server = await ownServer()`. Takes about two seconds; Kafka five,
 * and twelve after a kill. `options`: lines of my.cnf, of Kafka's server.properties.
 */
export async function ownServer(kind: ServerKind = 'mariadb', options: readonly string[] = []): Promise<OwnServer> {
  const ws = serverFolder();
  if (options.length > 0) ws.write(join(kind, 'extra.cnf'), `${options.join('\n')}\n`);
  const start = async (): Promise<void> => {
    await mustRun(ws.dir, ['start', kind]);
  };
  const kill = (): number | null => {
    const pid = livePid(ws.path(kind, 'pid'));
    if (pid !== null) process.kill(pid, 'SIGKILL');
    return pid;
  };
  // A test that ends the process leaves none behind.
  process.on('exit', kill);
  const end = (): void => {
    kill();
    process.off('exit', kill);
    ws[Symbol.dispose]();
  };
  try {
    await start();
    const env = await mustRun(ws.dir, ['env', kind]);
    const valueOf = (name: string): string | null => new RegExp(`^export ${name}=(.*)$`, 'm').exec(env)?.[1] ?? null;
    const url = valueOf(urlVariable(kind)) ?? '';
    return {
      kind,
      dir: ws.dir,
      url,
      socket: valueOf(`SYNC_${kind.toUpperCase()}_SOCKET`),
      pid: () => livePid(ws.path(kind, 'pid')),
      start,
      stop: async () => {
        await mustRun(ws.dir, ['stop', kind]);
      },
      kill9: async () => {
        kill();
        await until('the killed server is gone', () => livePid(ws.path(kind, 'pid')) === null);
        // Its first thread may be gone before the others, which still hold the port.
        await until('the port of the killed server is free', async () => !(await listens(url)));
      },
      [Symbol.asyncDispose]: async () => {
        kill();
        await until('the killed server is gone', () => livePid(ws.path(kind, 'pid')) === null);
        await mustRun(ws.dir, ['stop', kind]); // a socket elsewhere
        end();
      },
    };
  } catch (e) {
    end();
    throw e;
  }
}

function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url.includes('://') ? url : `kafka://${url}`);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

/** As services.sh has it: a pid and when that process began, which together name a process for ever. */
function livePid(file: string): number | null {
  try {
    const [pid = '', began] = readFileSync(file, 'utf8').trim().split(' ');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const parts = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return parts[0] !== 'Z' && parts[0] !== 'X' && parts[19] === began ? Number(pid) : null;
  } catch {
    return null;
  }
}
