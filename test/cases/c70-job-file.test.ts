/** C70: the job file: syntax, duplicates, typos, nonsense values. Each alone in a good job whose writer deletes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES } from '../../src/plugin-api/index.js';
import { assertAccepted, assertRefused, jobText } from '../unit/config/support.js';

const WRITER = 'job.content[0].writer.parameter';

test('C70 every refusal has exit code 2', () => {
  for (const code of ['JOB_FILE', 'JOB_INVALID', 'PLUGIN_UNKNOWN', 'COLUMN_MISMATCH'] as const) {
    assert.equal(ERROR_CODES[code].exit, 2);
  }
});

test('C70 trailing comma: accepted', async () => {
  await assertAccepted(jobText().replace('["delete from b"]', '["delete from b",]'));
});

test('C70 // and /* */ comments: accepted', async () => {
  await assertAccepted(jobText().replace('"setting"', '// comment\n /* and\n more */ "setting"'));
});

test('C70 leading byte order mark: accepted, places do not move', async () => {
  await assertAccepted(`\uFEFF${jobText()}`);
  await assertRefused('\uFEFF{"x": 1, "job": {"content": []}}', [
    'job.json:1:2: error: x: unknown option; known options: $schema, job',
    'job.json:1:29: error: job.content: must not be empty',
  ]);
});

test('C70 single quotes: refused with line and column', async () => {
  const hint = 'write "…" in double quotes';
  await assertRefused(
    jobText().replace('"parameter": { "table": "a"', `"parameter": { "table": 'a'`),
    [`job.json:7:35: error: a string in single quotes is not JSON: '; ${hint}`],
    'JOB_FILE',
  );
  await assertRefused(
    "{'job': {}}",
    [`job.json:1:2: error: a string in single quotes is not JSON: '; ${hint}`],
    'JOB_FILE',
  );
});

test('C70 truncated file: refused where it ends, at every length', async () => {
  const text = jobText();
  await assertRefused(
    text.slice(0, text.indexOf('"preSql"')),
    ['job.json:11:39: error: the file ends in the middle of the JSON; is the file cut off?'],
    'JOB_FILE',
  );
  await assertRefused(
    text.slice(0, text.indexOf('delete from b') + 3),
    ['job.json:11:51: error: a string is not closed; is the file cut off?'],
    'JOB_FILE',
  );
  await assertRefused(
    '',
    ['job.json:1:1: error: the file is empty; a job file holds {"job": {"content": [...], "setting": {...}}}'],
    'JOB_FILE',
  );
});

test('C70 the same key twice: refused, naming the path and both lines', async () => {
  await assertRefused(jobText({ reader: '"where": "x = 1",\n "where": "x = 2"' }), [
    'job.json:8:2: error: job.content[0].reader.parameter.where: the key stands twice in its object, on lines 7 and 8; keep the one that is meant',
  ]);
});

test('C70 a misspelt option: refused with the near name', async () => {
  await assertRefused(jobText({ writer: '"wirteMode": "update"' }), [
    `job.json:11:69: error: ${WRITER}.wirteMode: unknown option; did you mean "writeMode"?`,
  ]);
});

test('C70 the case of a mode does not matter; another word is refused', async () => {
  const loaded = await assertAccepted(jobText({ writer: '"writeMode": "Replace"' }));
  assert.equal(loaded.job.writer.options['writeMode'], 'replace');
  await assertRefused(jobText({ writer: '"writeMode": "updat"' }), [
    `job.json:11:82: error: ${WRITER}.writeMode: is "updat"; must be one of "insert", "update", "replace"; did you mean "update"?`,
  ]);
});

for (const bad of ['0', '-1', '"abc"', '1e9', '1.5', '""', '[]', 'true']) {
  test(`C70 batchSize ${bad}: refused, naming the range`, async () => {
    const shown = bad === '[]' ? 'a list' : bad;
    await assertRefused(jobText({ writer: `"batchSize": ${bad}` }), [
      `job.json:11:82: error: ${WRITER}.batchSize: is ${shown}; must be a whole number from 1 to 100000`,
    ]);
  });
}

test('C70 a number as a string is a number', async () => {
  const loaded = await assertAccepted(
    jobText({ writer: '"batchSize": " 20 ", "allReplace": "TRUE"', setting: '"speed": {"channel": "2"}' }),
  );
  assert.equal(loaded.job.settings.channel, 2);
  assert.equal(loaded.job.writer.options['batchSize'], 20);
  assert.equal(loaded.job.writer.options['allReplace'], true);
});

test('C70 an unknown reader: refused with the near name', async () => {
  await assertRefused(
    jobText({ readerName: 'mysqlreaderr' }),
    [
      'job.json:6:19: error: job.content[0].reader.name: no reader is named "mysqlreaderr"; did you mean "mysqlreader"?',
    ],
    'PLUGIN_UNKNOWN',
  );
});

test('C70 empty content', async () => {
  await assertRefused('{"job": {"content": []}}', ['job.json:1:21: error: job.content: must not be empty']);
});

test('C70 bytes 0: no limit', async () => {
  const loaded = await assertAccepted(jobText({ setting: '"speed": {"bytes": 0}' }));
  assert.equal(loaded.job.settings.bytesPerSecond, 0);
});

test('C70 password null: refused, and no secret is ever shown', async () => {
  const hint = 'leave the option out where it is not wanted';
  await assertRefused(jobText({ writer: '"password": null' }), [
    `job.json:11:81: error: ${WRITER}.password: is null; must be a string; ${hint}`,
  ]);
  await assertRefused(jobText({ writer: '"password": ["hunter2"]' }), [
    `job.json:11:81: error: ${WRITER}.password: must be a string`,
  ]);
});

test('C70 all problems of the file at once, in the order of the file', async () => {
  await assertRefused(
    jobText({
      readerName: 'nope',
      writer: '"batchSize": 0,\n"wirteMode": "x",\n"server": {"hots": "h"}',
      setting: '"speed": {"channel": 0}, "sped": {}',
    }),
    [
      'job.json:6:19: error: job.content[0].reader.name: no reader is named "nope"; did you mean "mysqlreader"?',
      `job.json:11:82: error: ${WRITER}.batchSize: is 0; must be a whole number from 1 to 100000`,
      `job.json:12:1: error: ${WRITER}.wirteMode: unknown option; did you mean "writeMode"?`,
      `job.json:13:12: error: ${WRITER}.server.hots: unknown option; did you mean "host"?`,
      'job.json:17:38: error: job.setting.speed.channel: is 0; must be a whole number from 1 to 1024',
      'job.json:17:42: error: job.setting.sped: unknown option; did you mean "speed"?',
    ],
  );
});
