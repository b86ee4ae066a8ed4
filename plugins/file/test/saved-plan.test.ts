/** A saved plan that is none is refused by what is wrong with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSyncError, type JsonObject, type JsonValue } from 'syncx/plugin-api';
import { decodePlan } from '../decode-plan.js';
import { StdinPlanner } from '../planner.js';
import { readSplitSpec, splitOf } from '../file-split.js';
import { encodePlan, type Plan } from '../saved-plan.js';
import { openReader } from './drive.js';

const file = (path: string, size = 40): Plan['files'][number] => ({
  path,
  size,
  mtimeNs: '1700000001000000000',
  ino: '9007199254740993',
});
const FULL: Plan = {
  files: [file('/in/a.csv'), file('/in/b.csv', 0), file('/other/c.csv')],
  columns: ['id', 'n'],
  cutting: { splitSize: 16, lanes: 2 },
  from: { offset: 31, line: 6 },
  watched: { known: [file('/in/z.csv')], bases: [['/in', '77']] },
};
const WHOLE: Plan = { ...FULL, columns: null, cutting: null, from: null, watched: null };

const stored = (plan: Plan): JsonObject => JSON.parse(JSON.stringify(encodePlan(plan))) as JsonObject;

/** The value at the path replaced; `undefined`: taken away. */
function edited(v: JsonValue, path: readonly (string | number)[], to: JsonValue | undefined): JsonValue {
  const copy = JSON.parse(JSON.stringify(v)) as JsonValue;
  let at = copy as Record<string | number, JsonValue>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, JsonValue>;
  const last = path.at(-1) ?? '';
  if (to === undefined) Reflect.deleteProperty(at, last);
  else at[last] = to;
  return copy;
}

function refused(saved: JsonValue, message: string): void {
  assert.throws(
    () => decodePlan(saved),
    (e) => {
      assert.ok(isSyncError(e), String(e));
      assert.deepEqual([e.code, e.message], ['STATE_CORRUPT', message]);
      assert.match(e.hint ?? '', /version/);
      return true;
    },
  );
}

test('what is stored is read again, in both formats', () => {
  for (const plan of [FULL, WHOLE, { ...FULL, watched: null }, { ...FULL, cutting: null, from: null }]) {
    assert.deepEqual(decodePlan(stored(plan)), plan);
  }
  assert.equal(stored(FULL)['format'], 3);
  assert.equal(stored(WHOLE)['format'], 2);
});

test('missing parts and parts of another type are named by their place', () => {
  const count = (least: number): string => `an integer from ${String(least)} on`;
  const cases: readonly (readonly [readonly (string | number)[], JsonValue | undefined, string, string])[] = [
    [['columns'], undefined, 'columns', 'a list'],
    [['columns'], 'id', 'columns', 'a list'],
    [['columns', 1], 7, 'columns[1]', 'a text'],
    [['folders'], undefined, 'folders', 'a list'],
    [['folders'], {}, 'folders', 'a list'],
    [['folders', 0], ['/in'], 'folders[0]', 'a list of 2'],
    [['folders', 0, 0], null, 'folders[0][0]', 'a text'],
    [['folders', 1, 1], 'c.csv', 'folders[1][1]', 'a list'],
    [['folders', 0, 1, 1], ['b.csv', 0, '1'], 'folders[0][1][1]', 'a list of 4'],
    [['folders', 0, 1, 0, 0], 1, 'folders[0][1][0][0]', 'a text'],
    [['folders', 0, 1, 0, 1], '40', 'folders[0][1][0][1]', count(0)],
    [['folders', 0, 1, 0, 1], -1, 'folders[0][1][0][1]', count(0)],
    [['folders', 0, 1, 0, 2], 1.5, 'folders[0][1][0][2]', 'a text of digits'],
    [['folders', 0, 1, 0, 3], '12x', 'folders[0][1][0][3]', 'a text of digits'],
    [['cutting'], undefined, 'cutting', 'an object'],
    [['cutting'], [16, 2], 'cutting', 'an object'],
    [['cutting', 'splitSize'], 0, 'cutting.splitSize', count(1)],
    [['cutting', 'lanes'], undefined, 'cutting.lanes', count(1)],
    [['cutting', 'lanes'], 0, 'cutting.lanes', count(1)],
    [['from'], undefined, 'from', 'an object'],
    [['from', 'offset'], '31', 'from.offset', count(0)],
    [['from', 'line'], null, 'from.line', count(1)],
    [['from', 'offset'], 41, 'from', 'a place in the first file that is left'],
    [['folders'], [], 'from', 'a place in the first file that is left'],
    [['watched'], undefined, 'watched', 'an object'],
    [['watched'], true, 'watched', 'an object'],
    [['watched', 'known'], undefined, 'watched.known', 'a list'],
    [['watched', 'known', 0, 1, 0, 2], null, 'watched.known[0][1][0][2]', 'a text of digits'],
    [['watched', 'bases'], null, 'watched.bases', 'a list'],
    [['watched', 'bases', 0], '/in', 'watched.bases[0]', 'a list of 2'],
    [['watched', 'bases', 0, 1], 77, 'watched.bases[0][1]', 'a text of digits'],
    [['format'], undefined, 'format', '2 or 3'],
    [['format'], '3', 'format', '2 or 3'],
    [['format'], 1, 'format', '2 or 3'],
  ];
  for (const [path, to, at, must] of cases) {
    refused(edited(stored(FULL), path, to), `the file reader's saved plan is malformed: \`${at}\` must be ${must}`);
  }
  for (const saved of [7, 'plan', [], true]) {
    refused(saved, "the file reader's saved plan is malformed: `plan` must be an object");
  }
});

/** Every place in a value, the value itself left out. */
function* places(v: JsonValue, at: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (typeof v !== 'object' || v === null) return;
  for (const [key, part] of Object.entries<JsonValue>(v)) {
    const path = [...at, Array.isArray(v) ? Number(key) : key];
    yield path;
    yield* places(part, path);
  }
}

test('nothing in the place of any part makes another error than STATE_CORRUPT', async () => {
  const r = await openReader({ path: '/in', watch: false });
  let refusals = 0;
  for (const plan of [FULL, WHOLE].map(stored)) {
    for (const path of places(plan)) {
      for (const to of [undefined, null, true, -1, 0.5, 'x', [], {}, [null], [[]], { a: 1 }]) {
        try {
          decodePlan(edited(plan, path, to));
        } catch (e) {
          assert.ok(
            isSyncError(e) && e.code === 'STATE_CORRUPT',
            `${path.join('.')} = ${JSON.stringify(to)}: ${String(e)}`,
          );
          refusals++;
        }
      }
    }
  }
  assert.ok(refusals > 400, String(refusals));
  await assert.rejects(r.planner(edited(stored(FULL), ['cutting'], 1), 1), { code: 'STATE_CORRUPT' });
});

test('a newer format is refused like that of a state file, and the newer version named as the way on', () => {
  const saved = { ...stored(FULL), format: 4 };
  refused(saved, "the file reader's saved plan has format 4; this version knows up to 3");
  assert.throws(() => decodePlan(saved), { hint: 'Run the job with the newer version that wrote it.' });
});

test('a split of another form is refused', () => {
  const split = splitOf(file('/in/a.csv'), { from: { offset: 3, line: 2 }, to: 9 }, { columns: ['a'] });
  assert.deepEqual(readSplitSpec(split), {
    spec: file('/in/a.csv'),
    range: { from: { offset: 3, line: 2 }, to: 9 },
    columns: ['a'],
  });
  const spec = split.spec as JsonObject;
  for (const [key, to] of [
    ['columns', 5],
    ['columns', ['a', 5]],
    ['mtimeNs', 'soon'],
    ['to', undefined],
    ['size', '40'],
  ] as const) {
    assert.throws(() => readSplitSpec({ ...split, spec: edited(spec, [key], to) }), {
      code: 'STATE_CORRUPT',
      message: `split ${split.id} is none of this file reader`,
    });
  }
});

test('a plan of standard input that does not say whether it was read is no end of it', () => {
  assert.throws(() => new StdinPlanner({ format: 1 }), { code: 'STATE_CORRUPT' });
});
