/** The expression itself is wrong. `at` counts UTF-16 units from its start. */
export class ExprError extends Error {
  readonly at: number;
  readonly hint: string | null;
  constructor(message: string, at: number, hint: string | null = null) {
    super(message);
    this.name = 'ExprError';
    this.at = at;
    this.hint = hint;
  }
}

/** The expression has no value for this row: the row is dirty. */
export class RowFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RowFault';
  }
}
