/** C70: the job file: syntax, duplicates, typos, nonsense values. Each alone in a good job whose writer deletes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES } from '../../src/plugin-api/index.js';
import { sync } from '../support/sync.js';
import { tree, Workspace } from '../support/workspace.js';
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

const TEN_MISTAKES = `{
  // ten mistakes
  "job": {
    "content": [
      {
        "reader": {
          "name": "filereader",
          "parameter": {
            "path": "in",
            "fileTyp": "csv",
            "fieldDelimiter": "",
            "splitSize": "64 MB",
            "column": [{ "index": 0, "type": "bigint" }],
          },
        },
        "writer": { "name": "filewritr", "parameter": { "path": "out" } },
      },
      {
        "reader": { "name": "streamreader", "parameter": { "column": [{ "name": "a", "type": "intt" }] } },
        "writer": { "name": "filewriter", "parameter": { "path": "out", "column": ["a", "b"], "writeMode": "overwritte" } },
      },
    ],
    "setting": {
      "speed": { "channel": 0, "chanel": 2 },
      "speed": { "channel": 2 },
      "errorLimit": { "percentage": "150" },
      "restart": { "strategy": "fixedDelay", "attempts": 3, "restartAttempts": 4 },
    },
  },
}
`;

const TEN_ERRORS = `job.json:10:13: error: job.content[0].reader.parameter.fileTyp: unknown option; did you mean "fileType"?
job.json:11:31: error: job.content[0].reader.parameter.fieldDelimiter: must not be empty
job.json:12:26: error: job.content[0].reader.parameter.splitSize: is "64 MB"; must be a whole number, at least 0 (bytes)
job.json:16:29: error: job.content[0].writer.name: no writer is named "filewritr"; did you mean "filewriter"?
job.json:19:94: error: job.content[1].reader.parameter.column[0].type: "intt" is not a type that can be made up; for instance id, int, bigint, boolean, string, double, decimal(10,2), date, time, timestamp, binary
job.json:20:108: error: job.content[1].writer.parameter.writeMode: is "overwritte"; must be one of "append", "overwrite", "truncate", "nonConflict"; did you mean "overwrite"?
job.json:24:32: error: job.setting.speed.chanel: unknown option; did you mean "channel"?
job.json:25:7: error: job.setting.speed: the key stands twice in its object, on lines 24 and 25; keep the one that is meant
job.json:26:37: error: job.setting.errorLimit.percentage: is "150"; must be a number from 0 to 100 (percent)
job.json:27:61: error: job.setting.restart.restartAttempts: "attempts" and "restartAttempts" are two names of one option; keep one of them
sync: JOB_INVALID: job.json has 10 errors (job.json:10:13); each is listed above with its line and column
`;

test('C70 the report of a job with ten mistakes, as it is printed', async () => {
  using ws = new Workspace();
  ws.write('job.json', TEN_MISTAKES);
  ws.write('out/kept.csv', 'kept\n');
  for (const command of ['validate', 'run']) {
    const r = await sync([command, 'job.json'], { cwd: ws.dir });
    assert.equal(r.code, 2);
    assert.equal(r.stdout + r.stderr, TEN_ERRORS, command);
  }
  // Nothing was begun: not even a state folder.
  assert.deepEqual(tree(ws.dir), ['job.json', 'out/', 'out/kept.csv']);
});

test('C70 counts of columns are compared before anything is touched', async () => {
  using ws = new Workspace();
  const reader = { name: 'streamreader', parameter: { column: [{ type: 'int' }], sliceRecordCount: 1 } };
  const writer = { name: 'filewriter', parameter: { path: 'out', column: ['a', 'b'], writeMode: 'overwrite' } };
  ws.job({ job: { content: [{ reader, writer }] } });
  ws.write('out/kept.csv', 'kept\n');
  const r = await sync(['run', 'job.json'], { cwd: ws.dir });
  assert.equal(r.code, 2);
  assert.match(r.stderr, /the reader has 1 column, the writer 2 columns \(job\.json:1:\d+\); give both sides/);
  assert.deepEqual(tree(ws.dir), ['job.json', 'out/', 'out/kept.csv']);
});
