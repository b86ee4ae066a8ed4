import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BatchBuilder,
  internSchema,
  OP_DELETE,
  OP_INSERT,
  parseType,
  RowView,
  type RowBatch,
  type RowOp,
} from 'syncx/plugin-api';
import { fillOptions, testContext, testLane, testRun } from 'syncx/plugin-testkit';
import { writer } from '../index.js';
import { jsonRow, OP_WORDS, textRow } from '../print.js';

const TYPES = ['bigint', 'decimal(10,2)', 'double', 'boolean', 'json', 'string', 'binary'];
const SCHEMA = internSchema(TYPES.map((name) => ({ name, type: parseType(name) ?? { is: 'string' } })));

function batchOf(cells: readonly (string | Buffer | null | undefined)[], op: RowOp = OP_INSERT): RowBatch {
  const b = new BatchBuilder(SCHEMA);
  for (const c of cells) {
    if (c === null) b.appendNull();
    else if (c === undefined) b.appendAbsent();
    else if (typeof c === 'string') b.appendText(c);
    else b.appendBytes(c);
  }
  b.endRow(op);
  return b.finish('s', { row: 1 }, 0);
}

function lines(batch: RowBatch): readonly string[] {
  const section = batch.sections[0];
  assert.ok(section);
  const view = new RowView(batch, section).at(0);
  const op = batch.ops ? OP_WORDS[batch.ops[0] ?? 0] : undefined;
  return [jsonRow(view, op), textRow(view, op, '|')];
}

test('a row as JSON keeps every digit; as text it is for the eye', () => {
  const cells = ['9223372036854775807', '-0.10', '1e21', 'true', '{"a":[1]}', 'é "x"\n|', Buffer.from([0, 255])];
  assert.deepEqual(lines(batchOf(cells)), [
    '{"bigint":9223372036854775807,"decimal(10,2)":-0.10,"double":1e21,"boolean":true,"json":{"a":[1]},"string":"é \\"x\\"\\n|","binary":"AP8="}\n',
    '9223372036854775807|-0.10|1e21|true|{"a":[1]}|é "x"\n||AP8=\n',
  ]);
});

test('NULL, absent, empty and what is no JSON number', () => {
  assert.deepEqual(lines(batchOf([null, undefined, 'NaN', null, null, '', null])), [
    '{"bigint":null,"double":"NaN","boolean":null,"json":null,"string":"","binary":null}\n',
    'NULL||NaN|NULL|NULL||NULL\n',
  ]);
});

test('changes name their kind', () => {
  const [json, text] = lines(batchOf(['1', null, null, null, null, 'a', null], OP_DELETE));
  assert.equal(
    json,
    '{"op":"-D","row":{"bigint":1,"decimal(10,2)":null,"double":null,"boolean":null,"json":null,"string":"a","binary":null}}\n',
  );
  assert.equal(text, '-D|1|NULL|NULL|NULL|NULL|a|NULL\n');
});

test('the delimiter of text may be spelled out', async (t) => {
  const cells = ['1', '2', '3', 'true', 'null', 'x', 'y'];
  const printed: string[] = [];
  const w = await writer.create(fillOptions(writer, { format: 'text', fieldDelimiter: '\\t|' }), testContext());
  await using lane = await w.openLane(testLane(testRun()), null);
  const print = (data: Uint8Array, done: () => void): boolean => {
    printed.push(Buffer.from(data).toString());
    done();
    return true;
  };
  const stdout = t.mock.method(process.stdout, 'write', print as typeof process.stdout.write);
  await lane.write(batchOf(cells), new AbortController().signal);
  stdout.mock.restore();
  assert.deepEqual(printed, [`${cells.slice(0, 6).join('\t|')}\t|eQ==\n`]);
});
