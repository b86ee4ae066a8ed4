/** How the cells of one source type become values of one target column. Chosen once a column, never asked a row. */
import { cellKind, type LogicalType } from 'syncx/plugin-api';
import type { CellCheck } from 'syncx/plugin-kit';
import type { MysqlColumn } from '../../catalog/columns.js';

/** The look of a value in SQL; `plain` is quoted and needs no escapes, `zero` is for the words of booleans. */
export type LiteralForm = 'bare' | 'plain' | 'text' | 'binary' | 'boolean' | 'float';

/** Other bytes for the same value; null: it is no value of the column. */
export type Mend = (data: Buffer, start: number, end: number) => Buffer | null;

export interface CellFit {
  readonly form: LiteralForm;
  /** Null: every cell of the source's type stands for itself, or the server says what is wrong with it. */
  readonly check: CellCheck | null;
  /** Asked where `check` says no. Null: such a cell is refused. */
  readonly mend: Mend | null;
  /** What the column holds, for "'12 ' is no …". */
  readonly holds: string;
  /** Texts that begin with a letter go to the server as they are: both servers refuse them, in words of their own. */
  readonly lettersToServer?: boolean;
}

export interface Target {
  readonly column: MysqlColumn;
}

export const always = (form: LiteralForm, holds: string): CellFit => ({ form, check: null, mend: null, holds });

export const isInteger = (t: LogicalType): boolean => cellKind(t) === 'integer';
/** Types whose cells are text of no known form. */
export const isFreeText = (t: LogicalType): boolean =>
  t.is === 'string' || t.is === 'json' || t.is === 'enum' || t.is === 'set' || t.is === 'binary';
