import { RowView, cellKind, type JsonValue, type RowBatch, type Section } from '../../plugin-api/index.js';

/** A row that a writer refuses, as an object by column name; binary cells as base64, ABSENT ones left out. */
export function showRow(batch: RowBatch, section: Section, row: number): JsonValue {
  const view = new RowView(batch, section).at(row);
  const shown: Record<string, JsonValue> = {};
  section.schema.columns.forEach((c, i) => {
    if (view.isAbsent(i)) return;
    const binary = cellKind(c.type) === 'bytes' && !view.isNull(i);
    shown[c.name] = binary ? { base64: view.data.toString('base64', view.start(i), view.end(i)) } : view.text(i);
  });
  return shown;
}
