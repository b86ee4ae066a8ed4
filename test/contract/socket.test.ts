import type { JsonObject } from 'syncx/plugin-api';
import { contractTests, readerHarness, type SeedKind } from 'syncx/plugin-testkit';
import { reader } from '../../plugins/socket/index.js';
import { LineServer, send, type Serve } from '../../plugins/socket/test/support.js';

const line = (n: number): string => `${String(n)},name ${String(n)},${n % 5 === 0 ? '\\N' : 'é🙂'}\r\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => line(from + i)).join('');
const wide = `1,${'x'.repeat(1021)}\\N,y\n`.repeat(64);

function serve(kind: SeedKind, rows: number): Serve {
  const half = Math.floor(rows / 2);
  switch (kind) {
    case 'large':
      return async (s) => {
        for (let i = 0; i < 1024 && !s.destroyed; i++) await send(s, wide);
      };
    case 'bad-row':
      return (s) => send(s, `${lines(1, half)}not a number,x,y\n${lines(half + 1, rows)}`);
    case 'broken':
      return async (s) => {
        await send(s, lines(1, rows));
        s.resetAndDestroy();
      };
    default:
      return (s) => send(s, lines(1, rows));
  }
}

contractTests(
  readerHarness({
    plugin: reader,
    seeds: ['large', 'bad-row', 'broken', 'missing', 'endless'],
    async seed(kind, rows) {
      const server = await LineServer.listen([serve(kind, rows)]);
      const options: JsonObject = {
        address: server.address,
        reconnect: kind !== 'broken',
        column: [{ name: 'id', type: 'bigint' }, 'name', 'note'],
      };
      if (kind === 'missing') await server[Symbol.asyncDispose]();
      return {
        options,
        rows,
        dispose: () => (kind === 'missing' ? Promise.resolve() : server[Symbol.asyncDispose]()),
      };
    },
    waive: {
      'transaction.safe-points': 'lines are single rows: a socket has no transactions',
      'trouble.missing':
        'the case never reads an unbounded split, and a probe would take the lines of servers that serve once; reader.test.ts has it',
    },
  }),
);
