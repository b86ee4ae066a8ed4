// Two runs of Node's test runner side by side, each a file at a time: tests wait for servers and for processes that they
// kill, and one run leaves half of a small machine idle. Files that need MySQL are in one, as their servers have locks and
// variables that all of it shares; all others are in the other.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neededBy } from './test-services.mjs';

const FAILING = '✖ failing tests:';

/** The longest file takes less than half of it; one that hangs is a failure with a name. */
const FILE_MS = 15 * 60_000;

function lanesOf(files) {
  const lanes = [[], []];
  for (const file of files) {
    const needed = neededBy([file]);
    lanes[needed.has('mariadb') || needed.has('mysql55') ? 0 : 1].push(file);
  }
  return lanes.filter((lane) => lane.length > 0);
}

/**
 * Prints what the runs print, one after the other, and once more at the end which tests failed.
 * `more(lane)`: further arguments of a lane's runner.
 * @returns kill(signal), and done: the worst exit code.
 */
export function runTests(files, { cwd, env, more = () => [] }) {
  const dir = mkdtempSync(join(tmpdir(), 'syncx-tests-'));
  const lanes = lanesOf(files).map((lane, i) => {
    const out = join(dir, String(i));
    const fd = openSync(out, 'w');
    const args = [
      '-C',
      'development',
      '--enable-source-maps',
      '--test',
      '--test-concurrency=1',
      `--test-timeout=${FILE_MS}`,
    ];
    const child = spawn(process.execPath, [...args, '--test-reporter=spec', ...more(i), ...lane], {
      stdio: ['inherit', fd, 'inherit'],
      cwd,
      env,
    });
    closeSync(fd);
    return { out, child, ended: new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1))) };
  });
  const print = async () => {
    const failing = [];
    const codes = [];
    for (const { out, ended } of lanes) {
      const stop = follow(out);
      codes.push(await ended);
      const text = stop();
      if (codes.at(-1) !== 0 && text.includes(FAILING)) failing.push(text.slice(text.lastIndexOf(FAILING)));
    }
    if (lanes.length > 1) process.stdout.write(failing.join('\n'));
    rmSync(dir, { recursive: true, force: true });
    return Math.max(...codes);
  };
  return { kill: (signal) => lanes.forEach(({ child }) => child.kill(signal)), done: print() };
}

/** Prints what comes to the file, until told to stop; then all of its text is given. */
function follow(file) {
  let printed = 0;
  const step = () => {
    const bytes = readFileSync(file);
    process.stdout.write(bytes.subarray(printed));
    printed = bytes.length;
    return bytes;
  };
  const timer = setInterval(step, 1000);
  return () => {
    clearInterval(timer);
    return step().toString();
  };
}
