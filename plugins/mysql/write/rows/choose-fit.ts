import { cellKind, type LogicalType } from 'syncx/plugin-api';
import type { CellFit, Target } from './cell-fit.js';
import { bitFit, decimalFit, floatFit, integerFit, yearFit } from './fit-numbers.js';
import { binaryFit, enumFit, geometryFit, otherFit, setFit, textFit } from './fit-texts.js';
import { dateFit, momentFit, timeFit } from './fit-times.js';

/** Null: no cell of the source's type can be a value of the column. */
export function chooseFit(from: LogicalType, target: Target): CellFit | null {
  const to = target.column.type;
  if (from.is === 'geometry' && to.is !== 'geometry' && to.is !== 'binary') return null;
  if (to.is === 'geometry') return cellKind(from) === 'bytes' ? geometryFit(from, target) : null;
  switch (to.is) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'boolean':
      return integerFit(from, target);
    case 'decimal':
      return decimalFit(from, target);
    case 'float32':
    case 'float64':
      return floatFit(from, target);
    case 'bit':
      return bitFit(from, target);
    case 'year':
      return from.is === 'boolean' ? null : yearFit(from, target);
    case 'date':
      return dateFit(from);
    case 'datetime':
    case 'timestamp':
      return momentFit(from, target);
    case 'time':
      return timeFit(from, target);
    case 'enum':
      return enumFit(from, target);
    case 'set':
      return setFit(from, target);
    case 'binary':
      return binaryFit(target);
    case 'json':
      return textFit(from, target);
    case 'string':
      return target.column.charset === null ? otherFit(target) : textFit(from, target);
  }
}
