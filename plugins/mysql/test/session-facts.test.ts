import assert from 'node:assert/strict';
import { onServers, SERVERS } from './servers.js';

onServers(SERVERS, 'the first thing that a new session asks has an answer', async (db) => {
  for (const side of ['source', 'sink'] as const) {
    await using session = await db.open(side);
    const { version, mariadb, maxAllowedPacket, connectionId } = session.server;
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.equal(mariadb, db.kind === 'mariadb');
    assert.ok(maxAllowedPacket >= 1024, String(maxAllowedPacket));
    assert.deepEqual(await session.query('select connection_id()', 'ask'), [[connectionId]]);
  }
});
