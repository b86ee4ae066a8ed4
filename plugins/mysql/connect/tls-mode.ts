/** Which TLS a job asks for: the words of several generations of JDBC drivers, in any order, and the files beside them. */

/** `preferred`: TLS where the server has it, else plain, as the drivers do by default. */
export type TlsMode = 'off' | 'preferred' | 'required' | 'verify-ca' | 'verify-identity';

/** As the parameters of a URL say it; null: not said. */
export interface TlsWords {
  readonly sslMode: TlsMode | null;
  readonly useSSL: boolean | null;
  readonly requireSSL: boolean | null;
  readonly verifyServerCertificate: boolean | null;
}

export interface TlsFiles {
  /** Authorities were named: by `sslCa`, or `serverSslCert`. */
  readonly ca: boolean;
  readonly cert: boolean;
  readonly key: boolean;
}

const checks = (mode: TlsMode): boolean => mode === 'verify-ca' || mode === 'verify-identity';

/**
 * `sslMode` wins over the older words, and `useSSL=false` over the ones of its age, as in the drivers. Authorities that are
 * named are there to be checked against, where no word says otherwise.
 */
export function tlsMode(words: TlsWords, hasCa: boolean): TlsMode {
  if (words.sslMode !== null) return words.sslMode;
  if (words.useSSL === false) return 'off';
  if (words.verifyServerCertificate ?? hasCa) return 'verify-ca';
  return words.requireSSL === true ? 'required' : 'preferred';
}

/** What of that is said in vain. @returns messages, each naming its option. */
export function tlsInVain(words: TlsWords, files: TlsFiles): readonly string[] {
  const mode = tlsMode(words, files.ca);
  const said = words.sslMode === null ? 'useSSL=false' : `sslMode ${words.sslMode.toUpperCase()}`;
  const idle: string[] = [];
  if (mode === 'off' && words.requireSSL === true) idle.push(`requireSSL has no effect beside ${said}: no TLS is used`);
  if (!checks(mode) && words.verifyServerCertificate === true)
    idle.push(`verifyServerCertificate has no effect beside ${said}: the server's certificate is not checked`);
  if (files.ca && !checks(mode)) {
    const by = mode === 'off' || words.sslMode !== null ? said : 'verifyServerCertificate=false';
    idle.push(`sslCa has no effect beside ${by}: the server's certificate is not checked; VERIFY_CA would check it`);
  }
  if (files.cert !== files.key)
    idle.push(`${files.cert ? 'sslCert' : 'sslKey'} has no effect without ${files.cert ? 'sslKey' : 'sslCert'}`);
  return idle;
}
