import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { SyncError } from 'syncx/plugin-api';
import type { Address } from './jdbc-url.js';
import type { TlsSpec } from './url-params.js';

/** What a connection needs to go over to TLS. */
export interface TlsSetup {
  /** Null: the defaults, as no files are named. */
  readonly context: SecureContext | null;
  /** The server's certificate must come from a known authority … */
  readonly verifyCa: boolean;
  /** … and be for this host, a name or an address; null: for any. */
  readonly identity: string | null;
}

async function readPem(path: string | null, option: string): Promise<Buffer | undefined> {
  if (path === null) return undefined;
  try {
    return await readFile(path);
  } catch (e) {
    const why = String((e as NodeJS.ErrnoException).code);
    throw new SyncError('JOB_INVALID', `the file of ${option} cannot be read: ${path}: ${why}`, { cause: e });
  }
}

/**
 * `undefined`: plain. A Unix socket needs no TLS, unless it is asked for.
 * @throws SyncError JOB_INVALID naming the option whose file cannot be read, or is no PEM.
 */
export async function tlsSetup(tls: TlsSpec, address: Address): Promise<TlsSetup | undefined> {
  if (tls.mode === 'off' || (tls.mode === 'preferred' && address.socketPath !== null)) return undefined;
  const ca = await readPem(tls.ca, 'sslCa');
  const cert = await readPem(tls.cert, 'sslCert');
  const key = await readPem(tls.key, 'sslKey');
  // One that holds no certificate is taken by OpenSSL without a word, and every server is then refused.
  if (ca?.includes('-----BEGIN ') === false) throw noPem('sslCa', tls.ca, undefined);
  let context: SecureContext | null = null;
  try {
    if (ca !== undefined || (cert !== undefined && key !== undefined))
      context = createSecureContext({ ca, ...(cert === undefined || key === undefined ? {} : { cert, key }) });
  } catch (e) {
    throw noPem('sslCa, sslCert or sslKey', [tls.ca, tls.cert, tls.key].filter((f) => f !== null).join(', '), e);
  }
  return {
    context,
    verifyCa: tls.mode === 'verify-ca' || tls.mode === 'verify-identity',
    identity: tls.mode === 'verify-identity' ? address.host : null,
  };
}

function noPem(option: string, path: string | null, cause: unknown): SyncError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new SyncError('JOB_INVALID', `the file of ${option} is no usable PEM: ${String(path)}${why}`, {
    cause,
    hint: 'A certificate begins with -----BEGIN CERTIFICATE-----; a key must be the one of its certificate, without a passphrase.',
  });
}
