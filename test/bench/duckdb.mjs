// The yardstick: DuckDB, one thread, from CSV to CSV or JSON lines. Arguments: input, output, csv | json.
import { DuckDBInstance } from '@duckdb/node-api';

const [input, output, format] = process.argv.slice(2);
const db = await DuckDBInstance.create(':memory:', { threads: '1' });
const c = await db.connect();
const read = `read_csv('${input}', header = true, all_varchar = true, quote = '"', escape = '"')`;
const to = format === 'csv' ? '(format csv, header true)' : '(format json)';
await c.run(`copy (select * from ${read}) to '${output}' ${to}`);
