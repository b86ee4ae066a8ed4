import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const WORDS =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo'.split(
    ' ',
  );

/** Deterministic rows: id, name (some quoted), amount, time, text (about 85 bytes), flag. About 135 bytes a row. */
function row(i: number): string {
  const r = (Math.imul(i, 2654435761) >>> 0) ^ (i >>> 3);
  const w = (k: number): string => WORDS[(r >>> k) % WORDS.length] ?? '';
  const name = i % 20 === 0 ? `"${w(1)}, ""${w(3)}"""` : `${w(1)} ${w(3)}`;
  const time = new Date(1_700_000_000_000 + i * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const text = `${w(2)} ${w(4)} ${w(6)} ${w(8)} é ${w(10)} ${w(12)} ${w(14)} ${w(16)} ${w(5)} ${w(7)} ${w(9)} ${w(11)}`;
  return `${String(i)},${name},${(r % 1_000_000) / 100},${time},${text},${i % 3 === 0 ? 'true' : 'false'}\n`;
}

/** Writes the file unless it is there already. */
export function makeCsv(path: string, rows: number): number {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    const temp = `${path}.tmp`;
    const fd = openSync(temp, 'w');
    writeSync(fd, 'id,name,amount,created_at,text,flag\n');
    for (let i = 0; i < rows;) {
      let chunk = '';
      for (const end = Math.min(rows, i + 10_000); i < end; i++) chunk += row(i + 1);
      writeSync(fd, chunk);
    }
    closeSync(fd);
    renameSync(temp, path);
  }
  return statSync(path).size;
}
