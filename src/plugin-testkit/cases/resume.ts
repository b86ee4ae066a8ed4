import assert from 'node:assert/strict';
import type { Position } from '../../plugin-api/index.js';
import { batchProblems } from '../check-batch.js';
import type { ContractCase } from '../case.js';
import { readSplits, readWhole, type SplitLog } from '../drive.js';
import type { ReaderEnv } from '../env.js';
import type { ReaderSource } from '../harness.js';

const SAMPLE = 25;
const json = (v: Position): Position => JSON.parse(JSON.stringify(v)) as Position;

interface SafePoint {
  readonly position: Position;
  readonly rows: number;
}

/** Safe points of a split in the order of emission, its end included. */
function safePoints(log: SplitLog): SafePoint[] {
  const points = log.batches
    .filter((b) => b.batch.position !== null)
    .map((b): SafePoint => ({ position: b.batch.position, rows: b.rowsAfter }));
  if (log.end) points.push({ position: log.end.position, rows: log.rows.length });
  return points;
}

function sample<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))] as T);
}

/** The values of a row's key; enough to tell its transaction. */
function valuesOf(key: string): Readonly<Record<string, string>> {
  const [, , cells] = JSON.parse(key) as [number, string | null, [string, string][]];
  return Object.fromEntries(cells);
}

async function whole(env: ReaderEnv, source: ReaderSource): Promise<readonly SplitLog[]> {
  const { logs } = await readWhole(await env.reader(source), null, { rows: source.rows });
  return [...logs.values()];
}

export const resumeCases: readonly ContractCase<ReaderEnv>[] = [
  {
    id: 'resume.everywhere',
    title: 'from every safe point, the rows before it and those read after it are the whole, each once',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 60);
      const logs = await whole(env, source);
      const points = logs.flatMap((log) => safePoints(log).map((p) => ({ log, ...p })));
      const inBatches = logs.flatMap((l) => l.batches).filter((b) => b.batch.rows > 0 && b.batch.position !== null);
      assert.ok(inBatches.length > 0, 'not one batch with rows has a safe point');
      for (const { log, position, rows } of sample(points, SAMPLE)) {
        const reader = await env.reader(source);
        await reader.planner(null);
        const left = log.rows.length - rows;
        const resumed = await readSplits(reader, [{ split: log.split, from: json(position) }], { rows: left });
        const after = resumed.get(log.split.id)?.rows ?? [];
        const at = `resumed split ${log.split.id} at ${reader.positions.show(position)}`;
        assert.deepEqual([...log.rows.slice(0, rows), ...after], log.rows, at);
      }
    },
  },
  {
    id: 'resume.end',
    title: 'a split resumed at its end gives its end and no row',
    needs: ['replayable'],
    async run(env) {
      const source = await env.seed('plain', 20);
      for (const log of await whole(env, source)) {
        if (!log.end) continue;
        const reader = await env.reader(source);
        await reader.planner(null);
        const again = await readSplits(reader, [{ split: log.split, from: json(log.end.position) }]);
        const got = again.get(log.split.id);
        assert.deepEqual(got?.rows, []);
        assert.notEqual(got?.end ?? null, null);
      }
    },
  },
  {
    id: 'resume.compare',
    title: 'compare agrees with the order of emission, or says that it cannot tell',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 60);
      const { positions } = await env.reader(source);
      for (const log of await whole(env, source)) {
        const points = sample(safePoints(log), SAMPLE);
        for (const [i, a] of points.entries()) {
          for (const [j, b] of points.entries()) {
            const c = positions.compare(json(a.position), json(b.position));
            const name = `compare(${positions.show(a.position)}, ${positions.show(b.position)}) = ${String(c)}`;
            if (i === j) assert.ok(c === 0 || c === undefined, name);
            else if (i < j) assert.ok(c === undefined || c === -1 || (c === 0 && a.rows === b.rows), name);
            else assert.ok(c === undefined || c === 1 || (c === 0 && a.rows === b.rows), name);
          }
        }
      }
    },
  },
  {
    id: 'resume.positions',
    title: 'positions survive JSON, can be shown, and have a format number',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 20);
      const { positions } = await env.reader(source);
      assert.ok(Number.isInteger(positions.format) && positions.format >= 1, 'format is no number from 1');
      for (const log of await whole(env, source)) {
        for (const p of safePoints(log)) {
          assert.deepEqual(json(p.position), p.position);
          assert.notEqual(positions.show(p.position), '');
        }
      }
    },
  },
  {
    id: 'resume.safe-end',
    title: 'a bounded split that was read to its end has its last rows covered by a safe point',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 20);
      for (const log of await whole(env, source)) {
        if (!log.split.bounded) continue;
        assert.notEqual(log.end, null, `split ${log.split.id} has no end`);
        assert.notEqual(log.end?.position ?? null, null, 'the end has no position');
      }
    },
  },
  {
    id: 'batch.shape',
    title: 'batches are well-formed and their cells are in canonical form',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 60);
      const problems = (await whole(env, source)).flatMap((log) => log.batches.flatMap((b) => batchProblems(b.batch)));
      assert.deepEqual(problems.slice(0, 10), []);
    },
  },
  {
    id: 'batch.own-buffers',
    title: 'the bytes of a batch do not change while later ones are read',
    needs: [],
    async run(env) {
      const source = await env.seed('plain', 60);
      const reader = await env.reader(source);
      const kept: { readonly live: Uint8Array; readonly copy: Uint8Array }[] = [];
      await readWhole(reader, null, {
        rows: source.rows,
        onItem(item) {
          if (item.is !== 'batch') return;
          kept.push({ live: item.data, copy: Uint8Array.from(item.data) });
          const ends = new Uint8Array(item.ends.buffer, item.ends.byteOffset, item.ends.byteLength);
          kept.push({ live: ends, copy: Uint8Array.from(ends) });
        },
      });
      assert.ok(kept.length > 0);
      assert.ok(
        kept.every((k) => Buffer.compare(k.live, k.copy) === 0),
        'a batch was overwritten',
      );
    },
  },
  {
    id: 'transaction.safe-points',
    title: 'no safe point lies inside a source transaction',
    needs: ['seed-transactions'],
    async run(env) {
      const source = await env.seed('transactions', 40);
      const of = source.transactionOf;
      assert.ok(of, 'the harness must tell the transaction of a row');
      let inside = 0;
      for (const log of await whole(env, source)) {
        const ids: readonly string[] = log.rows.map((key) => of(valuesOf(key)));
        for (const b of log.batches) {
          const last: string | undefined = ids[b.rowsAfter - 1];
          if (last === undefined || last !== ids[b.rowsAfter]) continue;
          inside++;
          assert.equal(
            b.batch.position,
            null,
            `a safe point after row ${String(b.rowsAfter)}, inside transaction ${last}`,
          );
        }
      }
      assert.ok(inside > 0, 'no batch ended inside a transaction: the case saw nothing; seed longer transactions');
    },
  },
];
