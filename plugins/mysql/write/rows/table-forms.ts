/** All the forms that rows of one schema may take on their way into one table; made when first needed. */
import type { TableFacts } from '../../catalog/tables.js';
import type { ServerFacts } from '../../connect/session-setup.js';
import type { Binding, RowKey } from './bind-columns.js';
import { deleteForm, updateForm } from './change-forms.js';
import { DELETE, PATCH_BY_BEFORE, PUT } from './change-steps.js';
import { keepOld, overwriteOld, type WriteMode } from './insert-sql.js';
import { ChangeFold } from './fold-changes.js';
import { insertForm, loadForm, type RowForm } from './row-forms.js';

export interface FormOptions {
  readonly mode: WriteMode;
  readonly allReplace: boolean;
  /** Rows of a statement, at most. */
  readonly most: number;
  readonly loadMost: number;
}

export class TableForms {
  readonly binding: Binding;
  /** Null: changes are written in their order. */
  readonly fold: ChangeFold | null;
  readonly #table: TableFacts;
  readonly #server: ServerFacts;
  readonly #o: FormOptions;
  readonly #made = new Map<string, RowForm>();

  constructor(binding: Binding, table: TableFacts, server: ServerFacts, options: FormOptions) {
    this.binding = binding;
    this.fold = ChangeFold.of(binding, binding.key, table);
    this.#table = table;
    this.#server = server;
    this.#o = options;
  }

  /** Of batches without operations: as `writeMode` says. */
  get plain(): RowForm {
    return this.#form('plain', () => {
      const { mode, allReplace } = this.#o;
      if (mode === 'replace') return this.#insert('replace into', '');
      if (mode === 'insert') return this.#insert('insert into', '');
      if (mode === 'update') return this.#insert('insert into', this.#overwrite(allReplace));
      const tail = keepOld(this.binding);
      return { ...this.#insert('insert into', tail), loneTail: Buffer.alloc(0), keepsOld: true };
    });
  }

  get load(): RowForm {
    return this.#form('load', () => loadForm(this.binding, this.#table.name, this.#o.loadMost));
  }

  /** Of a kind of {@link Steps}. */
  change(kind: number): RowForm {
    if (kind === PUT) return this.#put;
    const key = this.binding.key ?? { columns: [], unique: false };
    if (kind === DELETE) return this.#form('delete', () => this.#delete(key));
    const byBefore = kind === PATCH_BY_BEFORE;
    return this.#form(byBefore ? 'by before' : 'by itself', () =>
      updateForm(this.binding, key, this.#table.name, (row) => (byBefore ? row - 1 : row)),
    );
  }

  /** A replayed insert finds its row there: so inserts of changes put rows over others by key, in whatever mode. */
  get #put(): RowForm {
    return this.#form('put', () => {
      if (this.#o.mode === 'replace') return this.#insert('replace into', '');
      return this.#insert('insert into', this.binding.key?.unique === true ? this.#overwrite(true) : '');
    });
  }

  #delete(key: RowKey): RowForm {
    return deleteForm(this.binding, key, this.#table.name, this.#o.most);
  }

  #overwrite(allReplace: boolean): string {
    const { name: table, keys } = this.#table;
    const oneKey = this.binding.key?.unique === true && keys.filter((k) => k.unique).length === 1;
    return overwriteOld(this.binding, { table, server: this.#server, allReplace, oneKey });
  }

  #insert(verb: string, tail: string): RowForm {
    return insertForm(this.binding, this.#table.name, { verb, tail, most: this.#o.most });
  }

  #form(name: string, make: () => RowForm): RowForm {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#made.set(name, made);
    return made;
  }
}
