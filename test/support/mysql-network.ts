/** A network on which a COMMIT takes its time. */
import { createServer, connect, type Socket } from 'node:net';

export interface LateCommits extends AsyncDisposable {
  /** As the server's, by way of this network. */
  readonly url: string;
  /** A COMMIT was sent and has not reached the server. */
  readonly held: boolean;
}

const COMMIT = Buffer.from([7, 0, 0, 0, 3, ...Buffer.from('commit')]);

/**
 * Holds back the `n`th COMMIT of all for so long, and keeps its connection open for the server when its client is gone.
 * `holdMs` null: until the server closes the connection.
 */
export async function lateCommits(serverUrl: string, n: number, holdMs: number | null): Promise<LateCommits> {
  const u = new URL(serverUrl);
  const [port, host] = [Number(u.port), u.hostname];
  const sockets = new Set<Socket>();
  let seen = 0;
  let held = false;
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    let holding = false;
    for (const s of [client, upstream]) {
      sockets.add(s);
      s.on('error', () => undefined);
      s.on('close', () => sockets.delete(s));
    }
    client.on('data', (data) => {
      if (!data.equals(COMMIT) || ++seen !== n) {
        upstream.write(data);
        return;
      }
      held = true;
      holding = true;
      if (holdMs === null) return;
      client.on('close', () => {
        const timer = setTimeout(() => upstream.end(data), holdMs);
        timers.add(timer);
      });
    });
    client.on('close', () => {
      if (!holding) upstream.destroy();
    });
    upstream.on('data', (data) => client.write(data));
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  u.hostname = '127.0.0.1';
  u.port = String(typeof at === 'object' && at !== null ? at.port : 0);
  return {
    url: u.href,
    get held() {
      return held;
    },
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearTimeout(timer);
      for (const s of sockets) s.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
