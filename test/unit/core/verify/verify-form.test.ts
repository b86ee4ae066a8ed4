import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseType, type LogicalType } from '../../../../src/plugin-api/index.js';
import { CellRef, verifyForm } from '../../../../src/core/verify/verify-form.js';

function typed(name: string): LogicalType {
  const type = parseType(name);
  assert.ok(type, name);
  return type;
}

function formed(own: LogicalType, other: LogicalType, value: string): string {
  const cell = new CellRef();
  cell.data = Buffer.from(`..${value}..`);
  cell.start = 2;
  cell.end = cell.data.length - 2;
  verifyForm(own, other)?.(cell);
  return cell.data.toString('utf8', cell.start, cell.end);
}

/** Types and values of both sides. */
type Case = readonly [aType: string, a: string, bType: string, b: string];

const EQUAL: readonly Case[] = [
  ['decimal(10,2)', '1.50', 'decimal(10,4)', '1.5000'],
  ['decimal(10,2)', '1.50', 'decimal(10,2)', '1.5'],
  ['decimal(10,2)', '100.00', 'int', '100'],
  ['decimal(10,2)', '-0.00', 'int', '0'],
  ['decimal(20,0)', '9007199254740993', 'bigint', '9007199254740993'],
  ['boolean', 'true', 'tinyint', '1'],
  ['boolean', 'false', 'bit(1)', '0'],
  ['boolean', 'true', 'decimal(3,1)', '1.0'],
  ['year', '0000', 'int', '0'],
  ['float', '0.1', 'double', '0.10000000149011612'],
  ['float', '0.1', 'double', '0.1'],
  ['double', '1e+21', 'decimal(30,0)', '1000000000000000000000'],
  ['double', '0.1', 'decimal(10,2)', '0.10'],
  ['double', '-0', 'decimal(10,2)', '0.00'],
  ['double', '-0', 'int', '0'],
  ['double', '-0', 'double', '0'],
  ['float', '-0', 'double', '0'],
  ['float', '0', 'float', '-0'],
  ['datetime(6)', '2024-01-10 00:00:00.120000', 'datetime(2)', '2024-01-10 00:00:00.12'],
  ['datetime(6)', '2024-01-10 00:00:10.000000', 'timestamp(0)', '2024-01-10 00:00:10'],
  ['date', '2024-01-10', 'datetime(0)', '2024-01-10 00:00:00'],
  ['date', '2024-01-10', 'datetime(3)', '2024-01-10 00:00:00.000'],
  ['time(3)', '-10:00:00.500', 'time(1)', '-10:00:00.5'],
  // A text, as of a file without types, is read as the value that the other side has.
  ['string', '007', 'int', '7'],
  ['string', '+1.50', 'decimal(10,2)', '1.5'],
  ['string', '1e3', 'double', '1000'],
  ['string', '2024-01-10T10:00:00', 'datetime(0)', '2024-01-10 10:00:00'],
  ['string', '1.500', 'decimal(10,2)', '1.50'],
  ['string', 'é', 'enum', 'é'],
];

for (const [at, a, bt, b] of EQUAL) {
  test(`${at} ${a} equals ${bt} ${b}`, () => {
    assert.equal(formed(typed(at), typed(bt), a), formed(typed(bt), typed(at), b));
  });
}

const DIFFERENT: readonly Case[] = [
  ['decimal(10,2)', '1.50', 'decimal(10,2)', '1.05'],
  ['decimal(10,2)', '10.00', 'decimal(10,0)', '1'],
  ['int', '100', 'int', '1'],
  ['int', '100', 'decimal(10,2)', '1.00'],
  ['bigint', '9007199254740993', 'decimal(20,0)', '9007199254740992'],
  ['double', '0.1', 'double', '0.10000000000000002'],
  ['datetime(0)', '2024-01-10 00:00:00', 'datetime(0)', '2024-01-01 00:00:00'],
  ['datetime(6)', '2024-01-10 00:00:00.100000', 'datetime(0)', '2024-01-10 00:00:00'],
  ['date', '2024-01-10', 'datetime(0)', '2024-01-10 00:00:01'],
  ['string', '1.50', 'string', '1.5'],
  ['string', 'a ', 'string', 'a'],
  ['string', 'A', 'string', 'a'],
  ['string', 'abc', 'int', '0'],
  ['string', '', 'int', '0'],
  ['string', '', 'double', '0'],
  ['boolean', 'true', 'int', '2'],
  ['json', '{"a":1}', 'json', '{"a": 1}'],
];

for (const [at, a, bt, b] of DIFFERENT) {
  test(`${at} ${JSON.stringify(a)} is not ${bt} ${JSON.stringify(b)}`, () => {
    assert.notEqual(formed(typed(at), typed(bt), a), formed(typed(bt), typed(at), b));
  });
}

test('cells of one type go as they are where they have one form', () => {
  for (const name of ['int', 'bigint', 'string', 'binary', 'date', 'json', 'enum', 'boolean', 'year']) {
    assert.equal(verifyForm(typed(name), typed(name)), null, name);
  }
});
