/** Reads the files of a connection: certificates at its start, tokens at each login. */
import { readFile } from 'node:fs/promises';
import { createSecureContext, type ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import { SyncError } from 'syncx/plugin-api';
import type { ConnectionSpec } from './connection-options.js';
import type { KafkaClientSettings } from './kafkajs-client.js';
import type { KafkajsSasl } from './kafkajs-internals.js';
import { oauthLogin } from './oauth-login.js';
import type { SaslSpec } from './sasl-options.js';
import { tokenEndpoint } from './token-endpoint.js';
import type { PemSource, TlsSpec } from './tls-options.js';

/** @throws SyncError JOB_INVALID, where a file cannot be read or is no PEM, or the passphrase is wrong. */
export async function clientSettings(c: ConnectionSpec): Promise<KafkaClientSettings> {
  const { sasl } = c;
  return {
    brokers: c.brokers,
    clientId: c.clientId,
    tls: c.tls === null ? null : await tlsOf(c.tls),
    sasl: sasl === null ? null : saslOf(sasl),
    connectTimeoutMs: c.connectTimeoutMs,
    requestTimeoutMs: c.requestTimeoutMs,
  };
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (e) {
    const why = String((e as NodeJS.ErrnoException).code);
    throw new SyncError('JOB_INVALID', `${name}: ${path} cannot be read: ${why}`, { place: path, cause: e });
  }
}

const pemOf = async (p: PemSource | null): Promise<string | undefined> =>
  p === null ? undefined : (p.text ?? (await textOf(p.path ?? '', p.name)));

async function tlsOf(tls: TlsSpec): Promise<TlsConnectionOptions> {
  const [ca, cert, key] = [await pemOf(tls.ca), await pemOf(tls.cert), await pemOf(tls.key)];
  return {
    secureContext: contextOf(tls, { ca, cert, key }),
    rejectUnauthorized: tls.verify,
    ...(tls.servername === null ? {} : { servername: tls.servername }),
    ...(tls.verifyHost ? {} : { checkServerIdentity: () => undefined }),
  };
}

interface Pems {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Made once: what is wrong shows before a broker is asked. OpenSSL's words do not tell of keys or passphrases. */
function contextOf(tls: TlsSpec, { ca, cert, key }: Pems): ReturnType<typeof createSecureContext> {
  const made = (part: object, source: PemSource | null): ReturnType<typeof createSecureContext> => {
    try {
      return createSecureContext(part);
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e);
      const name = source?.name ?? 'ssl';
      const locked = /decrypt|passphrase|password|interrupted or cancelled|maybe wrong/i.test(why);
      throw new SyncError('JOB_INVALID', `${name} cannot be used: ${why}`, {
        place: source?.path ?? name,
        hint: locked
          ? 'The key is encrypted: check ssl.key.password (ssl.passphrase).'
          : 'It must be PEM: certificates, and the key as PKCS#8 (-----BEGIN …).',
      });
    }
  };
  if (ca !== undefined && !/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(ca)) {
    // Node.js takes any text, and then trusts nobody.
    throw new SyncError('JOB_INVALID', `${tls.ca?.name ?? 'ssl'} has no certificate`, {
      place: tls.ca?.path ?? tls.ca?.name ?? '',
      hint: 'It must be PEM: -----BEGIN CERTIFICATE-----.',
    });
  }
  const passphrase = tls.passphrase === null ? {} : { passphrase: tls.passphrase };
  if (ca !== undefined) made({ ca }, tls.ca);
  if (cert !== undefined) made({ cert }, tls.cert);
  return made(
    {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key, ...passphrase }),
      ...(tls.minVersion === null ? {} : { minVersion: tls.minVersion }),
      ...(tls.maxVersion === null ? {} : { maxVersion: tls.maxVersion }),
    },
    tls.key ?? tls.cert,
  );
}

/** Makes a new object at each call: kafkajs writes to it. */
function saslOf(sasl: SaslSpec): () => KafkajsSasl {
  if (sasl.mechanism !== 'OAUTHBEARER') return () => ({ ...sasl });
  const { token, tokenFile, endpoint } = sasl;
  const current = async (): Promise<string> => {
    const value = (token ?? (await textOf(tokenFile ?? '', 'sasl.tokenFile'))).trim();
    if (value !== '') return value;
    throw new SyncError('JOB_INVALID', 'the token is empty', { place: tokenFile ?? 'sasl.token' });
  };
  const login = oauthLogin(endpoint === null ? current : tokenEndpoint(endpoint));
  return () => ({ mechanism: 'OAUTHBEARER', authenticationProvider: login });
}
