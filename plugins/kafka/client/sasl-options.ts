import type { Finding } from 'syncx/plugin-api';
import type { SaslOption } from './connection-options.js';
import { parseJaasConfig } from './jaas-config.js';
import type { Settings } from './java-settings.js';
import type { ClientCredentials } from './token-endpoint.js';

export type SaslSpec =
  | {
      readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
      readonly username: string;
      readonly password: string;
    }
  /** One of the three is there. */
  | {
      readonly mechanism: 'OAUTHBEARER';
      readonly token: string | null;
      readonly tokenFile: string | null;
      readonly endpoint: ClientCredentials | null;
    };

const MODULES: Readonly<Record<SaslSpec['mechanism'], string>> = {
  PLAIN: 'PlainLoginModule',
  'SCRAM-SHA-256': 'ScramLoginModule',
  'SCRAM-SHA-512': 'ScramLoginModule',
  OAUTHBEARER: 'OAuthBearerLoginModule',
};

const isMechanism = (text: string): text is SaslSpec['mechanism'] => Object.hasOwn(MODULES, text);

const FILE_URL = /^file:(?:\/\/)?(\/.*)$/;

/** All methods: null with a finding, where something is amiss. */
export class SaslFinder {
  readonly #settings: Settings;
  readonly #findings: Finding[];

  constructor(settings: Settings, findings: Finding[]) {
    this.#settings = settings;
    this.#findings = findings;
  }

  #no(path: string, message: string, hint?: string): null {
    this.#findings.push({ path, message, ...(hint === undefined ? {} : { hint }) });
    return null;
  }

  fromOption(o: SaslOption): SaslSpec | null {
    if (o.mechanism === 'OAUTHBEARER') {
      if ([o.token, o.tokenFile, o.tokenUrl].filter((x) => x !== undefined).length !== 1)
        return this.#no('sasl', 'OAUTHBEARER needs one of token, tokenFile and tokenUrl');
      if (o.tokenUrl !== undefined)
        return this.#credentials('sasl', 'tokenUrl', o.tokenUrl, [o.clientId, o.clientSecret, o.scope]);
      return { mechanism: o.mechanism, token: o.token ?? null, tokenFile: o.tokenFile ?? null, endpoint: null };
    }
    const { mechanism, username, password } = o;
    if (username === undefined || password === undefined)
      return this.#no('sasl', `${mechanism} needs username and password`);
    return { mechanism, username, password };
  }

  fromSettings(): SaslSpec | null {
    const s = this.#settings;
    // Java's default is Kerberos.
    const mechanism = (s.text('sasl.mechanism') ?? 'GSSAPI').toUpperCase();
    const jaas = s.text('sasl.jaas.config');
    if (!isMechanism(mechanism)) {
      const hint = `Say sasl.mechanism: ${Object.keys(MODULES).join(', ')}.`;
      return this.#no(s.path('sasl.mechanism'), `the mechanism ${mechanism} is not known here`, hint);
    }
    if (mechanism === 'OAUTHBEARER') return this.#tokenOf();
    const at = s.path('sasl.jaas.config');
    if (jaas === undefined) return this.#no(at, `${mechanism} needs sasl.jaas.config with username and password`);
    const login = parseJaasConfig(jaas);
    if (typeof login === 'string') return this.#no(at, `sasl.jaas.config cannot be read: ${login}`);
    if (login.module.split('.').at(-1) !== MODULES[mechanism])
      return this.#no(at, `${mechanism} needs the login module ${MODULES[mechanism]}`);
    const username = login.options.get('username');
    const password = login.options.get('password');
    if (username === undefined || password === undefined)
      return this.#no(at, 'sasl.jaas.config has no username or no password');
    return { mechanism, username, password };
  }

  #tokenOf(): SaslSpec | null {
    const s = this.#settings;
    const name = 'sasl.oauthbearer.token.endpoint.url';
    const url = s.text(name);
    const path = s.path(name);
    s.text('sasl.login.callback.handler.class'); // Java needs it named; here it is what there is
    if (url === undefined) {
      const hint =
        'Name the address that gives tokens, or a file with one: `file:///path`, or sasl.tokenFile of the options.';
      return this.#no(path, `OAUTHBEARER needs ${name}`, hint);
    }
    const file = FILE_URL.exec(url)?.[1];
    if (file !== undefined)
      return { mechanism: 'OAUTHBEARER', token: null, tokenFile: decodeURIComponent(file), endpoint: null };
    const jaas = s.text('sasl.jaas.config');
    const login = jaas === undefined ? null : parseJaasConfig(jaas);
    if (typeof login === 'string')
      return this.#no(s.path('sasl.jaas.config'), `sasl.jaas.config cannot be read: ${login}`);
    const own = 'sasl.oauthbearer.client.credentials.client.';
    return this.#credentials(path, name, url, [
      s.text(`${own}id`) ?? login?.options.get('clientId'),
      s.text(`${own}secret`) ?? login?.options.get('clientSecret'),
      s.text('sasl.oauthbearer.scope') ?? login?.options.get('scope'),
    ]);
  }

  #credentials(
    path: string,
    name: string,
    url: string,
    [clientId, clientSecret, scope]: readonly (string | undefined)[],
  ): SaslSpec | null {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return this.#no(path, `${name} is no address of http: or https:, nor of file:`);
    if (clientId === undefined || clientSecret === undefined)
      return this.#no(
        path,
        `${name} needs clientId and clientSecret`,
        'In Java’s form they stand in sasl.jaas.config.',
      );
    const endpoint = { url, clientId, clientSecret, scope: scope ?? null };
    return { mechanism: 'OAUTHBEARER', token: null, tokenFile: null, endpoint };
  }
}
