import { readFile } from 'node:fs/promises';
import { SyncError } from 'syncx/plugin-api';
import type { Address } from './jdbc-url.js';
import type { TlsSpec } from './url-params.js';

/** `undefined`: plain. A Unix socket needs no TLS, unless it is asked for. */
export async function tlsOptions(tls: TlsSpec, address: Address): Promise<object | undefined> {
  if (tls.mode === 'off' || (tls.mode === 'preferred' && address.socketPath !== null)) return undefined;
  const pem = async (path: string | null, what: string): Promise<Buffer | undefined> => {
    if (path === null) return undefined;
    try {
      return await readFile(path);
    } catch (e) {
      throw new SyncError(
        'JOB_INVALID',
        `the ${what} ${path} cannot be read: ${String((e as NodeJS.ErrnoException).code)}`,
        { cause: e },
      );
    }
  };
  return {
    ca: await pem(tls.ca, 'certificate file'),
    cert: await pem(tls.cert, 'certificate file'),
    key: await pem(tls.key, 'key file'),
    rejectUnauthorized: tls.mode === 'verify-ca' || tls.mode === 'verify-identity',
    verifyIdentity: tls.mode === 'verify-identity',
  };
}
