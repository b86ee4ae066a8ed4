/** `sync init`: jobs to begin with, golden ones and those of every pair. `sync schema` beside it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { shippedSchemaText } from '../../../src/cli/commands/schema.js';
import { BUILTIN_PLUGINS } from '../../../src/registry/builtin.js';
import { ROOT, sync, type SyncResult } from '../../support/sync.js';
import { publishedLines, Workspace } from '../../support/workspace.js';

const ws = new Workspace();
after(() => {
  ws[Symbol.dispose]();
});
const run = (...args: readonly string[]): Promise<SyncResult> => sync(args, { cwd: ws.dir });

async function printed(...args: readonly string[]): Promise<string> {
  const r = await run('init', ...args);
  assert.equal(r.code, 0, r.stderr);
  assert.equal(r.stderr, '');
  return r.stdout;
}

// A changed option text changes them: bin/sync init file file > test/unit/cli/init/file-to-file.txt
describe('golden', () => {
  for (const [reader, writer] of [
    ['file', 'file'],
    ['stream', 'stream'],
    ['socket', 'file'],
  ] as const) {
    test(`${reader} to ${writer}`, async () => {
      const golden = readFileSync(join(ROOT, `test/unit/cli/init/${reader}-to-${writer}.txt`), 'utf8');
      assert.equal(await printed(reader, writer), golden);
    });
  }
});

/** Each option that stands in a comment, taken in: the text with it. */
function takenIn(text: string): readonly { readonly name: string; readonly text: string }[] {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    const [, name] = /^\s*\/\/ "(\w+)": /.exec(line) ?? [];
    if (name === undefined) return [];
    const end = lines.findIndex((l, n) => n >= i && l.endsWith(','));
    const taken = lines.map((l, n) => (n >= i && n <= end ? l.replace('// ', '') : l));
    return [{ name, text: taken.join('\n') }];
  });
}

async function assertValid(text: string, name: string): Promise<void> {
  const r = await run('validate', ws.write(name, text));
  assert.equal(r.code, 0, `${r.stdout}\n${text}`);
  assert.doesNotMatch(r.stdout, /warning/);
}

const names = (kind: 'reader' | 'writer'): readonly string[] =>
  BUILTIN_PLUGINS.filter((p) => p.kinds.includes(kind)).map((p) => p.name);

describe('every pair', () => {
  for (const reader of names('reader')) {
    for (const writer of names('writer')) {
      test(`${reader} to ${writer} is valid as it comes`, async () => {
        await assertValid(await printed(reader, writer), `${reader}-${writer}.json`);
      });
    }
  }
  // Rows of readers that need no server, into writers that need none.
  const SERVERS = ['socket', 'mysql', 'kafka'];
  for (const reader of names('reader').filter((n) => !SERVERS.includes(n))) {
    for (const writer of names('writer').filter((n) => !SERVERS.includes(n))) {
      test(`${reader} to ${writer} runs`, async () => {
        using own = new Workspace();
        own.write('data/in/a.csv', '1,Ada\n2,Linus\n');
        own.write('job.json', await printed(reader, writer));
        const r = await sync(['run', 'job.json', '--output', 'json'], { cwd: own.dir });
        assert.equal(r.code, 0, r.stderr);
        assert.ok(r.summary && r.summary.read > 0 && r.summary.written === r.summary.read, r.stdout);
        if (writer === 'file' && reader === 'file') {
          assert.deepEqual(publishedLines(own.path('data/out')), ['1,Ada', '2,Linus']);
        }
      });
    }
  }
});

describe('comments', () => {
  for (const [reader, writer] of [
    ['file', 'file'],
    ['socket', 'stream'],
    ['stream', 'file'],
  ] as const) {
    test(`each option of ${reader} to ${writer} may be taken in, and all of them`, async () => {
      const text = await printed(reader, writer);
      const each = takenIn(text);
      assert.ok(each.length > 10);
      for (const t of each) await assertValid(t.text, `taken-${t.name}.json`);
      const all = text.replace(/^(\s*)\/\/ (?="\w+": |\$)/gm, '$1');
      await assertValid(all, 'all.json');
    });
  }
});

describe('--out', () => {
  test('writes the file, and never over one that is there', async () => {
    const first = await run('init', 'stream', 'stream', '--out', 'new.json');
    assert.equal(first.code, 0);
    assert.equal(first.stdout, '');
    assert.equal(first.stderr, 'new.json is written; next: sync validate new.json\n');
    const text = readFileSync(ws.path('new.json'), 'utf8');
    assert.equal(text, await printed('stream', 'stream'));
    const again = await run('init', 'file', 'file', '--out', 'new.json');
    assert.equal(again.code, 2);
    assert.equal(again.stderr, 'sync: USAGE: new.json is there already; --force overwrites it\n');
    assert.equal(readFileSync(ws.path('new.json'), 'utf8'), text);
    const forced = await run('init', 'file', 'file', '--out', 'new.json', '--force');
    assert.equal(forced.code, 0);
    assert.equal(readFileSync(ws.path('new.json'), 'utf8'), await printed('file', 'file'));
  });

  test('in no folder', async () => {
    const r = await run('init', 'file', 'file', '--out', 'no/such.json');
    assert.equal(r.code, 2);
    assert.equal(r.stderr, 'sync: USAGE: no/such.json cannot be written: ENOENT; name another file\n');
  });
});

describe('plugins that are none', () => {
  for (const [args, message] of [
    [['flie', 'file'], 'sync: PLUGIN_UNKNOWN: no reader is named "flie"; did you mean "file"?\n'],
    [['file', 'socket'], 'sync: PLUGIN_UNKNOWN: "socket" is no writer but a reader; socket has no writer\n'],
    [['file', 'steam'], 'sync: PLUGIN_UNKNOWN: no writer is named "steam"; did you mean "stream"?\n'],
  ] as const) {
    test(args.join(' '), async () => {
      const r = await run('init', ...args, '--out', 'none.json');
      assert.equal(r.code, 2);
      assert.equal(r.stderr, message);
      assert.ok(!existsSync(ws.path('none.json')));
    });
  }
});

describe('sync schema', () => {
  test('prints it, and writes it over an older one only', async () => {
    const env = { SYNC_TEST_PLUGINS: '0' };
    const r = await sync(['schema'], { cwd: ws.dir, env });
    assert.equal(r.code, 0, r.stderr);
    assert.equal(r.stdout, await shippedSchemaText());
    ws.write('s.json', '{"title": "syncx job file"}');
    const written = await sync(['schema', '--output', 's.json'], { cwd: ws.dir, env });
    assert.equal(written.code, 0, written.stderr);
    assert.equal(written.stdout, '');
    assert.equal(readFileSync(ws.path('s.json'), 'utf8'), await shippedSchemaText());
    ws.write('mine.json', '{"job": {}}');
    const refused = await run('schema', '--output', 'mine.json');
    assert.equal(refused.code, 2);
    assert.equal(refused.stderr, 'sync: USAGE: mine.json is there and is no schema of job files; name another file\n');
    assert.equal(readFileSync(ws.path('mine.json'), 'utf8'), '{"job": {}}');
  });

  test('has installed plugins by their names; one that is broken is left out and named', async () => {
    const plugin = (name: string, text: string): void => {
      ws.write(
        `plugged/node_modules/syncx-plugin-${name}/package.json`,
        JSON.stringify({ name: `syncx-plugin-${name}`, type: 'module', exports: './i.js' }),
      );
      ws.write(`plugged/node_modules/syncx-plugin-${name}/i.js`, text);
    };
    const options = { type: 'object', required: ['depth'], properties: { depth: { type: 'integer', minimum: 1 } } };
    plugin(
      'well',
      `export const reader = { kind: 'reader', apiVersion: 1, name: 'well', aliases: [], summary: 'Deep.', options: ${JSON.stringify(options)}, boundedness: () => 'bounded', create() {} };`,
    );
    plugin('dry', 'throw new Error("no water");');
    const r = await sync(['schema'], { cwd: ws.path('plugged') });
    assert.equal(r.code, 0, r.stderr);
    assert.match(r.stderr, /^sync: syncx-plugin-dry is left out: .*no water\n$/);
    const schema = JSON.parse(r.stdout) as { readonly definitions: Readonly<Record<string, object>> };
    assert.deepEqual((schema.definitions['reader.well'] as { readonly required: unknown }).required, ['depth']);
    assert.match(r.stdout, /"wellreader"/);
    assert.match(r.stdout, /"syncx-plugin-well"/);
    assert.doesNotMatch(r.stdout, /"dryreader"/);
  });
});
