/** Names of staged and published files. They carry the run, so that no two runs ever meet. */

/** Folder of a run's staged files, inside the target folder; hidden from readers, which skip names that begin with a dot. */
export function stagingFolderName(runId: string): string {
  return `.syncx-${runId}`;
}

/** The run whose staging folder this is; null: another name. */
export function runOfStagingFolder(name: string): string | null {
  return /^\.syncx-([a-z0-9]+)$/.exec(name)?.[1] ?? null;
}

/** The attempt keeps a woken zombie's files apart from those of the start that took over. */
export function stagedName(attempt: number, lane: number, number: number): string {
  return `${String(attempt)}-${String(lane)}-${String(number)}.part`;
}

/** The attempt that a staged name carries; null: another name. */
export function attemptOfName(name: string): number | null {
  const m = /^(\d+)-\d+-\d+\./.exec(name);
  return m ? Number(m[1]) : null;
}

/** The name of a staged file from the first checkpoint on over which it stays open. */
export function keptName(staged: string): string {
  return staged.replace(/\.part$/, '.open');
}

/** The attempt of a file that a lane's state may name; null: another name. */
export function attemptOfKept(name: string): number | null {
  const m = /^(\d+)-\d+-\d+\.open$/.exec(name);
  return m ? Number(m[1]) : null;
}

/** True for what a later start of the run may need, whatever checkpoints say of it: a sweep leaves it. */
export function isRunsOwn(name: string): boolean {
  return /\.(?:open|keep)$/.test(name);
}

const pad = (n: number, digits: number): string => String(n).padStart(digits, '0');

/** `<prefix><runId>-<lane>-<epoch>-<seq><suffix>`; padded, so that names of a lane sort in the order of their rows. */
export function publishedName(
  prefix: string,
  runId: string,
  lane: number,
  epoch: number,
  seq: number,
  suffix: string,
): string {
  return `${prefix}${runId}-${pad(lane, 3)}-${pad(epoch, 6)}-${pad(seq, 4)}${suffix}`;
}

/** The epoch that a published name of the run carries; null: another name. */
export function epochOfName(name: string, runId: string): number | null {
  const at = name.lastIndexOf(`${runId}-`);
  if (at < 0) return null;
  const m = /^(\d{3,})-(\d{6,})-(\d{4,})(?!\d)/.exec(name.slice(at + runId.length + 1));
  return m ? Number(m[2]) : null;
}
