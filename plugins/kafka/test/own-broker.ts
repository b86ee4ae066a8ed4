/** A broker that a test may kill: its own, from the programs of install/services/kafka.sh (SYNC_KAFKA_LIB). */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openKafkajsClient } from '../client/kafkajs-client.js';
import type { BrokerAddress } from '../client/node-link.js';
import { never, settingsFor } from './kafka-servers.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function saslListener(port: number, sessionMs: number): { readonly listener: string; readonly lines: string } {
  const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_sync="password";';
  return {
    listener: `,SASL://127.0.0.1:${String(port)}`,
    lines: `listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=${login}
connections.max.reauth.ms=${String(sessionMs)}
`,
  };
}

const START_MS = 60_000;

export class OwnBroker implements AsyncDisposable {
  readonly at: BrokerAddress;
  /** Only where sessions have a length. */
  readonly sasl: BrokerAddress;
  readonly #folder: string;
  readonly #lib: string;
  #process: ChildProcess | null = null;

  private constructor(at: BrokerAddress, sasl: BrokerAddress, folder: string, lib: string) {
    this.at = at;
    this.sasl = sasl;
    this.#folder = folder;
    this.#lib = lib;
  }

  /**
   * Started and usable.
   * @param o `sessionMs`: with a listener {@link sasl} for PLAIN, user `sync` of password `password`, who must log in again so often.
   */
  static async make(lib: string, o: { readonly sessionMs?: number } = {}): Promise<OwnBroker> {
    const [port, controller, sasl] = [await freePort(), await freePort(), await freePort()];
    const extra = o.sessionMs === undefined ? { listener: '', lines: '' } : saslListener(sasl, o.sessionMs);
    const folder = await mkdtemp(join(tmpdir(), 'kafka-own-'));
    const config = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${String(controller)}
listeners=PLAINTEXT://127.0.0.1:${String(port)},CONTROLLER://127.0.0.1:${String(controller)}${extra.listener}
advertised.listeners=PLAINTEXT://127.0.0.1:${String(port)}${extra.listener}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=log
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
${extra.lines}share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
`;
    await writeFile(join(folder, 'server.properties'), config);
    const id = randomBytes(16).toString('base64url');
    const format = [
      '-cp',
      `${lib}/*`,
      'kafka.tools.StorageTool',
      'format',
      `--cluster-id=${id}`,
      '-c',
      'server.properties',
    ];
    const made = spawnSync('java', format, { cwd: folder, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`cannot format the broker's folder: ${made.stderr}`);
    const broker = new OwnBroker({ host: '127.0.0.1', port }, { host: '127.0.0.1', port: sasl }, folder, lib);
    await broker.start();
    return broker;
  }

  /** Until it answers. */
  async start(): Promise<void> {
    const args = ['-Xmx384m', '-cp', `${this.#lib}/*`, 'kafka.Kafka', 'server.properties'];
    this.#process = spawn('java', args, { cwd: this.#folder, stdio: 'ignore' });
    for (const end = performance.now() + START_MS; ; await wait(200)) {
      await using client = openKafkajsClient(settingsFor([this.at]), 'source');
      try {
        if ((await client.metadata([], never)).brokers.length > 0) return;
      } catch (e) {
        if (performance.now() > end || this.#process.exitCode !== null) throw e;
      }
    }
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }
}
