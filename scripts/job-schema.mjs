// job-configs/job.schema.json, as `sync schema` prints it for the plugins that ship with the tool.
// --write makes it; else a stale one is an error.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedSchemaText } from '../dist/src/cli/commands/schema.js';

const path = join(import.meta.dirname, '../job-configs/job.schema.json');
const wanted = await shippedSchemaText();
if (process.argv.includes('--write')) writeFileSync(path, wanted);
else if (readFileSync(path, 'utf8') !== wanted) {
  process.stderr.write('job-configs/job.schema.json is not that of the option schemas: npm run docs\n');
  process.exitCode = 1;
}
