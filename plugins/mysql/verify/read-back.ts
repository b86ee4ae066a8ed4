/** How `sync verify` reads the rows again that the writer has put into its table, and puts single ones right. */
import { SyncError, type JsonObject, type ReadBack, type RowSchema } from 'syncx/plugin-api';
import { chooseColumns } from 'syncx/plugin-kit';
import { ALL_TABLES, tableText, wantedColumns, wantsExactlyOnce, type WriterOptions } from '../writer-options.js';

/** The server's names of columns are the same whatever their case: so are ours, where the rows have just one such name. */
function wantedNames(rows: RowSchema, wanted: readonly string[] | null): readonly string[] | null {
  if (wanted === null) return null;
  const names = wanted.map((name) => {
    if (rows.columns.some((c) => c.name === name)) return name;
    const alike = rows.columns.filter((c) => c.name.toLowerCase() === name.toLowerCase());
    return alike.length === 1 ? (alike[0]?.name ?? name) : name;
  });
  return names.every((n) => n === '*' || rows.columns.some((c) => c.name === n)) ? names : wanted;
}

/** Without what is undefined, which no JSON has. */
const plain = (o: object): JsonObject => JSON.parse(JSON.stringify(o)) as JsonObject;

export function readBackTable(o: WriterOptions, rows: RowSchema): ReadBack {
  if (tableText(o) === ALL_TABLES) {
    throw new SyncError('JOB_INVALID', 'a job that writes several tables is not compared: `*` names none of them', {
      place: 'writer.parameter.connection[0].table',
      hint: 'Compare table by table, by jobs of one table each.',
    });
  }
  const none = rows.columns.length === 0;
  const wanted = wantedColumns(o);
  const { projection, names } = none
    ? { projection: [], names: wanted ?? [] }
    : chooseColumns(rows, wantedNames(rows, wanted));
  const column = names.length === 0 ? ['*'] : names;
  const { connection, username, password, properties, connectTimeOut, sslCa, sslCert, sslKey } = o;
  const server = { username, password, properties, connectTimeOut, sslCa, sslCert, sslKey };
  return {
    reader: 'mysql',
    options: plain({
      ...server,
      connection: connection.map((c) => ({ ...c, table: [tableText(o)] })),
      column,
      zeroDate: 'keep',
    }),
    columns: projection.map((p, i) => ({ from: rows.columns[p]?.name ?? '', to: names[i] ?? '' })),
    changes: plain({
      ...server,
      connection,
      column,
      writeMode: 'update',
      // In one transaction where the job's own epochs are; at-least-once commits batch by batch, which a key makes up for.
      semantic: wantsExactlyOnce(o) ? 'exactly-once' : 'at-least-once',
      commitTable: o.commitTable,
      loadData: 'never',
      ...(Array.isArray(o.uniqueKey) && o.uniqueKey.length === 0 ? {} : { uniqueKey: o.uniqueKey }),
    }),
  };
}
