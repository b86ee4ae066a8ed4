import assert from 'node:assert/strict';
import type { LogicalName } from '../../plugin-api/index.js';
import type { ContractCase } from '../case.js';
import { rowKey } from '../drive.js';
import type { WriterEnv } from '../env.js';
import { allTypes, asReadRow, PLAIN, plainBatch } from '../sample-rows.js';
import { committedIds, start } from '../two-phase.js';

const never = new AbortController().signal;

export const valueCases: readonly ContractCase<WriterEnv>[] = [
  {
    id: 'values.every-type',
    title: 'every logical type with awkward values and NULL is read back equal',
    needs: ['read-back'],
    async run(env) {
      const without = Object.entries(env.harness.withoutTypes ?? {});
      for (const [name, why] of without) assert.ok(why.length >= 10, `withoutTypes.${name} needs a reason`);
      const { schema, batch, rows } = allTypes(new Set(without.map(([name]) => name as LogicalName)));
      const target = await env.target(schema);
      const lane = await (await start(env, target)).lane();
      const before = Uint8Array.from(batch.data);
      const { rejected } = await lane.write(batch, never);
      const prepared = await lane.prepare(1);
      await lane.commit(1);
      assert.deepEqual([...(rejected ?? []), ...(prepared.rejected ?? [])], []);
      assert.ok(Buffer.compare(before, batch.data) === 0, 'the writer changed the bytes of the batch');
      const got = [...((await target.readBack?.()) ?? [])].sort((a, b) => Number(a['id']) - Number(b['id']));
      const want = rows.map((r) => asReadRow(r, schema, env.harness.asRead));
      assert.equal(got.length, want.length, 'number of rows');
      // Cell by cell in the order of the schema: a target may keep columns in another one.
      for (const [i, row] of want.entries()) {
        for (const c of schema.columns) {
          const name = `${c.name} of row ${String(i + 1)}`;
          assert.equal(rowKey({ [c.name]: got[i]?.[c.name] }), rowKey({ [c.name]: row[c.name] }), name);
        }
      }
    },
  },
  {
    id: 'values.reused-buffers',
    title: 'what was written does not change when the batch is overwritten afterwards',
    needs: ['read-back'],
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      const batch = plainBatch([1, 2, 3]);
      await lane.write(batch, never);
      batch.data.fill(0x39);
      batch.ends.fill(0);
      await lane.prepare(1);
      await lane.commit(1);
      assert.deepEqual(await committedIds(target), [1, 2, 3]);
    },
  },
  {
    id: 'values.bad-row',
    title: 'a row that the target refuses is one rejected row; the rows around it are written',
    needs: ['read-back', 'bad-row'],
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      const bad = env.harness.badText ?? '';
      const batch = plainBatch([1, 2, 3], (id) => (id === 2 ? bad : `row ${String(id)}`));
      const { rejected } = await lane.write(batch, never);
      const prepared = await lane.prepare(1);
      await lane.commit(1);
      const all = [...(rejected ?? []), ...(prepared.rejected ?? [])];
      assert.equal(all.length, 1, 'rejected rows');
      assert.notEqual(all[0]?.reason.trim(), '', 'a reason');
      assert.ok(
        JSON.stringify(all[0]?.row).includes(JSON.stringify(bad).slice(1, -1)),
        'the content of the rejected row',
      );
      assert.deepEqual(await committedIds(target), [1, 3]);
    },
  },
  {
    id: 'values.bytes',
    title: 'bytes are counted once rows were written',
    needs: [],
    async run(env) {
      const target = await env.target(PLAIN);
      const lane = await (await start(env, target)).lane();
      const written = await lane.write(plainBatch([1, 2, 3]), never);
      const prepared = await lane.prepare(1);
      await lane.commit(1);
      assert.ok(written.bytes + prepared.bytes > 0, 'three rows came to no byte at all');
    },
  },
];
