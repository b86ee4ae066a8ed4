import { toSyncError } from '../../plugin-api/index.js';

/** What the operating system says to a plugin is about its source or target, even where the plugin did not code it. */
export async function pluginCall<T>(code: 'SOURCE_IO' | 'SINK_IO', call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (e) {
    throw toSyncError(e, code);
  }
}
