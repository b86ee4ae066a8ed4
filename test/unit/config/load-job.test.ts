import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertAccepted, assertRefused, jobText, load } from './support.js';

const WRITER = 'job.content[0].writer.parameter';

describe('job file: what a good one becomes', () => {
  test('defaults of a bare job', async () => {
    const { job, stateDir } = await assertAccepted(jobText().replace(/,\s*"setting": \{\}/, ''));
    assert.equal(job.jobId, '/jobs/job.json');
    assert.equal(job.source, 'job.json');
    assert.equal(stateDir, null);
    assert.deepEqual(job.settings, {
      channel: 1,
      bytesPerSecond: 0,
      rowsPerSecond: 0,
      errorLimit: { record: 0, percentage: null },
      dirtyDir: null,
      checkpoint: {
        intervalMs: 10_000,
        minPauseMs: 0,
        timeoutMs: 600_000,
        tolerableFailed: 0,
        numRetained: 3,
        numRetainedRuns: 3,
        onCancel: 'retain',
        resume: true,
        resumeMaxAgeMs: 43_200_000,
      },
      verify: false,
      restart: { strategy: 'none' },
    });
    assert.deepEqual(job.writer.options, {
      table: 'b',
      preSql: ['delete from b'],
      writeMode: 'insert',
      batchSize: 1024,
      allReplace: false,
      server: { host: 'localhost', timeout: 30 },
    });
  });

  test('settings', async () => {
    const checkpoint = '"interval": "500", "onCancel": "DELETE", "resume": "false", "dir": "s", "numRetained": 1';
    const { job, stateDir } = await assertAccepted(
      jobText({
        setting: `"jobId": "nightly", "speed": {"byte": 1e6, "record": 10.5, "channel": 3},
          "dirty": {"path": "bad"}, "checkpoint": {${checkpoint}}`,
      }),
    );
    assert.equal(job.jobId, 'nightly');
    assert.equal(stateDir, 's');
    assert.equal(job.settings.channel, 3);
    assert.equal(job.settings.bytesPerSecond, 1e6);
    assert.equal(job.settings.rowsPerSecond, 10.5);
    assert.equal(job.settings.dirtyDir, 'bad');
    const { intervalMs, onCancel, resume, numRetained, timeoutMs } = job.settings.checkpoint;
    assert.deepEqual([intervalMs, onCancel, resume, numRetained, timeoutMs], [500, 'delete', false, 1, 600_000]);
  });

  test('everything is frozen, in depth', async () => {
    const { job } = await assertAccepted(jobText({ writer: '"column": ["a", {"name": "b"}]' }));
    const column = job.writer.options['column'] as readonly unknown[];
    for (const v of [job, job.settings.checkpoint, job.writer.options, column, column[1]])
      assert.ok(Object.isFrozen(v));
  });

  test('secrets are in the options only; identity has no tuning option', async () => {
    const { job } = await assertAccepted(
      jobText({ writer: '"password": "p", "batchSize": 5, "server": {"host": "h", "token": "t", "timeout": 9}' }),
    );
    assert.equal(job.writer.options['password'], 'p');
    const rest = { table: 'b', preSql: ['delete from b'], writeMode: 'insert', allReplace: false };
    assert.deepEqual(job.writer.publicOptions, { ...rest, batchSize: 5, server: { host: 'h', timeout: 9 } });
    assert.deepEqual(job.writer.identity, { ...rest, server: { host: 'h' } });
  });
});

describe('job file: conversions', () => {
  test('a number where text is wanted keeps its digits', async () => {
    const { job } = await assertAccepted(jobText({ writer: '"startLocation": 12345678901234567890.10' }));
    assert.equal(job.writer.options['startLocation'], '12345678901234567890.10');
  });

  test('a whole number that a double cannot hold is refused', async () => {
    const max = 'the largest whole number is 9007199254740991';
    await assertRefused(jobText({ setting: '"errorLimit": {"record": 9007199254740993}' }), [
      `job.json:15:42: error: job.setting.errorLimit.record: 9007199254740993 is too large; ${max}`,
    ]);
  });

  test('strings that are no numbers stay what they are, and are refused', async () => {
    for (const bad of ['""', '" "', '"1e3x"', '"0x10"', '"NaN"', '"Infinity"', 'null']) {
      const { lines } = await load(jobText({ writer: `"ratio": ${bad}` }));
      const hint = bad === 'null' ? '; leave the option out where it is not wanted' : '';
      assert.deepEqual(lines, [
        `job.json:11:78: error: ${WRITER}.ratio: is ${bad}; must be a number from 0 to 1${hint}`,
      ]);
    }
  });

  test('an alias is the option; both names are one too many', async () => {
    const { job } = await assertAccepted(jobText({ writer: '"mode": "update", "column": ["a"]' }));
    assert.equal(job.writer.options['writeMode'], 'update');
    assert.ok(!('mode' in job.writer.options));
    await assertRefused(jobText({ writer: '"mode": "update", "writeMode": "insert"' }), [
      `job.json:11:87: error: ${WRITER}.writeMode: "mode" and "writeMode" are two names of one option; keep one of them`,
    ]);
    await assertRefused(jobText({ writer: '"mode": "merge"' }), [
      `job.json:11:77: error: ${WRITER}.mode: is "merge"; must be one of "insert", "update", "replace"`,
    ]);
  });

  test('a union: the branch that the value is meant for tells what is wrong', async () => {
    const at = (json: string) => jobText({ writer: `"column": ["a", ${json}]` });
    await assertRefused(at('{"name": "b", "index": -1}'), [
      `job.json:11:108: error: ${WRITER}.column[1].index: is -1; must be a whole number, at least 0`,
    ]);
    await assertRefused(at('{"index": "1"}'), [`job.json:11:85: error: ${WRITER}.column[1].name: is missing`]);
    await assertRefused(at('[]'), [
      `job.json:11:85: error: ${WRITER}.column[1]: is a list; must be a string or an object`,
    ]);
  });

  test('a free map keeps its keys, whatever they are', async () => {
    const { job } = await assertAccepted(jobText({ writer: '"properties": {"a.b": 1, "__proto__": "x"}' }));
    const properties = job.writer.options['properties'] as Record<string, string>;
    assert.deepEqual(Object.entries(properties), [
      ['a.b', '1'],
      ['__proto__', 'x'],
    ]);
    assert.equal(Object.getPrototypeOf(properties), Object.prototype);
  });
});

describe('job file: warnings', () => {
  test('one for each option that has no effect', async () => {
    const resumes = 'an interrupted run is resumed by its checkpoint, whatever this says';
    const { job } = await assertAccepted(
      jobText({ setting: '"restore": {"isRestore": false,\n"isStream": true},\n"log": {"isLogger": true}' }),
      [
        `job.json:15:29: warning: job.setting.restore.isRestore: has no effect; ${resumes}; to start anew use --fresh or checkpoint.resume: false`,
        'job.json:16:1: warning: job.setting.restore.isStream: has no effect; whether a job ends is told by its reader',
        'job.json:17:1: warning: job.setting.log: has no effect; logs go to stderr; see --log-level and --log-format',
      ],
    );
    assert.equal(job.settings.checkpoint.resume, true);
  });

  test('sides that ask for another number of lanes', async () => {
    const said = 'is 4; reader and writer share lanes, and the job runs with 2; set speed.channel';
    const { job } = await assertAccepted(
      jobText({ setting: '"speed": {"channel": 2, "readerChannel": -1, "writerChannel": 4}' }),
      [`job.json:15:79: warning: job.setting.speed.writerChannel: ${said}`],
    );
    assert.equal(job.settings.channel, 2);
  });
});

describe('job file: reader and writer together', () => {
  test('counts of columns that differ', async () => {
    await assertRefused(
      jobText({ reader: '"column": ["a", "b", "c"]', writer: '"column": ["a", "b", "c", "d"]' }),
      [
        `job.json:11:24: error: ${WRITER}: the reader has 3 columns, the writer 4 columns; give both sides equally many; they go by name where all names are the same, else by position`,
      ],
      'COLUMN_MISMATCH',
    );
  });

  test('the same names in another order are a warning', async () => {
    await assertAccepted(jobText({ reader: '"column": ["a", "b"]', writer: '"column": ["b", "a"]' }), [
      `job.json:11:24: warning: ${WRITER}: reader and writer name the same columns in another order: "a" stands where "b" does; columns of the same names go by name`,
    ]);
  });

  test("a plugin's own check, placed at its option", async () => {
    await assertRefused(jobText({ writer: '"mode": "update"' }), [
      `job.json:11:77: error: ${WRITER}.mode: update needs column; list the columns`,
    ]);
  });
});

describe('job file: shape', () => {
  test('missing parts are named', async () => {
    await assertRefused('{}', ['job.json:1:1: error: job: is missing']);
    await assertRefused('{"job": {"content": [{"reader": {"name": "mysqlreader"}}]}}', [
      'job.json:1:22: error: job.content[0].writer: is missing',
      'job.json:1:33: error: job.content[0].reader.parameter: is missing',
    ]);
    await assertRefused('[1]', ['job.json:1:1: error: is a list; must be an object']);
  });

  test('text that is not JSON, and nesting without an end', async () => {
    await assertRefused('{"job": nope}', ['job.json:1:9: error: not a JSON value, not "nope"'], 'JOB_FILE');
    await assertRefused('{} {}', ['job.json:1:4: error: there is text after the end of the JSON, not "{"'], 'JOB_FILE');
    await assertRefused(
      '['.repeat(200_000),
      ['job.json:1:1: error: arrays or objects are nested too deeply'],
      'JOB_FILE',
    );
  });
});
