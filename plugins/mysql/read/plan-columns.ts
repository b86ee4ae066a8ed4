import { parseType, type PlanColumn } from 'syncx/plugin-api';
import { keyType } from './plan/key-predicate.js';
import { isConstant, type Shape } from './split-spec.js';

/** The columns of the shape's rows. */
export const planColumns = (shape: Shape): readonly PlanColumn[] =>
  shape.columns.map((c) => ({
    name: c.name,
    type: isConstant(c) ? (parseType(c.type) ?? { is: 'string' }) : keyType(c),
  }));
