import { connect, type Socket } from 'node:net';
import { SyncError } from 'syncx/plugin-api';
import type { Address } from './address.js';

/** What may wait for the lane: beyond it the socket is paused, and TCP slows the server down. */
const MOST_BYTES = 1 << 20;
/** Servers that write byte by byte make chunks whose objects are larger than what is in them. */
const MOST_CHUNKS = 1024;

const KEEP_ALIVE_MS = 60_000;

/** How a connection ended: `closed` by the server (FIN), or `broken` (reset, timed out, out of reach). */
export type Ending = { readonly is: 'closed' } | { readonly is: 'broken'; readonly why: string };

function reasonOf(e: Error & { readonly code?: string; readonly errors?: readonly Error[] }): string {
  if (e.code === 'ECONNRESET' || e.code === 'EPIPE') return `it was reset (${e.code})`;
  // A host of several addresses: one error for each that was tried.
  if (e.errors !== undefined && e.errors.length > 0) return [...new Set(e.errors.map((x) => x.message))].join('; ');
  return e.message === '' ? (e.code ?? e.name) : e.message;
}

function cannotConnect(name: string, why: string, cause?: unknown): SyncError {
  return new SyncError('SOURCE_IO', `cannot connect to ${name}: ${why}`, {
    place: name,
    cause,
    hint: 'Check address, and whether the server runs and may be reached from here.',
  });
}

/** True: the server had taken the connection, and reset it before anybody here could look. */
export function wasReset(e: SyncError): boolean {
  return (e.cause as { readonly code?: unknown } | undefined)?.code === 'ECONNRESET';
}

/** A TCP connection whose bytes wait until they are taken. Nothing that came before its end is lost, however it ended. */
export class Connection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #ending: Ending | null = null;

  private constructor(socket: Socket, changed: () => void) {
    this.#socket = socket;
    const end = (ending: Ending): void => {
      this.#ending ??= ending;
      changed();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes >= MOST_BYTES || this.#chunks.length >= MOST_CHUNKS) socket.pause();
      changed();
    });
    socket.on('end', () => {
      // Where data and a reset are there at once, libuv tells them as data and a plain end. Only a write finds the reset:
      // one of no bytes, which sends nothing.
      socket.write(Buffer.alloc(0), (e) => {
        end(e ? { is: 'broken', why: reasonOf(e) } : { is: 'closed' });
      });
    });
    socket.on('error', (e) => {
      end({ is: 'broken', why: reasonOf(e) });
    });
    socket.on('close', () => {
      end({ is: 'broken', why: 'it was closed' });
    });
  }

  /**
   * `changed` is called when there are new bytes, or the end.
   * @throws SyncError SOURCE_IO; the signal's reason on abort.
   */
  static open(
    { host, port }: Address,
    name: string,
    timeoutMs: number,
    changed: () => void,
    signal: AbortSignal,
  ): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        host,
        port,
        allowHalfOpen: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      });
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        socket.removeListener('error', onError);
      };
      const fail = (e: Error): void => {
        settle();
        socket.on('error', () => undefined);
        socket.destroy();
        reject(e);
      };
      const onError = (e: Error): void => {
        fail(cannotConnect(name, reasonOf(e), e));
      };
      const onAbort = (): void => {
        fail(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        fail(cannotConnect(name, `no answer within ${String(timeoutMs)} ms (connectTimeout)`));
      }, timeoutMs);
      socket.once('error', onError);
      socket.once('connect', () => {
        settle();
        resolve(new Connection(socket, changed));
      });
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  /** The bytes that have come since the last call; none: an empty list. */
  take(): readonly Buffer[] {
    const taken = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#socket.isPaused()) this.#socket.resume();
    return taken;
  }

  /** Nothing waits to be taken, and it is open. */
  get silent(): boolean {
    return this.#chunks.length === 0 && this.#ending === null;
  }

  /** Null: it is open, or not all of its bytes are taken. */
  get ending(): Ending | null {
    return this.#chunks.length === 0 ? this.#ending : null;
  }

  /** Resolves when its handle is gone. May be done twice. */
  close(): Promise<void> {
    const socket = this.#socket;
    if (socket.closed) return Promise.resolve();
    return new Promise((resolve) => {
      socket.once('close', resolve);
      socket.destroy();
    });
  }
}
