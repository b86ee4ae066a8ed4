/** Large files go to the disk while more is made; what the disk says of it then is told by the next sync. */
import assert from 'node:assert/strict';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { mock, test } from 'node:test';
import { localStorage } from 'syncx/plugin-kit';
import { Workspace } from '../../support/workspace.js';

const MIB = Buffer.alloc(1 << 20, 'x');

/** What all open files share. */
async function handlePrototype(ws: Workspace): Promise<FileHandle> {
  await using file = await open(ws.write('any', ''));
  return Object.getPrototypeOf(file) as FileHandle;
}

async function writeMiB(sink: Awaited<ReturnType<typeof localStorage.create>>, mib: number): Promise<void> {
  for (let i = 0; i < mib; i++) await sink.write(MIB);
}

test('the disk works ahead of the sync, and all bytes are there', async () => {
  using ws = new Workspace();
  const early = mock.method(await handlePrototype(ws), 'datasync');
  try {
    const sink = await localStorage.create(ws.path('staged', 'a'));
    await writeMiB(sink, 15);
    assert.equal(early.mock.callCount(), 0);
    await writeMiB(sink, 35);
    assert.ok(early.mock.callCount() >= 1);
    await sink.finish();
  } finally {
    early.mock.restore();
  }
  assert.equal((await readFile(ws.path('staged', 'a'))).length, 50 * MIB.length);
});

test('bytes that were lost before the sync fail it, and each one after it', async () => {
  using ws = new Workspace();
  const lost = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  const early = mock.method(await handlePrototype(ws), 'datasync', () => Promise.reject(lost));
  const path = ws.path('staged', 'a');
  try {
    const sink = await localStorage.create(path);
    await writeMiB(sink, 17);
    early.mock.restore();
    await writeMiB(sink, 17);
    for (const durable of [() => sink.sync(), () => sink.sync(), () => sink.finish()])
      await assert.rejects(durable, { code: 'SINK_IO', place: path, message: `cannot write ${path}: ${lost.message}` });
    await sink.discard();
  } finally {
    early.mock.restore();
  }
});
