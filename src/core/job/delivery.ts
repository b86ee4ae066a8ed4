import type { Delivery, Reader, Writer } from '../../plugin-api/index.js';

const ORDER: readonly Delivery[] = ['exactly-once', 'effectively-once-by-key', 'at-least-once', 'at-most-once'];

/** What the pair promises: the weaker of the two. A source that cannot be read again loses what was under way. */
export function pairDelivery(reader: Reader, writer: Writer): Delivery {
  return reader.replayable ? writer.delivery : (ORDER.at(-1) ?? writer.delivery);
}
