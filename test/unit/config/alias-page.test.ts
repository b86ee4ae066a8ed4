/** Every name that is accepted beside an option's own is told on docs/aliases.md, with where it comes from. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aliasRows, type AliasRow } from '../../../src/config/alias-page.js';
import { JOB_SCHEMA } from '../../../src/config/job-schema.js';
import type { SchemaNode } from '../../../src/config/schema.js';
import { BUILTIN_PLUGINS } from '../../../src/registry/builtin.js';
import { Registry } from '../../../src/registry/registry.js';
import { ROOT } from '../../support/sync.js';

const page = readFileSync(join(ROOT, 'docs/aliases.md'), 'utf8');
const registry = new Registry({});

async function allRows(): Promise<readonly AliasRow[]> {
  const rows = [...aliasRows(JOB_SCHEMA, 'job.')];
  for (const { name, kinds, onlyWith } of BUILTIN_PLUGINS) {
    for (const kind of onlyWith === undefined ? kinds : []) {
      const d = await (kind === 'reader' ? registry.reader(name) : registry.writer(name));
      rows.push(...aliasRows(d.options as SchemaNode));
    }
  }
  return rows;
}

test('each has an origin, and stands on the page', async () => {
  const rows = await allRows();
  assert.ok(rows.length > 80, String(rows.length));
  assert.deepEqual(
    rows.filter((r) => r.since === null).map((r) => r.alias),
    [],
  );
  for (const r of rows) assert.ok(page.includes(`| \`${r.alias}\``), r.alias);
  assert.doesNotMatch(page, /\| \? +\|/);
});

test('the page says what is where', () => {
  const line = (start: string): string =>
    (page.split('\n').find((l) => l.startsWith(`| ${start} `)) ?? '').replace(/ +/g, ' ');
  assert.equal(line('`setting.speed.byte`'), '| `setting.speed.byte` | `setting.speed.bytes` | DataX |');
  assert.equal(line('`skipHeader`'), '| `skipHeader` | `isFirstLineHeader` | DataX |');
  assert.equal(
    line('`flink.checkpoint.interval`'),
    '| `flink.checkpoint.interval` | `setting.checkpoint.interval` | FlinkX 1.8 |',
  );
  assert.equal(line('`-job`'), '| `-job` | the job file | FlinkX 1.5 |');
});
