import assert from 'node:assert/strict';
import { SERVERS, onServers } from './servers.js';

onServers(
  SERVERS,
  'statements that are sent at the same time run one after another, each with its own rows',
  async (db) => {
    await using session = await db.open('source');
    const asked = Array.from({ length: 40 }, (_, i) => i);
    const answers = await Promise.all(
      asked.map(async (i) => {
        if (i % 7 === 3) {
          await assert.rejects(session.query('select 1 from nowhere', 'read nothing'), { code: 'SOURCE_MISSING' });
          return [];
        }
        if (i % 5 === 2) return [[String((await session.run(`set @n = ${String(i)}`, 'set')).affected)]];
        return session.query(`select ${String(i)}, sleep(0.001)`, 'ask');
      }),
    );
    assert.deepEqual(
      answers,
      asked.map((i) => (i % 7 === 3 ? [] : i % 5 === 2 ? [['0']] : [[String(i), '0']])),
    );
  },
);
