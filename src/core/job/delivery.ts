import { SyncError, type Delivery, type Reader, type Writer } from '../../plugin-api/index.js';
import type { JobSpec } from '../../job/job-spec.js';
import { readOnce } from '../verify/read-once.js';

const ORDER: readonly Delivery[] = ['exactly-once', 'effectively-once-by-key', 'at-least-once', 'at-most-once'];

/** Why a source that cannot be read again makes a pair lose rows. */
export const READ_ONCE = 'what was read cannot be read again, so rows under way are lost in a crash';

/** What the pair promises: the weaker of the two. A source that cannot be read again loses what was under way. */
export function pairDelivery(reader: Reader, writer: Writer): Delivery {
  return reader.replayable ? writer.delivery : (ORDER.at(-1) ?? writer.delivery);
}

/** @throws SyncError JOB_INVALID where the job asks for more than the pair promises. */
export function assertDelivery(job: JobSpec, reader: Reader, writer: Writer): void {
  if (job.settings.verify && !reader.replayable) throw readOnce(job.reader.definition.name);
  const is = pairDelivery(reader, writer);
  if (!job.exactlyOnce || is === 'exactly-once') return;
  const pair = `${job.reader.definition.name} → ${job.writer.definition.name}`;
  const why = reader.replayable ? 'the writer promises no more' : READ_ONCE;
  throw new SyncError('JOB_INVALID', `the job asks for exactly-once, and ${pair} is ${is}: ${why}`, {
    place: 'writer.semantic',
    hint: 'Take another reader or writer, or leave semantic out.',
  });
}
