/** Says what is in doubt about an epoch, so that a person can decide it without reading the checkpoint. */
import { SyncError, type Committable, type RecoverAnswer } from '../../plugin-api/index.js';

/** A lane whose answers leave the engine without a verdict. */
export interface LaneInDoubt {
  readonly lane: number;
  readonly committables: readonly Committable[];
  readonly answers: readonly RecoverAnswer[];
}

const IN_MESSAGE = 3;
const IN_HINT = 10;
const MAX_CHARS = 160;

/** What the plugin says of the piece, else its JSON. */
function nameOf(c: Committable): string {
  const text = c.place ?? JSON.stringify(c.data);
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`;
}

/** ` (12 rows)`, or nothing where a committable does not tell. */
function rowsOf(all: readonly Committable[]): string {
  let sum = 0;
  for (const c of all) {
    if (c.rows === undefined) return '';
    sum += c.rows;
  }
  return ` (${String(sum)} rows)`;
}

function listed(all: readonly Committable[], most: number): string {
  const more = all.length - most;
  return `${all.slice(0, most).map(nameOf).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

interface Sorted {
  readonly committed: readonly Committable[];
  readonly lost: readonly Committable[];
  readonly unknown: readonly Committable[];
}

function sorted(d: LaneInDoubt): Sorted {
  const of = (a: RecoverAnswer): readonly Committable[] => d.committables.filter((_, i) => d.answers[i] === a);
  return { committed: of('committed'), lost: of('lost'), unknown: of('unknown') };
}

function told(epoch: number, d: LaneInDoubt): string {
  const { committed, lost, unknown } = sorted(d);
  const all = d.committables.length;
  const parts = [`${String(committed.length)} of ${String(all)} pieces of epoch ${String(epoch)} are published`];
  const of = (what: readonly Committable[], text: string): void => {
    if (what.length > 0) parts.push(`${String(what.length)}${rowsOf(what)} ${text}: ${listed(what, IN_MESSAGE)}`);
  };
  of(unknown, 'cannot be found, neither prepared nor published');
  of(lost, 'are lost');
  return `lane ${String(d.lane)}: ${parts.join('; ')}`;
}

function consequences(all: readonly LaneInDoubt[]): string {
  const committed = all.flatMap((d) => sorted(d).committed);
  const missing = all.flatMap((d) => [...sorted(d).unknown, ...sorted(d).lost]);
  const again = all.flatMap((d) => d.committables);
  const first = committed.length > 0 ? `; first remove what is published of it: ${listed(committed, IN_HINT)}` : '';
  return [
    'Look for the missing pieces at the target, then say it with `sync state resolve <job> --lane <n> --as …` and run the job again.',
    `committed: the missing rows${rowsOf(missing)} are never written again; right where somebody has taken them from the target.`,
    `lost: the whole epoch of the lane${rowsOf(again)} is read and written again; right where they were removed unread${first}.`,
    '`sync state show <job>` has every name.',
  ].join(' ');
}

export function commitUnknown(epoch: number, runId: string, place: string, lanes: readonly LaneInDoubt[]): SyncError {
  const lines = lanes.map((d) => told(epoch, d));
  return new SyncError(
    'COMMIT_UNKNOWN',
    [`it cannot be told whether epoch ${String(epoch)} of run ${runId} was committed:`, ...lines].join('\n  '),
    { place, hint: consequences(lanes) },
  );
}
