/** Three brokers of a test's own, each to be killed and started again; the first one is the controller, too. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openKafka, type Kafka } from './kafka.js';
import { serverFolder } from './own-server.js';
import { until } from './sync.js';
import type { Workspace } from './workspace.js';

const START_MS = 120_000;

export interface KafkaCluster extends AsyncDisposable {
  /** All three, as a job names them. */
  readonly brokers: string;
  readonly kafka: Kafka;
  /** Of 1 to 3; the controller (1) is best left alone: without it no leader moves. */
  kill9(node: number): Promise<void>;
  /** Until it is taken back. */
  start(node: number): Promise<void>;
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((s) => once(s, 'listening')));
  const ports = servers.map((s) => (s.address() as { readonly port: number }).port);
  await Promise.all(servers.map((s) => once(s.close(), 'close')));
  return ports;
}

/** Topics have a copy on each broker, two of which must hold a record; a broker that is gone is noticed within two seconds. */
const configOf = (node: number, ports: readonly number[], controller: number): string => {
  const listener = `PLAINTEXT://127.0.0.1:${String(ports[node - 1])}`;
  const own = `CONTROLLER://127.0.0.1:${String(controller)}`;
  return `process.roles=${node === 1 ? 'broker,controller' : 'broker'}
node.id=${String(node)}
controller.quorum.voters=1@127.0.0.1:${String(controller)}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listeners=${node === 1 ? `${listener},${own}` : listener}
advertised.listeners=${listener}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=log
auto.create.topics.enable=false
default.replication.factor=3
min.insync.replicas=2
offsets.topic.num.partitions=3
offsets.topic.replication.factor=3
transaction.state.log.num.partitions=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=400
replica.lag.time.max.ms=3000
log.retention.ms=-1
log.cleaner.dedupe.buffer.size=8388608
`;
};

/** `await using cluster = await kafkaCluster()`. Takes some ten seconds. */
export async function kafkaCluster(): Promise<KafkaCluster> {
  const lib = process.env['SYNC_KAFKA_LIB'] ?? '';
  const ws = serverFolder();
  const [controller = 0, ...ports] = await freePorts(4);
  const nodes = new Map<number, ChildProcess>();
  const java = (node: number, args: readonly string[]): ChildProcess => {
    const common = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', `-Djava.io.tmpdir=${ws.dir}`];
    const log = [
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      `-Dorg.slf4j.simpleLogger.logFile=${ws.path(String(node), 'server.log')}`,
    ];
    const cwd = ws.path(String(node));
    return spawn('java', [...common, ...log, '-cp', join(lib, '*'), ...args], { cwd, stdio: 'ignore' });
  };
  const launch = (node: number): void => {
    nodes.set(node, java(node, ['kafka.Kafka', 'server.properties']));
  };
  const killAll = (): void => {
    for (const child of nodes.values()) child.kill('SIGKILL');
  };
  process.on('exit', killAll);
  const end = async (): Promise<void> => {
    killAll();
    await Promise.all(
      [...nodes.values()].filter((c) => c.exitCode === null && c.signalCode === null).map((c) => once(c, 'exit')),
    );
    process.off('exit', killAll);
    ws[Symbol.dispose]();
  };
  const brokers = ports.map((p) => `127.0.0.1:${String(p)}`).join();
  try {
    await format(ws, ports, controller, java);
    for (const node of [1, 2, 3]) launch(node);
    const kafka = openKafka(brokers);
    const isWhole = async (): Promise<boolean> => {
      const dead = [...nodes].find(([, c]) => c.exitCode !== null);
      if (dead)
        throw new Error(
          `broker ${String(dead[0])} has ended: ${readFileSync(ws.path(String(dead[0]), 'server.log'), 'utf8').slice(-2000)}`,
        );
      return (await kafka.liveBrokers().catch(() => [])).length === 3;
    };
    await until('all brokers are there', isWhole, START_MS);
    return {
      brokers,
      kafka,
      kill9: async (node) => {
        const child = nodes.get(node);
        nodes.delete(node);
        if (child === undefined) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      },
      start: async (node) => {
        launch(node);
        await until(`broker ${String(node)} is back`, isWhole, START_MS);
      },
      [Symbol.asyncDispose]: async () => {
        await kafka[Symbol.asyncDispose]();
        await end();
      },
    };
  } catch (e) {
    await end();
    throw e;
  }
}

async function format(
  ws: Workspace,
  ports: readonly number[],
  controller: number,
  java: (node: number, args: readonly string[]) => ChildProcess,
): Promise<void> {
  const id = randomBytes(15).toString('hex').slice(0, 22); // base64 of 16 bytes, and no dash at its beginning
  for (const node of [1, 2, 3]) ws.write(`${String(node)}/server.properties`, configOf(node, ports, controller));
  const made = [1, 2, 3].map(async (node) => {
    const child = java(node, ['kafka.tools.StorageTool', 'format', `--cluster-id=${id}`, '-c', 'server.properties']);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the folder of broker ${String(node)} cannot be formatted`);
  });
  await Promise.all(made);
}
