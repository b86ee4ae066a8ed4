import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ERROR_CODES,
  errorFromReport,
  exitCodeOf,
  isSyncError,
  reportError,
  SyncError,
  toSyncError,
  type ErrorCode,
} from '../../../src/plugin-api/index.js';

function system(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

test('a full disk is SINK_FULL with something to do, whatever the fallback', () => {
  for (const [code, hint] of [
    ['ENOSPC', /Free some space/],
    ['EDQUOT', /Free some space/],
    ['EFBIG', /ulimit -f/],
  ] as const) {
    const cause = system(code, `${code}: no space left on device, write`);
    const e = toSyncError(cause, 'SINK_IO');
    assert.deepEqual([e.code, e.retry, e.blame, e.cause], ['SINK_FULL', 'never', 'sink', cause]);
    assert.equal(e.message, `${code}: no space left on device, write`);
    assert.match(e.hint ?? '', hint);
  }
});

test('a foreign error keeps its text, its code and itself as the cause', () => {
  const cause = system('ECONNRESET', 'read failed');
  const e = toSyncError(cause, 'SOURCE_IO');
  assert.deepEqual([e.code, e.message, e.cause], ['SOURCE_IO', 'ECONNRESET: read failed', cause]);
  assert.equal(toSyncError(new TypeError('')).message, 'TypeError');
});

test('anything that is thrown becomes a SyncError; one that is stays as it is', () => {
  for (const thrown of ['text', 7, null, undefined, { a: 1 }]) {
    assert.deepEqual([toSyncError(thrown).code, toSyncError(thrown).message], ['INTERNAL', String(thrown)]);
  }
  const mine = new SyncError('FENCED', 'x');
  assert.equal(toSyncError(mine, 'SINK_IO'), mine);
});

test('the brand tells a SyncError of another copy of the module', () => {
  const other = Object.assign(new Error('x'), { brand: 'syncx.SyncError.1', code: 'FENCED' });
  assert.ok(isSyncError(other));
  assert.equal(isSyncError(new Error('x')), false);
  assert.equal(isSyncError({ brand: 'syncx.SyncError.1' }), false);
});

test('class and blame come from the code unless the plugin knows better', () => {
  const plain = new SyncError('SOURCE_IO', 'm');
  assert.deepEqual([plain.retry, plain.blame], ['retry', 'source']);
  const own = new SyncError('SOURCE_IO', 'm', { retry: 'reconnect', blame: 'config' });
  assert.deepEqual([own.retry, own.blame], ['reconnect', 'config']);
});

test('a report survives JSON and comes back as the same error', () => {
  const e = new SyncError('ROW_INVALID', 'm', { place: 'f:1:2', hint: 'mend it', retry: 'retry' });
  const report = reportError(e);
  assert.deepEqual(report, {
    code: 'ROW_INVALID',
    message: 'm',
    retry: 'retry',
    blame: 'data',
    hint: 'mend it',
    place: 'f:1:2',
  });
  assert.deepEqual(reportError(errorFromReport(JSON.parse(JSON.stringify(report)) as typeof report)), report);
  assert.deepEqual(Object.keys(reportError(new SyncError('USAGE', 'm'))), ['code', 'message', 'retry', 'blame']);
});

test('every code has a documented exit code and a sentence', () => {
  for (const [code, facts] of Object.entries(ERROR_CODES)) {
    assert.equal(exitCodeOf(new SyncError(code as ErrorCode, 'm')), facts.exit);
    assert.match(facts.what, /^[A-Z].*\.$/);
  }
});
