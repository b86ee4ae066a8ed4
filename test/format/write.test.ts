/** What the tool persists today has the form of the stored fixtures, byte for byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPairs } from '../support/crash.js';
import { Workspace } from '../support/workspace.js';
import { STAGES, type Stage } from './stages.js';
import { readFixture, storedOf, writeFixture, type Stored } from './stored.js';

const CHANGED =
  'a persisted file has changed its form: raise its format number and keep reading the old one, or make the change ' +
  'compatible; then UPDATE_FIXTURES=1 writes new fixtures';

/** Races that a stage cannot rule out go the other way now and then. */
const TRIES = 60;

async function reached(stage: Stage): Promise<Stored> {
  for (let i = 0; i < TRIES; i++) {
    using ws = new Workspace();
    await stage.reach(ws);
    if (stage.isReached?.(ws) ?? true) return storedOf(ws);
  }
  throw new Error(`not reached in ${String(TRIES)} tries`);
}

test('every persisted file has the form of its fixture', async (t) => {
  await inPairs(Object.entries(STAGES), async ([name, stage]) => {
    await t.test(name, async () => {
      const now = await reached(stage);
      if (process.env['UPDATE_FIXTURES'] === '1') writeFixture(name, now);
      const then = readFixture(name);
      assert.deepEqual([...now.keys()].sort(), [...then.keys()].sort(), `${name}: ${CHANGED}`);
      for (const [file, text] of now) assert.equal(text, then.get(file), `${name}/${file}: ${CHANGED}`);
    });
  });
});
