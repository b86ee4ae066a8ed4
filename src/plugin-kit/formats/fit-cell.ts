import { END_MASK, NULL_FLAG, cellKind, type BatchBuilder } from '../../plugin-api/index.js';
import { AS_IS, cellForm } from '../../cells/cell-form.js';
import type { ColumnSpec } from './column-spec.js';
import { convertOf } from './field-plan.js';

/**
 * For sources that have types of their own: brings the last cell of a builder to the column's type (and format). Of binary
 * types the bytes stand as they are. False: it is no value of the type, and the row is to be dropped.
 */
export function cellFitter(c: ColumnSpec): (builder: BatchBuilder) => boolean {
  const form = cellKind(c.type) === 'bytes' ? null : (convertOf(c) ?? cellForm(c.type));
  if (form === null) return () => true;
  return (builder) => {
    const { data, ends, length } = builder;
    const last = builder.cells - 1;
    if (((ends[last] ?? 0) & NULL_FLAG) !== 0) return true;
    const from = last === 0 ? 0 : (ends[last - 1] ?? 0) & END_MASK;
    const bytes = form.scan(data, from, length) ? AS_IS : form.mend(data, from, length);
    if (bytes === null) return false;
    if (bytes === AS_IS) return true;
    builder.cells = last;
    builder.length = from;
    builder.appendBytes(bytes);
    return true;
  };
}
