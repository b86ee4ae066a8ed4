import type { Finding } from 'syncx/plugin-api';
import type { SaslOption } from './connection-options.js';
import { parseJaasConfig } from './jaas-config.js';
import type { Settings } from './java-settings.js';

export type SaslSpec =
  | {
      readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
      readonly username: string;
      readonly password: string;
    }
  | { readonly mechanism: 'OAUTHBEARER'; readonly token: string | null; readonly tokenFile: string | null };

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
      if ((o.token === undefined) === (o.tokenFile === undefined))
        return this.#no('sasl', 'OAUTHBEARER needs one of token and tokenFile');
      return { mechanism: o.mechanism, token: o.token ?? null, tokenFile: o.tokenFile ?? null };
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
    const name = 'sasl.oauthbearer.token.endpoint.url';
    const url = this.#settings.text(name);
    const hint = 'Name a file with the token: `file:///path`, or sasl.tokenFile of the options.';
    const path = this.#settings.path(name);
    if (url === undefined) return this.#no(path, `OAUTHBEARER needs ${name}`, hint);
    const file = FILE_URL.exec(url)?.[1];
    if (file === undefined) return this.#no(path, `of ${name} only file: is known`, hint);
    return { mechanism: 'OAUTHBEARER', token: null, tokenFile: decodeURIComponent(file) };
  }
}
