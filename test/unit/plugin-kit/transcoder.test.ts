import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { encodingHint, encodingName, openTranscoder } from 'syncx/plugin-kit';

/** Decodes bytes in chunks of the given sizes, the last one repeated. */
async function decode(encoding: string, bytes: Uint8Array, sizes: readonly number[] = [1 << 20]): Promise<Buffer> {
  const transcoder = await openTranscoder(encoding, 'x.csv');
  const parts: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length || i === 0; i++) {
    const size = sizes[i] ?? sizes.at(-1) ?? 1;
    const chunk = bytes.subarray(at, at + size);
    at += size;
    parts.push(Buffer.from(transcoder.push(chunk, at >= bytes.length)));
  }
  return Buffer.concat(parts);
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('names: letter case, dashes and aliases do not matter; a typo is answered with the nearest name', () => {
  const known = [
    ['UTF8', 'utf-8'],
    ['GB2312', 'gbk'],
    ['cp936', 'gbk'],
    ['Latin1', 'iso-8859-1'],
    ['ISO8859_15', 'iso-8859-15'],
    ['windows1252', 'windows-1252'],
    ['Shift-JIS', 'shift_jis'],
    ['UTF-16LE', 'utf-16le'],
    ['CP850', 'ibm850'],
  ] as const;
  for (const [name, one] of known) assert.equal(encodingName(name), one);
  for (const unknown of ['gbkk', 'hex', 'base64', 'binary', 'utf-7', 'constructor', '']) {
    assert.equal(encodingName(unknown), null, unknown);
  }
  assert.equal(encodingHint('gbkk'), 'Did you mean `gbk`?');
  assert.equal(encodingHint('windows-1251x'), 'Did you mean `windows-1251`?');
  assert.match(encodingHint('klingonese'), /^Known are utf-8, utf-16, .*iso-8859-16\.$/);
});

test('every known name but utf-8 can be opened', async () => {
  const names = /Known are (.*)\./.exec(encodingHint('klingonese'))?.[1]?.split(', ') ?? [];
  assert.ok(names.length > 40);
  for (const name of names.filter((n) => !n.startsWith('utf-'))) {
    assert.equal((await decode(name, Buffer.from('a,1\n'))).toString(), 'a,1\n', name);
  }
});

test('bytes that are no character become bytes that are not UTF-8, also at the end', async () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['gbk', '31 96', '31 ff'],
    ['gbk', '31 96 0a 32', '31 ff 0a 32'],
    ['gbk', 'ff 41', 'ff 41'],
    ['gb18030', '81 30 81', 'ff 30 ff'],
    ['gb18030', '81 30 0a 41', 'ff 30 0a 41'],
    // U+FFFD itself is legal there; so is U+FFFF, the last of the plane.
    ['gb18030', '84 31 a4 37 31', 'ef bf bd 31'],
    ['gb18030', 'ff 84 31 a4 37', 'ff ef bf bd'],
    ['gb18030', '84 31 a4 39', 'ef bf bf'],
    // The code behind it is none, and U+10000 begins much later.
    ['gb18030', '31 84 31 a5 30 32', '31 ff 32'],
    ['gb18030', '90 30 81 30', 'f0 90 80 80'],
    ['gb18030', 'e3 32 9a 35', 'f4 8f bf bf'],
    ['gb18030', 'e3 32 9a 36', 'ff'],
    ['big5', 'a4 0a', 'ff 0a'],
    ['shift_jis', '81 0a 41', 'ff 0a 41'],
    ['euc-kr', 'b0', 'ff'],
    ['euc-jp', '8f a1 0a', 'ff ff 0a'],
    ['windows-1252', '81 80', 'ff e2 82 ac'],
    ['us-ascii', '41 81', '41 ff'],
    ['iso-8859-1', '81 e9', 'c2 81 c3 a9'],
    ['utf-16le', '41 00 42', '41 ff'],
    ['utf-16le', '41 00 00 d8 42 00', '41 ff 42'],
    ['utf-16le', '00 d8', 'ff'],
    ['utf-16le', '00 dc 41 00', 'ff 41'],
    ['utf-16le', 'fd ff', 'ef bf bd'],
    ['utf-16be', '00 41 d8', '41 ff'],
    ['utf-16be', 'd8 3d de 00', 'f0 9f 98 80'],
  ];
  for (const [encoding, from, to] of cases) {
    for (const size of [1, 2, 3, 100]) {
      const got = await decode(encoding, hex(from), [size]);
      assert.equal(got.toString('hex'), hex(to).toString('hex'), `${encoding} ${from} by ${String(size)}`);
    }
  }
});

test('byte order marks: utf-16 goes by its own, a mark of another encoding is loud', async () => {
  const bom = '\ufeff';
  for (const size of [1, 100]) {
    for (const encoding of ['utf-16', 'utf-16le']) {
      assert.equal((await decode(encoding, Buffer.from(`${bom}é`, 'utf16le'), [size])).toString(), `${bom}é`);
    }
    const be = Buffer.from(`${bom}é`, 'utf16le').swap16();
    for (const encoding of ['utf-16', 'utf-16be']) {
      assert.equal((await decode(encoding, be, [size])).toString(), `${bom}é`);
    }
    const wrong: readonly (readonly [string, Buffer, RegExp])[] = [
      ['utf-16le', be, /^x\.csv begins with the byte order mark of utf-16be, but encoding says utf-16le$/],
      ['utf-16', Buffer.from(`${bom}é`), /mark of utf-8, but encoding says utf-16$/],
      ['gbk', Buffer.from(`${bom}é`), /mark of utf-8, but encoding says gbk$/],
      ['windows-1252', be, /mark of utf-16be, but encoding says windows-1252$/],
      ['utf-16', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]), /mark of utf-32le, but encoding says utf-16$/],
      ['latin1', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x41]), /mark of utf-32be, but encoding says latin1$/],
      ['utf-16', Buffer.from('é', 'utf16le'), /^x\.csv has no byte order mark/],
    ];
    for (const [encoding, bytes, message] of wrong) {
      await assert.rejects(decode(encoding, bytes, [size]), { code: 'SOURCE_FORMAT', message });
    }
  }
  assert.equal((await decode('utf-16', Buffer.alloc(0))).length, 0);
});

const MANY = ['gbk', 'gb18030', 'big5', 'shift_jis', 'euc-jp', 'euc-kr', 'windows-1253', 'utf-16le', 'utf-16be'];

test('any bytes, cut anywhere, decode as in one piece, and as iconv-lite does where all is valid', async () => {
  // Bytes that begin characters stand before bytes that end lines more often than in even noise.
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x81, 0x84, 0x8f, 0x30, 0x31, 0x0a, 0x41));
  const input = fc.array(byte, { maxLength: 60 }).map((b) => Uint8Array.from([0x41, 0x42, ...b]));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...MANY), input, sizes, async (encoding, bytes, cuts) => {
      const whole = await decode(encoding, bytes);
      assert.deepEqual(await decode(encoding, bytes, cuts), whole);
      if (isUtf8(whole))
        assert.equal(iconv.decode(Buffer.from(bytes), encoding, { stripBOM: false }), whole.toString());
    }),
    { numRuns: 1500 },
  );
});

test('text that an encoding holds comes back equal, cut anywhere', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom('東', '誠', '市', 'é', '|', '\\', '"', '\n', 'a', '中', '한'), maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...MANY), text, sizes, async (encoding, t, cuts) => {
      const bytes = iconv.encode(`ab${t}`, encoding);
      fc.pre(iconv.decode(bytes, encoding, { stripBOM: false }) === `ab${t}`);
      assert.equal((await decode(encoding, bytes, cuts)).toString(), `ab${t}`);
    }),
    { numRuns: 1000 },
  );
});

test('a long text comes out the same, with characters cut and bytes that are none, before and after the table is made', async () => {
  const rows = (from: number): string =>
    Array.from(
      { length: 20_000 },
      (_, i) => `${String(from + i)},\u5317\u4eac ${String(i)},\u00e9\u00e8,plain text of a row\n`,
    ).join('');
  const parts: Buffer[] = [];
  const expected: Buffer[] = [];
  for (let n = 0; n < 8; n++) {
    parts.push(iconv.encode(rows(n * 20_000), 'gbk'), hex('31 ff 0a'));
    expected.push(Buffer.from(rows(n * 20_000)), hex('31 ff 0a'));
  }
  const bytes = Buffer.concat(parts);
  assert.ok(bytes.length > 6 << 20);
  const whole = Buffer.concat(expected);
  for (const size of [1 << 20, 65_537, 1_000_003])
    assert.ok((await decode('gbk', bytes, [size])).equals(whole), String(size));
});
