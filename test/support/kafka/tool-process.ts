/** KafkaTool.java as a child process that answers requests: one JVM for all that a test file asks. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../sync.js';

/** The Java client's error: `name` is its class, as TopicAuthorizationException. */
export class KafkaToolError extends Error {
  constructor(
    override readonly name: string,
    message: string,
  ) {
    super(message);
  }
}

/** Bytes are base64. */
export interface ToolRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime';
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly { readonly key: string; readonly value: string | null }[];
}

export interface ToolAnswer {
  readonly result: unknown;
  readonly records: readonly ToolRecord[];
}

export interface ToolProcess {
  /** Requests run at the same time. Throws KafkaToolError. */
  ask(op: string, request?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  /** At once, without a word to the broker: transactions that are open stay open. */
  end(): Promise<void>;
}

interface Pending {
  readonly records: ToolRecord[];
  readonly resolve: (answer: ToolAnswer) => void;
  readonly reject: (error: Error) => void;
}

interface Line {
  readonly id: number;
  readonly records?: readonly ToolRecord[];
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** `lib`: the folder of Kafka's jars. It keeps this process alive only while it has to answer, and ends with this process. */
export function startTool(lib: string, brokers: string): ToolProcess {
  const jars = join(lib, '*');
  // The run of all tests has compiled it once: to do so at each start takes most of the start.
  const compiled = process.env['SYNC_KAFKA_TOOL'];
  const tool =
    compiled === undefined
      ? ['-cp', jars, join(ROOT, 'test', 'support', 'kafka', 'KafkaTool.java')]
      : ['-cp', [compiled, jars].join(delimiter), 'KafkaTool'];
  // Made for a start as short as can be, and quiet: what the client logs goes to stderr.
  const jvm = [
    '-Xmx512m',
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=off',
  ];
  const child = spawn('java', [...jvm, ...tool, brokers], { stdio: 'pipe' });
  const pending = new Map<number, Pending>();
  keepAlive(child, false);
  let stderr = '';
  let ended: Error | null = null;
  let lastId = 0;
  const fail = (error: Error): void => {
    ended ??= error;
    for (const p of pending.values()) p.reject(error);
    pending.clear();
    keepAlive(child, false);
  };
  const closed = new Promise<void>((resolve) => {
    child.once('error', (e) => {
      fail(new Error('KafkaTool.java cannot be run', { cause: e }));
      resolve();
    });
    child.once('close', () => {
      fail(new Error(`KafkaTool.java ended: ${stderr}`));
      resolve();
    });
  });
  child.stdin.on('error', () => undefined); // its end is told of above
  child.stderr.setEncoding('utf8').on('data', (s: string) => (stderr += s));
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    const p = pending.get(line.id);
    if (p === undefined) return;
    if (line.records !== undefined) {
      for (const r of line.records) p.records.push(r);
      return;
    }
    pending.delete(line.id);
    keepAlive(child, pending.size > 0);
    if (line.error === undefined) p.resolve({ result: line.result, records: p.records });
    else p.reject(new KafkaToolError(line.error.name, line.error.message));
  });
  return {
    ask: (op, request = {}) =>
      new Promise((resolve, reject) => {
        if (ended !== null) {
          reject(ended);
          return;
        }
        const id = ++lastId;
        pending.set(id, { records: [], resolve, reject });
        keepAlive(child, true);
        child.stdin.write(`${JSON.stringify({ ...request, id, op })}\n`);
      }),
    end: async () => {
      keepAlive(child, ended === null);
      child.stdin.end();
      await closed;
    },
  };
}

/** Its pipes are sockets, which would keep this process alive too. */
function keepAlive(child: ChildProcessWithoutNullStreams, alive: boolean): void {
  for (const handle of [
    child,
    child.stdin as Socket,
    child.stdout as unknown as Socket,
    child.stderr as unknown as Socket,
  ]) {
    if (alive) handle.ref();
    else handle.unref();
  }
}
