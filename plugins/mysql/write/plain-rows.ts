/** Stands in for write/rows until that is there: multi-row INSERT, and no bad row is found out. */
import { RowView, cellKind, type RowBatch, type WriteResult } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import { statementBuffer } from '../connect/raw-connection.js';
import { quoteName, quoteTable, quoteText, type TableName } from '../sql/names.js';
import type { RowSink } from './row-sink.js';
import type { Statements } from './statements.js';

const VERBS = {
  insert: 'insert into',
  replace: 'replace into',
  update: 'insert into',
  'insert-ignore': 'insert ignore into',
};

export class PlainRows implements RowSink {
  readonly #table: TableName;
  readonly #columns: readonly string[] | null;
  readonly #mode: keyof typeof VERBS;

  constructor(table: TableName, columns: readonly string[] | null, mode: keyof typeof VERBS) {
    this.#table = table;
    this.#columns = columns;
    this.#mode = mode;
  }

  async write(batch: RowBatch, to: Statements): Promise<WriteResult> {
    let bytes = 0;
    for (const section of batch.sections) {
      const { projection, names } = chooseColumns(section.schema, this.#columns);
      const view = new RowView(batch, section, projection);
      const rows: string[] = [];
      for (let r = 0; r < section.rows; r++) {
        view.at(r);
        const cells = projection.map((source, c) => {
          if (view.isNull(c)) return 'null';
          const column = section.schema.columns[source];
          const kind = column === undefined ? 'text' : cellKind(column.type);
          if (kind === 'bytes') {
            const b = view.bytes(c);
            return b.length === 0 ? "''" : `0x${Buffer.from(b).toString('hex')}`;
          }
          const text = view.text(c) ?? '';
          if (column?.type.is === 'boolean') return text === 'true' ? '1' : '0';
          return kind === 'integer' || kind === 'decimal' ? text : quoteText(text);
        });
        rows.push(`(${cells.join(',')})`);
      }
      const tail =
        this.#mode === 'update'
          ? ` on duplicate key update ${names.map((n) => `${quoteName(n)}=values(${quoteName(n)})`).join(',')}`
          : '';
      for (let from = 0; from < rows.length; from += 500) {
        const statement = statementBuffer(
          `${VERBS[this.#mode]} ${quoteTable(this.#table)} (${names.map(quoteName).join(',')}) values ${rows.slice(from, from + 500).join(',')}${tail}`,
        );
        bytes += statement.length;
        await to.run(statement, 'write rows');
      }
    }
    return { rejected: null, bytes };
  }

  flush(): Promise<WriteResult> {
    return Promise.resolve({ rejected: null, bytes: 0 });
  }

  clear(): void {
    // keeps nothing
  }
}
