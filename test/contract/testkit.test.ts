import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import {
  boundCases,
  cellProblem,
  expectFailure,
  judge,
  needsOf,
  runCase,
  unknownWaivers,
  type Harness,
  type Need,
} from 'syncx/plugin-testkit';
import { closeServers, hostileReader, READER_FLAWS } from './hostile-reader.js';
import { hostileWriter, WRITER_FLAWS } from './hostile-writer.js';
import { KEEPING } from './keeping-writer.js';
import { scriptedReader, scriptedWriter } from './scripted-harness.js';

async function mustFail(h: Harness, id: string, message: RegExp): Promise<void> {
  const c = boundCases(h).find((x) => x.id === id);
  assert.ok(c, `there is no case ${id}`);
  let thrown: unknown = null;
  try {
    await c.run();
  } catch (e) {
    thrown = e;
  }
  assert.ok(thrown instanceof Error, `${id} passes a plugin that breaks it`);
  assert.match(thrown.stack ?? '', message);
}

describe('every contract case fails a plugin that breaks it', () => {
  afterEach(closeServers);

  for (const [id, flaws] of Object.entries(READER_FLAWS)) {
    flaws.forEach(([flaw, message], i) => {
      test(`reader: ${id} #${String(i + 1)}`, () =>
        mustFail({ ...scriptedReader(hostileReader(flaw)), limitMs: 300 }, id, message));
    });
  }
  for (const [id, flaws] of Object.entries(WRITER_FLAWS)) {
    flaws.forEach(([flaw, message], i) => {
      const prepared = flaw.prepared ?? 'survive';
      const options = { pipelined: true, protocol: prepared === 'die' ? 'marker' : 'staged' };
      const h = scriptedWriter(prepared, options, hostileWriter(flaw));
      test(`writer: ${id} #${String(i + 1)}`, () => mustFail(h, id, message));
    });
  }

  test('no case is left out', () => {
    const ids = [...boundCases(scriptedReader()), ...boundCases(scriptedWriter('survive', {}))].map((c) => c.id);
    const proved = new Set([...Object.keys(READER_FLAWS), ...Object.keys(WRITER_FLAWS)]);
    assert.deepEqual(
      [...new Set(ids)].filter((id) => !proved.has(id)),
      [],
    );
  });
});

describe('a writer that keeps rows over epochs passes all cases of two phases', () => {
  const h = scriptedWriter('survive', { pipelined: true }, hostileWriter(KEEPING));
  for (const c of boundCases(h).filter((b) => /^(commit|recover|unfinished)\./.test(b.id))) {
    test(c.id, () => c.run());
  }
});

describe('waivers', () => {
  const c = { id: 'g.one', needs: ['read-back', 'exactly-once'] as Need[] };
  const all = new Set<Need>(['read-back', 'exactly-once']);
  const reason = 'the target has no such thing';

  test('a case runs where all its needs are there', () => {
    assert.deepEqual(judge(c, all, {}), { is: 'run' });
  });
  test('a case that the plugin does not claim is skipped, and cannot be waived', () => {
    assert.equal(judge(c, new Set<Need>(['read-back']), {}).is, 'skip');
    assert.equal(judge(c, new Set<Need>(['read-back']), { 'g.one': reason }).is, 'fail');
  });
  test('a case whose needs the harness does not supply fails without a waiver', () => {
    const has = new Set<Need>(['exactly-once']);
    assert.equal(judge(c, has, {}).is, 'fail');
    assert.deepEqual(judge(c, has, { 'g.one': reason }), { is: 'waived', why: reason, runnable: false });
  });
  test('a waiver without a reason fails', () => {
    assert.equal(judge(c, all, { 'g.one': ' ' }).is, 'fail');
  });
  test('a waived case that would pass fails; one that fails is fine', async () => {
    await assert.rejects(
      expectFailure('g.one', () => Promise.resolve()),
      /remove the waiver/,
    );
    await expectFailure('g.one', () => Promise.reject(new Error('x')));
  });
  test('a stale waiver of a real case fails', async () => {
    const h = scriptedWriter('survive', {});
    const found = boundCases(h).find((x) => x.id === 'commit.twice');
    assert.ok(found);
    await assert.rejects(runCase(found, await needsOf(h), { 'commit.twice': reason }), /waived but passes/);
  });
  test('a waiver of a case that does not exist is found', () => {
    assert.deepEqual(unknownWaivers([{ id: 'a' }], { a: reason, b: reason }), ['b']);
  });
});

test('cells that are not canonical are told', () => {
  const bad: readonly (readonly [Parameters<typeof cellProblem>[0], string])[] = [
    [{ is: 'boolean' }, '1'],
    [{ is: 'int8' }, '128'],
    [{ is: 'int8' }, '-0'],
    [{ is: 'int64' }, '9223372036854775808'],
    [{ is: 'uint64' }, '-1'],
    [{ is: 'int32' }, '007'],
    [{ is: 'decimal', precision: 5, scale: 2 }, '1e3'],
    [{ is: 'decimal', precision: 5, scale: 2 }, '1.234'],
    [{ is: 'decimal', precision: 5, scale: 2 }, '1234'],
    [{ is: 'decimal', precision: 5, scale: 2 }, '.5'],
    [{ is: 'float64' }, '0.10'],
    [{ is: 'float64' }, 'inf'],
    [{ is: 'float32' }, '3.5e+38'],
    [{ is: 'bit', length: 3 }, '8'],
    [{ is: 'year' }, '99'],
    [{ is: 'date' }, '2024-1-01'],
    [{ is: 'time', fraction: 0 }, '1:00:00'],
    [{ is: 'time', fraction: 3 }, '01:00:00.1234'],
    [{ is: 'datetime', fraction: 0 }, '2024-01-01T00:00:00'],
    [{ is: 'timestamp', fraction: 6 }, '2024-01-01 00:00:00Z'],
    [{ is: 'enum', labels: ['a'] }, 'b'],
    [{ is: 'set', labels: ['a', 'b'] }, 'b,c'],
    [{ is: 'json' }, '{'],
    [{ is: 'geometry' }, 'POINT'],
  ];
  for (const [type, text] of bad) assert.notEqual(cellProblem(type, Buffer.from(text)), null, `${type.is} ${text}`);
  assert.notEqual(cellProblem({ is: 'string' }, Buffer.from([0xc3])), null);
});
