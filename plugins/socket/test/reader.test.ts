import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, fillOptions } from 'syncx/plugin-testkit';
import { reader } from '../index.js';
import { drive, openLane } from './drive.js';
import { byteByByte, LineServer, send, type Serve } from './support.js';

const all =
  (data: string | Uint8Array): Serve =>
  async (s) => {
    await send(s, data);
    s.end();
  };
const slowly =
  (data: string | Uint8Array): Serve =>
  async (s) => {
    await byteByByte(s, data, 1);
    s.end();
  };

/** In one piece and byte by byte: the same. */
async function both(
  data: string | Uint8Array,
  options: Parameters<typeof drive>[0],
  check: (r: Awaited<ReturnType<typeof drive>>, address: string) => void,
): Promise<void> {
  for (const serve of [all(data), slowly(data)]) {
    await using server = await LineServer.listen([serve]);
    const r = await drive({ address: server.address, reconnect: false, ...options });
    assert.equal(r.ended, true);
    check(r, server.address);
  }
}

test('the whole line is one column: LF or CR LF, empty lines skipped, a last line without an end', () =>
  both('\ufeff1,测试\r\n\r\n2,b\n\n3,😀\n4,last', {}, (r) => {
    assert.deepEqual(r.rows, [['1,测试'], ['2,b'], ['3,😀'], ['4,last']]);
    assert.deepEqual(r.positions.at(-1), { connection: 1, line: 6 });
  }));

test('constants beside * stand by the whole line, as text and as json', async () => {
  const column = [{ name: 'k', type: 'int', value: '7' }, '*', { name: 's', value: '' }];
  await both('1,测试\r\n\n{"a": 1}\n', { column }, (r) => {
    assert.deepEqual(r.rows, [
      ['7', '1,测试', ''],
      ['7', '{"a": 1}', ''],
    ]);
  });
  await both('1,x\n{"a": 1}\n', { parse: 'json', column }, (r, address) => {
    assert.deepEqual(r.rows, [['7', '{"a": 1}', '']]);
    assert.deepEqual(
      r.rejected.map((x) => x.place),
      [`${address} line 1:2`],
    );
  });
  const names = (parse: 'text' | 'json'): unknown => {
    const o = fillOptions(reader, { address: 'localhost:1', parse, column }) as Parameters<typeof reader.create>[0];
    assert.deepEqual(reader.check?.(o), []);
    return reader.columns?.(o);
  };
  assert.deepEqual(names('text'), ['k', 'message', 's']);
  assert.deepEqual(names('json'), ['k', 'json', 's']);
});

test('typed columns; a line that does not fit is dirty, with its number among all lines', () =>
  both('1,a\n\nx,b\n3,\\N\n4\n5,e,f\r\n6,é', { column: [{ name: 'id', type: 'int' }, 'name'] }, (r, address) => {
    assert.deepEqual(r.rows, [
      ['1', 'a'],
      ['3', null],
      ['6', 'é'],
    ]);
    assert.deepEqual(
      r.rejected.map((x) => [x.place, x.row, x.column]),
      [
        [`${address} line 3`, 'x,b', 'id'],
        [`${address} line 5`, '4', null],
        [`${address} line 6`, '5,e,f', null],
      ],
    );
    assert.equal(r.rejected[1]?.reason, 'the record has 1 fields, not 2');
  }));

test('one typed column: empty lines are skipped too, and lines keep their numbers', () =>
  both('\n1\n\r\n\nx\n2\n\ny\n', { column: [{ name: 'id', type: 'bigint' }] }, (r, address) => {
    assert.deepEqual(r.rows, [['1'], ['2']]);
    assert.deepEqual(
      r.rejected.map((x) => x.place),
      [`${address} line 5`, `${address} line 8`],
    );
  }));

test('json: columns by key, or the whole line', async () => {
  const text = '{"id": 1, "a": {"b": "é"}}\n\n[1]\n{"id": 12345678901234567890}\r\n{"id"';
  await both(text, { parse: 'json', column: ['id', 'a.b'] }, (r, address) => {
    assert.deepEqual(r.rows, [
      ['1', 'é'],
      ['12345678901234567890', null],
    ]);
    assert.deepEqual(
      r.rejected.map((x) => x.place),
      [`${address} line 3:1`, `${address} line 5:6`],
    );
  });
  await both('{"id": 1}\n', { parse: 'json' }, (r) => {
    assert.deepEqual(r.rows, [['{"id": 1}']]);
  });
});

test('encodings: characters are never cut, a wrong line is dirty', async () => {
  const gbk = Buffer.from('31 2c b2 e2 ca d4 0a ff ff 0d 0a 33 2c 81 30 84 36 0a'.replaceAll(' ', ''), 'hex');
  await both(gbk, { encoding: 'gb18030' }, (r, address) => {
    assert.deepEqual(r.rows, [['1,测试'], ['3,\u00a5']]);
    assert.deepEqual(
      r.rejected.map((x) => x.place),
      [`${address} line 2`],
    );
  });
  await both(Buffer.from('é\x80\n', 'latin1'), { encoding: 'latin1' }, (r) => {
    assert.deepEqual(r.rows, [['é\u0080']]);
  });
  await both(Buffer.from('\ufeff1,测\r\n\n😀', 'utf16le'), { encoding: 'utf-16le' }, (r) => {
    assert.deepEqual(r.rows, [['1,测'], ['😀']]);
  });
  await both(Buffer.from([0x61, 0xff, 0x0a, 0x62, 0x0a]), {}, (r, address) => {
    assert.deepEqual(r.rows, [['b']]);
    assert.equal(r.rejected[0]?.place, `${address} line 1`);
  });
});

test('encodings hold what their tables say, and nothing for bytes that are no character', async () => {
  for (const [encoding, bytes, text, bad] of [
    ['windows-1252', [0x80, 0x99], '€™', 0x81],
    ['cp949', [0x81, 0x41], '갂', 0xff],
    ['gbk', [0x96, 0x7c], '東', 0xff],
    ['big5', [0xa4, 0xa4], '中', 0xff],
    ['windows-874', [0xa1], 'ก', 0xdb],
    ['us-ascii', [0x61], 'a', 0xe9],
  ] as const) {
    await both(Buffer.from([...bytes, 10, bad, 10, 0x7a, 10]), { encoding }, (r, address) => {
      assert.deepEqual(r.rows, [[text], ['z']], encoding);
      assert.deepEqual(
        r.rejected.map((x) => [x.place, x.reason]),
        [[`${address} line 2`, 'the line is not of the encoding']],
      );
    });
  }
});

test('a line that is too long is dirty, those around it are rows', () =>
  both(`${'y'.repeat(10)}\r\n${'x'.repeat(1100)}\nab\n${'z'.repeat(11)}\nc`, { maxLineBytes: 10 }, (r, address) => {
    assert.deepEqual(r.rows, [['yyyyyyyyyy'], ['ab'], ['c']]);
    assert.deepEqual(
      r.rejected.map((x) => [x.place, x.code, x.reason]),
      [
        [
          `${address} line 2`,
          'ROW_TOO_LARGE',
          'the line has 1100 bytes, of which the first 1024 are kept: maxLineBytes',
        ],
        [`${address} line 4`, 'ROW_TOO_LARGE', 'the line has 11 bytes: maxLineBytes'],
      ],
    );
  }));

test('whole lines that came before a reset are rows, the cut one is none and is logged', async () => {
  let came = (): void => undefined;
  const first = new Promise<void>((resolve) => (came = resolve));
  await using server = await LineServer.listen([
    async (s) => {
      await send(s, '1,a\n5,half');
      await first;
      s.resetAndDestroy();
    },
    all('6,x\n'),
  ]);
  const options = { address: server.address, reconnectDelay: 10 };
  const r = await drive(
    options,
    (x) => x.rows.length === 2,
    () => {
      came();
    },
  );
  assert.deepEqual(r.rows, [['1,a'], ['6,x']]);
  assert.ok(
    r.logs.some((l) => l.endsWith('was cut off after 6 bytes and is no row: 5,half')),
    r.logs.join('\n'),
  );
  assert.deepEqual(r.positions, [
    { connection: 1, line: 1 },
    { connection: 2, line: 1 },
  ]);
});

test('reconnect off: a reset is an error, and so is a close before anything came', async () => {
  await using reset = await LineServer.listen([
    async (s) => {
      await send(s, '1\n');
      s.resetAndDestroy();
    },
  ]);
  await assert.rejects(drive({ address: reset.address, reconnect: false }), {
    code: 'SOURCE_IO',
    place: reset.address,
    retry: 'retry',
  });
  await using empty = await LineServer.listen([(s) => void s.end()]);
  await assert.rejects(drive({ address: empty.address, reconnect: false }), /without sending anything/);
});

test('maxReconnects: so many in vain, then an error; a connection that brings lines starts the count anew', async () => {
  const close: Serve = (s) => void s.end();
  await using server = await LineServer.listen([all('1\n'), close, all('2\n'), close, close, all('never\n')]);
  const seen: unknown[] = [];
  const reading = drive({ address: server.address, reconnectDelay: 0, maxReconnects: 1 }, undefined, (item) => {
    if (item.is === 'batch') seen.push(item.position);
  });
  await assert.rejects(reading, { code: 'SOURCE_IO', hint: 'After 2 connections in vain: see maxReconnects.' });
  assert.deepEqual(seen, [
    { connection: 1, line: 1 },
    { connection: 3, line: 1 },
  ]);
  assert.equal(server.connections, 5);
});

test('a server that is not there at the start is an error at once, whatever reconnect says', async () => {
  const server = await LineServer.listen([all('')]);
  await server[Symbol.asyncDispose]();
  await assert.rejects(drive({ address: server.address }), {
    code: 'SOURCE_IO',
    message: /cannot connect.*ECONNREFUSED/,
  });
});

test('idleTimeout: a silent connection is given up and made anew', async () => {
  await using server = await LineServer.listen([(s) => send(s, '1\n'), all('2\n')]);
  const r = await drive({ address: server.address, idleTimeout: 50, reconnectDelay: 0 }, (x) => x.rows.length === 2);
  assert.deepEqual(r.rows, [['1'], ['2']]);
  assert.ok(r.logs.some((l) => l.includes('nothing came for 50 ms')));
});

test('a slow consumer pauses the server: nothing is lost, and little waits', async () => {
  const line = `${'x'.repeat(1023)}\n`;
  let sent = 0;
  await using server = await LineServer.listen([
    async (s) => {
      for (; sent < 32_768; sent += 64) await send(s, line.repeat(64));
      s.end();
    },
  ]);
  let first = true;
  const stopped = { at: 0 };
  const r = await drive({ address: server.address, reconnect: false }, undefined, async () => {
    if (!first) return;
    first = false;
    // Until the server stands still: what it could send is what waits in between.
    await eventually(5000, async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
      stopped.at = sent;
      return sent > 0 && sent === before;
    });
  });
  assert.ok(stopped.at < 32_768, `the server could send all ${String(sent)} KiB`);
  assert.equal(r.rows.length, 32_768);
});

test('a held split gives nothing; released, all of it', async () => {
  let go = (): void => undefined;
  const released = new Promise<void>((resolve) => (go = resolve));
  await using server = await LineServer.listen([
    async (s) => {
      await send(s, '1\n');
      await released;
      await send(s, '2\n3\n');
    },
  ]);
  const { lane, split } = await openLane({ address: server.address }, []);
  await using _ = lane;
  const abort = new AbortController();
  const it = lane.read(abort.signal)[Symbol.asyncIterator]();
  assert.equal((await it.next()).done, false);
  lane.hold([split]);
  go();
  let came = false;
  const next = it.next().finally(() => (came = true));
  assert.equal(await eventually(100, () => came), false);
  lane.release([split]);
  const item = (await next).value as { readonly rows: number };
  assert.ok(item.rows >= 1);
  abort.abort();
  for (let x = await it.next(); x.done !== true; x = await it.next());
});

test('an abort ends a wait for the server and a pause between connections within the limit', async () => {
  await using server = await LineServer.listen([(s) => send(s, '1\n')]);
  const { lane } = await openLane({ address: server.address, reconnectDelay: 3_600_000 }, []);
  const abort = new AbortController();
  const it = lane.read(abort.signal)[Symbol.asyncIterator]();
  await it.next();
  const next = it.next();
  await server[Symbol.asyncDispose](); // it now waits an hour
  const began = performance.now();
  await eventually(200, () => false);
  abort.abort();
  assert.equal((await next).done, true);
  await lane[Symbol.asyncDispose]();
  assert.ok(performance.now() - began < 2000);
});

test('check: what the schema cannot say', async () => {
  const { reader } = await import('../index.js');
  const { fillOptions } = await import('syncx/plugin-testkit');
  const paths = (o: Parameters<typeof drive>[0]): readonly string[] =>
    (reader.check?.(fillOptions(reader, o)) ?? []).map((f) => f.path);
  assert.deepEqual(paths({ address: 'localhost:9000' }), []);
  assert.deepEqual(paths({ address: '[::1]:9000', encoding: 'GBK' }), []);
  for (const address of ['localhost', 'localhost:0', 'localhost:70000', 'a b:1', '::1:9', 'http://x:1']) {
    assert.deepEqual(paths({ address }), ['address'], address);
  }
  assert.deepEqual(
    paths({
      address: 'h:1',
      encoding: 'klingon',
      fieldDelimiter: '\\n',
      column: ['a', 'a', { type: 'int' }, { name: 'x', type: 'nope' }, { name: 'v', type: 'int', value: 'w' }],
    }),
    ['encoding', 'fieldDelimiter', 'column[1]', 'column[2]', 'column[3].type', 'column[4].value'],
  );
});
