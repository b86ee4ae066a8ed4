/** A TCP server of a test's own. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Serves each connection in turn by the next of these functions; the last one serves all that follow. */
export type Serve = (socket: Socket) => Promise<void> | void;

export class LineServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly port: number;
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** `port` 0: any that is free. */
  static async listen(serve: readonly Serve[], port = 0): Promise<LineServer> {
    const server = createServer({ noDelay: true });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const s = new LineServer(server);
    server.on('connection', (socket) => {
      s.#open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => s.#open.delete(socket));
      socket.resume();
      const serves = serve[Math.min(s.connections++, serve.length - 1)];
      void Promise.resolve(serves?.(socket)).catch(() => undefined);
    });
    return s;
  }

  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  get open(): number {
    return this.#open.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const s of this.#open) s.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        setImmediate(() => setImmediate(resolve)); // handles close at the end of a turn of the event loop
      });
    });
  }
}

/** Resolves when the system has taken the bytes. */
export function send(socket: Socket, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(data, (e) => {
      if (e) reject(e);
      else resolve();
    });
  });
}

export async function byteByByte(socket: Socket, data: string | Uint8Array, pauseMs: number): Promise<void> {
  for (const byte of Buffer.from(data as string)) {
    await send(socket, Buffer.from([byte]));
    await sleep(pauseMs);
  }
}
