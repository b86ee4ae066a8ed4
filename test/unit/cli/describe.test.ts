/** `sync describe`: the options of a plugin as a table, as Markdown and as JSON, by every name that a job file may say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { format } from 'prettier';
import { describedText } from '../../../src/cli/commands/describe.js';
import { wrapText } from '../../../src/cli/text-table.js';
import { optionMarkdown } from '../../../src/config/option-markdown.js';
import type { SchemaNode } from '../../../src/config/schema.js';
import { textWidth } from '../../../src/config/text-width.js';
import type { AnyWriterDefinition, PluginContext } from '../../../src/plugin-api/index.js';
import { BUILTIN_PLUGINS } from '../../../src/registry/builtin.js';
import { Registry } from '../../../src/registry/registry.js';
import { ROOT, sync, type SyncResult } from '../../support/sync.js';
import { Workspace } from '../../support/workspace.js';

const ws = new Workspace();
after(() => {
  ws[Symbol.dispose]();
});
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<SyncResult> =>
  sync(['describe', ...args], { cwd: ws.dir, env: { COLUMNS: '100', ...env } });

async function told(...args: readonly string[]): Promise<string> {
  const r = await run(args);
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stderr, '');
  return r.stdout;
}

const STREAM_READER = `stream reader: Makes up rows.

names       stream, streamreader, streamsource
version     ${version} (syncx)
input       bounded or unbounded, by options
replayable  yes: exactly-once is possible

OPTION                   TYPE                DEFAULT   UNIT    DESCRIPTION
column                   list of object      required          The columns of the rows, in order.
column[].type            string              required          Type name, or \`id\`: a counter from 1,
                                                               unique over all splits.
column[].name            string              ""                Name of the column; empty: \`column\`
                                                               and its number, from 1.
column[].value           string              null              Every row has this value; null: a
                                                               made-up one.
column[].index           integer             null              Has no effect: columns are made in
                                                               the order of the list.
column[].format          string              null              Has no effect: values have the
                                                               canonical form of their type.
column[].parseFormat     string              null              Has no effect: nothing is parsed.
column[].splitter        string              null              Has no effect: nothing is split.
column[].isPart          boolean             null              Has no effect: there are no
                                                               partitions.
column[].notNull         boolean             null              Has no effect: no value is null.
sliceRecordCount         list of integer or  [0]               Rows of each split: one split for
                         integer                               each entry. 0, or nothing at all:
                                                               endless.
permitsPerSecond      ~  number              0         rows/s  Most rows per second of one split; 0:
                                                               no limit.

Accepted, without effect: column[].random, haveMixupFunction.
~ tuning: may change; the other options must stay the same between two starts of a run
`;

const STREAM_WRITER = `stream writer: Prints rows to stdout, or drops them.

names     stream, streamwriter, streamsink
version   ${version} (syncx)
delivery  at-least-once

OPTION             TYPE        DEFAULT  DESCRIPTION
print              boolean     true     Print each row; false: rows are counted and dropped.
format          ~  json, text  json     Form of a line: \`json\` is an object, \`text\` is cells with a
                                        delimiter between them, nothing escaped, for the eye.
fieldDelimiter  ~  string      "\\t"     Between the cells of a line of text; also spelled out as \\t,
                                        \\u0001 or \\x01. Also writeDelimiter.

Accepted, without effect: encoding, path, fileName, recordNumBeforeSleep, sleepTime, column.
~ tuning: may change; the other options must stay the same between two starts of a run
`;

/** The same where there is no room beside the other columns. */
const NARROW_WRITER = `stream writer: Prints rows to stdout, or drops them.

names     stream, streamwriter, streamsink
version   ${version} (syncx)
delivery  at-least-once

OPTION             TYPE        DEFAULT
print              boolean     true
    Print each row; false: rows are counted and dropped.
format          ~  json, text  json
    Form of a line: \`json\` is an object, \`text\` is cells
    with a delimiter between them, nothing escaped, for the
    eye.
fieldDelimiter  ~  string      "\\t"
    Between the cells of a line of text; also spelled out as
    \\t, \\u0001 or \\x01. Also writeDelimiter.

Accepted, without effect: encoding, path, fileName,
recordNumBeforeSleep, sleepTime, column.
~ tuning: may change; the other options must stay the same
between two starts of a run
`;

describe('as a table', () => {
  test('a reader and a writer, whole', async () => {
    assert.equal(await told('streamreader'), STREAM_READER);
    assert.equal(await told('streamwriter'), STREAM_WRITER);
  });

  test('no line is wider than the terminal', async () => {
    assert.equal((await run(['streamwriter'], { COLUMNS: '60' })).stdout, NARROW_WRITER);
    for (const width of [60, 80, 100, 140]) {
      const r = await run(['file'], { COLUMNS: String(width) });
      const wide = r.stdout.split('\n').filter((l) => textWidth(l) > width);
      assert.deepEqual(wide, [], `${String(width)} columns`);
      assert.match(r.stdout, /^column\[\]\.meta /m);
    }
  });

  test('every name leads to it; a bare one to both', async () => {
    assert.equal(await told('stream'), `${STREAM_READER}\n${STREAM_WRITER}`);
    assert.equal(await told('stream', '--writer'), STREAM_WRITER);
    for (const name of ['streamsource', ' StreamReader ']) assert.equal(await told(name), STREAM_READER, name);
    const heads = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await told(...args)).match(/^\w+ (?:reader|writer)(?=:)/gm) ?? [];
    for (const name of ['file', 'txtfile', 'localfile']) {
      assert.deepEqual(await heads(name), ['file reader', 'file writer'], name);
    }
    assert.deepEqual(await heads('txtfilereader'), ['file reader']);
    assert.deepEqual(await heads('localfilesink'), ['file writer']);
    assert.deepEqual(await heads('file', '--reader'), ['file reader']);
    assert.deepEqual(await heads('socket'), ['socket reader']);
  });
});

test('as Markdown: the very tables of the READMEs', async () => {
  let compared = 0;
  for (const p of BUILTIN_PLUGINS) {
    const readme = readFileSync(join(ROOT, 'plugins', p.name, 'README.md'), 'utf8');
    for (const kind of p.kinds) {
      const [, table] = new RegExp(`<!-- options: ${kind} -->\n\n([^]*?)\n<!-- end -->`).exec(readme) ?? [];
      if (table === undefined) continue;
      assert.equal(await told(p.name, `--${kind}`, '--md'), table, `${p.name} ${kind}`);
      compared++;
    }
  }
  assert.ok(compared >= 5, String(compared));
  const [reader, writer] = [await told('streamreader', '--md'), await told('streamwriter', '--md')];
  assert.equal(await told('stream', '--md'), `### Reader\n\n${reader}\n### Writer\n\n${writer}`);
});

test('as JSON: facts and the schema, as it is', async () => {
  const described = JSON.parse(await told('file', '--json')) as readonly Readonly<Record<string, unknown>>[];
  const registry = new Registry({});
  const common = { name: 'file', version, package: 'syncx', aliases: ['txtfile', 'localfile'] };
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const reader = await registry.reader('file');
  const writer = await registry.writer('file');
  assert.deepEqual(described, [
    {
      ...common,
      kind: 'reader',
      summary: reader.summary,
      boundedness: 'by-options',
      replayable: 'by-options',
      options: { $schema, ...(reader.options as object) },
    },
    {
      ...common,
      kind: 'writer',
      summary: writer.summary,
      delivery: ['exactly-once', 'at-least-once'],
      options: { $schema, ...(writer.options as object) },
    },
  ]);
  const [socket] = JSON.parse(await told('socketreader', '--json')) as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual([socket?.['boundedness'], socket?.['replayable']], ['unbounded', false]);
});

describe('what is wrong', () => {
  const KNOWN = 'known plugins: file, kafka, mysql, socket, stream';
  for (const [args, message] of [
    [['strem'], 'PLUGIN_UNKNOWN: no plugin is named "strem"; did you mean "stream"?'],
    [['oracle'], `PLUGIN_UNKNOWN: no plugin is named "oracle"; ${KNOWN}`],
    [['scripted'], `PLUGIN_UNKNOWN: no plugin is named "scripted"; ${KNOWN}`],
    [['filreader', '--reader'], 'PLUGIN_UNKNOWN: no reader is named "filreader"; did you mean "filereader"?'],
    [
      ['streamwriter', '--reader'],
      'PLUGIN_UNKNOWN: "streamwriter" is no reader but a writer; did you mean "streamreader"?',
    ],
    [['socket', '--writer'], 'PLUGIN_UNKNOWN: "socket" is no writer but a reader; socket has no writer'],
    [['file', '--json', '--md'], 'USAGE: Arguments json and md are mutually exclusive; see sync --help'],
    [[], 'USAGE: arguments are missing: got 0, need at least 1; see sync --help'],
  ] as const) {
    test(`sync describe ${args.join(' ')}`, async () => {
      const r = await run(args, { SYNC_TEST_PLUGINS: '0' });
      assert.deepEqual([r.code, r.stdout, r.stderr], [2, '', `sync: ${message}\n`]);
    });
  }
});

const SCHEMA: SchemaNode = {
  type: 'object',
  required: ['url', 'pair'],
  properties: {
    note: { 'x-ignored': 'nothing is noted' },
    url: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }], description: 'Where | it\nis.' },
    login: {
      type: 'object',
      description: 'Who asks.',
      required: ['password'],
      properties: {
        user: { type: 'string', default: '', description: 'The name.', 'x-aliases': ['username', 'a|b'] },
        password: { type: 'string', description: 'The word.', 'x-secret': true },
      },
    },
    tokens: { type: 'array', items: { type: 'string', 'x-secret': true }, default: [], description: 'More words.' },
    pair: {
      type: 'array',
      'x-state': 'tuning',
      description: 'Pairs.',
      items: {
        type: 'object',
        properties: {
          from: { type: 'object', properties: { ms: { type: 'integer', 'x-unit': 'ms', description: '时间。' } } },
        },
      },
    },
    headers: { type: 'object', additionalProperties: { type: 'string' }, default: {}, description: 'Free.' },
    tables: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { key: { enum: ['a b', 1], description: 'Its key.' } } },
    },
  },
};

describe('nested options, secrets and other marks', () => {
  const facts = { name: 'x', version: null, package: 'syncx-plugin-x', aliases: [], summary: 'X.' } as const;
  const definition = { options: SCHEMA } as unknown as AnyWriterDefinition;

  test('as a table', () => {
    const text = describedText({ facts: { ...facts, kind: 'writer', delivery: null }, definition }, 90);
    assert.equal(
      text,
      `x writer: X.

names     x, xwriter, xsink
version   unknown (syncx-plugin-x)
delivery  not said

OPTION             TYPE               DEFAULT   UNIT  DESCRIPTION
url                string or list of  required        Where | it is.
                   string
pair            ~  list of object     required        Pairs.
pair[].from     ~  object             -
pair[].from.ms  ~  integer            -         ms    时间。
login              object             -               Who asks.
login.password  !  string             required        The word.
login.user         string             ""              The name. Also username, a|b.
tokens          !  list of string     []              More words.
headers            map of string      {}              Free.
tables             map of object      -
tables.*.key       "a b", 1           -               Its key.

Accepted, without effect: note.
~ tuning: may change; the other options must stay the same between two starts of a run
! secret: never shown, logged or kept; may change too`,
    );
    const empty = { options: { type: 'object', properties: {} } } as unknown as AnyWriterDefinition;
    const none = describedText({ facts: { ...facts, kind: 'writer', delivery: null }, definition: empty }, 90);
    assert.match(none, /\n\nIt has no options\.$/);
  });

  test('as Markdown, in the order of the schema, laid out as prettier would', async () => {
    assert.equal(
      optionMarkdown(SCHEMA),
      `| option           | type                     | default  | meaning                            |
| ---------------- | ------------------------ | -------- | ---------------------------------- |
| \`note\`           | any                      | –        | Has no effect: nothing is noted    |
| \`url\`            | string or list of string | required | Where \\| it is.                    |
| \`login\`          | object                   | –        | Who asks.                          |
| \`login.user\`     | string                   | \`""\`     | The name. Also \`username\`, \`a\\|b\`. |
| \`login.password\` | string                   | required | The word. Secret.                  |
| \`tokens\`         | list of string           | \`[]\`     | More words. Secret.                |
| \`pair\`           | list of object           | required | Pairs.                             |
| \`pair[].from\`    | object                   | –        |                                    |
| \`pair[].from.ms\` | ms                       | –        | 时间。                             |
| \`headers\`        | map of string            | \`{}\`     | Free.                              |
| \`tables\`         | map of object            | –        |                                    |
| \`tables.*.key\`   | \`"a b"\`, \`1\`             | –        | Its key.                           |`,
    );
    assert.equal(await format(optionMarkdown(SCHEMA), { parser: 'markdown' }), `${optionMarkdown(SCHEMA)}\n`);
  });

  test('lines break between words, and in words that are longer than a line', () => {
    assert.deepEqual(wrapText('a bb ccc', 4), ['a bb', 'ccc']);
    assert.deepEqual(wrapText('to abcdefghij', 4), ['to', 'abcd', 'efgh', 'ij']);
    assert.deepEqual(wrapText('读取文件', 5), ['读取', '文件']);
    assert.deepEqual(wrapText('', 4), ['']);
  });
});

/** What a definition says without options must be what its readers and writers say of themselves. */
test('the plugins keep to what they say in lists', async () => {
  const nothing = (): void => undefined;
  const context = {
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    signal: new AbortController().signal,
    failpoint: nothing,
  } as unknown as PluginContext;
  const registry = new Registry({ SYNC_TEST_PLUGINS: '1' });
  const column = ['*'];
  const file = { column, compress: 'none', encoding: 'utf-8', fileType: 'csv', fieldDelimiter: ',', escapeChar: '' };
  const files = { ...file, quoteChar: '"', nullFormat: '\\N', splitSize: 0, bucket: 'none', writeMode: 'append' };
  const of = async (kind: 'reader' | 'writer', name: string, options: object): Promise<unknown> => {
    const o = options as Readonly<Record<string, unknown>>;
    if (kind === 'writer') return (await (await registry.writer(name)).create(o, context)).delivery;
    return (await (await registry.reader(name)).create(o, context)).replayable;
  };
  assert.equal((await registry.reader('file')).replayable, 'by-options');
  assert.deepEqual(
    [await of('reader', 'file', { ...files, path: 'x' }), await of('reader', 'file', { ...files, path: '-' })],
    [true, false],
  );
  assert.equal((await registry.reader('stream')).replayable, await of('reader', 'stream', {}));
  const socket = { address: 'localhost:1', column, parse: 'text', fieldDelimiter: ',', encoding: 'utf-8' };
  assert.equal((await registry.reader('socket')).replayable, await of('reader', 'socket', socket));
  assert.deepEqual((await registry.writer('file')).delivery, [
    await of('writer', 'file', { ...files, path: 'x' }),
    await of('writer', 'file', { ...files, path: '-' }),
  ]);
  assert.deepEqual((await registry.writer('stream')).delivery, [await of('writer', 'stream', { print: true })]);
});
