export * from './choose-columns.js';
export { openDecompressor, type Decompressor } from './codecs/decompressor.js';
export { encodingHint, encodingName } from './encodings/encoding-names.js';
export {
  LONGEST_MARK,
  openPieceDecoder,
  openTranscoder,
  refuseOtherMark,
  type Transcoder,
} from './encodings/transcoder.js';
export * from './formats/byte-buffer.js';
export * from '../cells/cell-check.js';
export { daysOf } from '../cells/cell-check-time.js';
export { canonicalCell } from '../cells/cell-form.js';
export { checkColumns, type ColumnRules } from './formats/check-columns.js';
export * from './formats/column-spec.js';
export * from './formats/csv-dialect.js';
export * from './formats/csv-encoder.js';
export * from './formats/csv-options.js';
export * from './formats/csv-picker.js';
export * from '../cells/date-pattern.js';
export * from './formats/delimited.js';
export { cellFitter } from './formats/fit-cell.js';
export { hasStar } from './formats/field-plan.js';
export * from './formats/dirty-row.js';
export * from './formats/json-decoder.js';
export * from './formats/json-encoder.js';
export { JsonPicker, type JsonFault, type JsonNotation, type RowKind } from './formats/json-picker.js';
export * from '../cells/json-scan.js';
export {
  META_TYPES,
  fromRecord,
  type FileMeta,
  type MetaKind,
  type OtherCell,
  type RecordMeta,
} from './formats/meta-column.js';
export * from './formats/record-borders.js';
export * from './formats/record-decoder.js';
export * from './formats/record-encoder.js';
export { spelledOut } from './formats/spelled-out.js';
export * from './formats/text-encoder.js';
export * from './kept-files.js';
export * from './local-storage.js';
export * from './replaced-files.js';
export * from './sink-errors.js';
export * from './staged-files.js';
export * from './staged-lane.js';
export * from './staged-names.js';
export * from './staged-recovery.js';
export * from './staging-storage.js';
export * from './target-folder.js';
export { orAborted } from './or-aborted.js';
export { Wake } from './wake.js';
