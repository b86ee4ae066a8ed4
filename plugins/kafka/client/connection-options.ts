/** From the options of a job to what a connection needs; pure. Files are read by {@link clientSettings} (client-settings.ts). */
import type { Finding } from 'syncx/plugin-api';
import { SaslFinder, type SaslSpec } from './sasl-options.js';
import { tlsFromOption, tlsFromSettings, type SslOption, type TlsSpec } from './tls-options.js';
import { Settings, type SettingsMap } from './java-settings.js';
import type { BrokerAddress } from './node-link.js';

/** As kafkajs and this tool name them. */
export interface SaslOption {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512' | 'OAUTHBEARER';
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
}

export interface ConnectionOptions {
  readonly brokers?: string | readonly string[] | undefined;
  readonly clientId?: string | undefined;
  readonly ssl?: boolean | SslOption | undefined;
  readonly sasl?: SaslOption | undefined;
}

export interface ConnectionSpec {
  readonly brokers: readonly BrokerAddress[];
  readonly clientId: string;
  readonly tls: TlsSpec | null;
  readonly sasl: SaslSpec | null;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface SettingsPlace {
  /** Name of the option with the settings. */
  readonly option: 'consumerSettings' | 'producerSettings';
  /** Settings that reader or writer look after themselves, as `group.id`, `acks`. */
  readonly elsewhere: ReadonlySet<string>;
}

const DEFAULT_CLIENT_ID = 'sync';
const CONNECT_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 30_000;
const PROTOCOLS: Readonly<Record<string, { readonly tls: boolean; readonly sasl: boolean }>> = {
  PLAINTEXT: { tls: false, sasl: false },
  SSL: { tls: true, sasl: false },
  SASL_PLAINTEXT: { tls: false, sasl: true },
  SASL_SSL: { tls: true, sasl: true },
};

/** `host:port`, `[ipv6]:port`, also with a listener name before it, as Java clients take it. */
function parseBroker(text: string): BrokerAddress | null {
  const m = /^(?:[\w.%-]*:\/\/)?(?:\[([0-9a-fA-F:.%]+)\]|([\w.%-]+)):(\d{1,5})$/.exec(text.trim());
  const host = m?.[1] ?? m?.[2];
  const port = Number(m?.[3]);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function brokersOf(o: ConnectionOptions, settings: Settings, findings: Finding[]): readonly BrokerAddress[] {
  const set = settings.text('bootstrap.servers');
  const path = o.brokers === undefined ? settings.path('bootstrap.servers') : 'brokers';
  const given = o.brokers ?? set ?? [];
  const texts = (typeof given === 'string' ? [given] : given)
    .flatMap((t) => t.split(','))
    .filter((t) => t.trim() !== '');
  if (texts.length === 0) {
    findings.push({ path: 'brokers', message: 'no broker is named', hint: 'Say brokers: "host:9092".' });
    return [];
  }
  return texts.flatMap((t) => {
    const broker = parseBroker(t);
    if (broker !== null) return [broker];
    findings.push({ path, message: `the broker \`${t.trim()}\` is not of the form host:port` });
    return [];
  });
}

/**
 * @returns `connection`: to be used where no finding is an error. Findings name each setting that has no effect; none shows
 * a setting's value that could be secret.
 */
export function connectionOf(
  o: ConnectionOptions,
  map: SettingsMap,
  place: SettingsPlace,
): { readonly connection: ConnectionSpec; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const settings = new Settings(map, place.option, findings);
  const brokers = brokersOf(o, settings, findings);
  const clientId = o.clientId ?? settings.text('client.id') ?? DEFAULT_CLIENT_ID;
  const requestTimeoutMs = settings.ms('request.timeout.ms') ?? REQUEST_TIMEOUT_MS;
  const connectTimeoutMs = settings.ms('socket.connection.setup.timeout.ms') ?? CONNECT_TIMEOUT_MS;
  const { tls, sasl } = securityOf(o, settings, findings);
  settings.sayUnused(place.elsewhere);
  return { connection: { brokers, clientId, tls, sasl, connectTimeoutMs, requestTimeoutMs }, findings };
}

function securityOf(
  o: ConnectionOptions,
  settings: Settings,
  findings: Finding[],
): { readonly tls: TlsSpec | null; readonly sasl: SaslSpec | null } {
  const name = settings.text('security.protocol')?.toUpperCase();
  const protocol = name === undefined ? undefined : PROTOCOLS[name];
  const at = settings.path('security.protocol');
  if (name !== undefined && protocol === undefined)
    findings.push({
      path: at,
      message: `there is no security.protocol ${name}`,
      hint: `It is one of ${Object.keys(PROTOCOLS).join(', ')}.`,
    });
  const clash = (option: 'ssl' | 'sasl', prefix: string): void => {
    const names = settings.namesOf(prefix);
    if (o[option] !== undefined && names.length > 0)
      findings.push({ path: option, message: `${option} and ${names[0] ?? ''} are both given`, hint: 'Say it once.' });
  };
  clash('ssl', 'ssl.');
  clash('sasl', 'sasl.');
  const saslFinder = new SaslFinder(settings, findings);
  if (protocol === undefined && name === undefined) {
    for (const prefix of ['ssl.', 'sasl.']) {
      const [first] = settings.namesOf(prefix);
      if (first === undefined || o.ssl !== undefined || o.sasl !== undefined) continue;
      const message = `${first} has no effect without security.protocol`;
      findings.push({
        path: settings.path(first),
        message,
        hint: 'Say security.protocol: SSL, SASL_PLAINTEXT or SASL_SSL.',
      });
      return { tls: null, sasl: null };
    }
  }
  const wantsTls = protocol?.tls ?? (o.ssl !== undefined && o.ssl !== false);
  const wantsSasl = protocol?.sasl ?? o.sasl !== undefined;
  if (protocol !== undefined && !protocol.tls && o.ssl !== undefined && o.ssl !== false)
    findings.push({ path: 'ssl', message: `ssl does not go with security.protocol ${name ?? ''}` });
  if (protocol !== undefined && !protocol.sasl && o.sasl !== undefined)
    findings.push({ path: 'sasl', message: `sasl does not go with security.protocol ${name ?? ''}` });
  const ssl = typeof o.ssl === 'object' ? tlsFromOption(o.ssl, findings) : null;
  return {
    tls: wantsTls ? (ssl ?? tlsFromSettings(settings, findings)) : null,
    sasl: !wantsSasl ? null : o.sasl === undefined ? saslFinder.fromSettings() : saslFinder.fromOption(o.sasl),
  };
}
