import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_PLUGINS } from '../../../src/registry/builtin.js';
import { Registry } from '../../../src/registry/registry.js';

const registry = new Registry({ SYNC_TEST_PLUGINS: '1' });

for (const p of BUILTIN_PLUGINS) {
  test(`plugin ${p.name} says of itself what the table of names says`, async () => {
    for (const kind of p.kinds) {
      const d = await registry[kind](p.name);
      assert.equal(d.kind, kind);
      assert.equal(d.name, p.name);
      for (const alias of [...p.aliases, ...d.aliases]) assert.equal(await registry[kind](alias), d, alias);
    }
  });
}

test('all spellings of FlinkX, ChunJun and DataX', async () => {
  const stream = await registry.reader('stream');
  for (const n of ['streamreader', 'streamsource', 'StreamReader', ' stream ']) {
    assert.equal(await registry.reader(n), stream, n);
  }
  const writer = await registry.writer('stream');
  for (const n of ['streamwriter', 'streamsink']) assert.equal(await registry.writer(n), writer, n);
  assert.equal((await registry.reader('txtfilereader')).name, 'file');
  assert.equal((await registry.writer('txtfilewriter')).name, 'file');
});

test('a name that nobody has: what was meant, or what there is', async () => {
  const rejects = (kind: 'reader' | 'writer', name: string, message: string, hint: string) =>
    assert.rejects(registry[kind](name), { code: 'PLUGIN_UNKNOWN', message, hint });
  await rejects('reader', 'steamreader', 'no reader is named "steamreader"', 'did you mean "streamreader"?');
  await rejects(
    'writer',
    'oracle',
    'no writer is named "oracle"',
    'known writers: filewriter, kafkawriter, mysqlwriter, streamwriter',
  );
  await rejects('reader', 'streamwriter', '"streamwriter" is no reader but a writer', 'did you mean "streamreader"?');
});

test('plugins for tests are there for tests only', async () => {
  await assert.rejects(new Registry({}).reader('scriptedreader'), { code: 'PLUGIN_UNKNOWN' });
  assert.equal((await registry.reader('scriptedreader')).name, 'scripted');
});
