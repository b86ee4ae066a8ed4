import type { Logger } from 'syncx/plugin-api';
import type { ReaderOptions } from '../../reader-options.js';
import type { NullValues } from './record-rows.js';

/** @param partition as messages name it. */
export function nullValuesOf(o: ReaderOptions, partition: string, log: Logger): NullValues {
  const are = o.nullValues ?? (o.codec === 'text' || o.codec === 'raw' ? 'row' : 'skip');
  if (are !== 'skip') return { are };
  let told = false;
  const skipped = (offset: number): void => {
    if (told) return;
    told = true;
    const place = `${partition}@${String(offset)}`;
    const hint = `others of ${partition} are not told`;
    log.info({ place }, `${place}: a record without a value is no row (nullValues); ${hint}`);
  };
  return { are, skipped };
}
