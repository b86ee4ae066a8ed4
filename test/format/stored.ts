/**
 * Between a workspace and its stored form, in which everything that differs from one time or place to another is a
 * placeholder: ids, tokens, pids, hosts, times, inodes, folders, and the checksums that follow from them. What is left
 * is the form, byte for byte.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/sync.js';
import { tree, type Workspace } from '../support/workspace.js';
import { canonical } from '../../src/core/job/fingerprint.js';
import type { PluginRecord } from '../../src/core/checkpoint/format.js';

export const FIXTURES = join(ROOT, 'test', 'format', 'fixtures');

/** Content by name, for all files of a workspace or of a fixture. */
export type Stored = ReadonlyMap<string, string>;

/** Folders of a workspace that a fixture keeps. */
const KEPT = ['in/', 'out/', 'state/'];

export const JOB_ID = 'fixture';
const RUNS = `state/${JOB_ID}/runs/default`;
/** What the placeholders of runs stand for when a fixture is put back. */
const RUN_IDS = ['fixturerun01', 'fixturerun02'] as const;
const SEALED = /(?:\.ckpt|\.outcome|\.resolved-\d+|\/attempt-\d+|\/begun|\/finished|\/abandoned)$/;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export function seal(body: string): string {
  return `${body}\nsha256:${sha256(body)}\n`;
}

export function documentOf<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '') as T;
}

/** Ids of the job's runs, the first first. */
export function runIds(ws: Workspace): readonly string[] {
  const dir = ws.path(RUNS);
  const turns = readdirSync(dir).filter((n) => n.startsWith('current-'));
  return turns.sort().map((n) => readFileSync(join(dir, n), 'utf8').trim());
}

/** Folder of the n-th run, from 1. */
export function runFolder(ws: Workspace, n: number): string {
  return ws.path(RUNS, runIds(ws)[n - 1] ?? '');
}

export function filesOf(dir: string): Stored {
  const names = tree(dir).filter((n) => !n.endsWith('/') && KEPT.some((k) => n.startsWith(k)));
  return new Map(names.map((n) => [n, readFileSync(join(dir, n), 'utf8')]));
}

/** The text of every published dirty row of all runs, sorted. */
export function publishedDirty(ws: Workspace): readonly string[] {
  const files = tree(ws.path(RUNS)).filter((n) => /\/dirty-[^/]*-\d+\.jsonl$/.test(n));
  const lines = files.flatMap((n) => readFileSync(ws.path(RUNS, n), 'utf8').split('\n').slice(0, -1));
  return lines.map((l) => (JSON.parse(l) as { readonly row: string }).row).sort();
}

// ---- from a workspace ----

/** Checks the checksum and leaves it out. */
function unsealed(name: string, text: string): string {
  const [body = '', ...rest] = text.split('\n');
  assert.deepEqual(rest, [`sha256:${sha256(body)}`, ''], name);
  return `${body}\nsha256:{{SHA256}}\n`;
}

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/"token":"[0-9a-f]{16}"/g, '"token":"{{TOKEN}}"'],
  [/"host":"[^"]+"/g, '"host":"{{HOST}}"'],
  [/"pid":\d+/g, '"pid":{{PID}}'],
  [/"at":\d{13}\b/g, '"at":{{AT}}'],
  [/"since":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"since":"{{SINCE}}"'],
  [/"started":(?:null|"[^"]+")/g, '"started":{{STARTED}}'],
  // Noted every two seconds, where the job runs so long.
  [/"live":.*,"end":/g, '"live":{{LIVE}},"end":'],
  [/"baseTime":\d{13}\b/g, '"baseTime":{{BASE_TIME}}'],
  [/"t":"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}"/g, '"t":"{{TIME}}"'],
  [/"(firstRow|lastRow)":\d{13}\b/g, '"$1":{{AT}}'],
  [/"fingerprint":"[0-9a-f]{64}"/g, '"fingerprint":"{{FINGERPRINT}}"'],
];

/** The state of a workspace in its stored form. */
export function storedOf(ws: Workspace): Stored {
  const words: (readonly [string, string])[] = [[ws.dir, '{{DIR}}']];
  runIds(ws).forEach((id, i) => words.push([id, `{{RUN${String(i + 1)}}}`]));
  words.push([`"${readFileSync(ws.path('state/id'), 'utf8')}"`, '"{{STATE_ID}}"']);
  for (const n of existsSync(ws.path('in')) ? readdirSync(ws.path('in')) : []) {
    words.push([`"${String(statSync(ws.path('in', n), { bigint: true }).ino)}"`, `"{{INO ${n}}}"`]);
  }
  const spelled = (text: string): string => {
    let out = text;
    for (const [word, place] of words) out = out.replaceAll(word, place);
    return out;
  };
  const out = new Map<string, string>();
  for (const [name, text] of filesOf(ws.dir)) {
    if (name === 'state/id') {
      assert.match(text, /^[0-9a-f]{24}$/);
      out.set(name, '{{STATE_ID}}');
      continue;
    }
    let form = SEALED.test(name) ? unsealed(name, text) : text;
    // Every dirty row names the file that it is from: how long it is depends on the folder's name.
    form = form.replace(/"size":(\d+),"rows":(\d+)\}/g, (_, size: string, rows: string) => {
      const base = Number(size) - Number(rows) * Buffer.byteLength(ws.dir);
      return `"size":{{${String(base)}+${rows}*DIR}},"rows":${rows}}`;
    });
    form = spelled(form);
    for (const [from, to] of PATTERNS) form = form.replace(from, to);
    out.set(spelled(name), form);
  }
  return out;
}

// ---- fixtures ----

export function readFixture(name: string): Stored {
  return filesOf(join(FIXTURES, name));
}

export function writeFixture(name: string, stored: Stored): void {
  rmSync(join(FIXTURES, name), { recursive: true, force: true });
  for (const [file, text] of stored) {
    const path = join(FIXTURES, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

// ---- back into a workspace ----

/**
 * Puts a fixture into an empty workspace, as if the job had been stopped there. `facts`: what more placeholders stand
 * for; `mtimes`: of the source files, in seconds.
 */
export function putFixture(
  ws: Workspace,
  name: string,
  facts: Readonly<Record<string, string>>,
  mtimes: Readonly<Record<string, number>>,
): void {
  const stored = readFixture(name);
  assert.ok(stored.size > 0, `there is no fixture ${name}`);
  mkdirSync(ws.path('out')); // an empty folder is not stored
  const inodes = new Map<string, string>();
  for (const [file, text] of stored) {
    if (!file.startsWith('in/')) continue;
    const [path, source] = [ws.write(file, text), file.slice('in/'.length)];
    const mtime = mtimes[source] ?? 0;
    utimesSync(path, mtime, mtime);
    inodes.set(source, String(statSync(path, { bigint: true }).ino));
  }
  const now = Date.now();
  const values: Readonly<Record<string, string>> = {
    DIR: ws.dir,
    STATE_ID: '0123456789abcdef01234567',
    TOKEN: '0123456789abcdef',
    HOST: 'another-host',
    PID: '4194304',
    AT: String(now),
    SINCE: new Date(now).toISOString(),
    STARTED: 'null',
    LIVE: 'null',
    ...facts,
    ...Object.fromEntries(RUN_IDS.map((id, i) => [`RUN${String(i + 1)}`, id])),
    ...Object.fromEntries([...inodes].map(([n, ino]) => [`INO ${n}`, ino])),
  };
  const filled = (text: string): string =>
    text.replace(/\{\{([^{}]+)\}\}/g, (whole, key: string) => {
      if (key === 'SHA256' || key === 'FINGERPRINT') return whole;
      const sum = /^(-?\d+)\+(\d+)\*DIR$/.exec(key);
      if (sum) return String(Number(sum[1]) + Number(sum[2]) * Buffer.byteLength(ws.dir));
      const value = values[key];
      assert.ok(value !== undefined, `no value for {{${key}}}`);
      return value;
    });
  for (const [file, text] of stored) {
    if (file.startsWith('in/')) continue;
    const print = SEALED.test(file) ? fingerprintFor(stored, file, filled) : '';
    const whole = filled(text).replaceAll('{{FINGERPRINT}}', print);
    ws.write(filled(file), SEALED.test(file) ? seal(whole.split('\n')[0] ?? '') : whole);
  }
}

/** That of the run which the file belongs to. */
function fingerprintFor(stored: Stored, file: string, filled: (text: string) => string): string {
  const info = stored.get(join(dirname(file), '0.ckpt')) ?? '';
  const { reader, writer } = JSON.parse(filled(info).split('\n')[0] ?? '') as Readonly<Record<string, PluginRecord>>;
  const parts = [reader, writer].map((p) => ({ name: p?.name ?? '', identity: p?.identity ?? {} }));
  return sha256(canonical(parts));
}
