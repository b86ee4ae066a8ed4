import { SyncError, toSyncError } from '../../plugin-api/index.js';

/** What the operating system says to a plugin is about its source or target, even where the plugin did not code it. */
export async function pluginCall<T>(code: 'SOURCE_IO' | 'SINK_IO', call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (e) {
    throw toSyncError(e, code);
  }
}

/** What a plugin cannot read of its own saved state is told with the state file that holds it. */
export async function readingSaved<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (e) {
    const s = toSyncError(e);
    if (s.code !== 'STATE_CORRUPT' || s.place !== undefined) throw e;
    throw new SyncError(s.code, s.message, {
      place: path,
      cause: e,
      ...(s.hint === undefined ? {} : { hint: s.hint }),
    });
  }
}
