import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { givenParameters } from '../../../src/config/parameters/given.js';
import { peekJob } from '../../../src/config/peek-job.js';
import { timeText } from '../../../src/config/parameters/clock.js';
import { Workspace } from '../../support/workspace.js';
import { jobText, load } from './support.js';

/** A Sunday, 23:05:09 local. */
const NOW = new Date(2026, 10, 29, 23, 5, 9, 70).getTime();

const withParameters = (text: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  load(text, { parameters: givenParameters(args), now: NOW, env });

async function accepted(text: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { result, lines } = await withParameters(text, args, env);
  assert.deepEqual(lines, []);
  assert.ok(result.ok);
  return result.parts[0];
}

async function refused(text: string, args: readonly string[], expected: readonly string[]): Promise<void> {
  const { result, lines, touched } = await withParameters(text, args);
  assert.deepEqual(lines, expected);
  assert.equal(result.ok, false);
  assert.equal(touched.created, 0);
}

describe('parameters in values', () => {
  test('a value goes on to its end, commas and equals signs and all', async () => {
    const job = await accepted(jobText({ reader: '"where": "day = \'${day}\' and x in (${xs})"' }), [
      'day=a=b',
      'xs=1,2,3',
    ]);
    assert.equal(job.reader.options['where'], "day = 'a=b' and x in (1,2,3)");
  });

  test('parameters named env and file do not take the place of variables and files', async () => {
    const job = await accepted(
      jobText({ reader: '"where": "${env} ${file} ${env:E:x}", "password": "${env:PW}"' }),
      ['env=prod', 'file=f'],
      { PW: 'hunter22' },
    );
    assert.equal(job.reader.options['where'], 'prod f x');
    assert.equal(job.reader.options['password'], 'hunter22');
  });

  test('a secret that looks like a wrong reference is not shown', async () => {
    const { lines } = await withParameters(jobText({ reader: '"password": "a${b!}c"' }));
    assert.match(lines.join(), /password: \$\{…\} in it is not a parameter; write \$\$\{…\} for the text itself/);
    assert.doesNotMatch(lines.join(), /b!/);
  });

  test('a value is never text of the file: quotes and braces stay in their string', async () => {
    const evil = '","preSql":["drop table x"],"z":"\\u0022';
    const job = await accepted(jobText({ reader: '"where": "${w}"' }), [`w=${evil}`]);
    assert.equal(job.reader.options['where'], evil);
  });

  test('JSON gives numbers, lists and objects where they stand alone', async () => {
    const job = await accepted(
      jobText({ reader: '"column": "${cols}", "fetchSize": "${n}"', writer: '"startLocation": "${big}"' }),
      ['{"cols": ["a", "b"], "n": 7, "big": 12345678901234567890}'],
    );
    assert.deepEqual(job.reader.options['column'], ['a', 'b']);
    assert.equal(job.reader.options['fetchSize'], 7);
    assert.equal(job.writer.options['startLocation'], '12345678901234567890', 'digits that a double cannot hold');
  });

  test('a reference without quotes, as FlinkX and DataX users write it', async () => {
    const job = await accepted(
      jobText({
        reader: '"column": ${cols}, /* ${no} */ "fetchSize": ${n:9} // ${neither}\n',
        setting: '"speed": {"channel": ${ch}}',
      }),
      ['cols=["a","b"]', 'ch=3'],
    );
    assert.deepEqual(job.reader.options['column'], ['a', 'b']);
    assert.equal(job.reader.options['fetchSize'], 9);
    assert.equal(job.settings.channel, 3);
  });

  test('defaults hold colons; $$ makes a text of it', async () => {
    const job = await accepted(jobText({ reader: '"where": "${at:10:30} $${x} ${e:}"' }));
    assert.equal(job.reader.options['where'], '10:30 ${x} ');
  });

  test('what is given is a value: references in it are text', async () => {
    const job = await accepted(jobText({ reader: '"column": ${cols}, "where": "${w}"' }), [
      'cols=["${w}"]',
      'w=${env:HOME}',
    ]);
    assert.deepEqual(job.reader.options['column'], ['${w}']);
    assert.equal(job.reader.options['where'], '${env:HOME}');
  });

  test("DataX's -Dname=value", async () => {
    const job = await accepted(jobText({ reader: '"where": "${a} ${b}"' }), ['-Da=1 2 -Db=x -y']);
    assert.equal(job.reader.options['where'], '1 2 x -y');
  });

  test('the environment and files', async () => {
    using ws = new Workspace();
    const path = ws.write('secret', 'p\u00e4ss\n\n');
    const job = await accepted(
      jobText({ reader: `"password": "\${file:${path}}", "where": "\${env:W} \${env:NONE:d}"` }),
      [],
      { W: 'w' },
    );
    assert.equal(job.reader.options['password'], 'p\u00e4ss\n', 'one line end belongs to the editor');
    assert.equal(job.reader.options['where'], 'w d');
  });

  test('the name of a plugin', async () => {
    const job = await accepted(jobText({ readerName: '${db}reader' }), ['db=mysql']);
    assert.equal(job.reader.definition.name, 'mysql');
  });
});

describe('parameters: what is wrong', () => {
  test('one without a value, one error each, with the near name', async () => {
    await refused(
      jobText({ reader: '"where": "${dayz}", "fetchSize": "${n}"' }),
      ['day=1'],
      [
        'job.json:1:1: warning: parameter day is given, and nothing in the file asks for it',
        'job.json:7:49: error: job.content[0].reader.parameter.where: parameter dayz has no value; did you mean "day"?',
        'job.json:7:73: error: job.content[0].reader.parameter.fetchSize: parameter n has no value; give it with -p n=…, or a default: ${n:…}',
      ],
    );
  });

  test('several in one -p, as FlinkX had them', async () => {
    await refused(
      jobText({ reader: '"where": "${a} ${b}"' }),
      ['a=1,b=2'],
      [
        'job.json:7:49: error: job.content[0].reader.parameter.where: parameter b has no value; the value of a goes on to its end, commas and all; repeat -p for each parameter',
      ],
    );
  });

  test('a value of the wrong kind is shown as it came out; one of the environment is not', async () => {
    await refused(
      jobText({ reader: '"fetchSize": "${n}"' }),
      ['n=many'],
      [
        'job.json:7:53: error: job.content[0].reader.parameter.fetchSize: is "many"; must be a whole number from 1 to 100000',
      ],
    );
    const { lines } = await withParameters(jobText({ reader: '"fetchSize": "${env:N}"' }), [], { N: 'canary' });
    assert.deepEqual(lines, [
      'job.json:7:53: error: job.content[0].reader.parameter.fetchSize: must be a whole number from 1 to 100000',
    ]);
  });

  test('a list inside a text; no name; no variable; no file; no time', async () => {
    const one = async (where: string, args: readonly string[], message: string): Promise<void> => {
      await refused(jobText({ reader: `"where": "${where}"` }), args, [
        `job.json:7:49: error: job.content[0].reader.parameter.where: ${message}`,
      ]);
    };
    await one('x ${l}', ['{"l": [1]}'], 'parameter l is a list or an object; it can only be a value by itself');
    await one('${a b}', [], '${a b} is not a parameter; write $${…} for the text itself');
    await one('${env:NONE}', [], 'the environment has no variable NONE; set it, or give a default: ${env:NONE:…}');
    await one('${file:/none/x}', [], 'the file /none/x cannot be read: ENOENT');
    await one(
      '${now-1q}',
      [],
      'q is no unit of time; the units are y, M, w, d, h, H, m, s; ${now:yyyyMMdd}, ${now-1d:yyyy-MM-dd HH:mm:ss}',
    );
  });

  test('what -p cannot read', () => {
    for (const [args, message] of [
      [['x'], 'a parameter is given without ='],
      [['1x=2'], '"1x" cannot be the name of a parameter'],
      [['a=1', 'a=2'], 'parameter a is given twice'],
      [['{"a": }'], '-p is no JSON object (column 7)'],
    ] as const) {
      assert.throws(() => givenParameters(args), { code: 'USAGE', message });
    }
  });
});

describe('times', () => {
  for (const [name, pattern, text, wholeDay] of [
    ['now', null, '2026-11-29 23:05:09', false],
    ['now', 'yyyyMMdd', '20261129', true],
    ['now-1d', "yyyy/MM/dd'T'", '2026/11/28T', true],
    ['now-1d', "yyyyMMdd'H'HH", '20261128H23', false],
    ['now+2h', 'yyyyMMdd', '20261130', false],
    ['now-1M', 'yyyyMM', '202610', true],
    ['now-9M', 'yyyy-MM-dd', '2026-02-28', true],
    ['now+1d-1M', 'yyyy-MM-dd', '2026-10-30', true],
    ['now-1w', 'yyyy-MM-dd', '2026-11-22', true],
    ['now', 'SSS', '070', false],
    ['bizdate', null, '20261128', true],
    ['bizdate-1d', 'yyyy-MM-dd', '2026-11-27', true],
  ] as const) {
    test(`${name}:${String(pattern)} is ${text}`, () => {
      assert.deepEqual(timeText(name, pattern, NOW), { text, wholeDay });
    });
  }

  test('a letter T outside quotes is refused: it would be milliseconds', () => {
    assert.equal(timeText('now', 'yyyyTHH', NOW), "`yyyyTHH` has a letter T, which is text: write it as 'T'");
  });

  test('a bizdate that is given is the day of all its forms', async () => {
    const text = jobText({ reader: '"where": "${bizdate} ${bizdate:yyyy/MM/dd} ${bizdate-1d} ${now:yyyy}"' });
    for (const day of ['20260301', '2026-03-01']) {
      const job = await accepted(text, [`bizdate=${day}`]);
      assert.equal(job.reader.options['where'], `${day} 2026/03/01 20260228 2026`);
    }
    const free = await accepted(jobText({ reader: '"where": "${bizdate}"' }), ['bizdate=latest']);
    assert.equal(free.reader.options['where'], 'latest');
    const { lines } = await withParameters(text, ['bizdate=latest']);
    assert.match(lines.join(), /parameter bizdate is no day, as \$\{bizdate:yyyy\/MM\/dd\} needs it/);
  });

  test('-p now=… sets the clock', async () => {
    const job = await accepted(jobText({ reader: '"where": "${now:yyyyMMdd} ${bizdate}"' }), ['now=2026-03-01T00:30']);
    assert.equal(job.reader.options['where'], '20260301 20260228');
    await assert.rejects(withParameters(jobText({ reader: '"where": "${now}"' }), ['now=x']), {
      code: 'USAGE',
      message: 'parameter now is no moment',
    });
  });
});

describe('which run the parameters name', () => {
  const runOf = async (p: Parameters<typeof jobText>[0], args: readonly string[] = []) => {
    const { runName, clock } = await accepted(jobText(p), args);
    return { runName, clock };
  };

  test('parameters in identity options and whole days do; tuning options, secrets and settings do not', async () => {
    assert.deepEqual(await runOf({}), { runName: 'default', clock: null });
    assert.deepEqual(
      await runOf({ reader: '"where": "${b} ${a}"', writer: '"startLocation": "${a}"' }, ['a=1', 'b=x/y']),
      {
        runName: 'a=1,b=x%2Fy',
        clock: null,
      },
    );
    assert.deepEqual(await runOf({ reader: '"where": "${now-1d:yyyyMMdd}"' }), {
      runName: 'now-1d%3AyyyyMMdd=20261128',
      clock: null,
    });
    const none = { runName: 'default', clock: null };
    assert.deepEqual(await runOf({ reader: '"password": "${p}"' }, ['p=s']), none);
    assert.deepEqual(await runOf({ reader: '"fetchSize": "${n}"' }, ['n=5']), none);
    assert.deepEqual(await runOf({ setting: '"jobId": "j-${n}"' }, ['n=5']), none);
  });

  test('a bizdate that is given names the run that the clock named on its day', async () => {
    const where = { reader: '"where": "${bizdate:yyyy-MM-dd} ${bizdate-1d} ${bizdate}"' };
    const byClock = await runOf(where);
    assert.deepEqual(await runOf(where, ['bizdate=20261128']), byClock);
    assert.notDeepEqual(await runOf(where, ['bizdate=20261127']), byClock);
  });

  test('times below a day do not: they are kept from the first start on', async () => {
    assert.deepEqual(await runOf({ reader: '"where": "${now:HH}"' }), { runName: 'default', clock: NOW });
    assert.deepEqual(await runOf({ reader: '"where": "${now:HH} ${bizdate}"' }), {
      runName: 'bizdate=20261128',
      clock: NOW,
    });
  });

  test('a list names the run by what it holds', async () => {
    const column = { reader: '"column": "${c}"' };
    const names = await Promise.all(
      ['["a"]', '["b"]'].map(async (c) => (await runOf(column, [`{"c": ${c}}`])).runName),
    );
    assert.deepEqual(names, ['c=%5B%22a%22%5D', 'c=%5B%22b%22%5D']);
  });

  test('names that are too long stay apart', async () => {
    const long = 'x'.repeat(300);
    const one = await runOf({ reader: '"where": "${a}"' }, [`a=${long}1`]);
    const two = await runOf({ reader: '"where": "${a}"' }, [`a=${long}2`]);
    assert.notEqual(one.runName, two.runName);
    assert.ok(one.runName.length <= 150);
  });
});

test('a job id without quotes is found by the state commands as the loader finds it', async () => {
  const text = '{"job": {"setting": {"jobId": ${id}, "checkpoint": {"dir": "/s/${id:x}"}}}}';
  const peek = (args: readonly string[]) =>
    peekJob({ text, name: 'job.json', defaultJobId: '/j', parameters: givenParameters(args), env: {} });
  assert.deepEqual(await peek(['id=nightly']), { jobId: 'nightly', stateDir: '/s/nightly' });
  await assert.rejects(peek([]), { code: 'USAGE', message: 'job.setting.jobId: parameter id has no value' });
});
