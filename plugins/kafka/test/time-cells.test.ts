import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BatchBuilder, RowView, internSchema } from 'syncx/plugin-api';
import { TimeCell } from '../read/rows/time-cell.js';
import { CellTime } from '../write/records/cell-time.js';

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const anyMs = fc.oneof(
  fc.integer({ min: 0, max: LAST_MS }),
  fc.integer({ min: 0, max: 200_000 }),
  fc.constantFrom(0, 999, 59_999, 60_000, LAST_MS),
);

const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, 23).replace('T', ' ');

test('times become the cells that their ISO form has, whatever came before', () => {
  const schema = internSchema([{ name: 't', type: { is: 'timestamp', fraction: 3 }, nullable: true }]);
  fc.assert(
    fc.property(fc.array(fc.oneof(anyMs, fc.constant(-1)), { maxLength: 20 }), (times) => {
      const builder = new BatchBuilder(schema, { bytes: 16, rows: 1000 });
      const cell = new TimeCell();
      for (const ms of times) {
        cell.append(builder, ms);
        builder.endRow();
      }
      const batch = builder.finish('s', null, 0);
      const [section] = batch.sections;
      if (section === undefined) return;
      const view = new RowView(batch, section);
      assert.deepEqual(
        times.map((_, row) => view.at(row).text(0)),
        times.map((ms) => (ms < 0 ? null : textOf(ms))),
      );
    }),
  );
});

test('cells become the times that Date.parse makes of them, whatever came before', () => {
  const odd = fc.constantFrom(
    '2024-02-30 00:00:00.000',
    '2023-13-01 00:00:00.000',
    '2023-01-01 00:00:60.000',
    '2023-01-01 00:00:0a.000',
    '2023-01-01 00:00:00,000',
    '2023-01-01 00:00:00',
    '2023-01-01 00:00:00.1234',
    '2023-01-01 00:00:00.999999',
    '1969-12-31 23:59:59.999',
    '0000-00-00 00:00:00.000',
    '',
  );
  const cell = fc.oneof(anyMs.map(textOf), odd);
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 20 }), fc.nat(5), (cells, at) => {
      const time = new CellTime();
      for (const text of cells) {
        const data = Buffer.from(`${'x'.repeat(at)}${text}y`);
        assert.equal(time.read(data, at, at + text.length), Date.parse(`${text.replace(' ', 'T')}Z`), text);
      }
    }),
  );
  const same = new CellTime();
  for (const text of ['2023-01-01 00:00:59.000', '2023-01-01 00:00:60.000', '2023-01-01 00:00:5a.000']) {
    const data = Buffer.from(text);
    assert.equal(same.read(data, 0, data.length), Date.parse(`${text.replace(' ', 'T')}Z`), text);
  }
});
