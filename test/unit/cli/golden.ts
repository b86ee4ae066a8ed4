import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/sync.js';

/** Compares with a stored text; UPDATE_GOLDEN=1 stores it anew. */
export function assertGolden(name: string, text: string): void {
  const path = join(ROOT, 'test/unit/cli/golden', name);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
  assert.equal(text, readFileSync(path, 'utf8'), `${name}; UPDATE_GOLDEN=1 stores it anew`);
}
