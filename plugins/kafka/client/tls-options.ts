import type { Finding } from 'syncx/plugin-api';
import type { Settings } from './java-settings.js';

/** PEM that stands in the job, or in a file. */
export interface PemSource {
  /** Option, for messages. */
  readonly name: string;
  readonly text: string | null;
  readonly path: string | null;
}

export interface TlsSpec {
  /** Null: the authorities that Node.js knows. */
  readonly ca: PemSource | null;
  readonly cert: PemSource | null;
  readonly key: PemSource | null;
  readonly passphrase: string | null;
  readonly servername: string | null;
  /** Whether the certificate must be from an authority that we trust. */
  readonly verify: boolean;
  /** Whether it must be for the host's name. */
  readonly verifyHost: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | null;
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3' | null;
}

export interface SslOption {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

const isPem = (text: string): boolean => text.trimStart().startsWith('-----BEGIN ');

function eitherOf(name: string, value: string | undefined): PemSource | null {
  if (value === undefined) return null;
  return isPem(value) ? { name, text: value, path: null } : { name, text: null, path: value };
}

export function tlsFromOption(o: SslOption, findings: Finding[]): TlsSpec {
  if ((o.cert === undefined) !== (o.key === undefined))
    findings.push({ path: 'ssl', message: 'ssl.cert and ssl.key go together' });
  return {
    ca: eitherOf('ssl.ca', o.ca),
    cert: eitherOf('ssl.cert', o.cert),
    key: eitherOf('ssl.key', o.key),
    passphrase: o.passphrase ?? null,
    servername: o.servername ?? null,
    verify: o.rejectUnauthorized ?? true,
    verifyHost: o.rejectUnauthorized ?? true,
    minVersion: null,
    maxVersion: null,
  };
}

/** Java's stores: how to make PEM of them. */
function pemHint(which: 'truststore' | 'keystore', file: string): string {
  const [options, out] = which === 'truststore' ? ['-nokeys', 'ca.pem'] : ['', 'client.pem'];
  const p12 = `keytool -importkeystore -srckeystore ${file} -destkeystore store.p12 -deststoretype PKCS12`;
  return `Make PEM of it: ${p12} && openssl pkcs12 -in store.p12 ${options} -out ${out}; then ssl.${which}.type: PEM.`.replace(
    '  ',
    ' ',
  );
}

/** Notes the settings of the store as looked at. Null: there is none, or it is no PEM. */
function storeOf(settings: Settings, which: 'truststore' | 'keystore', findings: Finding[]): string | null {
  const at = `ssl.${which}.location`;
  const location = settings.text(at) ?? null;
  const type = (settings.text(`ssl.${which}.type`) ?? 'JKS').toUpperCase();
  settings.text(`ssl.${which}.password`);
  if (location === null || type === 'PEM') return location;
  const message = `${at} is a store of type ${type}, which only Java can read`;
  findings.push({ path: settings.path(at), message, hint: pemHint(which, location) });
  return null;
}

export function tlsFromSettings(s: Settings, findings: Finding[]): TlsSpec {
  const inline = (name: string): PemSource | null => {
    const text = s.text(name);
    return text === undefined ? null : { name, text, path: null };
  };
  const file = (which: 'truststore' | 'keystore'): PemSource | null => {
    const path = storeOf(s, which, findings);
    return path === null ? null : { name: `ssl.${which}.location`, text: null, path };
  };
  const trust = file('truststore');
  const store = file('keystore');
  const cert = inline('ssl.keystore.certificate.chain') ?? store;
  const key = inline('ssl.keystore.key') ?? store;
  if ((cert === null) !== (key === null))
    findings.push({
      path: s.path('ssl.keystore.key'),
      message: 'ssl.keystore.key and ssl.keystore.certificate.chain go together',
    });
  return {
    ca: inline('ssl.truststore.certificates') ?? trust,
    cert,
    key,
    passphrase: s.text('ssl.key.password') ?? null,
    servername: null,
    verify: true,
    verifyHost: (s.text('ssl.endpoint.identification.algorithm') ?? 'https').trim() !== '',
    ...versionsOf(s, findings),
  };
}

/** `ssl.enabled.protocols`: a list; older ones than 1.2 are left out, as Node.js does. */
function versionsOf(s: Settings, findings: Finding[]): Pick<TlsSpec, 'minVersion' | 'maxVersion'> {
  const name = 'ssl.enabled.protocols';
  const text = s.text(name);
  if (text === undefined) return { minVersion: null, maxVersion: null };
  const listed = text.split(',').map((v) => v.trim());
  const known = (['TLSv1.2', 'TLSv1.3'] as const).filter((v) => listed.includes(v));
  const [first] = known;
  if (first === undefined) {
    findings.push({ path: s.path(name), message: `${name} names neither TLSv1.2 nor TLSv1.3` });
    return { minVersion: null, maxVersion: null };
  }
  return { minVersion: first, maxVersion: known.at(-1) ?? first };
}
