/** A topic into another one, exactly once, killed with -9 at every step and at any time while the source grows. */
import assert from 'node:assert/strict';
import { kafkaTest, type Kafka, type OwnTopic } from '../support/kafka.js';
import { Growth, copyJob, ended, killWhileItGrows, stopWhenCopied } from '../support/kafka-growth.js';
import { startSync, until } from '../support/sync.js';
import { Workspace, tree } from '../support/workspace.js';

/** All that a consumer of committed records sees is all there is besides aborted ones: nothing is left open. */
async function assertCopied(growth: Growth, to: OwnTopic, channel: number): Promise<void> {
  const committed = await to.read();
  growth.assertCopy(committed.records, { ordered: channel === 1 });
  assert.deepEqual(committed.ends, (await to.read({ isolation: 'read_uncommitted' })).ends, 'a transaction is open');
}

const POINTS = [
  // In the first epoch, and in later ones.
  'kafka.begun',
  'write.after#2',
  'kafka.marker#2',
  'kafka.prepared#2',
  'ckpt.before#2',
  'ckpt.after#2',
  // In the recovery of what was killed before, twice, and between it and the first transaction of the next start.
  'kafka.recovered',
  'recover.after',
  'sweep.after',
  'lanes.opened',
  'kafka.begun',
  'kafka.committing#2',
  'kafka.recovered',
  'kafka.committed#2',
  'outcome.before#2',
  'outcome.after#2',
  'ckpt.after',
];

for (const channel of [1, 2]) {
  kafkaTest(`a stream into a topic over ${String(channel)} lanes, killed at each step in turn`, async (kafka) => {
    await using from = await kafka.topic({ partitions: 3 });
    await using to = await kafka.topic({ partitions: 2 });
    await using growth = await Growth.of(kafka, from, 3);
    using ws = new Workspace();
    const args = copyJob(ws, kafka, { from: from.name, to: to.name }, channel);
    await killWhileItGrows(growth, args, { cwd: ws.dir }, POINTS);
    const r = await stopWhenCopied(growth, startSync(args, { cwd: ws.dir }), () => to.records());
    assert.equal(r.summary?.delivery, 'exactly-once');
    await assertCopied(growth, to, channel);
  });
}

/** A source of 3 partitions and a target of 2, and the job between them. */
async function withCopy(
  kafka: Kafka,
  o: { readonly channel: number; readonly setting?: Readonly<Record<string, unknown>> },
  body: (c: {
    readonly growth: Growth;
    readonly from: OwnTopic;
    readonly to: OwnTopic;
    readonly ws: Workspace;
    readonly args: readonly string[];
  }) => Promise<void>,
): Promise<void> {
  await using from = await kafka.topic({ partitions: 3 });
  await using to = await kafka.topic({ partitions: 2 });
  await using growth = await Growth.of(kafka, from, 3);
  using ws = new Workspace();
  const args = copyJob(ws, kafka, { from: from.name, to: to.name }, o.channel, o.setting);
  await body({ growth, from, to, ws, args });
  await stopWhenCopied(growth, startSync(args, { cwd: ws.dir }), () => to.records());
  await assertCopied(growth, to, o.channel);
}

kafkaTest('killed at any time, and stopped as a user stops it, while the source grows', async (kafka) => {
  await withCopy(kafka, { channel: 2 }, async ({ growth, ws, args }) => {
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGKILL', 'SIGTERM'] as const) {
      const run = startSync(args, { cwd: ws.dir });
      const end = performance.now() + 300 + Math.random() * 1200;
      while (performance.now() < end) await growth.send(10);
      run.child.kill(signal);
      const r = await run.done;
      // One that is stopped before it listens to signals dies of it.
      if (signal === 'SIGTERM') assert.ok(r.code === 143 || r.signal === signal, r.stderr);
    }
  });
});

kafkaTest('two starts at once: the lock lets one run; without it the later one fences the other', async (kafka) => {
  await withCopy(kafka, { channel: 2 }, async ({ growth, to, ws, args }) => {
    await growth.send();
    const pair = [startSync(args, { cwd: ws.dir }), startSync(args, { cwd: ws.dir })];
    await until('one of them is refused', () => pair.some(ended));
    const [refused, runs] = pair.sort((a, b) => Number(ended(b)) - Number(ended(a)));
    assert.equal((await refused?.done)?.code, 4);
    runs?.child.kill('SIGKILL');
    await runs?.done;
    const failpoint = 'lock:release';
    for (let turn = 0; turn < 3; turn++) {
      const first = startSync(args, { cwd: ws.dir, failpoint });
      if (turn > 0) {
        const before = (await to.records()).length;
        await until('the first has written', async () => {
          await growth.send();
          return (await to.records()).length > before;
        });
      }
      const second = startSync(args, { cwd: ws.dir, failpoint });
      await until('one of them gives way', async () => {
        await growth.send();
        return ended(first) || ended(second);
      });
      const [gone, left] = ended(first) ? [first, second] : [second, first];
      const r = await gone.done;
      assert.equal(r.code, 4, r.stderr);
      if (turn === 1) left.child.kill('SIGKILL');
      else left.child.kill('SIGTERM');
      await left.done;
    }
  });
});

kafkaTest('epochs in which only aborted records came, and open transactions in the source', async (kafka) => {
  await withCopy(kafka, { channel: 1 }, async ({ growth, from, to, ws, args }) => {
    const killedOnce = async (step: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
      const run = startSync(args, { cwd: ws.dir });
      await until(step, async () => ended(run) || (await holds()));
      run.child.kill('SIGKILL');
      const r = await run.done;
      assert.equal(r.signal, 'SIGKILL', r.stderr);
    };
    const epoch = (): number => highest(ws, /\/(\d+)\.ckpt$/);
    const copied = async (): Promise<number> => (await to.records()).length;
    await using other = await kafka.producer({ 'transactional.id': `${from.name}-tx` });
    await other.init();
    const begin = async (): Promise<void> => {
      await other.begin();
      await other.send(from.name, [{ partition: 0, value: 'aborted' }]);
    };
    for (let turn = 1; turn <= 2; turn++) {
      const before = epoch();
      await begin();
      await other.abort();
      await killedOnce('there is an epoch without a record', () => epoch() > before);
      await growth.send(30);
      await killedOnce('records are copied', async () => (await copied()) === turn * 30);
    }
    // What is behind an open transaction is not to be read, also not by a start that finds it so.
    await begin();
    await growth.send(30);
    await killedOnce('what is before it is copied', async () => (await copied()) === 80);
    await growth.send(30);
    await killedOnce('the other partitions go on', async () => (await copied()) === 100);
    await other.abort();
  });
});

/** The largest number that a name in the state folder has. */
function highest(ws: Workspace, form: RegExp): number {
  return Math.max(0, ...tree(ws.path('state')).map((n) => Number(form.exec(n)?.[1] ?? 0)));
}
