/** A machine for which the native packages have no binary: what goes on without them, and what says so. */
import assert from 'node:assert/strict';
import Module from 'node:module';
import { test } from 'node:test';
import { isSyncError } from 'syncx/plugin-api';
import { BatchWriter, NO_PRODUCER } from '../wire/batch-writer.js';
import { fixture, javaReport, readAll, text } from './wire-support.js';

const resolver = Module as unknown as { _resolveFilename: (name: string, ...rest: readonly unknown[]) => string };
const resolve = resolver._resolveFilename;
resolver._resolveFilename = (name, ...rest) => {
  const native = ['@mongodb-js/zstd', '@node-rs/crc32', 'snappy'].includes(name);
  if (native) throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
  return resolve(name, ...rest);
};

for (const name of ['none', 'gzip', 'lz4', 'zstd']) {
  test(`${name} is read without them`, async () => {
    const java = javaReport(fixture(`${name}.json`).toString());
    const got = await readAll(fixture(`${name}.segment`));
    assert.deepEqual(got.records, java.all);
  });
}

test('snappy is not read, and the error names it, the partition, the offset and the package', async () => {
  await assert.rejects(readAll(fixture('snappy.segment')), (e) => {
    assert.ok(isSyncError(e) && e.code === 'PLUGIN_BROKEN' && e.retry === 'never');
    assert.match(e.message, /orders-3@0 .*snappy needs the package snappy/);
    return true;
  });
});

for (const codec of ['snappy', 'zstd'] as const) {
  test(`${codec} is not written`, () => {
    const writer = new BatchWriter({ codec });
    writer.append(1, null, text('a').value, null);
    assert.throws(
      () => writer.finish(NO_PRODUCER),
      (e) => {
        assert.ok(isSyncError(e) && e.code === 'PLUGIN_BROKEN');
        assert.match(e.message, new RegExp(`compression ${codec} .*needs the package`));
        return true;
      },
    );
    assert.equal(writer.records, 1);
  });
}
